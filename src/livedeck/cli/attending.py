"""What is acknowledged at a deck on this machine, on the wall beside it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from livedeck.monitor import Alarm, Attention, Clock, Glance, Snapshot, attended

PAUSE = 2.0
"""Seconds at least between two looks at the deck's history."""


async def attending(
    snapshots: AsyncGenerator[Snapshot, None], glance: Glance, clock: Clock, rules: Attention
) -> AsyncGenerator[Snapshot, None]:
    """The snapshots, with the alarms as the deck has them. None waits for the file: it is read after one is shown."""
    others, due = tuple[Alarm, ...](), clock.monotonic()
    async with aclosing(snapshots):
        async for snapshot in snapshots:
            yield attended(snapshot, others, rules)
            if clock.monotonic() >= due:
                others = await glance.alarms()
                due = clock.monotonic() + PAUSE
