"""Video, audio, frame rate and status of one event over one time axis, and the list of its faults. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, isfinite
from textwrap import wrap

from livedeck.monitor import Episode, EventState, diagnose
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS
from livedeck.presentation.qos import ODD, STATUS_STYLES, Axis, Bucket, StatusStyle, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Group, Line, Segment, StyleRole, fit, justify, labelled, wrap_groups
from livedeck.text.values import NO_DATA, age, bits, compact_duration, frames, safe
from livedeck.ui.qos.plot import GUTTER, OVERLAY_GLYPH, PlotMarks, PlotSeries, plot_lines
from livedeck.ui.qos.series import TimeSeries

MIN_LIST_CELLS, MAX_LIST_CELLS, NOTES_CELLS = 60, 100, 60
"""Cells of the list of faults: with every word whole at most; the notes beside it are narrowed before those words."""

LABEL_CELLS = 10


def sort_episodes(episodes: Iterable[Episode]) -> list[Episode]:
    """Those that last, the worst first; then those that are over. Among equals the newest first."""
    newest_first = sorted(episodes, key=lambda episode: episode.since, reverse=True)
    over = len(SEVERITY_RANKS)
    return sorted(newest_first, key=lambda episode: SEVERITY_RANKS[episode.severity] if episode.until is None else over)


def index_of(episodes: Sequence[Episode], selected: Episode | None) -> int | None:
    """Where that fault is now, though it may have become worse, or be over; None where it is gone."""
    return next((index for index, episode in enumerate(episodes) if selected and _is_same(episode, selected)), None)


def _is_same(first: Episode, second: Episode) -> bool:
    return (first.kind, first.target, first.since) == (second.kind, second.target, second.since)


def flags(axis: Axis, episodes: Sequence[Episode], marks: Iterable[datetime]) -> Mapping[int, Segment]:
    """The sign of what began, or was marked, in each column; a fault hides a mark, a worse fault a lesser one."""
    signs: dict[int, Segment] = {}
    for at in marks:
        signs[axis.column_of(at.timestamp())] = ("m", StyleRole.INFO)
    for episode in sorted(episodes, key=lambda episode: SEVERITY_RANKS[episode.severity], reverse=True):
        glyph, _, role = SEVERITY_BADGES[episode.severity]
        signs[axis.column_of(episode.since.timestamp())] = (glyph, role)
    return {column: sign for column, sign in signs.items() if 0 <= column < axis.columns}


def episode_lines(
    state: EventState, selected: Episode | None, render_time: RenderTime, width: int, rows: int
) -> list[Line]:
    """As many faults as fit, the selected one among them and marked; beside them cause, effect and advice."""
    episodes = sort_episodes(state.episodes)
    if not episodes or rows < 1:
        return []
    marked = index_of(episodes, selected) or 0
    first = max(0, marked - rows + 1)
    lines = [
        _episode(episode, render_time, marked=index == marked)
        for index, episode in enumerate(episodes[first : first + rows], first)
    ]
    if width < MIN_LIST_CELLS + 30:
        return lines
    list_cells = min(max(MIN_LIST_CELLS, width - NOTES_CELLS), MAX_LIST_CELLS)
    notes = _notes(episodes[marked], state, width - list_cells)
    lines += [[] for _ in range(min(rows, len(notes)) - len(lines))]
    return [
        [*fit(line, list_cells, ellipsis=True), *(notes[row] if row < len(notes) else [])]
        for row, line in enumerate(lines)
    ]


def _episode(episode: Episode, render_time: RenderTime, *, marked: bool) -> Line:
    glyph, _, role = SEVERITY_BADGES[episode.severity]
    ongoing = episode.until is None
    length = compact_duration(((episode.until or render_time.server) - episode.since).total_seconds())
    duration = f"{length}{' and on' if ongoing else ''}"
    return [
        (">" if marked else " ", StyleRole.STRONG),
        (f"{episode.since:%H:%M:%S}  ", StyleRole.TEXT),
        *fit([(duration, StyleRole.STRONG if ongoing else StyleRole.DIM)], 15),
        (f"{glyph} {episode.kind:<17}", role if ongoing else StyleRole.DIM),
        (f" {safe(episode.actual, 80)}", StyleRole.TEXT),
    ]


def _notes(episode: Episode, state: EventState, width: int) -> list[Line]:
    """Cause, what viewers see, what to do: each in as many lines as it needs."""
    diagnosis = diagnose(episode.kind, state if episode.until is None else None)
    texts = {"cause": diagnosis.cause, "viewers": diagnosis.viewers, "do": diagnosis.advice}
    return [
        labelled(f" {'' if row else label}", [(part, StyleRole.TEXT)], LABEL_CELLS)
        for label, text in texts.items()
        for row, part in enumerate(wrap(text, width - LABEL_CELLS))
    ]


RANGES: tuple[tuple[str, float | None], ...] = (("5m", 300), ("15m", 900), ("1h", 3600), ("6h", 21_600), ("all", None))
"""The ranges of the chart in seconds; None: since the stream began. What the platform no longer answers comes from the
history.
"""

MBIT, KBIT = 1e6, 1e3

DAY_SECONDS = 86_400
LABEL_STEPS = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)


def chart_lines(
    state: EventState, render_time: RenderTime, series: TimeSeries, marks: PlotMarks, *, width: int, height: int
) -> list[Line]:
    """The whole chart in exactly `height` lines; the plots take what the other lines leave."""
    stale = events.is_doubtful(state, render_time)
    below = [
        _status_line("status", series.statuses, stale=stale),
        *([_status_line(f"{OVERLAY_GLYPH} other", marks.overlay.statuses, stale=stale)] if marks.overlay else []),
        *_flag_line(marks, series.axis),
        time_axis_line(series.axis),
        _legend(series, width, stale=stale) if marks.cursor is None else _readout(series, marks.cursor, width),
    ]
    plots = _plot_series(state, render_time, series, marks.overlay)
    return [*_plots(plots, series.statuses, marks, height - len(below), width, stale=stale), *below]


def empty_lines(state: EventState) -> list[Line]:
    """Why there is no chart."""
    reason = state.qos.error or "no samples yet"
    role = StyleRole.STALE if state.qos.error else StyleRole.DIM
    return [[(f" {events.name(state)}: {safe(reason)}", role)]]


def _plot_series(
    state: EventState, render_time: RenderTime, series: TimeSeries, overlay: TimeSeries | None
) -> list[PlotSeries]:
    assessment = state.assessment
    baseline, nominal, limit = assessment.baseline_video, assessment.nominal_fps, assessment.limit_video
    video, audio, fps = (overlay.video, overlay.audio, overlay.fps) if overlay else ([], [], [])
    low, high = _scale([*series.video, *video], [value for value in (baseline, limit) if value is not None])
    video_now = events.video(state, render_time)
    if baseline is not None and limit is not None:
        video_now = [*video_now, (f"  base {bits(baseline)}  limit {bits(limit)}", StyleRole.DIM)]
    expected_fps = "" if nominal is None else f"  nominal {nominal:g}"
    return [
        PlotSeries(
            "video Mbit/s", StyleRole.VIDEO, series.video, low, high, MBIT, 2, video_now, (limit, baseline), video
        ),
        PlotSeries(
            "audio kbit/s",
            StyleRole.AUDIO,
            series.audio,
            0,
            _top([*series.audio, *audio], 160e3),
            KBIT,
            0,
            events.audio(state, render_time),
            overlay=audio,
        ),
        PlotSeries(
            "fps",
            StyleRole.FPS,
            series.fps,
            0,
            _top([*series.fps, *fps], (nominal or 30) * 1.1),
            1,
            0,
            [*events.fps(state, render_time), (expected_fps, StyleRole.DIM)],
            (nominal,),
            fps,
        ),
    ]


def _scale(buckets: Iterable[Bucket | None], limits: Sequence[float]) -> tuple[float, float]:
    """The range of a curve with a margin; from zero where it comes near it, so that a fall looks like one."""
    measured = [bucket for bucket in buckets if bucket]
    lows = [bucket.low for bucket in measured] + list(limits)
    highs = [bucket.high for bucket in measured] + list(limits)
    if not lows or not isfinite(max(highs)) or max(highs) <= 0:
        return 0.0, MBIT
    low, high = min(lows), max(highs)
    margin = max((high - low) * 0.08, high * 0.02)
    return (0.0 if low < high * 0.4 else low - margin), high + margin


def _top(buckets: Iterable[Bucket | None], minimum: float) -> float:
    return max([minimum, *(bucket.high * 1.05 for bucket in buckets if bucket)])


def _plots(
    plots: Sequence[PlotSeries],
    statuses: Sequence[StatusStyle | None],
    marks: PlotMarks,
    height: int,
    width: int,
    *,
    stale: bool,
) -> list[Line]:
    lines: list[Line] = []
    for series, rows in zip(plots, _plot_heights(max(height, len(plots) * 2)), strict=True):
        scale = f"scale from {series.low / series.unit:.{series.decimals}f}" if series.low else ""
        title: list[Group] = [(0, [(f" {series.title}", StyleRole.HEAD)]), (1, [(scale, StyleRole.DIM)])]
        lines.append(justify(title, [(0, [*series.current, (" ", StyleRole.TEXT)])], width))
        lines += plot_lines(series, statuses, marks, rows - 1, stale=stale)
    return lines


def _plot_heights(height: int) -> tuple[int, int, int]:
    """Lines for video, audio and frame rate, titles included: half for the video, the rest in two."""
    small = max(2, height // 4)
    return height - 2 * small, small, small


def _flag_line(marks: PlotMarks, axis: Axis) -> list[Line]:
    """Where faults began and people marked something; no line where there is nothing."""
    if not marks.flags and marks.cursor is None:
        return []
    line: Line = [(f" {'marks':<{GUTTER - 2}}", StyleRole.HEAD), ("│", StyleRole.RULE)]
    for column in range(axis.columns):
        flag = marks.flags.get(column, (" ", StyleRole.TEXT))
        line.append(("^", StyleRole.STRONG) if column == marks.cursor and flag[0] == " " else flag)
    return [line]


def _readout(series: TimeSeries, cursor: int, width: int) -> Line:
    """What was measured in the column under the cursor."""
    column = min(max(cursor, 0), series.axis.columns - 1)
    at, status = series.axis.start + series.axis.step * column, series.statuses[column]
    rates = (
        ("video", _range_text(series.video[column], bits)),
        ("audio", _range_text(series.audio[column], bits)),
        ("fps", _range_text(series.fps[column], frames)),
    )
    groups: list[Group] = [
        (0, [(f" {datetime.fromtimestamp(at, UTC):%H:%M:%S}Z", StyleRole.STRONG)]),
        *((0, [(f"{name} ", StyleRole.HEAD), (text, StyleRole.TEXT)]) for name, text in rates),
        (0, [(f"{status.glyph} {status.word}", status.role)] if status else [("gap", StyleRole.DIM)]),
        (1, [(f"each column {age(series.axis.step)}", StyleRole.DIM)]),
    ]
    return fit(wrap_groups(groups, width), width)


def _range_text(bucket: Bucket | None, text: Callable[[float], str]) -> str:
    if bucket is None:
        return NO_DATA
    low, high = text(bucket.low), text(bucket.high)
    return low if low == high else f"{low} to {high}"


def _status_line(label: str, statuses: Sequence[StatusStyle | None], *, stale: bool) -> Line:
    strip = status_strip(statuses, stale=stale)
    return [(f" {label:<{GUTTER - 2}}", StyleRole.HEAD), ("│", StyleRole.RULE), *strip]


def time_axis_line(axis: Axis) -> Line:
    """Labels at whole steps of the clock, each under the column it names; over a day and more midnight is a date."""
    step = _label_step(axis)
    clock = "%H:%M:%S" if step < 60 else "%H:%M"
    text = [" "] * axis.columns
    at = (int(axis.start // step) + 1) * step
    while at < axis.end:
        column = int((at - axis.start) / axis.step)
        is_midnight = not at % DAY_SECONDS and axis.end - axis.start > DAY_SECONDS
        label = datetime.fromtimestamp(at, UTC).strftime("%d %b" if is_midnight else clock)
        if column + len(label) <= axis.columns:
            text[column : column + len(label)] = label
        at += step
    return [(" " * (GUTTER - 4) + "UTC ", StyleRole.DIM), ("".join(text), StyleRole.DIM)]


def _label_step(axis: Axis) -> int:
    """Seconds between labels: the least usual step that leaves 12 cells to each; whole days where none is enough."""
    minimum = axis.step * 12
    return next((step for step in LABEL_STEPS if step >= minimum), ceil(minimum / DAY_SECONDS) * DAY_SECONDS)


def _legend(series: TimeSeries, width: int, *, stale: bool) -> Line:
    """What the highlighted glyphs mean and how many samples in view carry each."""
    counts = {STATUS_STYLES[status]: 0 for status in (3, 4, 5)}
    for status, count in series.counts.items():
        style = STATUS_STYLES.get(status, ODD)
        counts[style] = counts.get(style, 0) + count
    normal = counts.pop(STATUS_STYLES[0], 0)
    groups: list[Group] = [
        (0, [(f" {style.glyph} {style.word} ", StyleRole.STALE if stale else style.role), (str(count), StyleRole.TEXT)])
        for style, count in counts.items()
    ]
    groups.append((1, [(f"normal {normal}  of {sum(series.counts.values())} samples", StyleRole.DIM)]))
    return fit(wrap_groups(groups, width), width)
