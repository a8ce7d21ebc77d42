"""Replies prove the platform's state when they were made; the absence of samples needs two that agree."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from math import floor
from random import Random
from typing import NamedTuple

import pytest

from livedeck.client import QosSamples, ServerFault
from livedeck.monitor import BroadcastState, Cadence, Dated, EventState, Limits, Thresholds
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from monitor.stage import NOW, model, samples, signal

EVERY, POLL, DELAY = 2.0, 5.0, 1.0
"""Seconds between two samples and two polls; delay of a sample."""

LOST = {BroadcastState.RECONNECTING, BroadcastState.LOST}


class Reply(NamedTuple):
    """A reply, in seconds from NOW. It has the samples from `since` to `until`, or is an error."""

    sent: float
    since: float
    until: float
    read: float
    date: float | None = None
    age: float = 0.0
    fails: bool = False


def replies(until: float, *, holds: float = 120.0, burst: float = EVERY, left: float = 1000.0) -> list[Reply]:
    """Replies that are read at once. `burst`: seconds between two deliveries; `left`: the encoder's last sample."""
    made = [POLL * poll for poll in range(1, int(until / POLL) + 1)]
    newest = [min(floor((at - DELAY) / burst) * burst, left // EVERY * EVERY) for at in made]
    return [
        Reply(at, min(end, at - holds), end, at + 0.1, float(floor(at))) for at, end in zip(made, newest, strict=True)
    ]


def judged(taken: Iterable[Reply]) -> list[EventState]:
    """The state of the event after each reply."""
    return asyncio.run(_judged(taken))


async def _judged(taken: Iterable[Reply]) -> list[EventState]:
    world = WorldTracker((), _moment(0.0), Limits(Thresholds()), Cadence())
    start = _moment(0.0)
    await world.ingest(PollResult(LIST, start.wall, 0.0, EventList((model(),))))
    states = []
    for reply in taken:
        at = _moment(reply.read)
        rows = samples(signal(round((reply.until - reply.since) / EVERY) + 1, end=reply.until, every=EVERY))
        date = None if reply.date is None else NOW.timestamp() + reply.date
        dated = Dated(NOW.timestamp() + reply.sent, at.wall.timestamp(), date, reply.age)
        payload: QosSamples | ServerFault = ServerFault("503", status=503) if reply.fails else rows
        result = PollResult("one", at.wall, at.monotonic, payload, dated=dated)
        await world.ingest(result)
        await world.evaluate_all((result,), at, LinkMeasure())
        states.append(world.states[0])
    return states


def _moment(seconds: float) -> ClockReading:
    return ClockReading(NOW + timedelta(seconds=seconds), seconds)


def judgement(state: EventState) -> object:
    """The claims about the encoder and the stream."""
    return state.evidence, state.phase.tally, state.phase.ingest.state, state.qos.lag, state.qos.not_watched


def spans(state: EventState) -> list[tuple[float, float]]:
    return [(span.since - NOW.timestamp(), span.until - NOW.timestamp()) for span in state.qos.not_watched]


def kinds(states: Iterable[EventState]) -> set[str]:
    return {finding.kind for state in states for finding in state.assessment.findings} | {
        episode.kind for state in states for episode in state.episodes
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_reply_proves_the_same_whenever_it_is_read(seed: int) -> None:
    random = Random(seed)
    made = replies(240.0, burst=random.choice([EVERY, 10.0, 30.0]), left=random.choice([1000.0, 150.0]))
    late, at = [], 0.0
    for reply in made:
        at = max(at, reply.read + random.choice([0.0, 0.0, 3.0, 8.0, 14.0]))
        late.append(reply._replace(read=at))
    assert [judgement(state) for state in judged(late)] == [judgement(state) for state in judged(made)]


def test_a_reply_that_waited_on_the_platform_is_dated_by_its_header() -> None:
    made = replies(240.0, left=150.0)
    waited = [reply._replace(sent=reply.sent - 3.0) for reply in made]
    assert [judgement(state) for state in judged(waited)] == [judgement(state) for state in judged(made)]


def test_replies_that_are_read_late_teach_no_delay() -> None:
    """A taught delay would hide a lost encoder for longer."""
    made = replies(240.0)
    late = [reply._replace(read=reply.read + 4.0) for reply in made]
    lag = judged(made)[-1].qos.lag
    assert lag is not None
    assert judged(late)[-1].qos.lag == lag


def test_a_reply_that_is_read_late_covers_no_time_after_it_was_made() -> None:
    """The platform then fails for longer than its replies reach back, so nobody knows of the time between."""
    before = replies(100.0, holds=30.0)
    quiet = before[-1]._replace(sent=104.0, date=104.0, read=140.0)
    after = [reply._replace(since=reply.sent - 30.0) for reply in replies(200.0) if reply.sent >= 170.0]
    states = judged([*before, quiet, *after])
    assert kinds(states) == set()
    ((since, until),) = spans(states[-1])
    assert since < 104.0
    assert until == 140.0


def test_a_cached_reply_teaches_no_delay() -> None:
    made = replies(240.0)
    cached = [reply._replace(until=reply.until - 20.0, age=20.0) for reply in made if reply.sent > 120.0]
    lag = judged(made)[-1].qos.lag
    assert lag is not None
    assert judged([reply for reply in made if reply.sent <= 120.0] + cached)[-1].qos.lag == lag


@pytest.mark.parametrize("is_cached", [True, False])
def test_a_cached_reply_proves_no_sample_absent_that_it_does_not_hold(*, is_cached: bool) -> None:
    """Its first sample may be the first that the cache was given, not the first that the encoder sent."""
    before = replies(100.0, holds=60.0)
    later = Reply(190.0, 162.0, 186.0, 190.1, 190.0, 20.0 if is_cached else 0.0)
    states = judged([*before, later])
    assert kinds(states) == (set() if is_cached else {"RECONNECTING"})
    ((_, until),) = spans(states[-1])
    assert (until == 162.0) is is_cached


def tallies(states: Iterable[EventState]) -> list[BroadcastState]:
    return [state.phase.tally for state in states]


def test_one_reply_without_a_new_sample_is_no_lost_encoder_however_old_the_last_sample_is() -> None:
    """The polls before it failed, and this reply comes from a replica that is behind."""
    made = replies(200.0)
    failed = [reply._replace(fails=True) for reply in made if 100.0 < reply.sent <= 125.0]
    behind = next(reply for reply in made if reply.sent == 130.0)._replace(since=0.0, until=98.0)
    before, later = ([reply for reply in made if reply.sent <= 100.0], [reply for reply in made if reply.sent > 130.0])
    states = judged([*before, *failed, behind, *later])
    assert set(tallies(states)) == {BroadcastState.ON_AIR}
    assert kinds(states) == set()


def test_a_reply_before_polls_that_were_not_made_counts_for_nothing_after_them() -> None:
    """Nobody knows what the polls that this process left out had brought."""
    made = replies(220.0, left=100.0)
    taken = [reply for reply in made if not 110.0 < reply.sent < 150.0]
    lost = [reply.sent for reply, tally in zip(taken, tallies(judged(taken)), strict=True) if tally in LOST]
    assert lost[0] == 155.0, "the second reply after the pause"
