"""The alarms between two looks: what a person does to one counts at once, what the samples tell with the next look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from math import inf

from livedeck.monitor import alarms
from livedeck.monitor.alarms import Board
from livedeck.monitor.board import Alarm, AlarmKey, Change
from livedeck.monitor.facts import Clock
from livedeck.monitor.faults import Sight
from livedeck.monitor.handling import AlarmRefused
from livedeck.monitor.history import History
from livedeck.monitor.thresholds import Thresholds
from livedeck.slices import in_turns

_AGAIN = 10.0
"""Seconds until a history that could not be read is asked again: each time it may be waited for."""


class Roster:
    """Holds the board. `board`: as it is now."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.board = Board()
        self._thresholds = thresholds
        self._changes: list[Change] = []  # that a person made since the last look
        self._asked_for_from = -inf  # when the alarms of the deck before are asked for again (monotonic s)

    async def restore(self, history: History, clock: Clock) -> None:
        """Go on from the alarms of a deck that ran before: how they stood counts, not what was seen meanwhile.

        While they cannot be read, ask for them again now and then.
        """
        if clock.monotonic() < self._asked_for_from:
            return
        self._asked_for_from = clock.monotonic() + _AGAIN
        known = await history.restored()
        if known is not None:
            self._asked_for_from = inf
            before = alarms.restored(known, clock.now(), self._thresholds)
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
