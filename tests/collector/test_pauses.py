"""Pauses of a deck between its requests to a collector."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from random import Random
from typing import Any, cast

import pytest

from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.attached.link import CollectorAwayError, CollectorError, CollectorRefusedError

TRIES = 12


class Patient:
    """Clock whose waits end at once and are recorded."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def now(self) -> datetime:
        """Return the same time each time."""
        return datetime(2026, 3, 1, 12, tzinfo=UTC)

    def monotonic(self) -> float:
        """Return the sum of the waits."""
        return sum(self.waited)

    async def sleep(self, seconds: float) -> None:
        """Record the wait and return at once."""
        self.waited.append(seconds)


class Failing:
    """Link that refuses each request; the last error is repeated. `asked`: set after enough requests."""

    host = "collector.example"

    def __init__(self, *errors: CollectorError) -> None:
        self.errors, self.count, self.asked = errors, 0, asyncio.Event()

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """Raise the next error."""
        del path, query
        self.count += 1
        if self.count > TRIES:
            self.asked.set()
            await asyncio.Event().wait()
        raise self.errors[min(self.count, len(self.errors)) - 1]


async def after_tries(*errors: CollectorError) -> tuple[Patient, Follower]:
    """Return a follower of a collector with these errors after enough tries, and its clock."""
    clock, link = Patient(), Failing(*errors)
    follower = Follower(cast("Any", link), RemoteClock(clock), lambda *_: None, Random(1))
    following = asyncio.create_task(follower.follow())
    await link.asked.wait()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    return clock, follower


@pytest.mark.parametrize(
    ("error", "least", "most"),
    [
        (CollectorAwayError("it cannot be reached"), 2.5, 5.0),
        (CollectorRefusedError("nothing is known yet", 503, {"error": "starting"}), 0.4, 0.8),
        (CollectorRefusedError("256 readers follow already", 429, {"error": "too many readers"}), 2.5, 5.0),
        (CollectorRefusedError("unknown token", 401, {"error": "unknown token"}), 30.0, 30.0),
    ],
    ids=["away", "starting", "too many", "refused"],
)
async def test_a_collector_that_has_just_begun_is_asked_soon_and_one_that_is_away_ever_less(
    error: CollectorError, least: float, most: float
) -> None:
    """So a restart of some seconds is over before the deck takes it for silent."""
    clock, _ = await after_tries(error)
    assert len(clock.waited) == TRIES
    assert all(least <= pause <= most for pause in clock.waited[-4:])
    assert clock.waited[0] <= max(0.2, least)


@pytest.mark.parametrize(
    ("later", "reason", "is_refused"),
    [
        (CollectorRefusedError("too many wrong tokens", 429, {"error": "too many"}), "unknown token", True),
        (CollectorRefusedError("nothing is known yet", 503, {"error": "starting"}), "nothing is known yet", False),
        (CollectorAwayError("it cannot be reached"), "it cannot be reached", False),
    ],
    ids=["too many", "starting", "away"],
)
async def test_a_refused_token_stays_the_reason_while_only_the_count_of_tries_is_refused(
    later: CollectorError, reason: str, is_refused: bool
) -> None:
    refused = CollectorRefusedError("unknown token", 401, {"error": "unknown token"})
    _, follower = await after_tries(refused, later)
    assert (follower.reason, follower.is_refused) == (reason, is_refused)
