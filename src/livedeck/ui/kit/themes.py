"""The palettes: the style of each role in each theme; and their form as Textual's themes and Rich's styles.

Severity colours are those of interface.md, "Colours" where their text reaches a contrast of 4.5 to 1;
elsewhere the same hue is lightened or darkened until it does. Tally red is used by the ON AIR lamp alone.
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
"""No theme is set: the colours of the terminal decide."""


class StyleSpec(NamedTuple):
    """Colour, background (empty: that of the line) and text style of a role, as the stylesheet writes them."""

    colour: str
    background: str = ""
    style: str = "none"


@dataclass(frozen=True, slots=True)
class Palette:
    """The backgrounds of a theme and the style of every role. `cursor`: the style of the row under the cursor.

    `ansi`: only the terminal's own colours; `plain`: no colour at all.
    """

    background: str
    panel: str
    cursor: StyleSpec
    rule: str
    styles: Mapping[StyleRole, StyleSpec]
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
"""Filled cells: the same in every theme of true colour."""

DARK = Palette(
    background="#0e1216",
    panel="#171d23",
    cursor=StyleSpec("", "#25303a"),
    rule="#6c7984",
    styles=INDICATORS
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
    background="#fbfaf6",
    panel="#eef0f0",
    cursor=StyleSpec("", "#dbe5ec"),
    rule="#6b767e",
    dark=False,
    styles=INDICATORS
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
    background="#000000",
    panel="#000000",
    cursor=StyleSpec("", "#303030"),
    rule="#b0b0b0",
    styles=INDICATORS
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
    background="ansi_black",
    panel="ansi_black",
    cursor=StyleSpec("", "ansi_black", "underline"),
    rule="ansi_white",
    ansi=True,
    styles={
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
"""Without colour, loud roles are bold and filled ones reversed; ON AIR, LOST and BLIND are both."""


def _without_colour(role: StyleRole) -> StyleSpec:
    words = ["bold"] if role in LOUD or role in {StyleRole.ON_AIR, StyleRole.LOST, StyleRole.BANNER_BLIND} else []
    words += ["reverse"] if role in FILLED else []
    words += ["dim"] if role is StyleRole.BAND else []
    background = "ansi_default" if role in INDICATORS or role is StyleRole.OFF else ""
    return StyleSpec("ansi_default", background, " ".join(words) or "none")


MONO = Palette(
    background="ansi_default",
    panel="ansi_default",
    cursor=StyleSpec("", "ansi_default", "underline"),
    rule="ansi_default",
    ansi=True,
    plain=True,
    styles={role: _without_colour(role) for role in StyleRole},
)

PALETTES: Mapping[str, Palette] = MappingProxyType(
    {"dark": DARK, "light": LIGHT, "contrast": CONTRAST, "ansi-16": ANSI_16, "mono": MONO}
)


def select_theme(requested: str, *, no_color: bool, color_system: str | None) -> str:
    """The theme for a terminal. `color_system`: as Rich names it, None where the terminal has no colours.

    NO_COLOR overrides the requested theme; a terminal of sixteen colours gets `ansi-16` unless a theme is requested.
    """
    if no_color or color_system is None:
        return "mono"
    if requested in PALETTES:
        return requested
    return "ansi-16" if color_system == "standard" else "dark"


def textual_themes() -> Iterator[Theme]:
    """The palettes as themes of Textual."""
    for name, palette in PALETTES.items():
        yield Theme(
            name=name,
            primary=palette.styles[StyleRole.INFO].colour,
            background=palette.background,
            surface=palette.background,
            panel=palette.panel,
            foreground=palette.styles[StyleRole.TEXT].colour,
            dark=palette.dark,
            ansi=palette.ansi,
            variables=dict(_variables(palette)),
        )


@cache
def style(theme: str, role: StyleRole) -> Style:
    """The style of a role in that theme; without a background of its own it takes that of its line.

    Roles are no component classes: Textual would resolve each of them again for each widget, and a form has a hundred.
    """
    palette = PALETTES.get(theme, DARK)
    spec = palette.styles[role]
    background = spec.background or palette.background if DARK.styles[role].background else ""
    colours = Style(color=_colour(spec.colour), bgcolor=_colour(background) if background else None)
    return colours + Style.parse(spec.style)


def _colour(name: str) -> RichColor:
    return Color.parse(name).rich_color


def _variables(palette: Palette) -> Iterator[tuple[str, str]]:
    yield "cursor", palette.cursor.background
    yield "cursor-style", palette.cursor.style
    yield "rule", palette.rule
    yield "ansi-background", palette.background
    yield "ansi-foreground", palette.styles[StyleRole.TEXT].colour
    yield "scrollbar", palette.rule
    yield "scrollbar-background", palette.panel
