"""Recent changes: starts and ends on air, faults with their ends, and alarm actions. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from livedeck.monitor import Alarm, BroadcastState, EndWay, EventState, Severity, Snapshot, person
from livedeck.presentation import events
from livedeck.presentation.alarms import all_alarms
from livedeck.presentation.badges import SEVERITY_BADGES, words_role
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, Segment, StyleRole, clip, fit, shorten
from livedeck.text.values import safe

NAME_CELLS = 18


class _Change(NamedTuple):
    """Change. `at`: time of the server clock."""

    at: datetime
    sign: Segment
    name: str
    text: str
    role: StyleRole


class Changes:
    """Finds the newest changes. Sorts the changes of a snapshot only once."""

    def __init__(self) -> None:
        self._sorted: Remembered[list[_Change]] = Remembered()

    def count(self, snapshot: Snapshot, render_time: RenderTime) -> int:
        """Return the number of all changes that the snapshot proves."""
        return len(self._all(snapshot, render_time))

    def lines(self, snapshot: Snapshot, render_time: RenderTime, cells: int, rows: int) -> list[Line]:
        """Return the newest changes, a line each: time, sign, event and text. `✓` marks a cleared fault."""
        past = (change for change in self._all(snapshot, render_time) if change.at <= render_time.server)
        return [_line(change, cells) for change in islice(past, rows)] or [[("no changes yet", StyleRole.DIM)]]

    def recent(
        self, snapshot: Snapshot, render_time: RenderTime, cells: int, seconds: float
    ) -> tuple[list[Line], list[Line]]:
        """Return the lines of the changes of the last `seconds`, and those of all earlier changes, newest first."""
        past = [change for change in self._all(snapshot, render_time) if change.at <= render_time.server]
        count = sum(render_time.server_seconds_since(change.at) <= seconds for change in past)
        lines = [_line(change, cells) for change in past]
        return lines[:count], lines[count:]

    def _all(self, snapshot: Snapshot, render_time: RenderTime) -> list[_Change]:
        ahead = render_time.server - render_time.now
        return self._sorted.get((snapshot,), ahead, lambda: _newest_first(snapshot, render_time))


def unwatched_lines(snapshot: Snapshot, render_time: RenderTime, seconds: float) -> list[Line]:
    """Return a line for each unwatched time in the last `seconds`, in which changes may be missing, newest first."""
    to_server, since = render_time.to_server, render_time.server.timestamp() - seconds
    spans = [(to_server(stop.since).timestamp(), to_server(stop.until).timestamp()) for stop in snapshot.link.own.stops]
    spans += [(begin, end) for state in snapshot.events for begin, end in state.qos.not_watched]
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(span for span in spans if span[1] >= since):
        before = merged.pop() if merged and begin <= merged[-1][1] else (begin, end)
        merged.append((before[0], max(before[1], end)))
    times = [(datetime.fromtimestamp(begin, UTC), datetime.fromtimestamp(end, UTC)) for begin, end in reversed(merged)]
    return [[(f"╱ not watched {begin:%H:%M:%S}Z to {end:%H:%M:%S}Z", StyleRole.STALE)] for begin, end in times]


def _newest_first(snapshot: Snapshot, render_time: RenderTime) -> list[_Change]:
    return sorted(_changes(snapshot, render_time), key=lambda change: change.at, reverse=True)


def _line(change: _Change, cells: int) -> Line:
    head: Line = [
        (f"{change.at:%H:%M:%S} ", StyleRole.DIM),
        change.sign,
        *fit(clip([(f" {change.name}", StyleRole.TEXT)], NAME_CELLS + 1), NAME_CELLS + 2),
    ]
    return [*head, (shorten(change.text, cells - 10 - NAME_CELLS - 2), change.role)]


def _changes(snapshot: Snapshot, render_time: RenderTime) -> Iterator[_Change]:
    for state in snapshot.events:
        yield from _event_changes(state)
    for alarm in all_alarms(snapshot):
        yield from _alarm_changes(alarm, snapshot.find(alarm.event_id), render_time)
        for entry in alarm.timeline:
            if entry.actor:
                at, actor = render_time.to_server(entry.at), safe(person(entry.actor), 30)
                text = f"{alarm.kind} {entry.text} by {actor}"
                yield _Change(at, ("·", StyleRole.DIM), safe(alarm.subject), text, StyleRole.DIM)
    completed = (state for state in snapshot.events if state.phase.tally is BroadcastState.COMPLETED)
    dated = {state.id for state in completed if state.phase.reference_time is not None}
    for ended in snapshot.ended:
        if ended.id in dated:  # the platform dates the end
            continue
        at, how = render_time.to_server(ended.at), _ENDS[ended.way]
        yield _Change(at, ("■", StyleRole.DIM), safe(ended.name), how, StyleRole.STRONG)


_ENDS = {
    EndWay.GONE: "removed",
    EndWay.STREAM_REMOVED: "stream removed",
    EndWay.COMPLETED: "completed",
    EndWay.REPLACED: "stream replaced",
}


SAME_FAULT = timedelta(seconds=10)
"""Maximum time between the onsets of an alarm and of an episode of the same fault."""


def _alarm_changes(alarm: Alarm, state: EventState | None, render_time: RenderTime) -> Iterator[_Change]:
    """Yield onset and end of an alarm. Yields nothing if the changes of its episode are shown already."""
    since = render_time.to_server(alarm.since)
    episodes, fault = state.episodes if state else (), (alarm.kind, alarm.target)
    same = [episode for episode in episodes if (episode.kind, episode.target) == fault]
    if any(episode.since - SAME_FAULT <= since <= (episode.until or since) + SAME_FAULT for episode in same):
        return
    name, what = safe(alarm.subject), f"{alarm.kind} {safe(alarm.target_name)}".rstrip()
    yield _Change(since, _sign(alarm.severity), name, what, words_role(alarm.severity))
    if alarm.cleared_at is not None:
        yield _Change(render_time.to_server(alarm.cleared_at), _CLEARED, name, what, StyleRole.DIM)


_CLEARED: Segment = ("✓", StyleRole.OK)


def _sign(severity: Severity) -> Segment:
    badge = SEVERITY_BADGES[severity]
    return badge.glyph, StyleRole.CRITICAL_MARK if severity is Severity.CRITICAL else badge.role


def _event_changes(state: EventState) -> Iterator[_Change]:
    name, phase = events.name(state), state.phase
    if phase.reference_time is not None and phase.tally is BroadcastState.COMPLETED:
        yield _Change(phase.reference_time, ("■", StyleRole.DIM), name, "completed", StyleRole.DIM)
    elif phase.reference_time is not None and phase.tally.expects_signal:
        yield _Change(phase.reference_time, ("●", StyleRole.ON_AIR), name, "on air", StyleRole.TEXT)
    for episode in state.episodes:
        yield _Change(episode.since, _sign(episode.severity), name, episode.kind, words_role(episode.severity))
        if episode.until is not None:
            yield _Change(episode.until, _CLEARED, name, episode.kind, StyleRole.DIM)
    for ruling in state.rulings:
        yield _Change(ruling.moment, ("·", StyleRole.DIM), name, safe(ruling.text), StyleRole.DIM)
