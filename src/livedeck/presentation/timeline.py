"""Hours around now: past, current and planned times on air of each event, with faults. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from livedeck.monitor import BroadcastState, EventState, Severity
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.events import Standing
from livedeck.presentation.qos import Axis
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import SELECT
from livedeck.text.segments import Line, Segment, ShadedLine, StyleRole, clip, fit, linked, merge_neighbours

PAST_HOURS, MIN_HOURS, MAX_HOURS = 3, 6, 12
"""Number of whole hours before the current hour; minimum and maximum number of all visible hours."""

ASSUMED_SECONDS = 3600.0
"""Assumed length of a planned event in seconds. The platform has no planned end."""

NAME_SHARE, MIN_NAME_CELLS, MAX_NAME_CELLS = 6, 12, 30

TICK_CELLS = 12
"""Minimum distance of two hour labels in cells."""

PAST, FUTURE = "━", "╌"
"""Glyphs of times on air. They are lines, because bars would draw more attention than the table."""

TICK_STEPS = (1800, 3600, 7200, 10_800)
"""Possible distances of two labels in seconds."""


class Today:
    """Hours around now. Lines stay the same until new data, the next hour or the next column of time."""

    def __init__(self) -> None:
        self._order: Remembered[tuple[Axis, list[EventState]]] = Remembered()
        self._lines: Remembered[Sequence[ShadedLine]] = Remembered()

    def title(self, states: Sequence[EventState], rows: int, render_time: RenderTime) -> str:
        """Return the visible hours and the number of events without a row: `18:00 to 24:00 UTC   now 21:14`."""
        axis, shown = self._ordered(states, render_time)
        left = len(shown) - rows
        more = f"+{left} more   " if left > 0 else ""
        return f"{more}{_clock(axis.start)} to {_clock(axis.end, is_end=True)} UTC   now {render_time.server:%H:%M}"

    def rows(self, states: Sequence[EventState], render_time: RenderTime) -> int:
        """Return the number of events with a bar in the visible hours."""
        return len(self._ordered(states, render_time)[1])

    def lines(
        self, states: Sequence[EventState], render_time: RenderTime, width: int, height: int
    ) -> Sequence[ShadedLine]:
        """Return the hours, then as many rows of events as fit, worst first. A click on a row selects the event.

        Until the time reaches another column or minute, the same object is returned.
        """
        hours, shown = self._ordered(states, render_time)
        name_cells = min(max(MIN_NAME_CELLS, width // NAME_SHARE), MAX_NAME_CELLS)
        axis, now = Axis(hours.start, hours.end, max(1, width - name_cells - 1)), render_time.server.timestamp()
        columns = axis.column_of(now), axis.column_of(now + ASSUMED_SECONDS)
        return self._lines.get(
            (shown,),
            (axis, height, columns, render_time.server.minute, render_time.stale),
            lambda: _lines(shown[: max(0, height - 1)], axis, name_cells, render_time),
        )

    def _ordered(self, states: Sequence[EventState], render_time: RenderTime) -> tuple[Axis, list[EventState]]:
        """Return an axis of the visible hours in one column, and the events with a bar in them, in the order of rows.

        The result stays the same until new data or the next hour. No row appears in between, because events on air and
        planned events have a bar in the next hour, too.
        """
        hour = render_time.server.replace(minute=0, second=0, microsecond=0)

        def order() -> tuple[Axis, list[EventState]]:
            axis = _axis(states, hour)
            return axis, _shown(states, axis, render_time)

        return self._order.get((states,), (hour, render_time.stale), order)


def _lines(shown: Sequence[EventState], axis: Axis, name_cells: int, render_time: RenderTime) -> Sequence[ShadedLine]:
    gutter = (" " * (name_cells + 1), StyleRole.TEXT)
    rows = [
        linked(
            [
                *fit(clip([(events.name(state), _name_role(state))], name_cells), name_cells + 1),
                *_row(state, axis, render_time),
            ],
            SELECT,
            state.id,
        )
        for state in shown
    ]
    return [[gutter, *_hours(axis, render_time)], *rows]


def _axis(states: Sequence[EventState], hour: datetime) -> Axis:
    """Return an axis of the visible hours around `hour`, in one column."""
    start = hour - timedelta(hours=PAST_HOURS)
    latest = start + timedelta(hours=MAX_HOURS)
    ends = [end for state in states if (end := _planned_end(state)) is not None and end <= latest]
    end = max([start + timedelta(hours=MIN_HOURS), *ends])
    whole = end.replace(minute=0, second=0, microsecond=0)
    end = whole if whole == end else whole + timedelta(hours=1)
    return Axis(start.timestamp(), end.timestamp(), 1)


def _planned_end(state: EventState) -> datetime | None:
    if state.phase.tally is not BroadcastState.SCHEDULED or state.phase.reference_time is None:
        return None
    return state.phase.reference_time + timedelta(seconds=ASSUMED_SECONDS)


def _shown(states: Iterable[EventState], axis: Axis, render_time: RenderTime) -> list[EventState]:
    """Return the events with a bar in the time of the axis: faulty events first, then planned, healthy and ended."""
    visible = [
        state
        for state in states
        if any(start < axis.end and end > axis.start for start, end, _, _ in _bars(state, render_time))
    ]
    return sorted(visible, key=lambda state: _urgency(state, render_time))


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


def _hours(axis: Axis, render_time: RenderTime) -> Line:
    """Return the labels of the hours and of the current time. The current time replaces a label that it would touch."""
    text = [" "] * axis.columns
    now = f"{render_time.server:%H:%M}"
    now_cell = min(
        max(0, axis.column_of(render_time.server.timestamp()) - len(now) // 2), max(0, axis.columns - len(now))
    )
    for at in _ticks(axis):
        label = _clock(at, is_end=at == axis.end)
        cell = max(0, min(axis.column_of(at) - len(label) // 2, axis.columns - len(label)))
        if abs(cell - now_cell) > len(now):
            text[cell : cell + len(label)] = label
    before, after = "".join(text[:now_cell]), "".join(text[now_cell + len(now) :])
    return [(before, StyleRole.DIM), (now, StyleRole.TAB), (after, StyleRole.DIM)]


def _ticks(axis: Axis) -> Iterator[float]:
    """Yield the times of the labels (epoch s), at least `TICK_CELLS` apart."""
    step = next((step for step in TICK_STEPS if step >= TICK_CELLS * axis.step), TICK_STEPS[-1])
    at = axis.start
    while at <= axis.end:
        yield at
        at += step


def _clock(at: float, *, is_end: bool = False) -> str:
    """Return the time of day. The end of a period at midnight is 24:00."""
    text = f"{datetime.fromtimestamp(at, UTC):%H:%M}"
    return "24:00" if is_end and text == "00:00" else text


def _row(state: EventState, axis: Axis, render_time: RenderTime) -> Line:
    """Return the row of an event: its bar with its faults, and the line of the current time across them."""
    cells: list[Segment] = [(" ", StyleRole.TEXT)] * axis.columns
    for at in _ticks(axis):
        if at < axis.end:
            cells[axis.column_of(at)] = ("┊", StyleRole.BAND)
    stale = events.is_doubtful(state, render_time)
    for start, end, glyph, role in _bars(state, render_time):
        for cell in _shown_cells(axis, start, end):
            cells[cell] = (glyph, StyleRole.STALE if stale else role)
    faults = [episode for episode in state.episodes if episode.severity in _FAULT_ROLES]
    for episode in sorted(faults, key=lambda episode: episode.severity.rank, reverse=True):
        sign, until = SEVERITY_BADGES[episode.severity].glyph, episode.until or render_time.server
        chip, line = (StyleRole.STALE, StyleRole.STALE) if stale else _FAULT_ROLES[episode.severity]
        for index, cell in enumerate(_shown_cells(axis, episode.since.timestamp(), until.timestamp())):
            cells[cell] = (PAST, line) if index else (sign, chip)
    now = axis.column_of(render_time.server.timestamp())
    if 0 <= now < axis.columns:
        cells[now] = ("┃", StyleRole.STRONG)
    return merge_neighbours(cells)


_FAULT_ROLES = {
    Severity.CRITICAL: (StyleRole.CRITICAL, StyleRole.CRITICAL_MARK),
    Severity.WARNING: (StyleRole.WARNING_FILL, StyleRole.WARNING),
}
"""Roles of a fault: of its sign, and of the line behind the sign."""


def _bars(state: EventState, render_time: RenderTime) -> Iterator[tuple[float, float, str, StyleRole]]:
    """Yield start, end (epoch s), glyph and role of past and planned times on air."""
    phase, now = state.phase, render_time.server.timestamp()
    if phase.reference_time is None:
        return
    reference = phase.reference_time.timestamp()
    if phase.tally is BroadcastState.COMPLETED:
        yield reference - (phase.elapsed or 0.0), reference, PAST, StyleRole.BAR_DONE
    elif phase.tally.expects_signal:
        yield now, now + ASSUMED_SECONDS, FUTURE, StyleRole.BAR_DONE
        yield reference, now, PAST, StyleRole.BAR_OK
    else:
        yield reference, max(reference, now) + ASSUMED_SECONDS, FUTURE, StyleRole.INFO


def _shown_cells(axis: Axis, start: float, end: float) -> range:
    """Return the cells of a period, as far as they are on the axis; at least one cell for a short period."""
    begin, stop = axis.column_of(start), max(axis.column_of(end), axis.column_of(start) + 1)
    return range(max(0, begin), min(stop, axis.columns))
