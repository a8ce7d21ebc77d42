"""What an ink looks like in each theme. Data, and the little that turns it into Textual's themes and styles.

Severity colours are those of interface.md ("Never by colour alone") where their text reaches a contrast of 4.5 to 1;
elsewhere the same hue is lightened or darkened until it does. Tally red lives in the ON AIR lamp alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from livedeck.text.segments import StyleRole

AUTO = "auto"

"""No theme was asked for: what the terminal can show decides."""


class StyleSpec(NamedTuple):
    """Colour, own ground (empty: that of the line) and style of an ink, as the stylesheet writes them."""

    colour: str
    ground: str = ""
    style: str = "none"


@dataclass(frozen=True, slots=True)
class Palette:
    """The grounds of a theme and the look of every ink. `cursor`: colour and style of the row under the cursor."""

    ground: str
    panel: str
    cursor: StyleSpec
    rule: str
    inks: Mapping[StyleRole, StyleSpec]
    dark: bool = True
    ansi: bool = False
    plain: bool = False


INDICATORS = {
    StyleRole.ON_AIR: StyleSpec("#ffffff", "#c00000", "bold"),
    StyleRole.READY: StyleSpec("#000000", "#009e73"),
    StyleRole.PENDING: StyleSpec("#000000", "#e69f00", "bold"),
    StyleRole.LOST: StyleSpec("#000000", "#d55e00", "bold"),
    StyleRole.BANNER: StyleSpec("#000000", "#e69f00", "bold"),
    StyleRole.BANNER_BLIND: StyleSpec("#000000", "#d55e00", "bold"),
}

"""The filled cells: the same in every theme of true colour."""


DARK = Palette(
    ground="#0e1216",
    panel="#171d23",
    cursor=StyleSpec("", "#25303a"),
    rule="#6c7984",
    inks=INDICATORS
    | {
        StyleRole.TEXT: StyleSpec("#d5dce2"),
        StyleRole.STRONG: StyleSpec("#f2f5f7", "", "bold"),
        StyleRole.DIM: StyleSpec("#93a1ad"),
        StyleRole.HEAD: StyleSpec("#93a1ad"),
        StyleRole.RULE: StyleSpec("#6c7984"),
        StyleRole.OFF: StyleSpec("#b4bec6", "#2b343b"),
        StyleRole.OK: StyleSpec("#2fbf95"),
        StyleRole.INFO: StyleSpec("#56b4e9"),
        StyleRole.WARNING: StyleSpec("#e69f00"),
        StyleRole.CRITICAL: StyleSpec("#f0762b", "", "bold"),
        StyleRole.STALE: StyleSpec("#999999"),
        StyleRole.KEY_20: StyleSpec("#e69f00"),
        StyleRole.KEY_50: StyleSpec("#f0e442", "", "bold"),
        StyleRole.LOSS: StyleSpec("#f0762b", "", "bold"),
        StyleRole.ODD: StyleSpec("#d98fb7"),
        StyleRole.VIDEO: StyleSpec("#6fd3c3"),
        StyleRole.AUDIO: StyleSpec("#b3a6f2"),
        StyleRole.FPS: StyleSpec("#9ec9f5"),
        StyleRole.LIMIT: StyleSpec("#7a8792"),
        StyleRole.BAND: StyleSpec("#2c3843"),
        StyleRole.OVERLAY: StyleSpec("#d8c79a"),
    },
)


LIGHT = Palette(
    ground="#fbfaf6",
    panel="#eef0f0",
    cursor=StyleSpec("", "#dbe5ec"),
    rule="#6b767e",
    dark=False,
    inks=INDICATORS
    | {
        StyleRole.TEXT: StyleSpec("#22292e"),
        StyleRole.STRONG: StyleSpec("#000000", "", "bold"),
        StyleRole.DIM: StyleSpec("#4f5b64"),
        StyleRole.HEAD: StyleSpec("#4f5b64"),
        StyleRole.RULE: StyleSpec("#6b767e"),
        StyleRole.OFF: StyleSpec("#3c464d", "#d3d9dc"),
        StyleRole.OK: StyleSpec("#006b4d"),
        StyleRole.INFO: StyleSpec("#0a5f96"),
        StyleRole.WARNING: StyleSpec("#7a5200"),
        StyleRole.CRITICAL: StyleSpec("#a34400", "", "bold"),
        StyleRole.STALE: StyleSpec("#5a5a5a"),
        StyleRole.KEY_20: StyleSpec("#7a5200"),
        StyleRole.KEY_50: StyleSpec("#5c5000", "", "bold"),
        StyleRole.LOSS: StyleSpec("#a34400", "", "bold"),
        StyleRole.ODD: StyleSpec("#8c3a6b"),
        StyleRole.VIDEO: StyleSpec("#00645a"),
        StyleRole.AUDIO: StyleSpec("#5743ad"),
        StyleRole.FPS: StyleSpec("#1d5890"),
        StyleRole.LIMIT: StyleSpec("#6b7780"),
        StyleRole.BAND: StyleSpec("#ccd5da"),
        StyleRole.OVERLAY: StyleSpec("#6a5a2a"),
    },
)


CONTRAST = Palette(
    ground="#000000",
    panel="#000000",
    cursor=StyleSpec("", "#303030"),
    rule="#b0b0b0",
    inks=INDICATORS
    | {
        StyleRole.TEXT: StyleSpec("#ffffff"),
        StyleRole.STRONG: StyleSpec("#ffffff", "", "bold"),
        StyleRole.DIM: StyleSpec("#e0e0e0"),
        StyleRole.HEAD: StyleSpec("#e0e0e0", "", "underline"),
        StyleRole.RULE: StyleSpec("#b0b0b0"),
        StyleRole.OFF: StyleSpec("#ffffff", "#303030"),
        StyleRole.OK: StyleSpec("#5dffc6"),
        StyleRole.INFO: StyleSpec("#8fd3ff"),
        StyleRole.WARNING: StyleSpec("#ffc04d"),
        StyleRole.CRITICAL: StyleSpec("#ffa066", "", "bold"),
        StyleRole.STALE: StyleSpec("#d0d0d0"),
        StyleRole.KEY_20: StyleSpec("#ffc04d"),
        StyleRole.KEY_50: StyleSpec("#fff27a", "", "bold"),
        StyleRole.LOSS: StyleSpec("#ffa066", "", "bold"),
        StyleRole.ODD: StyleSpec("#ffb3dc"),
        StyleRole.VIDEO: StyleSpec("#8ff5e6"),
        StyleRole.AUDIO: StyleSpec("#d6ccff"),
        StyleRole.FPS: StyleSpec("#c4e1ff"),
        StyleRole.LIMIT: StyleSpec("#c0c0c0"),
        StyleRole.BAND: StyleSpec("#505050"),
        StyleRole.OVERLAY: StyleSpec("#ffe9b8"),
    },
)


ANSI_16 = Palette(
    ground="ansi_black",
    panel="ansi_black",
    cursor=StyleSpec("", "ansi_black", "underline"),
    rule="ansi_white",
    ansi=True,
    inks={
        StyleRole.TEXT: StyleSpec("ansi_white"),
        StyleRole.STRONG: StyleSpec("ansi_bright_white", "", "bold"),
        StyleRole.DIM: StyleSpec("ansi_white"),
        StyleRole.HEAD: StyleSpec("ansi_white"),
        StyleRole.RULE: StyleSpec("ansi_white"),
        StyleRole.ON_AIR: StyleSpec("ansi_bright_white", "ansi_red", "bold"),
        StyleRole.READY: StyleSpec("ansi_black", "ansi_green"),
        StyleRole.PENDING: StyleSpec("ansi_black", "ansi_yellow"),
        StyleRole.LOST: StyleSpec("ansi_black", "ansi_bright_yellow"),
        StyleRole.OFF: StyleSpec("ansi_black", "ansi_white"),
        StyleRole.OK: StyleSpec("ansi_bright_green"),
        StyleRole.INFO: StyleSpec("ansi_bright_cyan"),
        StyleRole.WARNING: StyleSpec("ansi_bright_yellow"),
        StyleRole.CRITICAL: StyleSpec("ansi_bright_red", "", "bold"),
        StyleRole.STALE: StyleSpec("ansi_white"),
        StyleRole.KEY_20: StyleSpec("ansi_bright_yellow"),
        StyleRole.KEY_50: StyleSpec("ansi_bright_yellow", "", "bold"),
        StyleRole.LOSS: StyleSpec("ansi_bright_red", "", "bold"),
        StyleRole.ODD: StyleSpec("ansi_bright_magenta"),
        StyleRole.VIDEO: StyleSpec("ansi_bright_cyan"),
        StyleRole.AUDIO: StyleSpec("ansi_bright_magenta"),
        StyleRole.FPS: StyleSpec("ansi_bright_white"),
        StyleRole.LIMIT: StyleSpec("ansi_white"),
        StyleRole.BAND: StyleSpec("ansi_white", "", "dim"),
        StyleRole.OVERLAY: StyleSpec("ansi_bright_white"),
        StyleRole.BANNER: StyleSpec("ansi_black", "ansi_yellow"),
        StyleRole.BANNER_BLIND: StyleSpec("ansi_black", "ansi_bright_yellow", "bold"),
    },
)


LOUD = frozenset({StyleRole.STRONG, StyleRole.WARNING, StyleRole.CRITICAL, StyleRole.KEY_50, StyleRole.LOSS})

FILLED = frozenset({StyleRole.ON_AIR, StyleRole.PENDING, StyleRole.LOST, StyleRole.BANNER, StyleRole.BANNER_BLIND})

"""Without colour: loud inks are bold, filled ones reversed; ON AIR and BLIND are both."""


def _without_colour(ink: StyleRole) -> StyleSpec:
    styles = ["bold"] if ink in LOUD or ink in {StyleRole.ON_AIR, StyleRole.LOST, StyleRole.BANNER_BLIND} else []
    styles += ["reverse"] if ink in FILLED else []
    styles += ["dim"] if ink is StyleRole.BAND else []
    return StyleSpec(
        "ansi_default", "ansi_default" if ink in INDICATORS or ink is StyleRole.OFF else "", " ".join(styles) or "none"
    )


MONO = Palette(
    ground="ansi_default",
    panel="ansi_default",
    cursor=StyleSpec("", "ansi_default", "underline"),
    rule="ansi_default",
    ansi=True,
    plain=True,
    inks={ink: _without_colour(ink) for ink in StyleRole},
)


PALETTES: Mapping[str, Palette] = MappingProxyType(
    {"dark": DARK, "light": LIGHT, "contrast": CONTRAST, "ansi-16": ANSI_16, "mono": MONO}
)


def fitting(wanted: str, *, no_color: bool, colours: str | None) -> str:
    """The theme for a terminal. `colours`: its colour system by Rich's name, None where it has none.

    NO_COLOR goes before what was wanted; a terminal of sixteen colours gets the theme made of them unless another one
    was asked for.
    """
    if no_color or colours is None:
        return "mono"
    if wanted in PALETTES:
        return wanted
    return "ansi-16" if colours == "standard" else "dark"


def textual() -> Iterator[Theme]:
    """The themes as Textual wants them."""
    for name, palette in PALETTES.items():
        yield Theme(
            name=name,
            primary=palette.inks[StyleRole.INFO].colour,
            background=palette.ground,
            surface=palette.ground,
            panel=palette.panel,
            foreground=palette.inks[StyleRole.TEXT].colour,
            dark=palette.dark,
            ansi=palette.ansi,
            variables=dict(_variables(palette)),
        )


@cache
def style(theme: str, ink: StyleRole) -> Style:
    """The ink in that theme; without a ground of its own it stands on that of its line.

    No component class an ink: Textual would work out each of them anew for each widget, and a form has a hundred.
    """
    palette = PALETTES.get(theme, DARK)
    look = palette.inks[ink]
    ground = look.ground or palette.ground if DARK.inks[ink].ground else ""
    colours = Style(color=_colour(look.colour), bgcolor=_colour(ground) if ground else None)
    return colours + Style.parse(look.style)


def _colour(name: str) -> RichColor:
    return Color.parse(name).rich_color


def _variables(palette: Palette) -> Iterator[tuple[str, str]]:
    yield "cursor", palette.cursor.ground
    yield "cursor-style", palette.cursor.style
    yield "rule", palette.rule
    yield "ansi-background", palette.ground
    yield "ansi-foreground", palette.inks[StyleRole.TEXT].colour
    yield "scrollbar", palette.rule
    yield "scrollbar-background", palette.panel
