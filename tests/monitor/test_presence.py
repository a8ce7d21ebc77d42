"""An encoder counts as lost only if replies prove it: dated by the platform, on schedule, and without new samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from math import floor, inf
from random import Random
from typing import Any

import pytest

from bench.detection import play
from bench.families import Chance, Maker, Show
from livedeck.monitor import BroadcastState, Dated, IngestState, Proof, Snapshot, Thresholds
from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.judged import DeliveryJudge
from livedeck.monitor.evidence.presence import (
    ANSWERS_APART,
    Asks,
    EncoderStanding,
    Presence,
    PresenceLimits,
    movement_wait,
    presence,
)
from monitor.stage import NOW, Deck, Stage, at, event
from virtual_clock import VirtualClock

EVENTS = [f"event-{number}" for number in range(8)]
SAMPLES = 30
"""Samples in a reply: one minute."""


class Lagging(Stage):
    """Platform that delivers late. By event: `lags` in seconds, and `bursts`: seconds between two deliveries.

    `cuts`: seconds from NOW at which an encoder leaves. `stalls`: seconds for which this machine stops while the next
    reply with an event's samples is on its way. `headers`: of each reply with samples.
    """

    def __init__(self, clock: VirtualClock, *events: dict[str, Any]) -> None:
        super().__init__(clock, *events)
        self.lags: dict[str, float] = {}
        self.bursts: dict[str, float] = {}
        self.cuts: dict[str, float] = {}
        self.stalls: dict[str, float] = {}
        self.headers: dict[str, str] = {}
        self._of = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await super().__call__(scope, receive, send)
        if scope["path"].endswith("/qos"):
            self.clock._tick += self.stalls.pop(scope["path"].strip("/").split("/")[3], 0.0)  # type: ignore[attr-defined]

    def _of_event(self, what: str) -> tuple[int, dict[str, str], Any]:
        self._of = what.removeprefix("by id ")
        status, headers, body = super()._of_event(what)
        return status, {**headers, **self.headers}, body

    def _sent(self) -> list[dict[str, Any]]:
        now, burst = (self.clock.now() - NOW).total_seconds(), self.bursts.get(self._of, 0.0)
        delivered = floor(now / burst) * burst if burst else now
        newest = min(delivered - self.lags.get(self._of, 0.0), self.cuts.get(self._of, inf))
        newest -= newest % 2.0
        sample = {"bitrate_video": 4_500_000, "bitrate_audio": 128_000, "frame_rate": 30, "status": 0}
        return [{"time": at(newest - 2.0 * back), **sample} for back in range(SAMPLES, -1, -1)]


def raised(start: float = 0.0, *names: str) -> Deck:
    """Return a deck that starts `start` seconds after NOW."""
    clock = VirtualClock(NOW + timedelta(seconds=start))
    return Deck(Lagging(clock, *(event(name) for name in names or EVENTS)))


def stage_of(deck: Deck) -> Lagging:
    assert isinstance(deck.stage, Lagging)
    return deck.stage


def kinds(snapshot: Snapshot) -> set[tuple[str, str]]:
    return {(alarm.event_id, alarm.kind) for alarm in (*snapshot.alarms, *snapshot.quiet)}


async def alarms_until(deck: Deck, seconds: float) -> set[tuple[str, str]]:
    """Return every alarm of events in the snapshots of `seconds`."""
    found: set[tuple[str, str]] = set()
    while deck.clock.monotonic() < seconds:
        found |= kinds(await deck.next())
    return found


# Movement before age


@pytest.mark.parametrize(("start", "is_burst"), [(0.0, False), (7.3, True), (26.0, True)])
async def test_two_late_streams_among_six_prompt_ones_are_no_alarm_whenever_the_deck_starts(
    start: float, is_burst: bool
) -> None:
    deck = raised(start)
    for name in EVENTS[6:]:
        (stage_of(deck).bursts if is_burst else stage_of(deck).lags)[name] = 30.0
    assert {kind for _, kind in await alarms_until(deck, 80.0)} <= {"METRICS_LATE"}
    await deck.close()


@pytest.mark.parametrize("seed", range(10))
def test_no_delay_is_a_lost_encoder(seed: int) -> None:
    """In all, 200 streams that are 0 to 60 s late, steadily or in bursts, of which nothing is learnt yet."""
    random = Chance("any lag", seed)
    for _ in range(2):
        opened = random.uniform(90, 150)
        sources = tuple(Maker(random).source(opened + 90, _lag(random)) for _ in range(10))
        assert play(Show(sources, lasts=opened + 90, opened=opened)).told == []


def _lag(random: Chance) -> Callable[[float], float]:
    """Return the delay (s) of a stream's samples, by their time."""
    late, phase = random.uniform(0, 60), random.uniform(0, 60)
    if random.random() < 0.5:
        return lambda _: late
    return lambda time: late - (time + phase) % late + 1.0


async def test_what_nobody_saw_moving_is_late_or_gone_and_the_board_says_when_it_is_known() -> None:
    one = raised(0.0, *EVENTS)
    stage_of(one).cuts[EVENTS[0]] = -31.0
    snapshot = await one.until(8)
    state = snapshot.find(EVENTS[0])
    assert state is not None
    assert state.evidence is not None
    assert (state.evidence.claim, state.evidence.state) == ("encoder lost", Proof.NOT_YET)
    assert state.evidence.since == NOW - timedelta(seconds=32)
    assert (state.phase.tally, state.phase.ingest.state) == (BroadcastState.ON_AIR, IngestState.UNKNOWN)
    assert kinds(snapshot) == set()
    decided = state.evidence.decided_at
    assert decided is not None
    later = await one.until((decided - NOW).total_seconds() + 6)
    assert kinds(later) == {(EVENTS[0], "RECONNECTING")}
    lost = later.find(EVENTS[0])
    assert lost is not None
    assert lost.evidence is not None
    assert lost.evidence.state is Proof.PROVEN
    assert [state for state in later.events if state.evidence and state.id != EVENTS[0]] == []
    await one.close()


async def test_a_stream_that_was_seen_moving_is_in_no_doubt_before_the_wait_is_over() -> None:
    """Its samples are old, but the age of a sample decides only once the stream's own delay is learnt."""
    deck = raised()
    stage_of(deck).lags[EVENTS[0]], stage_of(deck).bursts[EVENTS[0]] = 4.0, 10.0
    claims = []
    while deck.clock.monotonic() < 60.0:
        state = (await deck.next()).find(EVENTS[0])
        claims += [state.evidence] if state and deck.clock.monotonic() > 15.0 else []
    assert claims
    assert set(claims) == {None}
    await deck.close()


@pytest.mark.parametrize("cut", [60.0, 61.3, 62.9, 64.1])
async def test_a_lost_encoder_among_prompt_ones_is_told_in_time_by_a_warm_deck(cut: float) -> None:
    deck = raised()
    stage_of(deck).cuts[EVENTS[3]] = cut
    assert await alarms_until(deck, cut) == set()
    while not (snapshot := await deck.next()).alarms:
        assert deck.clock.monotonic() < cut + 17 + 5, "the last five wait for an incident"
    assert kinds(snapshot) == {(EVENTS[3], "RECONNECTING")}
    await deck.close()


# Dates


async def test_an_answer_that_was_read_late_is_no_lost_encoder() -> None:
    """It was made in time: this machine stood still with the answer on its way."""
    one = raised()
    assert await alarms_until(one, 60) == set()
    stage_of(one).stalls[EVENTS[0]] = 14.0
    assert {event for event, _ in await alarms_until(one, 120)} <= {""}, "the stop of this process is told"
    assert stage_of(one).stalls == {}
    await one.close()


async def test_a_cache_proves_presence_and_never_absence() -> None:
    deck = raised(0.0, "one")
    stage = stage_of(deck)
    assert await alarms_until(deck, 60) == set()
    stage.cuts["one"] = 60.0  # the cache repeats one answer
    stage.headers = {"age": "20"}
    found = await alarms_until(deck, 100)
    assert "RECONNECTING" not in {kind for _, kind in found}
    assert {kind for _, kind in found} == {"QOS_STALE"}, "but nothing is known of this event either"
    stage.headers = {}
    assert ("one", "RECONNECTING") in await alarms_until(deck, 120)
    await deck.close()


def test_an_answer_that_was_made_before_its_request_is_cached() -> None:
    assert Dated(1000.0, 1000.1, 990.0).is_cached(0.0)
    assert not Dated(1000.0, 1000.1, 990.0).is_cached(-10.0), "the platform's clock is behind"
    assert not Dated(1000.0, 1014.0, 1000.0).is_cached(0.0)
    assert Dated(1000.0, 1000.1, age=6.0).is_cached(0.0)
    assert not Dated(1000.0, 1000.1).is_cached(0.0)


@pytest.mark.parametrize(
    ("dated", "lower", "upper"),
    [
        (Dated(1000.4, 1014.0), 1000.4, 1014.0),
        (Dated(1000.4, 1014.0, 1000.0), 1000.4, 1001.0),
        (Dated(1000.4, 1014.0, 1013.0), 1013.0, 1014.0),
        (Dated(1000.4, 1000.5, 1000.0), 1000.4, 1000.5),
        (Dated(1000.4, 1000.5, 1060.0), 1000.4, 1000.5),  # another clock wrote that date
    ],
)
def test_an_answer_is_dated_by_the_platform_and_never_by_its_reading(dated: Dated, lower: float, upper: float) -> None:
    assert (dated.lower(0.0), dated.upper(0.0)) == (lower, upper)
    assert dated.lower(0.0) <= dated.upper(0.0)
    moved = dated.moved(30.0)
    assert moved.lower(-30.0) == pytest.approx(lower)


# No ask, no claim


async def test_a_deck_that_stood_still_takes_no_alarm_back() -> None:
    """A missing ask is no sample: an encoder that was lost is lost until it sends."""
    deck = raised(0.0, "one", "two")
    stage_of(deck).cuts["one"] = 30.0
    assert ("one", "RECONNECTING") in await alarms_until(deck, 60)
    stage_of(deck).stalls["two"] = 25.0
    while deck.clock.monotonic() < 120:
        state = (await deck.next()).find("one")
        assert state is not None
        assert state.phase.tally is BroadcastState.RECONNECTING
    await deck.close()


async def test_an_encoder_that_left_long_ago_is_lost_with_the_second_reply_and_not_with_the_first() -> None:
    deck = raised(0.0, "one", "two")
    stage_of(deck).cuts["one"] = -200.0
    claims = []
    while len(deck.stage.times("one")) < 2:
        state = (await deck.next()).find("one")
        claims += [state.evidence.state] if state and state.evidence else []
    assert Proof.NOT_YET in claims
    assert claims.index(Proof.PROVEN) == len(claims) - 1
    assert ("one", "RECONNECTING") in await alarms_until(deck, 12)
    await deck.close()


LIMITS = PresenceLimits(late=7.0, lost=12.0, wait=None)
UNLEARNT = PresenceLimits(late=11.0, lost=78.0, wait=18.0, due=3.0)


@pytest.mark.parametrize("seed", range(40))
def test_an_absence_has_two_good_answers_at_a_distance_with_every_ask_between_them(seed: int) -> None:
    """Whatever was asked when, and whatever came back."""
    random, interval = Random(seed), 5.0
    limits = random.choice([LIMITS, UNLEARNT])
    asks, before, newest, now = Asks(), None, 1000.0, 1000.0
    quiet: list[float] = []  # dates of the good answers without news, since the last missing ask
    before_ask: float | None = None
    gap = 0.0  # between the last two asks: a slow process that asks as late again misses none
    is_known = False
    for _ in range(300):
        now += interval * random.choice([0.9, 1.0, 1.1, 1.1, 4.0])
        gap_before, gap = gap, 0.0 if before_ask is None else now - before_ask
        if gap > 2 * max(interval, gap_before):
            quiet = []
        before_ask = now
        result = random.choice(["news", "same", "same", "same", "fails"])
        if result == "fails":
            asks = asks.after_failure(now, interval)
            continue
        date = now - random.uniform(0, 1)
        newest = date - 2 if result == "news" else newest
        asks = asks.after_answer(now, date, interval, has_news=result == "news")
        quiet = [] if result == "news" and is_known else [*quiet, date]
        is_known = True
        found = presence(asks, newest, limits, interval, before)
        assert found is not None
        if found.standing is EncoderStanding.GONE and not _was_gone(before):
            assert quiet[-1] - quiet[0] >= ANSWERS_APART
            assert found.age > 12
        if result == "news":
            assert found.standing is not EncoderStanding.GONE
        if found.standing is EncoderStanding.LATE_OR_GONE:
            assert found.decided_at is not None
            assert found.decided_at > date
        before = found


def _was_gone(found: Presence | None) -> bool:
    return found is not None and found.standing is EncoderStanding.GONE


async def test_a_late_stream_that_begins_beside_prompt_ones_is_no_lost_encoder() -> None:
    """The delay of the others is learnt, and its own is not."""
    deck = raised()
    deck.stage.events.pop()
    await alarms_until(deck, 60)
    stage_of(deck).bursts[EVENTS[7]] = 17.0
    deck.stage.events.append(event(EVENTS[7]))
    assert {kind for _, kind in await alarms_until(deck, 130)} <= {"METRICS_LATE"}
    await deck.close()


@pytest.mark.parametrize("seen", [(), (4.0,), (6.0, 5.0, 31.0), (20.0,) * 6])
def test_the_delay_of_others_shortens_no_limit(seen: tuple[float, ...]) -> None:
    delivery, asks = Delivery(peaks=seen), Asks()
    alone = DeliveryJudge(asks, delivery, Thresholds(), 1000.0, 0.0, 5.0, cadence=2.0)
    for lag in (0.0, 2.0, 7.0, 30.0, 300.0):
        beside = replace(alone, others_lag=lag).limits
        assert beside.lost >= alone.limits.lost
        assert (beside.wait is None) == (alone.limits.wait is None)
        assert (beside.wait or 0.0) >= (alone.limits.wait or 0.0)


def test_without_a_delay_seen_nothing_shortens_the_wait() -> None:
    assert movement_wait([None, None], 4.0, 3.0, 75.0) == 75.0
    assert movement_wait([None, 4.0], None, 3.0, 75.0) == 18.0
    assert movement_wait([None, 4.0], 30.0, 3.0, 75.0) == 33.0, "others lengthen it"
    assert movement_wait([20.0, 4.0], 3.0, 3.0, 75.0) == 23.0, "and never shorten it"
    assert movement_wait([90.0], None, 3.0, 75.0) == 75.0


async def test_a_report_asks_late_streams_again_and_no_others() -> None:
    deck = raised()
    stage_of(deck).lags[EVENTS[0]] = 40.0
    stage_of(deck).cuts[EVENTS[1]] = -40.0
    report = await deck.clock.run(deck.monitor.wait_ready())
    assert 9 <= deck.clock.monotonic() <= 10.5
    late, gone = report.find(EVENTS[0]), report.find(EVENTS[1])
    assert late is not None
    assert gone is not None
    assert late.evidence is None, "it moved"
    assert gone.evidence is not None
    assert gone.evidence.state is Proof.NOT_KNOWN
    assert kinds(report) == set()
    assert all(len(deck.stage.times(name)) == 1 for name in EVENTS[2:])
    assert len(deck.stage.times(EVENTS[1])) > 2
    await deck.close()


async def test_a_report_without_patience_asks_once() -> None:
    deck = raised()
    stage_of(deck).lags[EVENTS[0]] = 40.0
    report = await deck.clock.run(deck.monitor.wait_ready(patience=0.0))
    assert deck.clock.monotonic() < 3
    assert [state.id for state in report.events if state.is_undecided] == [EVENTS[0]]
    assert all(len(deck.stage.times(name)) == 1 for name in EVENTS)
    await deck.close()


async def test_a_report_of_prompt_streams_does_not_wait() -> None:
    deck = raised()
    await deck.clock.run(deck.monitor.wait_ready())
    assert deck.clock.monotonic() < 3
    await deck.close()
