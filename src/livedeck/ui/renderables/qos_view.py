"""Video, audio, frame rate and the status strip of one event over one time axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

from livedeck import wording
from livedeck.monitor import EventState
from livedeck.ui.renderables import buckets, cells
from livedeck.ui.renderables.chart import curve, row_of
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Part, fit, flow, spread
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.spark import strip
from livedeck.ui.renderables.status import HIGHLIGHTED, LOOKS, ODD, Look

GUTTER = 9
"""Cells left of every plot, for the scale."""

RANGES: tuple[tuple[str, float], ...] = (("5m", 300), ("15m", 900), ("1h", 3600), ("2h", 7200))
"""What can be looked at: the document's service answers at most the last 3600 samples (decisions.md)."""

MBIT, KBIT = 1e6, 1e3


@dataclass(frozen=True, slots=True)
class Measure:
    """One curve: its head, its unit's size, the scale it is drawn on, and a value to mark across it."""

    head: str
    ink: Ink
    values: list[buckets.Bucket | None]
    low: float
    high: float
    unit: float
    decimals: int
    now: Line
    mark: float | None = None


def view(state: EventState, moment: Moment, span: float, width: int, height: int) -> list[Line]:
    """The whole picture in exactly `height` lines; the plots take what the other lines leave."""
    axis = buckets.axis_of(state, moment, span, max(8, width - GUTTER - 1))
    if axis is None:
        reason = state.qos.error or "no samples yet"
        return [[(f" {cells.name(state)}: {wording.safe(reason)}", Ink.STALE if state.qos.error else Ink.DIM)]]
    looks = buckets.statuses(axis, state.qos.readings)
    measures = _measures(state, moment, axis)
    stale = cells.doubtful(state, moment)
    tail = [_status_line(looks, stale=stale), *_time_axis(axis), _legend(state, axis, width, stale=stale)]
    return [*_plots(measures, looks, height - len(tail), width, stale=stale), *tail]


def _measures(state: EventState, moment: Moment, axis: buckets.Axis) -> list[Measure]:
    readings, verdict = state.qos.readings, state.verdict
    video = buckets.columns(axis, readings, readings.video)
    audio = buckets.columns(axis, readings, readings.audio)
    fps = buckets.columns(axis, readings, readings.fps)
    base, nominal = verdict.baseline_video, verdict.nominal_fps
    floor = verdict.limit_video
    low, high = _scale(video, [value for value in (base, floor) if value is not None])
    return [
        Measure("video Mbit/s", Ink.VIDEO, video, low, high, MBIT, 2, _video_now(state, moment, base, floor), floor),
        Measure("audio kbit/s", Ink.AUDIO, audio, 0, _top(audio, 160e3), KBIT, 0, cells.audio(state, moment)),
        Measure(
            "fps", Ink.FPS, fps, 0, _top(fps, (nominal or 30) * 1.1), 1, 0, _fps_now(state, moment, nominal), nominal
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
    measures: Sequence[Measure], looks: Sequence[Look | None], height: int, width: int, *, stale: bool
) -> list[Line]:
    rows = _share(max(height, len(measures) * 2))
    lines: list[Line] = []
    for measure, count in zip(measures, rows, strict=True):
        scale = f"scale from {measure.low / measure.unit:.{measure.decimals}f}" if measure.low else ""
        head: list[Part] = [(0, [(f" {measure.head}", Ink.HEAD)]), (1, [(scale, Ink.DIM)])]
        lines.append(spread(head, [(0, [*measure.now, (" ", Ink.TEXT)])], width))
        lines += _plot(measure, looks, count - 1, stale=stale)
    return lines


def _share(height: int) -> tuple[int, int, int]:
    """Lines for video, audio and frame rate, heads included: half for the video, the rest in two."""
    small = max(2, height // 4)
    return height - 2 * small, small, small


def _plot(measure: Measure, looks: Sequence[Look | None], rows: int, *, stale: bool) -> list[Line]:
    drawn = curve(measure.values, rows, measure.low, measure.high)
    marked = None if measure.mark is None else row_of(measure.mark, rows, measure.low, measure.high)
    return [
        [*_gutter(measure, row, rows), *_painted(text, looks, measure.ink, marked=row == marked, stale=stale)]
        for row, text in enumerate(drawn)
    ]


def _gutter(measure: Measure, row: int, rows: int) -> Line:
    """The scale: the top and the bottom value, and the middle where there is room for it."""
    marked = {0, rows - 1} | ({rows // 2} if rows >= 5 else set())
    if row not in marked or (rows == 1 and row):
        return [(f"{'│':>{GUTTER}}", Ink.RULE)]
    share = 1 - row / (rows - 1) if rows > 1 else 1
    value = (measure.low + (measure.high - measure.low) * share) / measure.unit
    return [(f"{value:>{GUTTER - 2}.{measure.decimals}f} ", Ink.DIM), ("┤", Ink.RULE)]


def _painted(text: str, looks: Sequence[Look | None], ink: Ink, *, marked: bool, stale: bool) -> Line:
    """A row of a plot: each cell in the ink of its column's status, the marked value dashed where the curve is not."""
    line: Line = []
    for char, look in zip(text, looks, strict=False):
        blank = char in " ⠀"
        shown, cell = (
            ("╌", Ink.LIMIT)
            if blank and marked
            else (char, _cell_ink(look, ink, stale=stale) if not blank else Ink.TEXT)
        )
        if line and line[-1][1] is cell:
            line[-1] = (line[-1][0] + shown, cell)
        else:
            line.append((shown, cell))
    return line


def _cell_ink(look: Look | None, ink: Ink, *, stale: bool) -> Ink:
    if stale:
        return Ink.STALE
    return look.ink if look in HIGHLIGHTED else ink


def _status_line(looks: Sequence[Look | None], *, stale: bool) -> Line:
    drawn = strip(looks)
    if stale:
        drawn = [("".join(text for text, _ in drawn), Ink.STALE)]
    return [(f" {'status':<{GUTTER - 2}}", Ink.HEAD), ("│", Ink.RULE), *drawn]


def _time_axis(axis: buckets.Axis) -> list[Line]:
    """Labels at whole steps of the clock, each under the column it names."""
    every = _label_step(axis)
    text = [" "] * axis.columns
    at = (int(axis.start // every) + 1) * every
    while at < axis.end:
        column = int((at - axis.start) / axis.step)
        label = (
            f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}" if every < 60 else f"{datetime.fromtimestamp(at, UTC):%H:%M}"
        )
        if column + len(label) <= axis.columns:
            text[column : column + len(label)] = label
        at += every
    return [[(" " * (GUTTER - 4) + "UTC ", Ink.DIM), ("".join(text), Ink.DIM)]]


def _label_step(axis: buckets.Axis) -> int:
    """Seconds between labels: the least usual step that leaves 12 cells to each."""
    wanted = axis.step * 12
    return next((step for step in (15, 30, 60, 120, 300, 600, 900, 1800, 3600) if step >= wanted), 7200)


def _legend(state: EventState, axis: buckets.Axis, width: int, *, stale: bool) -> Line:
    """What the highlighted glyphs mean and how many samples in view carry each."""
    readings = state.qos.readings
    cuts = axis.cuts(readings.time)
    shown = readings.status[cuts[0] : cuts[-1]]
    counts = {LOOKS.get(status, ODD): 0 for status in (3, 4, 5)}
    for status in shown:
        look = LOOKS.get(status, ODD)
        counts[look] = counts.get(look, 0) + 1
    normal = counts.pop(LOOKS[0], 0)
    parts = [
        (0, [(f" {look.glyph} {look.word} ", Ink.STALE if stale else look.ink), (str(count), Ink.TEXT)])
        for look, count in counts.items()
    ]
    parts.append((1, [(f"normal {normal}  of {len(shown)} samples", Ink.DIM)]))
    return fit(flow(parts, width), width)
