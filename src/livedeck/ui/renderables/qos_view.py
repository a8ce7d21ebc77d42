"""Video, audio, frame rate and the status strip of one event over one time axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import ceil, isfinite

from livedeck import wording
from livedeck.monitor import EventState
from livedeck.ui.renderables import buckets, cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Part, fit, flow, spread
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.plot import GUTTER, OVER, Marked, Measure, plot
from livedeck.ui.renderables.spark import strip
from livedeck.ui.renderables.status import LOOKS, ODD, Look
from livedeck.ui.renderables.stretch import Stretch

RANGES: tuple[tuple[str, float | None], ...] = (("5m", 300), ("15m", 900), ("1h", 3600), ("6h", 21_600), ("all", None))
"""What can be looked at; None: since the stream began. What the platform no longer answers comes from the history."""

MBIT, KBIT = 1e6, 1e3

DAY = 86_400
LABEL_STEPS = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)


def view(state: EventState, moment: Moment, shown: Stretch, marked: Marked, *, width: int, height: int) -> list[Line]:
    """The whole picture in exactly `height` lines; the plots take what the other lines leave."""
    stale = cells.doubtful(state, moment)
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
    return [[(f" {cells.name(state)}: {wording.safe(reason)}", Ink.STALE if state.qos.error else Ink.DIM)]]


def _measures(state: EventState, moment: Moment, shown: Stretch, over: Stretch | None) -> list[Measure]:
    verdict = state.verdict
    base, nominal, floor = verdict.baseline_video, verdict.nominal_fps, verdict.limit_video
    video, audio, fps = (over.video, over.audio, over.fps) if over else ([], [], [])
    low, high = _scale([*shown.video, *video], [value for value in (base, floor) if value is not None])
    return [
        Measure(
            "video Mbit/s",
            Ink.VIDEO,
            shown.video,
            low,
            high,
            MBIT,
            2,
            _video_now(state, moment, base, floor),
            (floor, base),
            video,
        ),
        Measure(
            "audio kbit/s",
            Ink.AUDIO,
            shown.audio,
            0,
            _top([*shown.audio, *audio], 160e3),
            KBIT,
            0,
            cells.audio(state, moment),
            over=audio,
        ),
        Measure(
            "fps",
            Ink.FPS,
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


def _video_now(state: EventState, moment: Moment, base: float | None, floor: float | None) -> Line:
    line = [*cells.video(state, moment)]
    if base is not None and floor is not None:
        line.append((f"  base {wording.bits(base)}  limit {wording.bits(floor)}", Ink.DIM))
    return line


def _fps_now(state: EventState, moment: Moment, nominal: float | None) -> Line:
    expected = "" if nominal is None else f"  nominal {nominal:g}"
    return [*cells.fps(state, moment), (expected, Ink.DIM)]


def _scale(values: Iterable[buckets.Bucket | None], others: Sequence[float]) -> tuple[float, float]:
    """The range of a curve with a little air; from zero as soon as it comes near it, so that a fall looks like one."""
    lows = [value.low for value in values if value] + list(others)
    highs = [value.high for value in values if value] + list(others)
    if not lows or not isfinite(max(highs)) or max(highs) <= 0:
        return 0.0, MBIT
    low, high = min(lows), max(highs)
    air = max((high - low) * 0.08, high * 0.02)
    return (0.0 if low < high * 0.4 else low - air), high + air


def _top(values: Iterable[buckets.Bucket | None], least: float) -> float:
    return max([least, *(value.high * 1.05 for value in values if value)])


def _plots(
    measures: Sequence[Measure], looks: Sequence[Look | None], marked: Marked, height: int, width: int, *, stale: bool
) -> list[Line]:
    rows = _share(max(height, len(measures) * 2))
    lines: list[Line] = []
    for measure, count in zip(measures, rows, strict=True):
        scale = f"scale from {measure.low / measure.unit:.{measure.decimals}f}" if measure.low else ""
        head: list[Part] = [(0, [(f" {measure.head}", Ink.HEAD)]), (1, [(scale, Ink.DIM)])]
        lines.append(spread(head, [(0, [*measure.now, (" ", Ink.TEXT)])], width))
        lines += plot(measure, looks, marked, count - 1, stale=stale)
    return lines


def _share(height: int) -> tuple[int, int, int]:
    """Lines for video, audio and frame rate, heads included: half for the video, the rest in two."""
    small = max(2, height // 4)
    return height - 2 * small, small, small


def _flag_line(marked: Marked, axis: buckets.Axis) -> list[Line]:
    """Where faults began and people marked something; no line where there is nothing."""
    if not marked.flags and marked.cursor is None:
        return []
    line: Line = [(f" {'marks':<{GUTTER - 2}}", Ink.HEAD), ("│", Ink.RULE)]
    for column in range(axis.columns):
        sign = marked.flags.get(column, (" ", Ink.TEXT))
        line.append(("^", Ink.STRONG) if column == marked.cursor and sign[0] == " " else sign)
    return [line]


def _readout(shown: Stretch, cursor: int, width: int) -> Line:
    """What was measured in the column under the cursor."""
    cursor = min(max(cursor, 0), shown.axis.columns - 1)
    at = shown.axis.start + shown.axis.step * cursor
    known = shown.looks[cursor]
    parts: list[Part] = [(0, [(f" {datetime.fromtimestamp(at, UTC):%H:%M:%S}Z", Ink.STRONG)])]
    for name, column, word in (
        ("video", shown.video[cursor], wording.bits),
        ("audio", shown.audio[cursor], wording.bits),
        ("fps", shown.fps[cursor], wording.frames),
    ):
        parts.append((0, [(f"{name} ", Ink.HEAD), (_between(column, word), Ink.TEXT)]))
    parts.append((0, [(f"{known.glyph} {known.word}", known.ink)] if known else [("gap", Ink.DIM)]))
    parts.append((1, [(f"each column {wording.age(shown.axis.step)}", Ink.DIM)]))
    return fit(flow(parts, width), width)


def _between(column: buckets.Bucket | None, word: Callable[[float], str]) -> str:
    if column is None:
        return wording.NO_DATA
    low, high = word(column.low), word(column.high)
    return low if low == high else f"{low} to {high}"


def _over_line(over: Stretch | None, *, stale: bool) -> list[Line]:
    """The status of the second event, where there is one."""
    return [_status_line(f"{OVER} other", over.looks, stale=stale)] if over else []


def _status_line(name: str, looks: Sequence[Look | None], *, stale: bool) -> Line:
    drawn = strip(looks)
    if stale:
        drawn = [("".join(text for text, _ in drawn), Ink.STALE)]
    return [(f" {name:<{GUTTER - 2}}", Ink.HEAD), ("│", Ink.RULE), *drawn]


def time_axis(axis: buckets.Axis) -> list[Line]:
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
    return [[(" " * (GUTTER - 4) + "UTC ", Ink.DIM), ("".join(text), Ink.DIM)]]


def _label_step(axis: buckets.Axis) -> int:
    """Seconds between labels: the least usual step that leaves 12 cells to each; whole days where none is enough."""
    wanted = axis.step * 12
    return next((step for step in LABEL_STEPS if step >= wanted), ceil(wanted / DAY) * DAY)


def _legend(shown: Stretch, width: int, *, stale: bool) -> Line:
    """What the highlighted glyphs mean and how many samples in view carry each."""
    counts = {LOOKS[status]: 0 for status in (3, 4, 5)}
    for status, count in shown.counts.items():
        look = LOOKS.get(status, ODD)
        counts[look] = counts.get(look, 0) + count
    normal = counts.pop(LOOKS[0], 0)
    parts = [
        (0, [(f" {look.glyph} {look.word} ", Ink.STALE if stale else look.ink), (str(count), Ink.TEXT)])
        for look, count in counts.items()
    ]
    parts.append((1, [(f"normal {normal}  of {sum(shown.counts.values())} samples", Ink.DIM)]))
    return fit(flow(parts, width), width)
