"""Video, audio, frame rate and the status strip of one event over one time axis, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, isfinite
from textwrap import wrap

from livedeck.monitor import Episode, EventState, Marker, diagnose
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS
from livedeck.presentation.qos import ODD, STATUS_STYLES, Axis, Bucket, StatusStyle, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text import values as wording
from livedeck.text.segments import Group, Line, Segment, StyleRole, fit, justify, wrap_groups
from livedeck.ui.qos.plot import CLIPPED, GUTTER, PlotMarks, PlotSeries, plot
from livedeck.ui.qos.series import TimeSeries

LIST_CELLS, WHOLE_CELLS, NOTES_CELLS = 60, 100, 60

"""What the list takes at least, and with every word whole; what stands beside it goes before those words."""


LABEL_CELLS = 10


def ranked(found: Iterable[Episode]) -> list[Episode]:
    """Those that last, the worst first; then those that are over. Among equals the newest first."""
    newest = sorted(found, key=lambda one: one.since, reverse=True)
    return sorted(newest, key=lambda one: SEVERITY_RANKS[one.severity] if one.until is None else len(SEVERITY_RANKS))


def place(listed: Sequence[Episode], chosen: Episode | None) -> int | None:
    """Where that fault stands by now, which may have become worse, or be over; None: nowhere."""
    return next((at for at, one in enumerate(listed) if chosen and _same(one, chosen)), None)


def _same(one: Episode, other: Episode) -> bool:
    return (one.kind, one.target, one.since) == (other.kind, other.target, other.since)


def flags(axis: Axis, episodes: Sequence[Episode], markers: Sequence[Marker]) -> Mapping[int, Segment]:
    """The sign of what began, or was marked, in each column; a fault goes before a marker."""
    found: dict[int, Segment] = {}
    for marker in markers:
        found[_column(axis, marker.at.timestamp())] = ("m", StyleRole.INFO)
    for one in sorted(episodes, key=lambda one: SEVERITY_RANKS[one.severity], reverse=True):
        glyph, _, ink = SEVERITY_BADGES[one.severity]
        found[_column(axis, one.since.timestamp())] = (glyph, ink)
    return {column: sign for column, sign in found.items() if 0 <= column < axis.columns}


def _column(axis: Axis, at: float) -> int:
    return int((at - axis.start) // axis.step)


def lines(state: EventState, chosen: Episode | None, moment: RenderTime, width: int, rows: int) -> list[Line]:
    """As many as fit, the chosen one among them and marked; beside them why, what viewers see and what to do."""
    known = ranked(state.episodes)
    if not known or rows < 1:
        return []
    mark = place(known, chosen) or 0
    first = max(0, mark - rows + 1)
    listed = [_line(one, moment, marked=first + at == mark) for at, one in enumerate(known[first : first + rows])]
    if width < LIST_CELLS + 30:
        return listed
    room = min(max(LIST_CELLS, width - NOTES_CELLS), WHOLE_CELLS)
    notes = _notes(known[mark], state, width - room)
    listed += [[] for _ in range(min(rows, len(notes)) - len(listed))]
    return [
        [*fit(line, room, ellipsis=True), *(notes[at] if at < len(notes) else [])] for at, line in enumerate(listed)
    ]


def _line(one: Episode, moment: RenderTime, *, marked: bool) -> Line:
    glyph, _, ink = SEVERITY_BADGES[one.severity]
    end = moment.server if one.until is None else one.until
    length = values.compact_duration((end - one.since).total_seconds())
    return [
        (">" if marked else " ", StyleRole.STRONG),
        (f"{one.since:%H:%M:%S}  ", StyleRole.TEXT),
        *fit(
            [
                (
                    f"{length}{' and on' if one.until is None else ''}",
                    StyleRole.STRONG if one.until is None else StyleRole.DIM,
                )
            ],
            15,
        ),
        (f"{glyph} {one.kind:<17}", ink if one.until is None else StyleRole.DIM),
        (f" {values.safe(one.actual, 80)}", StyleRole.TEXT),
    ]


def _notes(one: Episode, state: EventState, width: int) -> list[Line]:
    """Why, what viewers see, what to do: each in as many lines as it needs."""
    said = diagnose(one.kind, state if one.until is None else None)
    pairs = (("cause", said.cause), ("viewers", said.viewers), ("do", said.advice))
    return [
        [*fit([(f"  {'' if at else label}", StyleRole.HEAD)], LABEL_CELLS), (part, StyleRole.TEXT)]
        for label, text in pairs
        for at, part in enumerate(wrap(text, width - LABEL_CELLS))
    ]


RANGES: tuple[tuple[str, float | None], ...] = (("5m", 300), ("15m", 900), ("1h", 3600), ("6h", 21_600), ("all", None))

"""What can be looked at; None: since the stream began. What the platform no longer answers comes from the history."""


MBIT, KBIT = 1e6, 1e3


DAY = 86_400

LABEL_STEPS = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)


def view(
    state: EventState, moment: RenderTime, shown: TimeSeries, marked: PlotMarks, *, width: int, height: int
) -> list[Line]:
    """The whole picture in exactly `height` lines; the plots take what the other lines leave."""
    stale = events.is_doubtful(state, moment)
    tail = [
        _status_line("status", shown.looks, stale=stale),
        *_over_line(marked.over, stale=stale),
        *_flag_line(marked, shown.axis),
        *time_axis(shown.axis),
        _legend(shown, width, stale=stale) if marked.cursor is None else _readout(shown, marked.cursor, width),
    ]
    measures = _measures(state, moment, shown, marked.over)
    return [*_plots(measures, shown.looks, marked, height - len(tail), width, stale=stale), *tail]


def empty(state: EventState) -> list[Line]:
    """Why there is no picture."""
    reason = state.qos.error or "no samples yet"
    return [[(f" {events.name(state)}: {wording.safe(reason)}", StyleRole.STALE if state.qos.error else StyleRole.DIM)]]


def _measures(state: EventState, moment: RenderTime, shown: TimeSeries, over: TimeSeries | None) -> list[PlotSeries]:
    verdict = state.assessment
    base, nominal, floor = verdict.baseline_video, verdict.nominal_fps, verdict.limit_video
    video, audio, fps = (over.video, over.audio, over.fps) if over else ([], [], [])
    low, high = _scale([*shown.video, *video], [value for value in (base, floor) if value is not None])
    return [
        PlotSeries(
            "video Mbit/s",
            StyleRole.VIDEO,
            shown.video,
            low,
            high,
            MBIT,
            2,
            _video_now(state, moment, base, floor),
            (floor, base),
            video,
        ),
        PlotSeries(
            "audio kbit/s",
            StyleRole.AUDIO,
            shown.audio,
            0,
            _top([*shown.audio, *audio], 160e3),
            KBIT,
            0,
            events.audio(state, moment),
            over=audio,
        ),
        PlotSeries(
            "fps",
            StyleRole.FPS,
            shown.fps,
            0,
            _top([*shown.fps, *fps], (nominal or 30) * 1.1),
            1,
            0,
            _fps_now(state, moment, nominal),
            (nominal,),
            fps,
        ),
    ]


def _video_now(state: EventState, moment: RenderTime, base: float | None, floor: float | None) -> Line:
    line = [*events.video(state, moment)]
    if base is not None and floor is not None:
        line.append((f"  base {wording.bits(base)}  limit {wording.bits(floor)}", StyleRole.DIM))
    return line


def _fps_now(state: EventState, moment: RenderTime, nominal: float | None) -> Line:
    expected = "" if nominal is None else f"  nominal {nominal:g}"
    return [*events.fps(state, moment), (expected, StyleRole.DIM)]


def _scale(values: Iterable[Bucket | None], others: Sequence[float]) -> tuple[float, float]:
    """The range of a curve with a little air; from zero as soon as it comes near it, so that a fall looks like one."""
    lows = [value.low for value in values if value] + list(others)
    highs = [value.high for value in values if value] + list(others)
    if not lows or not isfinite(max(highs)) or max(highs) <= 0:
        return 0.0, MBIT
    low, high = min(lows), max(highs)
    air = max((high - low) * 0.08, high * 0.02)
    return (0.0 if low < high * 0.4 else low - air), high + air


def _top(values: Iterable[Bucket | None], least: float) -> float:
    return max([least, *(value.high * 1.05 for value in values if value)])


def _plots(
    measures: Sequence[PlotSeries],
    looks: Sequence[StatusStyle | None],
    marked: PlotMarks,
    height: int,
    width: int,
    *,
    stale: bool,
) -> list[Line]:
    rows = _share(max(height, len(measures) * 2))
    lines: list[Line] = []
    for measure, count in zip(measures, rows, strict=True):
        scale = f"scale from {measure.low / measure.unit:.{measure.decimals}f}" if measure.low else ""
        head: list[Group] = [(0, [(f" {measure.head}", StyleRole.HEAD)]), (1, [(scale, StyleRole.DIM)])]
        lines.append(justify(head, [(0, [*measure.now, (" ", StyleRole.TEXT)])], width))
        lines += plot(measure, looks, marked, count - 1, stale=stale)
    return lines


def _share(height: int) -> tuple[int, int, int]:
    """Lines for video, audio and frame rate, heads included: half for the video, the rest in two."""
    small = max(2, height // 4)
    return height - 2 * small, small, small


def _flag_line(marked: PlotMarks, axis: Axis) -> list[Line]:
    """Where faults began and people marked something; no line where there is nothing."""
    if not marked.flags and marked.cursor is None:
        return []
    line: Line = [(f" {'marks':<{GUTTER - 2}}", StyleRole.HEAD), ("│", StyleRole.RULE)]
    for column in range(axis.columns):
        sign = marked.flags.get(column, (" ", StyleRole.TEXT))
        line.append(("^", StyleRole.STRONG) if column == marked.cursor and sign[0] == " " else sign)
    return [line]


def _readout(shown: TimeSeries, cursor: int, width: int) -> Line:
    """What was measured in the column under the cursor."""
    cursor = min(max(cursor, 0), shown.axis.columns - 1)
    at = shown.axis.start + shown.axis.step * cursor
    known = shown.looks[cursor]
    parts: list[Group] = [(0, [(f" {datetime.fromtimestamp(at, UTC):%H:%M:%S}Z", StyleRole.STRONG)])]
    for name, column, word in (
        ("video", shown.video[cursor], wording.bits),
        ("audio", shown.audio[cursor], wording.bits),
        ("fps", shown.fps[cursor], wording.frames),
    ):
        parts.append((0, [(f"{name} ", StyleRole.HEAD), (_between(column, word), StyleRole.TEXT)]))
    parts.append((0, [(f"{known.glyph} {known.word}", known.role)] if known else [("gap", StyleRole.DIM)]))
    parts.append((1, [(f"each column {wording.age(shown.axis.step)}", StyleRole.DIM)]))
    return fit(wrap_groups(parts, width), width)


def _between(column: Bucket | None, word: Callable[[float], str]) -> str:
    if column is None:
        return wording.NO_DATA
    low, high = word(column.low), word(column.high)
    return low if low == high else f"{low} to {high}"


def _over_line(over: TimeSeries | None, *, stale: bool) -> list[Line]:
    """The status of the second event, where there is one."""
    return [_status_line(f"{CLIPPED} other", over.looks, stale=stale)] if over else []


def _status_line(name: str, looks: Sequence[StatusStyle | None], *, stale: bool) -> Line:
    drawn = status_strip(looks)
    if stale:
        drawn = [("".join(text for text, _ in drawn), StyleRole.STALE)]
    return [(f" {name:<{GUTTER - 2}}", StyleRole.HEAD), ("│", StyleRole.RULE), *drawn]


def time_axis(axis: Axis) -> list[Line]:
    """Labels at whole steps of the clock, each under the column it names; over a day and more midnight is a date."""
    every = _label_step(axis)
    clock = "%H:%M:%S" if every < 60 else "%H:%M"
    text = [" "] * axis.columns
    at = (int(axis.start // every) + 1) * every
    while at < axis.end:
        column = int((at - axis.start) / axis.step)
        midnight = not at % DAY and axis.end - axis.start > DAY
        label = datetime.fromtimestamp(at, UTC).strftime("%d %b" if midnight else clock)
        if column + len(label) <= axis.columns:
            text[column : column + len(label)] = label
        at += every
    return [[(" " * (GUTTER - 4) + "UTC ", StyleRole.DIM), ("".join(text), StyleRole.DIM)]]


def _label_step(axis: Axis) -> int:
    """Seconds between labels: the least usual step that leaves 12 cells to each; whole days where none is enough."""
    wanted = axis.step * 12
    return next((step for step in LABEL_STEPS if step >= wanted), ceil(wanted / DAY) * DAY)


def _legend(shown: TimeSeries, width: int, *, stale: bool) -> Line:
    """What the highlighted glyphs mean and how many samples in view carry each."""
    counts = {STATUS_STYLES[status]: 0 for status in (3, 4, 5)}
    for status, count in shown.counts.items():
        look = STATUS_STYLES.get(status, ODD)
        counts[look] = counts.get(look, 0) + count
    normal = counts.pop(STATUS_STYLES[0], 0)
    parts = [
        (0, [(f" {look.glyph} {look.word} ", StyleRole.STALE if stale else look.role), (str(count), StyleRole.TEXT)])
        for look, count in counts.items()
    ]
    parts.append((1, [(f"normal {normal}  of {sum(shown.counts.values())} samples", StyleRole.DIM)]))
    return fit(wrap_groups(parts, width), width)
