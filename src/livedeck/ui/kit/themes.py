"""Palettes: the style of each role in each theme, as Textual themes and Rich styles.

The colours are in `palette.py`. Only faults have a filled background. Only the ON AIR lamp has tally red.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec import field
from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from livedeck.record import Record
from livedeck.text.segments import Link, Pixels, Role, Shade, StyleRole
from livedeck.ui.kit.palette import COLOURS, Colours, board_grounds, mix

AUTO = "auto"
"""Value of the theme setting that chooses a theme by the number of colours of the terminal."""


class StyleSpec(NamedTuple):
    """Look of a role, in stylesheet syntax: colour, background (empty: the line's background), text style."""

    colour: str
    background: str = ""
    style: str = "none"


class Palette(Record):
    """Backgrounds of a theme, and the style of every role.

    `cursor`: style of the row under the cursor. `ansi`: True if the theme uses only the terminal's own colours.
    `plain`: True if the theme has no colours. `area`: percent of a curve's colour in the background under the curve, at
    the bottom and at the top of its panel. `fault`: percent of a fault's colour in the background of its column.
    `boards`: background of a tile by role.
    """

    background: str
    panel: str
    raised: str
    cursor: StyleSpec
    rule: str
    styles: Mapping[StyleRole, StyleSpec]
    dark: bool = True
    ansi: bool = False
    plain: bool = False
    area: tuple[int, int] = (10, 30)
    fault: int = 24
    boards: Mapping[StyleRole, str] = field(default_factory=dict)


def _true_colour(colours: Colours, *, is_dark: bool = True) -> Palette:
    """Return the palette of a theme with these colours (interface.md, "Colours")."""
    tint = 0.16 if is_dark else 0.06
    critical = StyleSpec(colours.ink, colours.critical, "bold")
    warning = StyleSpec(colours.ink, colours.warning, "bold")
    return Palette(
        background=colours.ground,
        panel=colours.panel,
        raised=colours.raised,
        cursor=StyleSpec("", colours.cursor),
        rule=colours.frame,
        dark=is_dark,
        area=(10, 30) if is_dark else (6, 17),
        fault=24 if is_dark else 14,
        boards={StyleRole(name): ground for name, ground in board_grounds(colours).items()},
        styles={
            StyleRole.TEXT: StyleSpec(colours.text),
            StyleRole.STRONG: StyleSpec(colours.strong, "", "bold"),
            StyleRole.DIM: StyleSpec(colours.dim),
            StyleRole.HEAD: StyleSpec(colours.dim),
            StyleRole.RULE: StyleSpec(colours.frame),
            StyleRole.RAISED: StyleSpec(colours.strong, colours.raised, "bold"),
            StyleRole.TAB: StyleSpec(colours.strong, colours.cursor, "bold"),
            StyleRole.ON_AIR: StyleSpec(colours.tally),
            StyleRole.OFF: StyleSpec(colours.dim, colours.raised),
            StyleRole.OK: StyleSpec(colours.ok),
            StyleRole.INFO: StyleSpec(colours.info),
            StyleRole.WARNING: StyleSpec(colours.warning, "", "bold"),
            StyleRole.WARNING_CHIP: StyleSpec(colours.warning, mix(colours.ground, colours.warning, tint), "bold"),
            StyleRole.WARNING_FILL: warning,
            StyleRole.CRITICAL: critical,
            StyleRole.CRITICAL_MARK: StyleSpec(colours.critical, "", "bold"),
            StyleRole.STALE: StyleSpec(colours.dim),
            StyleRole.KEY_20: warning,
            StyleRole.KEY_50: StyleSpec(colours.ink, colours.key, "bold"),
            StyleRole.LOSS: critical,
            StyleRole.ODD: StyleSpec(colours.key),
            StyleRole.VIDEO: StyleSpec(colours.video),
            StyleRole.VIDEO_QUIET: StyleSpec(mix(colours.ground, colours.video, 0.5)),
            StyleRole.AUDIO: StyleSpec(colours.audio),
            StyleRole.FPS: StyleSpec(colours.fps),
            StyleRole.LIMIT: StyleSpec(colours.warning),
            StyleRole.BAND: StyleSpec(colours.grid),
            StyleRole.BAR_OK: StyleSpec(mix(colours.ground, colours.ok, 0.45)),
            StyleRole.BAR_DONE: StyleSpec(mix(colours.ground, colours.dim, 0.35)),
            StyleRole.OVERLAY: StyleSpec(colours.second),
            StyleRole.BANNER: warning,
            StyleRole.BANNER_BLIND: critical,
        },
    )


DARK = _true_colour(COLOURS["dark"])
LIGHT = _true_colour(COLOURS["light"], is_dark=False)
CONTRAST = _true_colour(COLOURS["contrast"])

_ANSI_CRITICAL = StyleSpec("ansi_black", "ansi_bright_red")
_ANSI_WARNING = StyleSpec("ansi_black", "ansi_bright_yellow")

ANSI_16 = Palette(
    background="ansi_black",
    panel="ansi_black",
    raised="ansi_black",
    cursor=StyleSpec("", "ansi_black", "underline"),
    rule="ansi_white",
    ansi=True,
    styles={
        StyleRole.TEXT: StyleSpec("ansi_white"),
        StyleRole.STRONG: StyleSpec("ansi_bright_white", "", "bold"),
        StyleRole.DIM: StyleSpec("ansi_white"),
        StyleRole.HEAD: StyleSpec("ansi_white"),
        StyleRole.RULE: StyleSpec("ansi_white"),
        StyleRole.RAISED: StyleSpec("ansi_bright_white", "ansi_black", "bold"),
        StyleRole.TAB: StyleSpec("ansi_bright_white", "ansi_black", "bold underline"),
        StyleRole.ON_AIR: StyleSpec("ansi_red"),
        StyleRole.OFF: StyleSpec("ansi_white", "ansi_black"),
        StyleRole.OK: StyleSpec("ansi_bright_green"),
        StyleRole.INFO: StyleSpec("ansi_bright_cyan"),
        StyleRole.WARNING: StyleSpec("ansi_bright_yellow", "", "bold"),
        StyleRole.WARNING_CHIP: _ANSI_WARNING,
        StyleRole.WARNING_FILL: _ANSI_WARNING,
        StyleRole.CRITICAL: _ANSI_CRITICAL,
        StyleRole.CRITICAL_MARK: StyleSpec("ansi_bright_red"),
        StyleRole.STALE: StyleSpec("ansi_white"),
        StyleRole.KEY_20: _ANSI_WARNING,
        StyleRole.KEY_50: StyleSpec("ansi_black", "ansi_bright_magenta"),
        StyleRole.LOSS: _ANSI_CRITICAL,
        StyleRole.ODD: StyleSpec("ansi_bright_magenta"),
        StyleRole.VIDEO: StyleSpec("ansi_bright_cyan"),
        StyleRole.VIDEO_QUIET: StyleSpec("ansi_cyan"),
        StyleRole.AUDIO: StyleSpec("ansi_bright_magenta"),
        StyleRole.FPS: StyleSpec("ansi_bright_green"),
        StyleRole.LIMIT: StyleSpec("ansi_bright_yellow"),
        StyleRole.BAND: StyleSpec("ansi_white", "", "dim"),
        StyleRole.BAR_OK: StyleSpec("ansi_green"),
        StyleRole.BAR_DONE: StyleSpec("ansi_white", "", "dim"),
        StyleRole.OVERLAY: StyleSpec("ansi_bright_white"),
        StyleRole.BANNER: _ANSI_WARNING,
        StyleRole.BANNER_BLIND: _ANSI_CRITICAL,
    },
)

BOLD = frozenset(
    {
        StyleRole.STRONG,
        StyleRole.RAISED,
        StyleRole.TAB,
        StyleRole.WARNING,
        StyleRole.WARNING_CHIP,
        StyleRole.WARNING_FILL,
        StyleRole.CRITICAL_MARK,
    }
)
REVERSED = frozenset({StyleRole.CRITICAL, StyleRole.LOSS, StyleRole.BANNER, StyleRole.BANNER_BLIND})
"""Roles that are reversed and bold in the theme without colours. In that theme, roles in `BOLD` are only bold."""


def _without_colour(role: StyleRole) -> StyleSpec:
    words = ["bold"] if role in BOLD | REVERSED else []
    words += ["reverse"] if role in REVERSED else []
    words += ["underline"] if role is StyleRole.TAB else []
    words += ["dim"] if role in {StyleRole.BAND, StyleRole.BAR_DONE} else []
    background = "ansi_default" if DARK.styles[role].background else ""
    return StyleSpec("ansi_default", background, " ".join(words) or "none")


MONO = Palette(
    background="ansi_default",
    panel="ansi_default",
    raised="ansi_default",
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
    """Return the name of the theme for a terminal.

    NO_COLOR overrides the request. A terminal with sixteen colours gets `ansi-16` unless a theme is requested.
    `color_system`: Rich's name for the terminal's range of colours, None without colours.
    """
    if no_color or color_system is None:
        return "mono"
    if requested in PALETTES:
        return requested
    return "ansi-16" if color_system == "standard" else "dark"


def textual_themes() -> Iterator[Theme]:
    """Yield the palettes as Textual themes."""
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


PIXEL_STYLES = 16_384
"""Maximum number of remembered styles of pixels. The pictures of a screen of 200 x 60 cells have up to 9,000."""


def style(theme: str, role: Role) -> Style:
    """Return the style of a role in a theme. A role without a background takes the background of the line.

    Roles are not component classes, because Textual would resolve every role for each of the 100 widgets of a form.
    """
    if isinstance(role, Pixels):
        return pixel_style(role)
    return _role_style(theme, role.role if isinstance(role, Link) else role)


@lru_cache(PIXEL_STYLES)
def pixel_style(pixels: Pixels) -> Style:
    """Return the style of two pixels. The first request for each pair takes longest, so make it in a thread."""
    return Style.from_color(_pixel_colour(pixels.upper), _pixel_colour(pixels.lower))


@lru_cache(PIXEL_STYLES)
def _pixel_colour(rgb: int) -> RichColor:
    return RichColor.from_rgb(rgb >> 16, rgb >> 8 & 255, rgb & 255)


@cache
def _role_style(theme: str, role: StyleRole | Shade) -> Style:
    palette = PALETTES.get(theme, DARK)
    spec = style_spec(palette, role)
    has_ground = isinstance(role, StyleRole) and DARK.styles[role].background
    background = spec.background or (palette.background if has_ground else "")
    return Style(color=_colour(spec.colour), bgcolor=_colour(background)) + Style.parse(spec.style)


def style_spec(palette: Palette, role: StyleRole | Shade) -> StyleSpec:
    """Return the look of a role or a shade in a palette.

    A theme of sixteen colours cannot mix them, so a weak shade is dim and no background is tinted. A theme without
    colours has no backgrounds.
    """
    if isinstance(role, StyleRole):
        return palette.styles[role]
    own = palette.styles[role.ink]
    is_word_on_board = role.board is not None and role[1:6] == _WORD
    if is_word_on_board and (palette.ansi or own.background):
        return own
    words = "" if own.background or own.style == "none" else own.style
    weak = f"{words} dim" if role.strength < 100 else words
    if palette.plain:
        return StyleSpec("", "", f"{words} bold reverse" if role.filled else weak or "none")
    if role.filled:
        return StyleSpec(palette.background, _hue(palette, role.ink), "bold")
    if palette.ansi:
        return StyleSpec(_hue(palette, role.ink), "", weak or "none")
    return _mixed(palette, role, words or "none")


_WORD = Shade(StyleRole.TEXT)[1:6]
"""Values of `Shade` from `strength` to `filled` for a word on a tile. These values leave the colour unchanged."""


def _mixed(palette: Palette, shade: Shade, words: str) -> StyleSpec:
    board = palette.boards[shade.board] if shade.board else ""
    ground = Color.parse(board or palette.background)
    if shade.area is not None:
        bottom, top = palette.area
        share = bottom + (top - bottom) * shade.depth / 100
        ground = Color.parse(board or palette.panel).blend(Color.parse(_hue(palette, shade.area)), share / 100)
    if shade.fault is not None:
        ground = ground.blend(Color.parse(_hue(palette, shade.fault)), palette.fault / 100)
    ink = ground.blend(Color.parse(_hue(palette, shade.ink)), shade.strength / 100)
    has_ground = board or shade.area is not None or shade.fault is not None
    return StyleSpec(ink.hex.lower(), ground.hex.lower() if has_ground else "", words)


def _hue(palette: Palette, role: StyleRole) -> str:
    """Return the main colour of a role: its background, or else the colour of its letters."""
    spec = palette.styles[role]
    return spec.background or spec.colour


def _colour(name: str) -> RichColor | None:
    return Color.parse(name).rich_color if name else None


def _variables(palette: Palette) -> Iterator[tuple[str, str]]:
    yield "cursor", palette.cursor.background
    yield "cursor-style", palette.cursor.style
    yield "rule", palette.rule
    yield "raised", palette.raised
    yield "dim", palette.styles[StyleRole.DIM].colour
    yield "wrong", palette.styles[StyleRole.CRITICAL_MARK].colour
    yield "ansi-background", palette.background
    yield "ansi-foreground", palette.styles[StyleRole.TEXT].colour
    yield "scrollbar", palette.rule
    yield "scrollbar-background", palette.panel
