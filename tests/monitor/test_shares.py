"""Several monitors share the polls: one polls each event, and another takes over as soon as its reply is overdue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise

from livedeck.monitor import Delivery, Severity, Snapshot, Thresholds, ViewerState
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.model.state import SharingFault
from livedeck.monitor.shares import SharedAnswer
from monitor.alarm_stage import WELL
from monitor.probing import Probe, seen
from monitor.stage import NOW, Deck, Stage, event
from virtual_clock import VirtualClock

INTERVAL = 5.0
EVENTS = [f"event-{number}" for number in range(6)]


class Table:
    """Shared state of monitors in one process. `held`: event -> name of the monitor that holds it."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.members: dict[str, Member] = {}
        self.retry_until = 0.0


class Member:
    """Share of one monitor. `is_deaf`: it receives nothing from the others."""

    def __init__(self, name: str, table: Table, clock: VirtualClock) -> None:
        self.name, self._table, self._clock = name, table, clock
        self.fault, self.part, self.is_deaf = SharingFault(), 1.0, False
        self.wanted: set[str] = set()
        self.is_answering = True
        self.capacity: float | None = None
        self._inbox: dict[str, tuple[SharedAnswer, float]] = {}
        self._has_news = asyncio.Event()
        table.members[name] = self

    @property
    def retry_seconds(self) -> float:
        return max(0.0, self._table.retry_until - self._clock.monotonic())

    def holds(self, event_id: str) -> bool:
        return self._table.held.get(event_id) == self.name

    def want(self, event_ids: Collection[str], *, is_answering: bool, capacity: float | None = None) -> None:
        self.wanted, self.is_answering, self.capacity = set(event_ids), is_answering, capacity

    def publish(self, answer: SharedAnswer) -> None:
        for other in self._table.members.values():
            if other is not self and not other.is_deaf and self.holds(answer.event_id):
                other._inbox[answer.event_id] = answer, self._clock.monotonic()
                other._has_news.set()

    def hold_back(self, seconds: float) -> None:
        self._table.retry_until = self._clock.monotonic() + seconds

    def received(self) -> tuple[SharedAnswer, ...]:
        now = self._clock.monotonic()
        answers = tuple(answer._replace(age=now - at) for answer, at in self._inbox.values())
        self._inbox.clear()
        self._has_news.clear()
        return answers

    async def wait(self) -> None:
        await self._has_news.wait()


class Pair:
    """Two monitors with one clock, each with a platform that counts its polls."""

    def __init__(self, *names: str) -> None:
        self.clock, self.table = VirtualClock(), Table()
        self.members = {name: Member(name, self.table, self.clock) for name in names}
        self.stages = {name: Stage(self.clock, *(event(event_id) for event_id in EVENTS)) for name in names}
        self.probes = {name: Probe(self.clock, self._see) for name in names}
        self.decks = {
            name: Deck(self.stages[name], shares=self.members[name], viewer=self.probes[name]) for name in names
        }
        self.gone: set[str] = set()
        self.last: dict[str, Snapshot] = {}

    def _see(self, event_id: str, at: float) -> ViewerState:
        return seen(at, delivery=Delivery.GONE if event_id in self.gone else Delivery.PLAYS, begun=60.0)

    async def run(self, seconds: float) -> None:
        """Run both until `seconds` after NOW."""

        async def follow(name: str) -> None:
            async for snapshot in self.decks[name].monitor.snapshots():
                self.last[name] = snapshot

        tasks = [asyncio.ensure_future(follow(name)) for name in self.decks]
        await self.clock.run(self.clock.sleep(seconds - self.clock.monotonic()))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def gaps(self, event_id: str, since: float, until: float, *names: str) -> list[float]:
        """Return the seconds between two polls of that event by any of them, with both ends."""
        asked = sorted(when for name in names or self.stages for when in self.stages[name].times(event_id))
        times = [since, *(when for when in asked if since < when < until), until]
        return [later - earlier for earlier, later in pairwise(times)]


@asynccontextmanager
async def two() -> AsyncIterator[Pair]:
    """Yield two monitors that each hold a half."""
    pair = Pair("a", "b")
    for index, event_id in enumerate(EVENTS):
        pair.table.held[event_id] = "ab"[index % 2]
    yield pair
    for deck in pair.decks.values():
        await deck.close()


async def test_each_event_is_asked_for_by_who_holds_it_and_known_to_both() -> None:
    async with two() as pair:
        await pair.run(62)
        for event_id in EVENTS:
            other = "b" if pair.table.held[event_id] == "a" else "a"
            assert len(pair.stages[other].times(event_id)) == 1  # the first one, for all that was before
            assert max(pair.gaps(event_id, 0.1, 62)) <= 1.2 * INTERVAL
        for snapshot in pair.last.values():
            assert not [state.id for state in snapshot.events if state.is_stale]
            ages = [snapshot.at - state.qos.as_of for state in snapshot.events if state.qos.as_of]
            assert len(ages) == len(EVENTS)
            assert max(ages) < timedelta(seconds=1.5 * INTERVAL)
        newest = [{state.id: state.qos.readings.time[-1] for state in last.events} for last in pair.last.values()]
        assert all(abs(newest[0][event_id] - newest[1][event_id]) <= INTERVAL + 2 for event_id in EVENTS)


async def test_what_nobody_answers_is_asked_for_before_it_is_stale() -> None:
    async with two() as pair:
        await pair.run(20)
        pair.members["b"].is_deaf = True  # as if a had died: nothing of it arrives
        pair.decks.pop("a")
        since = pair.clock.monotonic()
        await pair.run(since + 60)
        for event_id in EVENTS:
            assert max(pair.gaps(event_id, since, since + 60, "b")) <= 2 * INTERVAL + 2
        assert not [state.id for state in pair.last["b"].events if state.is_stale]


async def test_apart_asks_for_everything_at_its_part_of_the_budget() -> None:
    async with two() as pair:
        await pair.run(20)
        apart = pair.members["b"]
        apart.is_deaf, apart.part = True, 0.5
        apart.fault = SharingFault(apart_since=NOW + timedelta(seconds=20), reason="Redis does not answer")
        since = pair.clock.monotonic()
        await pair.run(since + 30)
        for event_id in EVENTS:
            most = 1.3 if pair.table.held[event_id] == "b" else 2.0  # intervals: before it is stale
            assert max(pair.gaps(event_id, since + INTERVAL, since + 30, "b")) <= most * INTERVAL
        (alarm,) = pair.last["b"].alarms
        assert (alarm.kind, alarm.severity, alarm.actual) == ("ENGINE_APART", Severity.WARNING, "Redis does not answer")
        assert not pair.last["a"].alarms


def test_apart_for_ten_minutes_is_critical() -> None:
    engine = AlarmEngine(Thresholds())
    fault = SharingFault(apart_since=NOW, reason="Redis does not answer")
    for minutes, severity in (9, Severity.WARNING), (11, Severity.CRITICAL):
        engine.step(MonitorState((), WELL, NOW + timedelta(minutes=minutes), sharing=fault))
        assert [(alarm.severity, alarm.since) for alarm in engine.alarms.values()] == [(severity, NOW)]


async def test_a_collector_that_is_lost_is_an_alarm_until_it_is_back() -> None:
    async with two() as pair:
        await pair.run(10)
        pair.members["a"].fault = SharingFault(lost=("north",))
        await pair.run(20)
        assert [(alarm.kind, alarm.actual) for alarm in pair.last["a"].alarms] == [
            ("COLLECTOR_LOST", "north disappeared without signing off")
        ]


async def test_the_platforms_wish_to_wait_holds_for_both() -> None:
    async with two() as pair:
        await pair.run(20)
        pair.stages["a"].fails = 429, {"retry-after": "30"}
        await pair.run(30)
        refused = max(when for when, _ in pair.stages["a"].asked)
        await pair.run(refused + 29)
        assert [when for when, _ in pair.stages["b"].asked if refused + 6 < when] == []


async def test_who_gets_no_answer_says_so() -> None:
    async with two() as pair:
        await pair.run(10)
        assert pair.members["a"].wanted == set(EVENTS)
        pair.stages["a"].hang()
        await pair.run(60)
        assert {name: member.is_answering for name, member in pair.members.items()} == {"a": False, "b": True}


async def test_shared_samples_prove_nothing_of_the_time_before_them() -> None:
    """Only the newest samples of a reply are shared, and a slow reader misses some of these."""
    async with two() as pair:
        pair.members["b"].is_deaf = True
        await pair.run(60)  # b learns from its own polls how far a reply reaches back
        pair.stages["b"].fails_qos = 503, {}
        await pair.run(120)
        pair.members["b"].is_deaf = False
        await pair.run(140)
        held = [state for state in pair.last["b"].events if pair.table.held[state.id] == "a"]
        assert all(state.qos.not_watched and state.qos.not_watched[-1].seconds > 15 for state in held)
        alarms = (*pair.last["b"].alarms, *pair.last["b"].quiet)
        assert not [alarm for alarm in alarms if alarm.kind == "RECONNECTING"]
        assert not [episode for state in held for episode in state.episodes]


async def test_samples_of_another_stream_are_not_taken() -> None:
    async with two() as pair:
        await pair.run(12)
        before = {state.id: len(state.qos.readings) for state in pair.last["b"].events}
        for row in pair.stages["b"].events:
            row["stream"] = {**row["stream"], "id": f"next-{row['id']}"}
        pair.stages["b"].unsent.update(EVENTS)
        await pair.run(60)
        assert all(before.values())
        assert {len(state.qos.readings) for state in pair.last["b"].events} == {0}


async def test_a_playlist_is_probed_by_one_and_judged_by_all() -> None:
    async with two() as pair:
        await pair.run(50)
        probed = {name: {*probe.wanted} for name, probe in pair.probes.items()}
        assert probed["a"] | probed["b"] == {*EVENTS}
        assert not probed["a"] & probed["b"], "a CDN sees one probe"
        pair.gone = {EVENTS[0]}
        await pair.run(110)
        for name in ("a", "b"):
            viewers = {state.id: state.viewer for state in pair.last[name].events}
            assert all(viewer and viewer.is_known for viewer in viewers.values())
            alarms = [(alarm.event_id, alarm.kind) for alarm in pair.last[name].alarms]
            assert alarms == [(EVENTS[0], "VIEWER_GONE")]
        for member in pair.members.values():
            member.is_deaf = True
        await pair.run(170)
        own = next(name for name in ("a", "b") if EVENTS[0] in probed[name])
        other = next(name for name in ("a", "b") if name != own)
        viewer = next(state.viewer for state in pair.last[other].events if state.id == EVENTS[0])
        assert viewer
        assert viewer.is_stale, "nothing arrives of it any more"
