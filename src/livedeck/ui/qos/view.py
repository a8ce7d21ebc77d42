"""Video, audio, frame rate and status of an event on one time axis, and the list of its faults. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from textwrap import wrap
from typing import NamedTuple

from livedeck.monitor import Alarm, BroadcastState, Episode, EventState, Severity, diagnose
from livedeck.presentation import event_detail, events
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS, words_role
from livedeck.presentation.past_streams import PastStream, day_words, stream_words
from livedeck.presentation.qos import HIGHLIGHTED, STATUS_STYLES, Axis, StatusStyle, status_style
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import TimeSeries
from livedeck.text.segments import (
    Group,
    Line,
    Segment,
    ShadedLine,
    StyleRole,
    fit,
    justify,
    labelled,
    shorten,
    wrap_groups,
)
from livedeck.text.segments import width as line_width
from livedeck.text.values import NO_DATA, compact_duration, evidence_text, frames, safe
from livedeck.ui.kit.chart import CURSOR, GUTTER, Backdrop, map_lines
from livedeck.ui.kit.signal_chart import KBIT, MARGIN, MBIT, NUMBER_CELLS, signal_backdrop, signal_lines
from livedeck.ui.shell.context import ActionRegistry
from livedeck.ui.shell.preflight import pane_lines

LIST_CELLS, ACTUAL_CELLS, MAX_LIST_CELLS, NOTES_CELLS = 56, 76, 100, 60
"""Widths in cells of the list of faults: minimum, minimum with actual values, maximum.

`NOTES_CELLS`: width of the notes beside the list. The notes are narrower only beside a list of minimum width.
"""

LABEL_CELLS = 10


def with_running(episodes: Iterable[Episode], alarms: Iterable[Alarm], skew: float) -> list[Episode]:
    """Return the faults of an event, sorted, together with faults that only an alarm shows, such as a lost encoder.

    `alarms`: alarms of the event. `skew`: seconds by which the platform's clock is ahead of this machine's.
    """
    found = list(episodes)
    ongoing = {(episode.kind, episode.target) for episode in found if episode.until is None}
    for alarm in alarms:
        if alarm.is_ongoing and (alarm.kind, alarm.target) not in ongoing:
            since, actual, expected = alarm.since + timedelta(seconds=skew), alarm.actual, alarm.expected
            found.append(Episode(alarm.kind, alarm.severity, alarm.target, since, None, actual, expected))
    return sort_episodes(found)


def sort_episodes(episodes: Iterable[Episode]) -> list[Episode]:
    """Sort faults: first open faults by severity, then cleared faults. Of equal faults the newest is first."""
    newest_first = sorted(episodes, key=lambda episode: episode.since, reverse=True)
    cleared = len(SEVERITY_RANKS)
    return sorted(
        newest_first, key=lambda episode: SEVERITY_RANKS[episode.severity] if episode.until is None else cleared
    )


def index_of(episodes: Sequence[Episode], selected: Episode | None) -> int | None:
    """Return the index of the selected fault, even if it became worse or cleared; None if the list lacks it."""
    return next((index for index, episode in enumerate(episodes) if selected and _is_same(episode, selected)), None)


def _is_same(first: Episode, second: Episode) -> bool:
    return (first.kind, first.target, first.since) == (second.kind, second.target, second.since)


def flags(axis: Axis, episodes: Sequence[Episode], marks: Iterable[datetime]) -> Mapping[int, Segment]:
    """Return column -> sign of a fault that starts in the column, or of a marker in the column.

    A fault hides a marker of the same column, and a worse fault hides a lesser one.
    """
    signs: dict[int, Segment] = {}
    for at in marks:
        signs[axis.column_of(at.timestamp())] = ("m", StyleRole.INFO)
    for episode in sorted(episodes, key=lambda episode: SEVERITY_RANKS[episode.severity], reverse=True):
        glyph, _, role = SEVERITY_BADGES[episode.severity]
        signs[axis.column_of(episode.since.timestamp())] = (glyph, role)
    return {column: sign for column, sign in signs.items() if 0 <= column < axis.columns}


def fault_lines(shown: Shown, rows: int, *, cells: int) -> list[Line]:
    """Return the faults that fit into `rows` lines. The selected fault is always included and marked.

    Lines of at least `ACTUAL_CELLS` cells also show the actual value.
    """
    marked = index_of(shown.episodes, shown.episode) or 0
    first = max(0, marked - rows + 1)
    return [
        _episode(episode, shown, marked=index == marked, cells=cells)
        for index, episode in enumerate(shown.episodes[first : first + rows], first)
    ]


def episode_lines(shown: Shown, width: int, rows: int) -> list[Line]:
    """Return the list of faults, with cause, effect and advice of the selected fault beside it.

    A narrow screen has only the selected fault, with cause, effect and advice under it.
    """
    state, episodes = shown.state, shown.episodes
    if not episodes or rows < 1:
        return []
    episode = episodes[index_of(episodes, shown.episode) or 0]
    if width < LIST_CELLS + 30:
        return [_episode(episode, shown, marked=True, cells=width), *_notes(episode, state, width)][:rows]
    list_cells = min(max(LIST_CELLS, width - NOTES_CELLS), MAX_LIST_CELLS)
    lines = fault_lines(shown, rows, cells=list_cells)
    notes = _notes(episode, state, width - list_cells)
    lines += [[] for _ in range(min(rows, len(notes)) - len(lines))]
    return [
        [*fit(line, list_cells, ellipsis=True), *(notes[row] if row < len(notes) else [])]
        for row, line in enumerate(lines)
    ]


def _episode(episode: Episode, shown: Shown, *, marked: bool, cells: int) -> Line:
    glyph, _, role = SEVERITY_BADGES[episode.severity]
    mark = StyleRole.CRITICAL_MARK if episode.severity is Severity.CRITICAL else role
    ongoing = episode.until is None
    length = compact_duration(((episode.until or shown.render_time.server) - episode.since).total_seconds())
    duration = f"{length}{' so far' if ongoing else ''}"
    head: Line = [
        ("▌" if marked else " ", StyleRole.INFO),
        (f"{episode.since:%H:%M:%S}  ", StyleRole.TEXT),
        *fit([(duration, StyleRole.STRONG if ongoing else StyleRole.DIM)], 15),
        (f"{glyph} ", mark if ongoing else StyleRole.DIM),
        (f"{episode.kind:<17}", words_role(episode.severity) if ongoing else StyleRole.DIM),
    ]
    names = {restream.id: restream.name for restream in shown.state.event.restreams or ()}
    if name := names.get(episode.target):
        head.append((f" {safe(name, 24)}", StyleRole.TEXT))
    actual = shorten(evidence_text(episode), cells - line_width(head) - 2) if cells >= ACTUAL_CELLS else ""
    return [*head, (f" {actual}" if actual else "", StyleRole.TEXT)]


def _notes(episode: Episode, state: EventState, width: int) -> list[Line]:
    """Return advice, cause and effect on viewers of a fault, each in as many lines as necessary.

    The advice is first, because the last lines are cut off where there is little room.
    """
    diagnosis = diagnose(episode.kind, state if episode.until is None else None)
    texts = {"do": diagnosis.advice, "cause": diagnosis.cause, "viewers": diagnosis.viewers}
    return [
        labelled(f" {'' if row else label}", [(part, StyleRole.TEXT)], LABEL_CELLS)
        for label, text in texts.items()
        for row, part in enumerate(wrap(text, max(1, width - LABEL_CELLS)))
    ]


RANGES: tuple[tuple[str, float | None], ...] = (("5m", 300), ("15m", 900), ("1h", 3600), ("6h", 21_600), ("all", None))
"""Ranges of the chart: name and length in seconds. A length of None means the whole stream.

Long ranges need the history, because the platform returns no old samples.
"""

SECOND_SIGN = "··"


@dataclass(frozen=True, slots=True)
class Layout:
    """Number of rows for each part of the chart.

    `whole`: map of the whole event. `below`: legend and list of faults. A panel of one row has no head, but name and
    number beside it.
    """

    video: int
    audio: int
    fps: int
    whole: int
    below: int

    @property
    def is_small(self) -> bool:
        """True if audio and frame rate have one row each, drawn as blocks."""
        return self.audio == 1

    def columns(self, width: int) -> int:
        """Return the number of columns in the curve of a panel `width` cells wide."""
        return max(8, width - GUTTER - (NUMBER_CELLS if self.is_small else MARGIN))


TALL_CHART = 30
"""Minimum number of rows of a chart with a tall map and a long list of faults."""

PANELS = (
    (41, 21, 21), (21, 13, 13), (21, 11, 11), (16, 11, 11), (16, 9, 9), (13, 9, 9), (13, 7, 7), (11, 7, 7), (11, 5, 5),
    (9, 5, 5), (7, 5, 5), (11, 1, 1), (9, 1, 1), (7, 1, 1), (5, 1, 1), (3, 1, 1), (1, 1, 1),
)  # fmt: skip
"""Numbers of rows of the panels of video, audio and frame rate, largest first. All have evenly spaced ticks."""


def layout(height: int, *, has_side: bool) -> Layout:
    """Return the layout with the largest panels that leave room for the list of faults.

    `has_side`: the list is beside the panels and needs no room under them.
    """
    is_tall = height >= TALL_CHART
    whole = 3 if is_tall else 1
    below = 0 if has_side else 6 if is_tall else 5
    for panels in PANELS:
        heads = 1 if panels[1] == 1 else 3
        left = height - sum(panels) - heads - 2 - whole
        if left >= below:
            return Layout(*panels, whole, left)
    return Layout(1, 1, 1, 1, max(0, height - 7))


@dataclass(frozen=True, slots=True)
class Chart:
    """Content of a chart.

    `series`: values of the event in the window. `whole`: values of the whole event, for the map. `second`: values of a
    second event. `cursor`: cell of the cursor. `flags`: cell -> sign of a fault or a marker. `is_fitted`: scales fit
    the values instead of beginning at zero. `window`: text about the window, under the map.
    """

    series: TimeSeries
    whole: TimeSeries | None = None
    second: TimeSeries | None = None
    cursor: int | None = None
    flags: Mapping[int, Segment] | None = None
    is_fitted: bool = False
    has_grid: bool = True
    window: str = ""


def chart_lines(state: EventState, render_time: RenderTime, chart: Chart, rows: Layout, width: int) -> list[ShadedLine]:
    """Return the chart: panels, statuses, times, and the map of the whole event.

    The panel of video says why the window has no samples.
    """
    stale = events.is_doubtful(state, render_time)
    backdrop = signal_backdrop(chart.series, cursor=chart.cursor, has_grid=chart.has_grid, is_stale=stale)
    panels = signal_lines(
        state,
        render_time,
        chart.series,
        backdrop,
        rows=(rows.video, rows.audio, rows.fps),
        width=width,
        second=chart.second,
        marks=chart.flags,
        is_fitted=chart.is_fitted,
    )
    if chart.series.is_empty:
        panels[1 + rows.video // 2] = [(f"{'':{GUTTER}}{_no_samples_text(state)}", StyleRole.DIM)]
    return [*panels, *_map(chart, backdrop, rows, width)]


class Shown(NamedTuple):
    """Content of the screen: an event, its chart, its faults in order, a second event, and the selected fault."""

    state: EventState
    render_time: RenderTime
    chart: Chart
    episodes: Sequence[Episode] = ()
    second: EventState | None = None
    episode: Episode | None = None

    @property
    def is_doubtful(self) -> bool:
        """True if the event's data are stale."""
        return events.is_doubtful(self.state, self.render_time)

    @property
    def is_empty(self) -> bool:
        """True if neither the window nor the rest of the event has samples."""
        return self.chart.series.is_empty and (self.chart.whole is None or self.chart.whole.is_empty)


def below_lines(shown: Shown, width: int, rows: int) -> list[ShadedLine]:
    """Return the legend and the list of faults."""
    if rows < 1:
        return []
    signs = wrap_groups(legend(shown.chart.series.counts, is_stale=shown.is_doubtful), width)
    return [signs, *episode_lines(shown, width, rows - 1)]


def empty_lines(
    state: EventState, render_time: RenderTime, actions: ActionRegistry, width: int, height: int
) -> list[ShadedLine]:
    """Return the lines in place of the chart of an event without samples: the reason, and facts of the event.

    An event that is about to start has its preflight, any other event the advice about its worst fault.
    """
    role, found = StyleRole.STALE if state.qos.error else StyleRole.DIM, render_time.preflights.get(state.id)
    facts = [[], *event_detail.fact_lines(state, render_time, width)]
    lines: list[ShadedLine] = [[(f" {events.name(state)}: {_no_samples_text(state)}", role)]]
    if found:
        lines += [[], *pane_lines(found, render_time, actions, width, height - len(lines) - 1 - len(facts))]
    else:
        lines += event_detail.advice_lines(state, render_time, width)
    return [*lines, *facts]


def _no_samples_text(state: EventState) -> str:
    """Return the reason why the event has no chart."""
    if state.qos.error:
        return safe(state.qos.error)
    if newest := state.qos.readings.last:
        return f"no samples in this window, the newest at {datetime.fromtimestamp(newest.time, UTC):%d %b %H:%M:%S}Z"
    return "no samples known" if state.phase.tally is BroadcastState.COMPLETED else "no samples yet"


def past_words(axis: Axis, stream: PastStream | None, today: date) -> str:
    """Return the text about a window that is not live: its times and, if any, the past stream."""
    start, end = (datetime.fromtimestamp(at, UTC) for at in (axis.start, axis.end))
    expected = stream.first.date() if stream else today
    day = "" if start.date() == expected else f"{day_words(start, today)} "
    return f"NOT LIVE {day}{start:%H:%M}-{end:%H:%M}{f', {stream_words(stream, today)}' if stream else ''}"


def window_words(axis: Axis, whole: TimeSeries) -> str:
    """Return the length of the window and of the whole event, as text."""
    shown, total = axis.end - axis.start, len(whole.expected) * whole.axis.step
    if shown >= total:
        return f"all of {compact_duration(total)}"
    return f"window {compact_duration(shown)} of {compact_duration(total)}"


def _map(chart: Chart, backdrop: Backdrop, rows: Layout, width: int) -> list[ShadedLine]:
    whole = chart.whole
    if whole is None:
        return [[] for _ in range(rows.whole)]
    axis, cells = chart.series.axis, whole.axis
    window = range(cells.column_of(axis.start), min(cells.column_of(axis.end - 1), whole.expected.stop) + 1)
    around = replace(backdrop, statuses=whole.statuses, expected=whole.expected, unwatched=whole.unwatched)
    lines = map_lines(whole.video, StyleRole.VIDEO, around, window, min(2, rows.whole))
    if rows.whole < 3:
        return lines
    start = datetime.fromtimestamp(cells.start + cells.step * whole.expected.start, UTC)
    left: list[Group] = [(0, [(f"{'':{GUTTER}}{start:%H:%M}  start", StyleRole.DIM)])]
    return [*lines, [*justify(left, [(1, [(chart.window, StyleRole.DIM)])], width - 1)]]


def readout(shown: Shown) -> list[ShadedGroup]:
    """Return the values under the cursor (without one, the newest values), then those of the second event.

    A column of several samples has the range of their values and their worst status.
    """
    state, chart, second, series, is_stale = (
        shown.state,
        shown.chart,
        shown.second,
        shown.chart.series,
        shown.is_doubtful,
    )
    roles = [StyleRole.STALE] * 4 if is_stale else [StyleRole.STRONG, StyleRole.VIDEO, StyleRole.AUDIO, StyleRole.FPS]
    cell, reading = chart.cursor, state.qos.readings.last
    if cell is not None:
        texts, style = _column_texts(series, cell), series.statuses[cell]
        start, seconds = series.axis.start + series.axis.step * cell, series.axis.step
        is_span = seconds >= 2 * (state.qos.cadence or 0.0)
        clock = f"{_clock(start)}..{_clock(start + seconds)}" if is_span else _clock(start)
    else:
        texts = _texts((reading.video, reading.audio, reading.fps) if reading else (None, None, None))
        style = status_style(reading.status) if reading and reading.status is not None else None
        clock = _clock(reading.time) if reading else NO_DATA
    groups: list[ShadedGroup] = [
        (0, [(f" {' ' if cell is None else CURSOR} {clock}", roles[0])]),
        *(
            (rank, [(f"{name} ", StyleRole.DIM), (text, role)])
            for rank, name, text, role in zip((0, 1, 0), ("video", "audio", "fps"), texts, roles[1:], strict=True)
        ),
        (0, _status(style, is_stale=is_stale)),
    ]
    if second is not None:
        found = _column_texts(chart.second, cell) if chart.second and cell is not None else _texts(_newest(second))
        groups.append((1, [(f"{SECOND_SIGN} {events.name(second)} {found[0]}", StyleRole.OVERLAY)]))
        groups.append((2, [(f"{found[1]}  {found[2]}", StyleRole.OVERLAY)]))
    return groups


ShadedGroup = tuple[int, ShadedLine]

_Values = tuple[float | None, float | None, float | None]


def _newest(state: EventState) -> _Values:
    reading = state.qos.readings.last
    return (reading.video, reading.audio, reading.fps) if reading else (None, None, None)


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def _column_texts(series: TimeSeries, cell: int) -> tuple[str, str, str]:
    """Return the ranges of video, audio and frame rate in a column: `0.12..4.48 Mbit/s`.

    If both ends of a range have the same text, the range is written as one value.
    """
    halves = [[bucket for bucket in dots[2 * cell : 2 * cell + 2] if bucket] for dots in series.curves]
    ends: list[tuple[float | None, float | None]] = [
        (min(bucket.low for bucket in pair), max(bucket.high for bucket in pair)) if pair else (None, None)
        for pair in halves
    ]
    low, high = (_texts((video, audio, fps)) for video, audio, fps in zip(*ends, strict=True))
    video, audio, fps = (_span(*pair) for pair in zip(low, high, strict=True))
    return video, audio, fps


def _span(low: str, high: str) -> str:
    if low == high:
        return low
    (least, _, unit), (_, _, high_unit) = low.partition(" "), high.partition(" ")
    return f"{least if unit == high_unit else low}..{high}"


def _texts(values: _Values) -> tuple[str, str, str]:
    return _rate(values[0]), _rate(values[1]), NO_DATA if values[2] is None else frames(values[2])


def _rate(rate: float | None) -> str:
    if rate is None:
        return NO_DATA
    return f"{rate / MBIT:.2f} Mbit/s" if rate >= 999_500 else f"{rate / KBIT:.0f} kbit/s"


def _status(style: StatusStyle | None, *, is_stale: bool) -> ShadedLine:
    if style is None:
        return [("no sample", StyleRole.DIM)]
    if is_stale:
        return [(f"{style.glyph} {style.word}", StyleRole.STALE)]
    if style in HIGHLIGHTED:
        return [(f" {style.glyph} {_status_number(style)} {style.word} ", style.role)]
    return [(f"{style.glyph} {style.word}", style.role)]


def _status_number(style: StatusStyle) -> int:
    return next(number for number, other in STATUS_STYLES.items() if other == style)


def legend(counts: Mapping[int, int], *, is_stale: bool) -> list[ShadedGroup]:
    """Return the meaning of each status sign, with the number of visible samples of this status."""
    by_style = {STATUS_STYLES[status]: 0 for status in (3, 4, 5)}
    for status, count in counts.items():
        style = status_style(status)
        by_style[style] = by_style.get(style, 0) + count
    normal = by_style.pop(STATUS_STYLES[0], 0)
    groups: list[ShadedGroup] = []
    for style, count in by_style.items():
        sign = StyleRole.STALE if is_stale else style.role
        number = f"{_status_number(style)} " if style in HIGHLIGHTED else ""
        words = [(f" {number}{style.word} ", StyleRole.DIM), (str(count), StyleRole.STRONG if count else StyleRole.DIM)]
        groups.append((0, [(" ", StyleRole.TEXT), (style.glyph, sign), *words]))
    return [
        *groups,
        (0, [(f"{STATUS_STYLES[0].glyph} normal {normal} of {sum(counts.values())} samples", StyleRole.DIM)]),
    ]
