"""The alarms between two looks: what a person does to one counts at once, what the samples tell with the next look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from livedeck.monitor import alarms
from livedeck.monitor.alarms import Board
from livedeck.monitor.board import Alarm, AlarmKey, Change
from livedeck.monitor.faults import Sight
from livedeck.monitor.handling import AlarmRefused
from livedeck.monitor.thresholds import Thresholds
from livedeck.slices import in_turns


class Roster:
    """Holds the board. `board`: as it is now."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.board = Board()
        self._thresholds = thresholds
        self._changes: list[Change] = []  # that a person made since the last look

    def restore(self, known: Iterable[Alarm], now: datetime) -> None:
        """Go on from the alarms of a deck that ran before: how they stood counts, not what was seen meanwhile."""
        before = alarms.restored(known, now, self._thresholds)
        self.board = replace(before, alarms={**self.board.alarms, **before.alarms}, seen=self.board.seen)

    def handle(self, key: AlarmKey, deed: Callable[[Alarm], Alarm | None], now: datetime) -> bool:
        """Do that to an alarm; False where it changes nothing. Raises AlarmRefused."""
        known = self.board.alarms.get(key)
        if known is None:
            raise AlarmRefused(f"{key.kind}: there is no such alarm any more")
        alarm = deed(known)
        if alarm is None:
            return False
        self.board, changes = alarms.handled(self.board, alarm, now)
        self._changes += changes
        return True

    async def step(self, sight: Sight) -> tuple[tuple[Change, ...], int]:
        """Go on to what is seen now: what changed since the last look, and how many bells that is worth.

        In slices, with a pause before what the caller does next; begins anew where a person does something to an alarm
        meanwhile.
        """
        while True:
            before = self.board
            board, changes, bells = await in_turns(alarms.step(before, sight, self._thresholds))
            await asyncio.sleep(0)
            if self.board is before:
                break
        self.board = board
        made, self._changes = self._changes, []
        return (*made, *changes), bells
