"""The hours around now: when each event was, is and will be on air, and when something was wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.monitor import BroadcastState, EventState, Severity
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.events import Standing
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, Segment, ShadedLine, StyleRole, clip, fit, linked

PAST_HOURS, MIN_HOURS, MAX_HOURS = 3, 6, 12
"""Whole hours before this one that are shown, and how many are shown at least and at most."""

ASSUMED_SECONDS = 3600.0
"""Length of what is to come: the platform plans a start and no end."""

NAME_SHARE, MIN_NAME_CELLS, MAX_NAME_CELLS = 6, 12, 30

TICK_CELLS = 12
"""A label of the hours takes at least so many cells."""


@dataclass(frozen=True, slots=True)
class _Span:
    """The time that is shown, in so many cells."""

    start: datetime
    end: datetime
    cells: int

    def cell_of(self, at: datetime) -> int:
        """The cell of that time; negative or beyond the last one outside of the span."""
        return int((at - self.start) / (self.end - self.start) * self.cells)


def today_title(states: Sequence[EventState], rows: int, render_time: RenderTime) -> str:
    """The hours that are shown, and how many events have no row: `18:00 to 24:00 UTC  now 21:14`."""
    span = _span(states, render_time, 1)
    left = len(_shown(states, span, render_time)) - rows
    more = f"+{left} more   " if left > 0 else ""
    return f"{more}{span.start:%H:%M} to {span.end:%H:%M} UTC   now {render_time.server:%H:%M}"


def today_lines(states: Sequence[EventState], render_time: RenderTime, width: int, height: int) -> Sequence[ShadedLine]:
    """The hours, and below them a row for each event while there is room, the worst first; a click selects it."""
    name_cells = min(max(MIN_NAME_CELLS, width // NAME_SHARE), MAX_NAME_CELLS)
    span = _span(states, render_time, max(1, width - name_cells - 1))
    gutter = (" " * (name_cells + 1), StyleRole.TEXT)
    shown = _shown(states, span, render_time)[: max(0, height - 1)]
    rows = [
        linked(
            [
                *fit(clip([(events.name(state), _name_role(state))], name_cells), name_cells + 1),
                *_row(state, span, render_time),
            ],
            "row.select",
            state.id,
        )
        for state in shown
    ]
    return [[gutter, *_hours(span, render_time)], *rows]


def _span(states: Sequence[EventState], render_time: RenderTime, cells: int) -> _Span:
    hour = render_time.server.replace(minute=0, second=0, microsecond=0)
    start = hour - timedelta(hours=PAST_HOURS)
    latest = start + timedelta(hours=MAX_HOURS)
    ends = [end for state in states if (end := _planned_end(state)) is not None and end <= latest]
    end = max([start + timedelta(hours=MIN_HOURS), *ends])
    whole = end.replace(minute=0, second=0, microsecond=0)
    return _Span(start, whole if whole == end else whole + timedelta(hours=1), cells)


def _planned_end(state: EventState) -> datetime | None:
    if state.phase.tally is not BroadcastState.SCHEDULED or state.phase.reference_time is None:
        return None
    return state.phase.reference_time + timedelta(seconds=ASSUMED_SECONDS)


def _shown(states: Iterable[EventState], span: _Span, render_time: RenderTime) -> list[EventState]:
    """The events that have a bar in that time: what is wrong first, then what is next, what is well, what is over."""
    in_sight = [
        state
        for state in states
        if any(start < span.end and end > span.start for start, end, _, _ in _bars(state, render_time))
    ]
    return sorted(in_sight, key=lambda state: _urgency(state, render_time))


_URGENCY = (Standing.BAD, Standing.WATCH, Standing.STALE)


def _urgency(state: EventState, render_time: RenderTime) -> tuple[int, float]:
    standing = events.standing(state, render_time)
    if standing in _URGENCY:
        return _URGENCY.index(standing), 0.0
    if state.phase.tally is BroadcastState.SCHEDULED:
        return 3, -(events.elapsed_seconds(state, render_time) or 0.0)  # type: ignore[operator]
    return 4 if state.phase.tally.expects_signal else 5, 0.0


def _name_role(state: EventState) -> StyleRole:
    return StyleRole.TEXT if state.phase.tally.expects_signal else StyleRole.DIM


def _hours(span: _Span, render_time: RenderTime) -> Line:
    """Labels at whole hours, and the time now in place of one that it would touch."""
    text = [" "] * span.cells
    now = f"{render_time.server:%H:%M}"
    now_cell = min(max(0, span.cell_of(render_time.server) - len(now) // 2), max(0, span.cells - len(now)))
    hours = (span.end - span.start) / timedelta(hours=1)
    step = max(1, round(TICK_CELLS * hours / span.cells))
    for hour in range(0, int(hours) + 1, step):
        at = span.start + timedelta(hours=hour)
        cell = min(span.cell_of(at), span.cells - len(now))
        if abs(cell - now_cell) > len(now):
            text[cell : cell + len(now)] = f"{at:%H:%M}"
    before, after = "".join(text[:now_cell]), "".join(text[now_cell + len(now) :])
    return [(before, StyleRole.DIM), (now, StyleRole.TAB), (after, StyleRole.DIM)]


def _row(state: EventState, span: _Span, render_time: RenderTime) -> Line:
    """Its bar, the faults in it, and the line of now over all."""
    cells: list[Segment] = [(" ", StyleRole.TEXT)] * span.cells
    stale = events.is_doubtful(state, render_time)
    for start, end, glyph, role in _bars(state, render_time):
        for cell in _shown_cells(span, start, end):
            cells[cell] = (glyph, StyleRole.STALE if stale else role)
    faults = [episode for episode in state.episodes if episode.severity in _FAULT_ROLES]
    for episode in sorted(faults, key=lambda episode: episode.severity.rank, reverse=True):
        sign = SEVERITY_BADGES[episode.severity].glyph
        role = StyleRole.STALE if stale else _FAULT_ROLES[episode.severity]
        for index, cell in enumerate(_shown_cells(span, episode.since, episode.until or render_time.server)):
            cells[cell] = (sign if not index else "█" if stale else " ", role)
    now = span.cell_of(render_time.server)
    if 0 <= now < span.cells:
        cells[now] = ("┃", StyleRole.STRONG)
    return _joined(cells)


_FAULT_ROLES = {Severity.CRITICAL: StyleRole.CRITICAL, Severity.WARNING: StyleRole.WARNING_FILL}


def _bars(state: EventState, render_time: RenderTime) -> Iterator[tuple[datetime, datetime, str, StyleRole]]:
    phase, now = state.phase, render_time.server
    reference = phase.reference_time
    if reference is None:
        return
    length = timedelta(seconds=ASSUMED_SECONDS)
    if phase.tally is BroadcastState.COMPLETED:
        yield reference - timedelta(seconds=phase.elapsed or 0.0), reference, "█", StyleRole.BAR_DONE
    elif phase.tally.expects_signal:
        yield now, now + length, "░", StyleRole.BAND
        yield reference, now, "█", StyleRole.BAR_OK
    else:
        yield reference, max(reference, now) + length, "░", StyleRole.INFO


def _shown_cells(span: _Span, start: datetime, end: datetime) -> range:
    """The cells of that time within the span, at least one where it lies in it."""
    begin, stop = span.cell_of(start), max(span.cell_of(end), span.cell_of(start) + 1)
    return range(max(0, begin), min(stop, span.cells))


def _joined(cells: Iterable[Segment]) -> Line:
    """Neighbours of one role as one segment."""
    line: Line = []
    for text, role in cells:
        if line and line[-1][1] is role:
            line[-1] = (line[-1][0] + text, role)
        else:
            line.append((text, role))
    return line
