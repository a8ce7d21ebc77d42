"""Watch over a drill: its changes on the platform, times in which this machine was too busy, and its end."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.drill.grade import is_lost
from livedeck.drill.truth import LATE_ALARM, Starved, Truth
from livedeck.monitor import AlarmRecord, Clock, Machine, Snapshot
from livedeck.simulator import Entry, Simulator

BEAT = 0.25
"""Seconds between two beats. At each beat, the watch looks at the drill."""

BEATS = 20
"""Number of beats over which waits for a processor are measured."""

BUSY = 0.25
"""Minimum share of the time that a machine spends waiting for a processor if it is too busy."""

LATE = 2.0
"""Delay of a beat in seconds that shows that this process or machine stood still."""

LEAD = timedelta(seconds=20)
"""Time before the onset of a fault at which a drill returns to real speed."""


class _Beat(NamedTuple):
    """Time of this machine (monotonic s), seconds waited for a processor so far, and the simulator's time."""

    at: float
    awaited: float
    now: datetime


class DrillWatch:
    """Watch over a drill until its scenario ends.

    `quiet_speed`: speed of the clock while no answer is due; None to keep the speed.

    Attributes:
        over: Set at the end.
        lost: Set once this machine was too busy for a score.
        entries: Entries of the journal about changes.
        starved: Times on the simulator's clock in which this machine was too busy.
        announced: Transitions of alarms at the times at which a deck could show them.
    """

    def __init__(
        self, simulator: Simulator, truth: Truth, clock: Clock, machine: Machine, quiet_speed: float | None = None
    ) -> None:
        self.over, self.lost = asyncio.Event(), asyncio.Event()
        self.entries: list[Entry] = []
        self.starved: list[Starved] = []
        self.announced: list[AlarmRecord] = []
        self._simulator, self._truth, self._clock, self._machine = simulator, truth, clock, machine
        self._quiet_speed = quiet_speed
        self._beats = deque[_Beat](maxlen=BEATS + 1)
        self._seen = 0
        self._noted: Snapshot | None = None

    async def run(self) -> None:
        """Watch until the scenario ends, then set `over`."""
        self._beats.append(self._beat())
        while not self.over.is_set():
            await self._clock.sleep(BEAT)
            self.look()

    def look(self) -> None:
        """Record changes and busy times since the last call. Sets the speed of the clock if `quiet_speed` is given."""
        beat = self._beat()
        if self._beats and beat.at - self._beats[-1].at - BEAT >= LATE:
            self._starve(self._beats[-1].now, beat.now)
            self._beats.clear()
        self._beats.append(beat)
        first = self._beats[0]
        if len(self._beats) > BEATS and beat.awaited - first.awaited >= BUSY * (beat.at - first.at):
            self._starve(first.now, beat.now)
        for entry in self._simulator.journal.after(self._seen):
            self._seen = entry.n
            if not entry.request.is_read:
                self.entries.append(entry)
        if self._quiet_speed:
            self._keep_pace(beat.now, self._quiet_speed)
        if beat.now >= self._truth.ends:
            self.over.set()

    def note_announced(self, snapshot: Snapshot | None) -> None:
        """Record the alarms that a deck announces with a snapshot. The same snapshot again records nothing."""
        if snapshot and snapshot is not self._noted:
            self._noted = snapshot
            self.announced += [AlarmRecord.of(change, "", snapshot.link.clock_offset) for change in snapshot.changes]

    def _keep_pace(self, now: datetime, quiet_speed: float) -> None:
        """Run at real speed while an answer is due, else at `quiet_speed`."""
        rows = self._truth.answers
        is_due = any(row.since - LEAD <= now < row.since + LATE_ALARM + row.longest for row in rows)
        speed = 1.0 if is_due else quiet_speed
        if self._simulator.clock.speed != speed:
            self._simulator.clock.change(speed=speed)

    def _beat(self) -> _Beat:
        return _Beat(self._clock.monotonic(), self._machine.load().awaited or 0.0, self._simulator.clock.now())

    def _starve(self, since: datetime, until: datetime) -> None:
        """Add a busy time, or extend the last one if they overlap."""
        if self.starved and since <= self.starved[-1].until:
            since = self.starved.pop().since
        self.starved.append(Starved(since, until))
        if is_lost(self._truth, self.starved):
            self.lost.set()
