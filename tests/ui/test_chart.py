"""Laws of a chart: a value has its exact dot, old columns stay, a gap is a gap, a fault has more than a colour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from livedeck.presentation import qos
from livedeck.presentation.qos import UNWATCHED, Axis, Bucket
from livedeck.presentation.scale import DOTS, Scale, TimeTick, time_ticks
from livedeck.text.segments import Role, Shade, ShadedLine, StyleRole, plain, width
from livedeck.ui.kit import themes
from livedeck.ui.kit.braille import BLANK, draw_curve
from livedeck.ui.kit.chart import (
    CURSOR,
    GAP,
    GUTTER,
    Backdrop,
    Curve,
    blocks_line,
    map_lines,
    panel_lines,
    status_line,
    time_line,
)
from livedeck.ui.kit.line_filters import ascii_only

LABEL = re.compile(r"\d\d:\d\d(:\d\d)?|\d\d [A-Z][a-z]{2}")
VALUES = st.one_of(st.just(0.0), st.floats(0, 1e9), st.floats(0, 1e300))
ROWS = st.integers(1, 21)

_DOT_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def level(value: float) -> Bucket:
    return Bucket(value, value, value)


def dots_of(lines: Sequence[str]) -> dict[int, set[int]]:
    """Return column of dots -> the set dots, counted from the bottom."""
    found: dict[int, set[int]] = {}
    for row, text in enumerate(lines):
        for cell, glyph in enumerate(text):
            bits = 0 if glyph == " " else ord(glyph) - 0x2800
            for down, pair in enumerate(_DOT_BITS):
                for side, bit in enumerate(pair):
                    if bits & bit:
                        found.setdefault(2 * cell + side, set()).add(DOTS * (len(lines) - row) - 1 - down)
    return found


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=2, max_size=60), ROWS, st.sampled_from([0.0, 2.5]))
def test_the_dot_of_a_value_is_its_share_of_the_scale(shares: list[float | None], rows: int, low: float) -> None:
    """interface.md, "Charts"."""
    scale = Scale(low, low + 5.0, rows)
    even = [None if index % 2 else share for index, share in enumerate(shares[: len(shares) // 2 * 2])]
    values = [None if share is None else low + 5.0 * share for share in even]
    expected = {
        column: {min(floor((value - low) / 5.0 * DOTS * rows), DOTS * rows - 1)}
        for column, value in enumerate(values)
        if value is not None
    }
    assert dots_of(draw_curve(values, scale)) == expected


@given(st.lists(st.one_of(st.none(), st.floats(0, 5)), max_size=40).filter(lambda older: not len(older) % 2), ROWS)
def test_what_comes_later_changes_no_older_column(older: list[float | None], rows: int) -> None:
    """interface.md, "Charts"."""
    scale, cells = Scale(0.0, 5.0, rows), len(older) // 2
    before, after = draw_curve(older, scale), draw_curve([*older, 0.0, 5.0, 1.0, None], scale)
    assert [text[:cells] for text in after] == before


@given(st.lists(st.one_of(st.none(), st.floats(0, 5)), min_size=4, max_size=60), st.integers(1, 10), ROWS)
def test_a_curve_looks_the_same_wherever_it_stands(values: list[float | None], moved: int, rows: int) -> None:
    """The picture moves on by whole cells: what is in it does not change its shape."""
    scale, even = Scale(0.0, 5.0, rows), values[: len(values) // 2 * 2]
    still, shifted = draw_curve(even, scale), draw_curve([*[None] * (2 * moved), *even], scale)
    assert [text[moved:] for text in shifted] == still


def test_no_line_leads_across_a_gap() -> None:
    (line,) = draw_curve([1, 1, 1, 1, None, None, None, None, 1, 1], Scale(0, 2, 1))
    assert [glyph != BLANK for glyph in line] == [True, True, False, False, True]


BUCKETS = st.one_of(st.none(), st.lists(VALUES, min_size=3, max_size=3).map(lambda values: Bucket(*sorted(values))))
STATUSES = st.sampled_from([None, qos.NORMAL, *qos.HIGHLIGHTED, qos.ODD])


@given(st.data(), st.integers(1, 30), ROWS)
def test_any_samples_make_a_panel_of_exactly_its_size(data: st.DataObject, cells: int, rows: int) -> None:
    """None, one, all equal, huge: no exception, and nothing wider than it may be."""
    dots, second = (data.draw(st.lists(BUCKETS, min_size=2 * cells, max_size=2 * cells)) for _ in range(2))
    statuses = data.draw(st.lists(STATUSES, min_size=cells, max_size=cells))
    limit, base = (data.draw(st.one_of(st.none(), VALUES)) for _ in range(2))
    cursor = data.draw(st.one_of(st.none(), st.integers(0, cells - 1)))
    backdrop = Backdrop(
        statuses,
        range(data.draw(st.integers(0, cells))),
        [TimeTick(data.draw(st.integers(0, cells - 1)), "21:00")],
        cursor,
        {0: ("m", StyleRole.INFO)},
        data.draw(st.booleans()),
        data.draw(st.booleans()),
    )
    curve = Curve("video", "Mbit/s", 1e6, StyleRole.VIDEO, dots, limit, base, second)
    scale = curve.scale(rows, is_fitted=data.draw(st.booleans()))
    panel = panel_lines(curve, scale, backdrop)
    around = [
        status_line("status", backdrop),
        blocks_line(curve, scale, backdrop),
        *map_lines(dots, StyleRole.VIDEO, backdrop, range(-1, cells + 3), 2),
        time_line(Axis(0, cells, cells), backdrop),
    ]
    assert [width(line) for line in panel] == [GUTTER + cells] * rows
    assert [width(line) for line in around] == [GUTTER + cells] * len(around)
    for theme in themes.PALETTES:
        assert all(themes.style(theme, role) is not None for line in panel for _, role in line)


def cells_of(line: ShadedLine) -> list[tuple[str, Role]]:
    return [(glyph, role) for text, role in line for glyph in text][GUTTER:]


def panel(curve: Curve, backdrop: Backdrop, scale: Scale) -> list[list[tuple[str, Role]]]:
    return [cells_of(line) for line in panel_lines(curve, scale, backdrop)]


@given(st.floats(0, 1), ROWS)
def test_limits_are_drawn_at_their_true_height_in_every_second_cell(share: float, rows: int) -> None:
    """A rate at its limit must never look as if it lay under it."""
    scale, value = Scale(0.0, 5.0, rows), 5.0 * share
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, [None] * 12, limit=value)
    drawn = panel(curve, Backdrop([None] * 6, has_grid=False), scale)
    texts = tuple("".join(glyph for glyph, _ in row) for row in drawn)
    assert dots_of(texts) == {column: {scale.dot(value)} for column in (0, 1, 4, 5, 8, 9)}
    assert {role.ink for row in drawn for glyph, role in row if glyph != " " and isinstance(role, Shade)} == {
        StyleRole.LIMIT
    }


def test_time_that_was_not_watched_is_no_gap() -> None:
    """A gap says that nothing was sent; of this time nobody knows."""
    dots = [level(4), level(4), None, None, None, None]
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, dots)
    backdrop = Backdrop([qos.NORMAL, None, None], range(3), has_grid=False, unwatched={1})
    drawn = panel(curve, backdrop, Scale(0, 5, 3))
    assert [row[1][0] for row in drawn] == [UNWATCHED] * 3
    assert [row[2][0] for row in drawn] == [GAP] * 3
    assert plain(status_line("", backdrop))[-3:] == f"▁{UNWATCHED}╌"
    assert plain(blocks_line(curve, Scale(0, 5, 1), backdrop))[-2:] == UNWATCHED + GAP
    assert ascii_only(UNWATCHED).isascii()


def test_a_missing_sample_is_a_gap_and_never_zero() -> None:
    dots = [level(4), level(4), None, None, level(0), level(0), None, None]
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, dots)
    drawn = panel(curve, Backdrop([qos.NORMAL, None, qos.NORMAL, None], range(3), has_grid=False), Scale(0, 5, 3))
    assert [row[1][0] for row in drawn] == [GAP] * 3
    assert all(isinstance(row[1][1], Shade) and row[1][1].area is None for row in drawn)
    assert [row[2][0] for row in drawn] == [" ", " ", "⣀"]
    assert [row[3][0] for row in drawn] == [" "] * 3


def test_a_fault_is_told_without_colour_and_shades_its_column_over_the_full_height() -> None:
    """interface.md, "Charts"."""
    statuses = [qos.NORMAL, *qos.HIGHLIGHTED, None]
    backdrop = Backdrop(statuses, range(5))
    assert plain(status_line("status", backdrop)) == " status▁▲◆✖╌"
    assert len(set(ascii_only("▁▲◆✖╌"))) == 5
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, [level(3)] * 10)
    for row in panel(curve, backdrop, Scale(0, 5, 4)):
        shades = [role for _, role in row if isinstance(role, Shade)]
        assert [shade.fault for shade in shades] == [None, *(style.role for style in qos.HIGHLIGHTED), None]
        assert {shade.ink for (glyph, _), shade in zip(row, shades, strict=True) if glyph in "⠉⠒⠤⣀"} <= {
            StyleRole.VIDEO,
            StyleRole.TEXT,
        }


def test_the_area_lies_under_the_curve_and_takes_its_cell_where_that_is_in_its_upper_half() -> None:
    for value, expected in ((2.0, [False, False, True, True]), (2.6, [False, True, True, True])):
        curve = Curve("video", "", 1.0, StyleRole.VIDEO, [level(value)] * 2)
        rows = panel(curve, Backdrop([qos.NORMAL]), Scale(0, 4, 4))
        assert [isinstance(role, Shade) and role.area is StyleRole.VIDEO for ((_, role),) in rows] == expected


def test_old_values_have_no_colour_of_their_own_and_no_ground() -> None:
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, [level(3)] * 2)
    backdrop = Backdrop([qos.LOSS], is_stale=True, has_grid=False)
    shades = [role for row in panel(curve, backdrop, Scale(0, 4, 4)) for _, role in row if isinstance(role, Shade)]
    assert {(shade.area, shade.fault) for shade in shades} == {(None, None)}
    assert StyleRole.VIDEO not in {shade.ink for shade in shades}
    assert (qos.LOSS.glyph, StyleRole.STALE) in cells_of(status_line("status", backdrop))


def test_the_cursor_runs_through_the_panel_and_its_time_is_on_the_axis() -> None:
    curve = Curve("video", "", 1.0, StyleRole.VIDEO, [level(3)] * 40)
    backdrop = Backdrop([qos.NORMAL] * 20, ticks=[TimeTick(9, "00:00")], cursor=10)
    assert all(row[10][0] == CURSOR for row in panel(curve, backdrop, Scale(0, 4, 4)))
    line = time_line(Axis(0, 60, 20), backdrop)
    assert plain(line).split() == ["UTC", "00:00:30"]
    assert (StyleRole.STRONG, True) in {(role.ink, role.filled) for _, role in line if isinstance(role, Shade)}


@given(st.floats(1e9, 2e9), st.sampled_from([300, 3600, 86_400, 4 * 86_400, 60 * 86_400]), st.integers(40, 190))
def test_the_time_labels_of_a_chart_do_not_touch_whatever_its_range(at: float, span: float, columns: int) -> None:
    axis = Axis.on_clock(at, span, columns)
    ticks = time_ticks(axis)
    assert all(after.cell - before.cell >= 12 for before, after in pairwise(ticks))
    labels = re.split(
        " {2,}", plain(time_line(axis, Backdrop([None] * columns, ticks=ticks))).strip().removeprefix("UTC").strip()
    )
    assert all(LABEL.fullmatch(label) for label in labels)


def test_a_blank_behind_a_filled_sign_is_not_filled() -> None:
    *_, last = status_line("status", Backdrop([qos.LOSS, None], range(1)))
    assert last == (" ", StyleRole.DIM)
