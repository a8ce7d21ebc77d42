"""The laws of a printed curve: a gap is a gap, a status stands in its column, and no line is wider than it may be."""

from __future__ import annotations

from array import array
from itertools import pairwise
from math import floor, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livedeck.monitor import NO_STATUS, Readings
from livedeck.presentation.plot import GAP, GUTTER, Plot, missing_between, plot_axis, plot_lines
from livedeck.presentation.qos import UNWATCHED, longest_step, status_style
from livedeck.text.segments import plain, width

START = 1.79e9
STEPS = st.lists(st.sampled_from([1, 1, 1, 1, 1, 1.2, 2, 4, 30]), min_size=2, max_size=120)


def samples(times: list[float], *, video: float = 4.4e6, statuses: list[int] | None = None) -> Readings:
    rates, count = array("d", [video] * len(times)), len(times)
    audio, fps = array("d", [128e3] * count), array("d", [30.0] * count)
    return Readings(array("d", times), rates, audio, fps, array("q", statuses or [0] * count))


def times_of(steps: list[float], cadence: float) -> list[float]:
    times = [START]
    for step in steps:
        times.append(times[-1] + step * cadence)
    return times


def plotted(readings: Readings, cadence: float, columns: int, **fields: object) -> Plot:
    axis = plot_axis(readings.time[0], readings.time[-1] + cadence, columns)
    return Plot(axis, readings, cadence, missing_between(readings.time, cadence), **fields)  # type: ignore[arg-type]


def drawn(plot: Plot) -> dict[str, list[str]]:
    """Return the cells of each panel, without its labels: name -> rows, each as long as the axis has columns."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in plot_lines(plot):
        text = plain(line).ljust(GUTTER + plot.axis.columns)
        label, border, cells = text[: GUTTER - 1].strip(), text[GUTTER - 1], text[GUTTER:]
        if label in {"video", "audio", "fps", "status"}:
            name = label
        if border in "┤│":
            found.setdefault(name, []).append(cells)
    return found


def is_dot(sign: str) -> bool:
    return "\u2800" < sign <= "\u28ff"


@settings(max_examples=25, deadline=None)
@given(cadence=st.floats(1, 30), steps=STEPS, columns=st.integers(60, 240))
def test_a_gap_is_empty_and_marked_and_everything_else_is_a_line(
    cadence: float, steps: list[float], columns: int
) -> None:
    times = times_of(steps, cadence)
    plot = plotted(samples(times), cadence, columns)
    panels = drawn(plot)
    status = panels.pop("status")[0]
    for before, after in pairwise(times):
        inner = cells_within(plot, before, after)[1:]
        is_gap = after - before > longest_step(cadence)
        for rows in panels.values():
            for cell in inner:
                column = [row[cell] for row in rows]
                assert any(map(is_dot, column)) != is_gap, (cell, column)
        empty = cells_within(plot, before + cadence, after) if is_gap else range(0)
        assert {status[cell] for cell in empty} <= {GAP}
        for rows in panels.values():
            assert all({row[cell] for row in rows} == {GAP} for cell in empty if cell in inner)
        if not is_gap:
            assert not [cell for cell in inner if status[cell] == GAP]


def cells_within(plot: Plot, since: float, until: float) -> range:
    """Return the cell of `since` and the whole cells up to `until`, whatever the rounding at the edge of a cell."""
    first, last = ((at - plot.axis.start) / plot.axis.step for at in (since, until))
    return range(floor(first + 1e-5), floor(last - 1e-5))


@settings(max_examples=25, deadline=None)
@given(statuses=st.lists(st.sampled_from([0, 0, 0, 3, 4, 5, 9, NO_STATUS]), min_size=4, max_size=200))
def test_a_status_stands_in_the_column_of_its_sample_and_is_counted(statuses: list[int]) -> None:
    """Of several statuses in a column the worst one is shown."""
    times = [START + 2 * index for index in range(len(statuses))]
    plot = plotted(samples(times, statuses=statuses), 2.0, 80)
    line = drawn(plot)["status"][0]
    by_glyph = {status_style(status).glyph: status_style(status).weight for status in statuses}
    for at, status in zip(times, statuses, strict=True):
        assert by_glyph[line[plot.axis.column_of(at)]] >= status_style(status).weight
    legend = "\n".join(plain(found) for found in plot_lines(plot))
    for status in {*statuses} - {NO_STATUS}:
        count = statuses.count(status)
        assert f"{status} {status_style(status).meaning}: {count} sample" in legend


def test_the_signs_of_the_statuses_differ_without_colour() -> None:
    plot = plotted(samples([START + 20 * index for index in range(4)], statuses=[0, 3, 4, 5]), 20.0, 80)
    line = drawn(plot)["status"][0]
    assert "".join(dict.fromkeys(line.strip())) == "▁▲◆✖"


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0, 1), columns=st.integers(60, 240))
def test_a_value_stands_at_its_height(share: float, columns: int) -> None:
    """The first sample sets the scale: to 6 Mbit/s in seven rows, to 5 in eleven."""
    times = [START + 2 * index for index in range(60)]
    readings = samples(times, video=4.9e6 * share)
    readings.video[0] = 4.9e6
    plot = plotted(readings, 2.0, columns)
    rows, cell = drawn(plot)["video"], plot.axis.column_of(times[30])
    filled = [index for index, row in enumerate(rows) if is_dot(row[cell])]
    top = 6e6 if len(rows) == 7 else 5e6
    height, dot = 4.9e6 * share / top * len(rows), 0.25  # plotext rounds a place to the nearest dot
    allowed = {min(max(floor(height + off), 0), len(rows) - 1) for off in (-dot, 0.0, dot)}
    assert {len(rows) - 1 - index for index in filled} <= allowed
    assert len(filled) == 1


@pytest.mark.parametrize("columns", [40, 60, 79, 80, 106, 107, 120, 160, 240])
def test_no_line_is_wider_than_the_terminal_and_none_has_a_control_character(columns: int) -> None:
    times = [START + 2 * index for index in range(400) if not 100 < index < 160]
    readings = samples(times, statuses=[9] * len(times))
    readings.fps[0] = nan
    lines = [*plot_lines(plotted(readings, 2.0, columns, unwatched=[(START + 210, START + 290)]))]
    assert max(width(line) for line in lines) == columns
    assert all(text.isprintable() for line in lines for text, _ in line)


@pytest.mark.parametrize(("status", "sign"), [(0, GAP), (5, "✖")])
def test_a_gap_shorter_than_a_column_is_marked_unless_its_column_has_a_fault(status: int, sign: str) -> None:
    times = [START + 2 * index for index in range(30_000) if not 15_000 < index < 15_010]
    statuses = [status if index == 15_000 else 0 for index in range(len(times))]
    plot = plotted(samples(times, statuses=statuses), 2.0, 80)
    assert drawn(plot)["status"][0][plot.axis.column_of(times[15_000])] == sign
    assert "░ no samples: 00:20" in "\n".join(plain(line) for line in plot_lines(plot))


def test_time_that_was_not_watched_is_no_gap() -> None:
    times = [START, *(START + 2 * index for index in range(200) if not 50 < index < 100)]
    plot = plotted(samples([*dict.fromkeys(times)]), 2.0, 80, unwatched=[(START + 100, START + 200)])
    status = drawn(plot)["status"][0]
    assert UNWATCHED in status
    assert GAP not in status
    said = "\n".join(plain(line) for line in plot_lines(plot))
    assert "╱ not watched: 01:40, a signal may have arrived" in said
    assert "░" not in said


def test_a_missing_value_is_neither_zero_nor_drawn() -> None:
    readings = samples([START + 2 * index for index in range(60)])
    readings.audio[:] = array("d", [nan] * 60)
    readings.fps[20:40] = array("d", [nan] * 20)
    plot = plotted(readings, 2.0, 80)
    panels = drawn(plot)
    said = [plain(line) for line in plot_lines(plot)]
    assert " audio kbit/s, no values" in said
    assert "audio" not in panels
    assert "   fps frames/s, 30 to 30, 20 samples without a value" in said
    middle = plot.axis.column_of(START + 60)
    assert {row[middle] for row in panels["fps"]} == {" "}


def test_a_short_fall_is_seen_however_long_the_time_is() -> None:
    """A column of many samples shows their range."""
    readings = samples([START + 2 * index for index in range(30_000)])
    readings.video[15_000] = 0.0
    plot = plotted(readings, 2.0, 80)
    column = plot.axis.column_of(readings.time[15_000])
    assert is_dot(drawn(plot)["video"][-1][column])
