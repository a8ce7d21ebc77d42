"""Snapshots that follow each other, made up: samples come, late or corrected, and streams and events come and go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Any

from livedeck.monitor import (
    Alarm,
    AlarmChange,
    AlarmTransition,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Phase,
    QosState,
    Reading,
    Severity,
    Snapshot,
)
from monitor.recordings import NOW, readings
from monitor.stage import model

EVENTS = ("one", "two", "three")


class World:
    """Events, each with a stream and its samples; `turn` changes one of them."""

    def __init__(self, seed: int, *, step: float = 2.0) -> None:
        self.random, self.seq, self.step = Random(seed), 0, step
        self.rows: dict[str, dict[float, Reading]] = {}
        self.streams: dict[str, int] = {}
        self.alarms: dict[str, Alarm] = {}
        self.changes: list[AlarmChange] = []
        self._last: dict[str, EventState] = {}

    def snapshot(self) -> Snapshot:
        """Return the present snapshot. Unchanged parts are the same objects as before."""
        self.seq += 1
        at = NOW + timedelta(seconds=self.seq)
        changes, self.changes = tuple(self.changes), []
        self._last = {name: self._state(name) for name in self.rows}
        link = ConnectionStatus(ConnectionState.OK, NOW, as_of=at)
        events, alarms = tuple(self._last.values()), tuple(self.alarms.values())
        return Snapshot(self.seq, at, link, events, alarms, changes=changes, bells=tuple(alarm.key for alarm in alarms))

    def _state(self, name: str) -> EventState:
        stream = {"id": f"stream-{self.streams[name]}", "status": "live"} if self.streams[name] else None
        found = readings(self.rows[name][time] for time in sorted(self.rows[name]))
        before = self._last.get(name)
        if before and list(before.qos.readings.time) == list(found.time):
            rows = [before.qos.readings[index] for index in range(len(found))]
            found = before.qos.readings if rows == [found[index] for index in range(len(found))] else found
        if before and before.qos.readings is found and self.random.random() < 0.5:
            return before
        event = model(event_id=name, stream=stream)
        qos = QosState(found, NOW + timedelta(seconds=self.seq))
        return EventState(event, NOW, Phase(BroadcastState.ON_AIR), qos, HealthAssessment())

    def turn(self, what: str) -> None:
        """Change an event in that way."""
        name = self.random.choice(EVENTS)
        if what == "gone":
            self.rows.pop(name, None)
            return
        rows = self.rows.setdefault(name, {})
        self.streams.setdefault(name, 1)
        getattr(self, f"_{what}")(name, rows)

    def _goes_on(self, name: str, rows: dict[float, Reading]) -> None:
        del name
        newest = max(rows, default=NOW.timestamp())
        for index in range(self.random.randint(1, 4)):
            self._put(rows, newest + self.step * (index + 1))

    def _comes_late(self, name: str, rows: dict[float, Reading]) -> None:
        del name
        self._put(rows, min(rows, default=NOW.timestamp()) + self.step * self.random.randint(-3, 20) / 2)

    def _is_corrected(self, name: str, rows: dict[float, Reading]) -> None:
        del name
        if rows:
            self._put(rows, self.random.choice(sorted(rows)))

    def _begins_anew(self, name: str, rows: dict[float, Reading]) -> None:
        rows.clear()
        self.streams[name] = self.random.randint(0, 9)

    def _falls_off(self, name: str, rows: dict[float, Reading]) -> None:
        del name
        for time in sorted(rows)[: self.random.randint(1, 5)]:
            del rows[time]

    def _is_alarmed(self, name: str, rows: dict[float, Reading]) -> None:
        del rows
        was = self.alarms.pop(name, None)
        found = Alarm(name, "NO_INGEST", Severity.CRITICAL, NOW, name, f"no {self.seq}", "yes", changed=NOW)
        if was is None or self.random.random() < 0.5:
            self.alarms[name] = found
        self.changes.append(AlarmChange(NOW, AlarmTransition.RAISED, found))

    def _is_quiet(self, name: str, rows: dict[float, Reading]) -> None:
        """Leave the event unchanged."""

    def _put(self, rows: dict[float, Reading], time: float) -> None:
        video = self.random.choice([None, 0.0, 4e6, 4_000_000.5, 5e6 + self.random.randint(0, 99)])
        rows[time] = Reading(time, video, self.random.choice([None, 128e3]), 29.97, self.random.choice([None, 0, 3]))


TURNS = ("goes_on", "comes_late", "is_corrected", "begins_anew", "falls_off", "is_alarmed", "is_quiet", "gone")


def rows_of(found: Any) -> Sequence[Reading]:
    """Return samples as rows."""
    return [found[index] for index in range(len(found))]
