"""Every theme is readable, nothing is shown by colour alone, and without colours none is sent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import dist
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from livedeck.presentation.badges import GRADE_BADGES, SEVERITY_BADGES, TALLY_BADGES
from livedeck.presentation.qos import HIGHLIGHTED, NORMAL, ODD
from livedeck.settings import Settings
from livedeck.text.segments import FILLED, Shade, StyleRole
from livedeck.ui.kit import themes
from livedeck.ui.kit.line_filters import Plain, ascii_only
from livedeck.ui.kit.palette import COLOURS
from livedeck.ui.wallboard.styles import wall_style
from ui.stage import act, running, text_of

GRAPHIC = {StyleRole.ON_AIR, StyleRole.LIMIT}
"""Roles of lamps and lines, not of text: a contrast of 3 to 1 is enough (WCAG 1.4.11)."""

DECORATION = {
    StyleRole.BAND, StyleRole.RULE, StyleRole.VIDEO_QUIET,
    StyleRole.BAR_OK, StyleRole.BAR_DONE,
}  # fmt: skip
"""Roles without meaning: frames, grids, and bars with a number beside them."""

XTERM = {
    "black": "#000000", "red": "#cd0000", "green": "#00cd00", "yellow": "#cdcd00", "white": "#e5e5e5",
    "bright_red": "#ff0000", "bright_green": "#00ff00", "bright_yellow": "#ffff00", "bright_magenta": "#ff00ff",
    "cyan": "#00cdcd", "magenta": "#cd00cd", "bright_cyan": "#00ffff", "bright_white": "#ffffff",
}  # fmt: skip
"""Usual colours of a terminal of sixteen colours."""


def colour(name: str) -> Color:
    return Color.parse(XTERM.get(name.removeprefix("ansi_"), name))


def contrast(text: str, background: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2)."""
    first, second = _luminance(colour(text)), _luminance(colour(background))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(colour: Color) -> float:
    return sumprod((0.2126, 0.7152, 0.0722), _linear(colour))


def _linear(colour: Color) -> list[float]:
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]


def sumprod(first: Sequence[float], second: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("role", sorted({*StyleRole} - DECORATION))
@pytest.mark.parametrize("name", [name for name, palette in themes.PALETTES.items() if not palette.plain])
def test_text_contrasts_with_every_background_that_it_may_have(name: str, role: StyleRole) -> None:
    palette = themes.PALETTES[name]
    spec = palette.styles[role]
    shared = [palette.background, palette.panel, palette.raised, palette.cursor.background]
    ratio = min(contrast(spec.colour, background) for background in ([spec.background] if spec.background else shared))
    assert ratio >= (3.0 if role in GRAPHIC else 4.5)


def test_the_roles_that_are_filled_are_those_with_a_ground() -> None:
    assert {role for role, spec in themes.DARK.styles.items() if spec.background} == FILLED


@pytest.mark.parametrize("role", [StyleRole.TEXT, StyleRole.STRONG, StyleRole.DIM, StyleRole.OK])
@pytest.mark.parametrize("name", COLOURS)
def test_words_can_be_read_on_the_ground_of_a_critical_row(name: str, role: StyleRole) -> None:
    style = themes.style(name, Shade(role, area=StyleRole.CRITICAL))
    assert style.color is not None
    assert style.bgcolor is not None
    assert contrast(*(part.get_truecolor().hex for part in (style.color, style.bgcolor))) >= 4.5


WORDS_ON_BOARDS = sorted({*StyleRole} - DECORATION - GRAPHIC)


@pytest.mark.parametrize("board", [StyleRole.CRITICAL, StyleRole.WARNING, StyleRole.OK, StyleRole.STALE])
@pytest.mark.parametrize("name", COLOURS)
def test_words_contrast_with_the_ground_of_every_tile_of_a_wall(name: str, board: StyleRole) -> None:
    """As the wall shows them: it has no pure white."""
    specs = {role: wall_style(themes.PALETTES[name], Shade(role, board=board), dim=False) for role in WORDS_ON_BOARDS}
    ratios = {role: contrast(spec.colour, spec.background) for role, spec in specs.items()}
    assert not {role: round(ratio, 2) for role, ratio in ratios.items() if ratio < 4.5}


@pytest.mark.parametrize("name", themes.PALETTES)
def test_every_theme_has_every_role_and_tally_red_is_the_lamps_alone(name: str) -> None:
    """interface.md, "Colours"."""
    styles = themes.PALETTES[name].styles
    assert set(styles) == set(StyleRole)
    if not themes.PALETTES[name].plain:
        tally_red = styles[StyleRole.ON_AIR].colour
        assert [role for role, spec in styles.items() if tally_red in spec] == [StyleRole.ON_AIR]


@pytest.mark.parametrize("name", themes.PALETTES)
def test_what_is_critical_is_filled_and_a_warning_and_what_is_well_are_not(name: str) -> None:
    """interface.md, "Colours": the fault is the loudest thing on the screen."""
    palette = themes.PALETTES[name]
    critical, warning, well = (palette.styles[role] for role in (StyleRole.CRITICAL, StyleRole.WARNING, StyleRole.OK))
    assert "reverse" in critical.style if palette.plain else critical.background not in {"", palette.background}
    assert (warning.background, well.background) == ("", "")
    assert "bold" in warning.style
    assert "bold" not in well.style
    assert not palette.styles[StyleRole.ON_AIR].background


VISION = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Kind of colour blindness -> linear RGB as seen without that kind of cone: G. M.

Machado and others 2009, severity 1.0.
"""

LEAST_DISTANCE = dict.fromkeys(COLOURS, 10.0) | {"light": 8.0}


@pytest.mark.parametrize("pair", list(combinations((StyleRole.CRITICAL_MARK, StyleRole.WARNING, StyleRole.OK), 2)))
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", LEAST_DISTANCE)
def test_every_eye_tells_severities_apart_by_their_colour_too(
    name: str, vision: str, pair: tuple[StyleRole, StyleRole]
) -> None:
    styles = themes.PALETTES[name].styles
    first, second = (_oklab(Color.parse(styles[role].colour), VISION[vision]) for role in pair)
    assert 100 * dist(first, second) >= LEAST_DISTANCE[name]


LEAST_OF_CURVES = {"dark": 6.0, "light": 5.0, "contrast": 9.5}


@pytest.mark.parametrize("pair", list(combinations((StyleRole.VIDEO, StyleRole.AUDIO, StyleRole.FPS), 2)))
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", LEAST_OF_CURVES)
def test_every_eye_tells_the_curves_apart(name: str, vision: str, pair: tuple[StyleRole, StyleRole]) -> None:
    """Each has a panel and a name, too; the theme of strong contrasts leaves no doubt."""
    styles = themes.PALETTES[name].styles
    first, second = (_oklab(Color.parse(styles[role].colour), VISION[vision]) for role in pair)
    assert 100 * dist(first, second) >= LEAST_OF_CURVES[name]


Matrix = tuple[tuple[float, float, float], ...]


def _oklab(colour: Color, vision: Matrix) -> tuple[float, ...]:
    """Return lightness and two axes of colour, in which equal distances look equal (B. Ottosson 2020)."""
    seen = [min(max(part, 0.0), 1.0) for part in _times(vision, _linear(colour))]
    cones = _times(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        seen,
    )
    return _times(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        [part ** (1 / 3) for part in cones],
    )


def _times(matrix: Matrix, vector: Sequence[float]) -> tuple[float, ...]:
    return tuple(sumprod(row, vector) for row in matrix)


def test_the_settings_accept_exactly_the_themes_that_exist() -> None:
    assert set(get_args(Settings.model_fields["theme"].annotation)) == {themes.AUTO, *themes.PALETTES}


@pytest.mark.parametrize(
    ("requested", "no_color", "color_system", "name"),
    [
        ("auto", False, "truecolor", "dark"),
        ("auto", False, "256", "dark"),
        ("auto", False, "standard", "ansi-16"),
        ("auto", False, None, "mono"),
        ("light", False, "standard", "light"),
        ("light", True, "truecolor", "mono"),
    ],
)
def test_the_terminal_selects_the_theme_where_none_is_requested(
    requested: str, no_color: bool, color_system: str | None, name: str
) -> None:
    assert themes.select_theme(requested, no_color=no_color, color_system=color_system) == name


def test_glyphs_of_one_kind_stay_distinct_in_ascii() -> None:
    kinds = (
        [glyph for glyph, _, _ in TALLY_BADGES.values()],
        [glyph for glyph, _, _ in SEVERITY_BADGES.values()],
        [glyph for glyph, _, _ in GRADE_BADGES.values() if glyph],
        [style.glyph for style in (NORMAL, *HIGHLIGHTED, ODD)],
    )
    for kind in kinds:
        assert len({ascii_only(glyph) for glyph in kind}) == len(set(kind))


@given(st.text(st.characters(exclude_categories=["C"])))
def test_ascii_takes_the_same_cells(text: str) -> None:
    plain = ascii_only(text)
    assert plain.isascii()
    assert len(plain) == sum(cell_len(char) for char in text)


@given(st.integers(0, 255))
def test_a_curve_is_visible_in_ascii(dots: int) -> None:
    assert (ascii_only(chr(0x2800 + dots)) == " ") == (dots == 0)


def test_without_colour_a_style_has_none_and_keeps_its_weight() -> None:
    style = Style(color="red", bgcolor="#00ff00", bold=True, reverse=True)
    ((_, plain, _),) = Plain().apply([Segment("x", style)], Color.parse("black"))
    assert plain is not None
    assert (plain.color, plain.bgcolor, plain.bold, plain.reverse) == (None, None, True, True)


async def test_themes_are_cycled_and_named() -> None:
    async with running() as (deck, pilot):
        first, *others = themes.PALETTES
        for name in (*others, first):
            await act(pilot, "view.theme")
            assert deck.theme == name
            assert f"theme {name}" in text_of(deck)
        deck.dispatch("view.theme", "light")
        deck.dispatch("view.theme", "purple")
        await pilot.pause()
        assert deck.theme == "light"
        assert "there is no theme purple" in text_of(deck)
