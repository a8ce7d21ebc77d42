"""When a round ends before all its answers came: a new fault is shown at once, many within a moment together."""

from __future__ import annotations

import asyncio
from math import inf

from livedeck.monitor.facts import Clock

_APART = 0.25
"""Seconds between two rounds at least that are cut short by a fault: two hundred at once make no two hundred looks."""


class Urgency:
    """Cuts rounds short. `urgent`: whether it did so with this one."""

    def __init__(self, clock: Clock) -> None:
        self.urgent = False
        self._clock, self._graver = clock, asyncio.Event()
        self._calm_from = -inf  # when another round may be cut short

    def begin(self) -> None:
        """A round begins, and has brought no fault yet."""
        self.urgent = False
        self._graver.clear()

    def tell(self) -> None:
        """The round brought a new fault, or a graver one."""
        self._graver.set()

    async def end(self) -> None:
        """Return when the round must end for what was told."""
        await self._graver.wait()
        await self._clock.sleep(max(0.0, self._calm_from - self._clock.monotonic()))
        self.urgent, self._calm_from = True, self._clock.monotonic() + _APART
