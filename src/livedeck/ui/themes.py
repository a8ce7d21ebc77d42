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

from livedeck.ui.renderables.ink import Ink

AUTO = "auto"
"""No theme was asked for: what the terminal can show decides."""


class Look(NamedTuple):
    """Colour, own ground (empty: that of the line) and style of an ink, as the stylesheet writes them."""

    colour: str
    ground: str = ""
    style: str = "none"


@dataclass(frozen=True, slots=True)
class Palette:
    """The grounds of a theme and the look of every ink. `cursor`: colour and style of the row under the cursor."""

    ground: str
    panel: str
    cursor: Look
    rule: str
    inks: Mapping[Ink, Look]
    dark: bool = True
    ansi: bool = False
    plain: bool = False


LAMPS = {
    Ink.ON_AIR: Look("#ffffff", "#c00000", "bold"),
    Ink.READY: Look("#000000", "#009e73"),
    Ink.PENDING: Look("#000000", "#e69f00", "bold"),
    Ink.LOST: Look("#000000", "#d55e00", "bold"),
    Ink.BANNER: Look("#000000", "#e69f00", "bold"),
    Ink.BANNER_BLIND: Look("#000000", "#d55e00", "bold"),
}
"""The filled cells: the same in every theme of true colour."""

DARK = Palette(
    ground="#0e1216",
    panel="#171d23",
    cursor=Look("", "#25303a"),
    rule="#6c7984",
    inks=LAMPS
    | {
        Ink.TEXT: Look("#d5dce2"),
        Ink.STRONG: Look("#f2f5f7", "", "bold"),
        Ink.DIM: Look("#93a1ad"),
        Ink.HEAD: Look("#93a1ad"),
        Ink.RULE: Look("#6c7984"),
        Ink.OFF: Look("#b4bec6", "#2b343b"),
        Ink.OK: Look("#2fbf95"),
        Ink.INFO: Look("#56b4e9"),
        Ink.WARNING: Look("#e69f00"),
        Ink.CRITICAL: Look("#f0762b", "", "bold"),
        Ink.STALE: Look("#999999"),
        Ink.KEY_20: Look("#e69f00"),
        Ink.KEY_50: Look("#f0e442", "", "bold"),
        Ink.LOSS: Look("#f0762b", "", "bold"),
        Ink.ODD: Look("#d98fb7"),
        Ink.VIDEO: Look("#6fd3c3"),
        Ink.AUDIO: Look("#b3a6f2"),
        Ink.FPS: Look("#9ec9f5"),
        Ink.LIMIT: Look("#7a8792"),
        Ink.BAND: Look("#2c3843"),
        Ink.OVER: Look("#d8c79a"),
    },
)

LIGHT = Palette(
    ground="#fbfaf6",
    panel="#eef0f0",
    cursor=Look("", "#dbe5ec"),
    rule="#6b767e",
    dark=False,
    inks=LAMPS
    | {
        Ink.TEXT: Look("#22292e"),
        Ink.STRONG: Look("#000000", "", "bold"),
        Ink.DIM: Look("#4f5b64"),
        Ink.HEAD: Look("#4f5b64"),
        Ink.RULE: Look("#6b767e"),
        Ink.OFF: Look("#3c464d", "#d3d9dc"),
        Ink.OK: Look("#006b4d"),
        Ink.INFO: Look("#0a5f96"),
        Ink.WARNING: Look("#7a5200"),
        Ink.CRITICAL: Look("#a34400", "", "bold"),
        Ink.STALE: Look("#5a5a5a"),
        Ink.KEY_20: Look("#7a5200"),
        Ink.KEY_50: Look("#5c5000", "", "bold"),
        Ink.LOSS: Look("#a34400", "", "bold"),
        Ink.ODD: Look("#8c3a6b"),
        Ink.VIDEO: Look("#00645a"),
        Ink.AUDIO: Look("#5743ad"),
        Ink.FPS: Look("#1d5890"),
        Ink.LIMIT: Look("#6b7780"),
        Ink.BAND: Look("#ccd5da"),
        Ink.OVER: Look("#6a5a2a"),
    },
)

CONTRAST = Palette(
    ground="#000000",
    panel="#000000",
    cursor=Look("", "#303030"),
    rule="#b0b0b0",
    inks=LAMPS
    | {
        Ink.TEXT: Look("#ffffff"),
        Ink.STRONG: Look("#ffffff", "", "bold"),
        Ink.DIM: Look("#e0e0e0"),
        Ink.HEAD: Look("#e0e0e0", "", "underline"),
        Ink.RULE: Look("#b0b0b0"),
        Ink.OFF: Look("#ffffff", "#303030"),
        Ink.OK: Look("#5dffc6"),
        Ink.INFO: Look("#8fd3ff"),
        Ink.WARNING: Look("#ffc04d"),
        Ink.CRITICAL: Look("#ffa066", "", "bold"),
        Ink.STALE: Look("#d0d0d0"),
        Ink.KEY_20: Look("#ffc04d"),
        Ink.KEY_50: Look("#fff27a", "", "bold"),
        Ink.LOSS: Look("#ffa066", "", "bold"),
        Ink.ODD: Look("#ffb3dc"),
        Ink.VIDEO: Look("#8ff5e6"),
        Ink.AUDIO: Look("#d6ccff"),
        Ink.FPS: Look("#c4e1ff"),
        Ink.LIMIT: Look("#c0c0c0"),
        Ink.BAND: Look("#505050"),
        Ink.OVER: Look("#ffe9b8"),
    },
)

ANSI_16 = Palette(
    ground="ansi_black",
    panel="ansi_black",
    cursor=Look("", "ansi_black", "underline"),
    rule="ansi_white",
    ansi=True,
    inks={
        Ink.TEXT: Look("ansi_white"),
        Ink.STRONG: Look("ansi_bright_white", "", "bold"),
        Ink.DIM: Look("ansi_white"),
        Ink.HEAD: Look("ansi_white"),
        Ink.RULE: Look("ansi_white"),
        Ink.ON_AIR: Look("ansi_bright_white", "ansi_red", "bold"),
        Ink.READY: Look("ansi_black", "ansi_green"),
        Ink.PENDING: Look("ansi_black", "ansi_yellow"),
        Ink.LOST: Look("ansi_black", "ansi_bright_yellow"),
        Ink.OFF: Look("ansi_black", "ansi_white"),
        Ink.OK: Look("ansi_bright_green"),
        Ink.INFO: Look("ansi_bright_cyan"),
        Ink.WARNING: Look("ansi_bright_yellow"),
        Ink.CRITICAL: Look("ansi_bright_red", "", "bold"),
        Ink.STALE: Look("ansi_white"),
        Ink.KEY_20: Look("ansi_bright_yellow"),
        Ink.KEY_50: Look("ansi_bright_yellow", "", "bold"),
        Ink.LOSS: Look("ansi_bright_red", "", "bold"),
        Ink.ODD: Look("ansi_bright_magenta"),
        Ink.VIDEO: Look("ansi_bright_cyan"),
        Ink.AUDIO: Look("ansi_bright_magenta"),
        Ink.FPS: Look("ansi_bright_white"),
        Ink.LIMIT: Look("ansi_white"),
        Ink.BAND: Look("ansi_white", "", "dim"),
        Ink.OVER: Look("ansi_bright_white"),
        Ink.BANNER: Look("ansi_black", "ansi_yellow"),
        Ink.BANNER_BLIND: Look("ansi_black", "ansi_bright_yellow", "bold"),
    },
)

LOUD = frozenset({Ink.STRONG, Ink.WARNING, Ink.CRITICAL, Ink.KEY_50, Ink.LOSS})
FILLED = frozenset({Ink.ON_AIR, Ink.PENDING, Ink.LOST, Ink.BANNER, Ink.BANNER_BLIND})
"""Without colour: loud inks are bold, filled ones reversed; ON AIR and BLIND are both."""


def _without_colour(ink: Ink) -> Look:
    styles = ["bold"] if ink in LOUD or ink in {Ink.ON_AIR, Ink.LOST, Ink.BANNER_BLIND} else []
    styles += ["reverse"] if ink in FILLED else []
    styles += ["dim"] if ink is Ink.BAND else []
    return Look("ansi_default", "ansi_default" if ink in LAMPS or ink is Ink.OFF else "", " ".join(styles) or "none")


MONO = Palette(
    ground="ansi_default",
    panel="ansi_default",
    cursor=Look("", "ansi_default", "underline"),
    rule="ansi_default",
    ansi=True,
    plain=True,
    inks={ink: _without_colour(ink) for ink in Ink},
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
            primary=palette.inks[Ink.INFO].colour,
            background=palette.ground,
            surface=palette.ground,
            panel=palette.panel,
            foreground=palette.inks[Ink.TEXT].colour,
            dark=palette.dark,
            ansi=palette.ansi,
            variables=dict(_variables(palette)),
        )


@cache
def style(theme: str, ink: Ink) -> Style:
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
    yield "ansi-foreground", palette.inks[Ink.TEXT].colour
    yield "scrollbar", palette.rule
    yield "scrollbar-background", palette.panel
