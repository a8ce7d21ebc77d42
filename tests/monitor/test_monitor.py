"""Contents of the operator's screen, snapshot by snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, cast

import pytest

from livedeck.client import Api
from livedeck.monitor import (
    Alarm,
    AlarmAction,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    AlarmTransition,
    BroadcastState,
    ConnectionState,
    Grade,
    IngestState,
    Limits,
    Monitor,
    Readings,
    Ruling,
    Severity,
    Snapshot,
)
from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.history import StreamKey
from livedeck.monitor.history.reads import Recorded
from livedeck.simulator import Simulator, SimulatorClock
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, Stage, at, event
from virtual_clock import VirtualClock


async def test_frozen_time_is_never_green(deck: Raise) -> None:
    """Answers keep coming, and bring the same newest sample for ever."""
    one = deck(event())
    one.stage.silent_from = 20.0
    while (snapshot := await one.next()).at < NOW + timedelta(seconds=900):
        age = (snapshot.at - NOW).total_seconds() - 20.0
        if age > 16.0 + 5.5:
            (state,) = snapshot.events
            assert snapshot.link.state is ConnectionState.OK
            assert (state.assessment.health.score, state.assessment.health.grade) == (None, Grade.NO_DATA)
            assert state.phase.tally in {BroadcastState.RECONNECTING, BroadcastState.LOST}


async def test_a_time_that_stands_still_while_samples_come_is_stale_and_no_lost_encoder(deck: Raise) -> None:
    one = deck(event())
    one.stage.frozen_from = 20.0
    snapshot = await one.until(45)
    (state,) = snapshot.events
    assert (state.phase.tally, state.assessment.health.grade) == (BroadcastState.ON_AIR, Grade.STALE)
    (alarm,) = snapshot.alarms
    assert (alarm.kind, alarm.actual) == ("QOS_STALE", "new samples arrive, but their time stands still")
    assert alarm.since == NOW + timedelta(seconds=20)
    one.stage.frozen_from = float("inf")
    back = await one.until(75)
    assert back.events[0].assessment.health.grade is Grade.GOOD
    assert [alarm.state for alarm in back.alarms] == [AlarmState.RETURNED]


async def test_a_sample_dated_in_the_future_is_left_out_and_told_and_hides_no_death(deck: Raise) -> None:
    one = deck(event())
    one.stage.strays = [86_400.0]
    well = await one.until(30)
    (state,) = well.events
    assert state.assessment.health.score == 100
    assert state.qos.readings.time[-1] <= NOW.timestamp() + 30
    assert [(alarm.kind, alarm.severity) for alarm in well.alarms] == [("FUTURE_SAMPLES", Severity.INFO)]
    one.stage.silent_from = 40.0
    gone = await one.until(70)
    assert gone.events[0].phase.tally is BroadcastState.RECONNECTING
    assert {alarm.kind for alarm in gone.alarms} == {"RECONNECTING", "FUTURE_SAMPLES"}
    one.stage.strays, one.stage.silent_from = [], float("inf")
    back = await one.until(100)
    assert back.alarms == (), "the samples left no hole: the encoder was there all the time"
    (withdrawn,) = [alarm for alarm in back.quiet if alarm.kind == "RECONNECTING"]
    assert (withdrawn.severity, withdrawn.state) == (Severity.INFO, AlarmState.CLEARED)
    assert withdrawn.actual.startswith("metrics were ")


async def test_the_servers_clock_and_not_ours_tells_what_is_the_future(deck: Raise) -> None:
    one = deck(event())
    one.stage.ahead = 300.0
    snapshot = await one.until(30)
    assert snapshot.events[0].assessment.health.score == 100
    assert [alarm.kind for alarm in snapshot.alarms] == ["CLOCK_SKEW"]


async def test_what_brought_no_new_sample_is_not_judged_again(deck: Raise) -> None:
    one = deck(event())
    one.stage.silent_from = 20.0
    before = await one.until(24)
    after = await one.next()
    assert after.seq > before.seq
    assert after.events[0].assessment is before.events[0].assessment


async def test_an_encoder_that_leaves_and_comes_back_is_followed(deck: Raise) -> None:
    one = deck(event())
    one.stage.silent_from = 20.0
    gone = await one.until(60)
    assert gone.events[0].phase.tally is BroadcastState.RECONNECTING
    assert gone.events[0].phase.ingest.since == NOW + timedelta(seconds=20)
    assert gone.events[0].phase.ingest.window_ends == NOW + timedelta(seconds=620)
    (alarm,) = gone.alarms
    assert (alarm.kind, alarm.since) == ("RECONNECTING", NOW + timedelta(seconds=20))
    lost = await one.until(640)
    assert lost.events[0].phase.tally is BroadcastState.LOST
    assert [(again.kind, again.since) for again in lost.alarms] == [(alarm.kind, alarm.since)]
    one.stage.silent_from = float("inf")
    back = await one.until(680)
    assert back.events[0].phase.tally is BroadcastState.ON_AIR
    assert [(over.kind, over.state) for over in back.alarms] == [("RECONNECTING", AlarmState.RETURNED)]


async def test_a_lost_encoder_is_seen_within_its_limit_and_one_poll(deck: Raise) -> None:
    one = deck(event())
    one.stage.silent_from = 20.0
    while not (snapshot := await one.next()).alarms:
        pass
    assert (snapshot.at - NOW).total_seconds() - 20.0 <= 15.0 + 2.0 + 5.5


async def test_a_new_stream_begins_with_no_samples_and_an_event_that_is_gone_is_gone(deck: Raise) -> None:
    one = deck(event(), event("two"))
    full = await one.until(10)
    assert all(len(state.qos.readings) > 300 for state in full.events)
    assert len(full.events) == 2
    anew = event(stream={"id": "another", "status": "live", "started_at": at(10), "finished_at": None})
    one.stage.events = [anew]
    one.stage.fails_qos = 500, {}
    snapshot = await one.until(40)
    assert snapshot.find("two") is None
    state = snapshot.find("one")
    assert state is not None
    assert len(state.qos.readings) == 0


async def test_the_worst_comes_first_and_the_order_does_not_waver(deck: Raise) -> None:
    def waiting(name: str, seconds: float) -> dict[str, object]:
        return event(name, stream=None, scheduled={"time": at(seconds)})

    ended = {"id": "x", "status": "finished", "started_at": at(-900), "finished_at": at(-800)}
    one = deck(
        event("draft", stream=None),
        event("done", stream=ended),
        waiting("later", 7200),
        waiting("soon", 3600),
        event("calm-b"),
        event("calm-a"),
        waiting("late", -30),
        waiting("forgotten", -90_000),
    )
    await one.until(5)
    orders = {tuple(state.id for state in (await one.next()).events) for _ in range(30)}
    assert orders == {("late", "calm-a", "calm-b", "forgotten", "soon", "later", "draft", "done")}


async def test_a_snapshot_finds_an_event_by_its_id(deck: Raise) -> None:
    one = deck(event("late", stream=None, scheduled={"time": at(-30)}))
    snapshot = await one.until(1)
    (late,) = snapshot.events
    assert snapshot.find("late") is late
    assert snapshot.find("nobody") is None


async def test_wait_ready_reports_once_every_event_is_judged(deck: Raise) -> None:
    one = deck(event(), event("two"), event("draft", stream=None))
    snapshot = await one.clock.run(one.monitor.wait_ready())
    assert one.clock.monotonic() < 0.1
    assert [state.assessment.health.grade for state in snapshot.events] == [Grade.GOOD, Grade.GOOD, Grade.NONE]


async def test_a_report_does_not_contradict_itself(deck: Raise) -> None:
    """What stands beside an event stands among the alarms too, from the first look on."""
    one = deck(event())
    one.stage.fails_qos = 500, {}
    snapshot = await one.clock.run(one.monitor.wait_ready())
    found = [(finding.kind, finding.actual, finding.since) for finding in snapshot.events[0].assessment.findings]
    assert [kind for kind, _, _ in found] == ["QOS_STALE"]
    assert [(alarm.kind, alarm.actual, alarm.since) for alarm in snapshot.alarms] == found


async def test_wait_ready_reports_a_platform_that_is_away_and_does_not_wait_for_ever(deck: Raise) -> None:
    down, mute, closed = deck(event()), deck(event()), deck(event())
    down.stage.fails = 503, {}
    mute.stage.hang()
    closed.stage.fails = 401, {}
    assert (await down.clock.run(down.monitor.wait_ready())).link.failures == 2
    assert (await closed.clock.run(closed.monitor.wait_ready())).link.is_unauthorized
    await mute.clock.run(mute.monitor.wait_ready(timeout=7.0))
    assert mute.clock.monotonic() == 7.0


async def test_cancelling_the_listener_leaves_nothing_running(deck: Raise) -> None:
    one = deck(event())
    one.stage.hang()
    before = asyncio.all_tasks()

    async def listen() -> None:
        async for _ in one.monitor.snapshots():
            pass

    listener = asyncio.ensure_future(listen())
    for _ in range(50):
        await asyncio.sleep(0)
    assert one.stage.asked
    listener.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listener
    assert asyncio.all_tasks() == before


async def test_the_demo_workspace_reads_as_it_was_meant() -> None:
    """One report of the service's twelve events: every tally, and the faults by their names."""
    clock = VirtualClock()
    simulator = Simulator(seed=1, clock=SimulatorClock(start=clock.now(), paused=True))

    async def going_on(scope: Any, receive: Any, send: Any) -> None:
        simulator.clock.change(jump=clock.now())
        await simulator.app(scope, receive, send)

    async def at_once(function: Callable[[], Any]) -> Any:
        return function()  # this clock waits for no thread

    async with Api(
        mount=going_on,
        base_url="http://127.0.0.1",
        token=simulator.token,
        retry=0.0,
        now=clock.now,
        run_in_thread=at_once,
    ) as api:
        snapshot = await clock.run(Monitor(api, clock, random=Random(1)).wait_ready())
    assert_demo(snapshot)


def assert_demo(snapshot: Snapshot) -> None:
    seen = {state.event.name: state for state in snapshot.events}
    assert len(seen) == 12
    for clean in ("Choir, hall B", "City council"):
        assert seen[clean].assessment.health.score == 100
    faults = {"Morning service": "key", "Town hall, main": "loss", "Harbour webcam": "fps"}
    for name, component in faults.items():
        assert (seen[name].assessment.health.grade, seen[name].assessment.health.component) == (Grade.POOR, component)
    cup = seen["Cup final, pitch 2"]
    assert (cup.phase.tally, cup.phase.ingest.state) == (BroadcastState.RECONNECTING, IngestState.INTERRUPTED)
    assert cup.assessment.health.grade is Grade.NO_DATA
    assert seen["Lecture 7"].phase.tally is BroadcastState.LATE
    assert seen["Evening news"].phase.tally is BroadcastState.SCHEDULED
    assert seen["Untitled event"].phase.tally is BroadcastState.DRAFT
    assert snapshot.events[-1].phase.tally is BroadcastState.COMPLETED
    assert snapshot.events[0].id == cup.id


async def silent(deck: Raise) -> tuple[Deck, AlarmKey]:
    """Make a deck that reported a lost encoder."""
    one = deck(event())
    one.stage.silent_from = 20.0
    snapshot = await one.until(60)
    return one, snapshot.alarms[0].key


async def test_what_a_person_does_is_shown_at_once_and_asks_the_platform_nothing(deck: Raise) -> None:
    one, key = await silent(deck)
    asked, time = len(one.stage.asked), one.clock.monotonic()
    events = one.monitor.snapshot.events
    assert await one.monitor.acknowledge(key)
    snapshot = await one.next()
    assert all(after is before for after, before in zip(snapshot.events, events, strict=True))
    assert (one.clock.monotonic(), len(one.stage.asked)) == (time, asked)
    assert [(alarm.kind, alarm.state) for alarm in snapshot.alarms] == [("RECONNECTING", AlarmState.ACKNOWLEDGED)]
    assert [change.transition for change in snapshot.changes] == [AlarmTransition.ACKNOWLEDGED]
    assert (await one.next()).changes == ()


async def test_a_platform_that_hangs_does_not_hold_up_what_a_person_does(deck: Raise) -> None:
    one, key = await silent(deck)
    one.stage.hang()
    await one.until(72)
    time = one.clock.monotonic()
    await one.monitor.note(key, "called the venue")
    snapshot = await one.next()
    assert (one.clock.monotonic(), snapshot.alarms[0].note) == (time, "called the venue")


async def test_no_answer_is_lost_when_a_person_acts_while_it_comes(deck: Raise) -> None:
    one, key = await silent(deck)
    for _ in range(40):
        await one.monitor.note(key, str(one.clock.monotonic()))
        snapshot = await one.next()
        await one.next()
    as_of = snapshot.events[0].qos.as_of
    assert as_of is not None
    assert (snapshot.at - as_of).total_seconds() <= 5.5


async def test_a_snapshot_shows_no_deed_whose_change_it_does_not_tell(deck: Raise) -> None:
    """Whatever the monitor is at when a person acts."""
    one, key = await silent(deck)
    for turns in range(40):
        await one.monitor.note(key, str(turns))  # a look begins
        look = asyncio.create_task(one.next())
        for _ in range(turns):
            await asyncio.sleep(0)
        await one.monitor.shelve(key, 30, "known")
        snapshot = await look
        told = any(change.transition is AlarmTransition.SHELVED for change in snapshot.changes)
        assert told == any(alarm.state is AlarmState.SHELVED for alarm in snapshot.quiet)
        await one.next()
        await one.monitor.unshelve(key)
        await one.next()


class Log:
    """History that stores the snapshots unchanged."""

    fault = lasting_fault = ""
    failures = 0

    def __init__(self) -> None:
        self.given: list[Snapshot] = []

    async def restored(self) -> tuple[Alarm, ...] | None:
        """None."""
        return ()

    async def recorded(self, streams: Mapping[str, str], *_: object, **__: object) -> Mapping[str, Recorded]:
        """None."""
        del streams
        return {}

    def record_learnt(self, news: Mapping[StreamKey, Learnt]) -> None:
        """Ignore what was learnt."""

    async def append(self, snapshot: Snapshot) -> None:
        """Store the snapshot."""
        self.given.append(snapshot)

    async def new_silences(self) -> tuple[()]:
        """None."""
        return ()

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """None: there is no other deck."""
        return ()

    async def on_air_since(self, since: datetime) -> tuple[str, ...]:
        """None."""
        del since
        return ()

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """None either."""
        return ()

    def record_alarm_action(self, answer: AlarmAction) -> None:
        """Ignore the action."""


class Remembering(Log):
    """History that gives the learnt values back as if it read them from the file."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[StreamKey, str] = {}

    def record_learnt(self, news: Mapping[StreamKey, Learnt]) -> None:
        """Store the learnt values."""
        self._texts |= {key: learnt.to_json() for key, learnt in news.items()}

    async def recorded(self, streams: Mapping[str, str], *_: object, **__: object) -> Mapping[str, Recorded]:
        """Return the stored values, and no samples."""
        texts = {event_id: self._texts.get(StreamKey(event_id, name), "") for event_id, name in streams.items()}
        return {event_id: Recorded(Readings(), parse_learnt(text)) for event_id, text in texts.items()}


class Behind(Stage):
    """Platform whose samples come some seconds late."""

    behind = 40.0

    def _sent(self) -> list[dict[str, Any]]:
        newest = (self.clock.now() - timedelta(seconds=self.behind)).isoformat()
        return [row for row in super()._sent() if row["time"] <= newest]


async def test_how_late_samples_come_is_known_over_a_restart() -> None:
    """Else an encoder that has left would be missed a minute later, and one whose metrics are late at once."""
    stage, log = Behind(VirtualClock(), event()), Remembering()
    one = Deck(stage, history=cast("Any", log))
    snapshot = await one.until(60)
    assert [(alarm.kind, alarm.severity) for alarm in snapshot.alarms] == [("METRICS_LATE", Severity.INFO)]
    lag = snapshot.events[0].qos.lag
    assert lag is not None
    assert 40 <= lag < 50
    await one.close()
    two = Deck(stage, history=cast("Any", log))
    states = (await two.next()).events
    while not states or states[0].qos.as_of is None:
        states = (await two.next()).events
    assert states[0].qos.lag == lag
    await two.close()


class Following(Remembering):
    """History that also gives the last state of the alarms back."""

    async def restored(self) -> tuple[Alarm, ...] | None:
        """Return the alarms of the newest snapshot."""
        return (*self.given[-1].alarms, *self.given[-1].quiet) if self.given else ()


async def test_a_restart_ends_no_alarm_of_an_encoder_that_is_still_away() -> None:
    """At first nobody can tell whether old samples are all or come late: neither is proof that the encoder is back."""
    stage, log = Stage(VirtualClock(), event()), Following()
    stage.silent_from = -60.0
    for until in (90, 130, 250):
        one = Deck(stage, history=cast("Any", log))
        await one.until(until)
        await one.close()
    told = [(change.alarm.kind, change.transition.value) for snapshot in log.given for change in snapshot.changes]
    assert told == [("RECONNECTING", "raised")]


async def test_a_listener_that_is_cancelled_loses_nothing_of_what_the_history_keeps(deck: Raise) -> None:
    """Whatever the monitor is at: every snapshot is given, and every change that made the alarms what they are."""
    log = Log()
    one = deck(event(), history=log)
    one.stage.silent_from = 20.0
    key = (await one.until(60)).alarms[0].key
    for turns in range(60):
        await one.monitor.shelve(key, 30, "known")
        listener = asyncio.create_task(one.monitor.wait_ready())
        for _ in range(turns):
            await asyncio.sleep(0)
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        await one.monitor.unshelve(key)
        await one.clock.run(one.monitor.wait_ready())
    assert [snapshot.seq for snapshot in log.given] == list(range(1, len(log.given) + 1))
    told = [change.transition for snapshot in log.given for change in snapshot.changes if change.alarm.key == key]
    assert told.count(AlarmTransition.SHELVED) == told.count(AlarmTransition.UNSHELVED) == 60


class Locked(Log):
    """History whose file cannot be read until `known` is set."""

    known: tuple[Alarm, ...] | None = None

    async def restored(self) -> tuple[Alarm, ...] | None:
        """Return the alarms that the test set."""
        return self.known


async def test_alarms_that_could_not_be_read_at_the_start_come_back_when_they_can(deck: Raise) -> None:
    """monitoring.md, "Restart": an acknowledgement is not lost to a file that another deck locks."""
    one, key = await silent(deck)
    assert await one.monitor.acknowledge(key)
    known, log = (await one.next()).alarms, Locked()
    two = deck(event(), history=log)
    two.stage.silent_from = 20.0
    assert [alarm.state for alarm in (await two.until(60)).alarms] == [AlarmState.UNACKNOWLEDGED]
    log.known = known
    again = await two.until(80)
    assert [(alarm.key, alarm.state) for alarm in again.alarms] == [(key, AlarmState.ACKNOWLEDGED)]


async def test_every_deed_of_a_person_has_its_way_back(deck: Raise) -> None:
    one, key = await silent(deck)
    await one.monitor.shelve(key, 30, "known")
    shelved = await one.next()
    assert (shelved.alarms, [alarm.reason for alarm in shelved.quiet]) == ((), ["known"])
    await one.monitor.unshelve(key)
    await one.monitor.out_of_service(key, "no encoder tonight")
    assert [alarm.state for alarm in (await one.next()).quiet] == [AlarmState.OUT_OF_SERVICE]
    await one.monitor.in_service(key)
    assert [alarm.state for alarm in (await one.next()).alarms] == [AlarmState.UNACKNOWLEDGED]
    assert await one.monitor.acknowledge(key)
    assert not await one.monitor.acknowledge(key)


async def test_what_cannot_be_done_to_an_alarm_is_refused_in_words(deck: Raise) -> None:
    one, key = await silent(deck)
    with pytest.raises(AlarmRefused, match="On air, shelve for at most 60 min"):
        await one.monitor.shelve(key, 90, "known")
    with pytest.raises(AlarmRefused, match="RECONNECTING is not shelved"):
        await one.monitor.unshelve(key)
    with pytest.raises(AlarmRefused, match="no longer exists"):
        await one.monitor.note(AlarmKey("nobody", "BLACKOUT"), "?")


async def test_an_event_may_be_judged_by_numbers_of_its_own(deck: Raise) -> None:
    one = deck(event(), event("slow"), limits=Limits(events={"slow": {"missed_after": 60, "stale_after": 120}}))
    one.stage.silent_from = 20.0
    snapshot = await one.until(60)
    assert {state.id: state.phase.tally for state in snapshot.events} == {
        "one": BroadcastState.RECONNECTING,
        "slow": BroadcastState.ON_AIR,
    }


async def test_a_new_fault_is_shown_though_the_rest_of_its_round_is_still_to_come(deck: Raise) -> None:
    one = deck(event("one"), event("two"))
    await one.until(20)
    one.stage.late, one.stage.odd = {"two"}, {"one"}
    one.monitor.refresh()
    while True:
        snapshot = await one.next()
        if any(alarm.kind == "UNKNOWN_STATUS" for alarm in snapshot.alarms):
            break
    assert one.clock.monotonic() - one.stage.times("one")[-1] < 0.1
    assert one.stage.at_once["two"] == 1


async def test_an_event_that_left_the_list_is_gone_though_its_round_is_cut_short_by_a_fault(deck: Raise) -> None:
    one = deck(event("one"), event("two"))
    await one.clock.run(one.monitor.wait_ready())
    one.stage.events = [event("one")]
    one.stage.late, one.stage.odd = {"two"}, {"one"}
    one.monitor.refresh()
    snapshot = await one.clock.run(one.monitor.wait_ready())
    assert [alarm.kind for alarm in snapshot.alarms] == ["UNKNOWN_STATUS"]
    assert [state.id for state in snapshot.events if state.is_listed] == ["one"]


async def test_a_fault_that_comes_right_after_another_waits_for_no_slow_answer(deck: Raise) -> None:
    """Both are shown within a quarter of a second; the third call takes for ever."""
    one = deck(event("one"), event("two"), event("three"))
    await one.until(20)
    one.stage.late, one.stage.slow, one.stage.odd = {"three"}, {"two": 0.1}, {"one", "two"}
    one.monitor.refresh()
    shown: dict[str, float] = {}
    while len(shown) < 2:
        for alarm in (await one.next()).alarms:
            shown.setdefault(alarm.event_id, one.clock.monotonic() - one.stage.times("three")[-1])
    assert shown["one"] < 0.1
    assert shown["two"] <= 0.25


async def test_many_faults_within_a_moment_make_few_looks(deck: Raise) -> None:
    names = [f"event-{number}" for number in range(8)]
    one = deck(*map(event, names))
    await one.until(20)
    one.stage.odd, one.stage.slow = set(names), {name: 0.01 * place for place, name in enumerate(names)}
    one.monitor.refresh()
    looks = 0
    while len((await one.next()).alarms) < len(names):
        looks += 1
    assert looks <= 2


async def test_a_fault_that_lasts_cuts_no_round_short(deck: Raise) -> None:
    """The second event answers after a second, and the looks are as many with the fault of the first as without."""
    looks = []
    for odd in (set[str](), {"one"}):
        one = deck(event("one"), event("two"))
        one.stage.odd, one.stage.slow = odd, {"two": 1.0}
        begun = (await one.until(30)).seq
        looks.append((await one.until(90)).seq - begun)
    assert looks[0] == looks[1]


async def test_a_test_signal_long_before_the_start_is_seen_and_until_it_was_asked_nothing_is_said(deck: Raise) -> None:
    pending = {"id": "p", "status": "pending", "started_at": None, "finished_at": None}
    one = deck(event(stream=pending, scheduled={"time": at(86_400)}))
    one.stage.slow = {"one": 6.0}
    while not (snapshot := await one.next()).events:
        pass
    (state,) = snapshot.events
    assert (state.phase.tally, state.phase.ingest.state) == (BroadcastState.SCHEDULED, IngestState.UNKNOWN)
    (state,) = (await one.until(80)).events
    assert (state.phase.ingest.state, state.assessment.health.grade) == (IngestState.RECEIVING, Grade.GOOD)


async def test_a_late_start_counts_from_the_start_time(deck: Raise) -> None:
    """The warning before it counts from when it was given."""
    pending = {"id": "p", "status": "pending", "started_at": None, "finished_at": None}
    one = deck(event(stream=pending, scheduled={"time": at(60)}))
    one.stage.unsent = {"one"}
    (alarm,) = (await one.until(30)).alarms
    assert (alarm.kind, alarm.severity) == ("LATE_START", Severity.WARNING)
    assert alarm.since <= NOW + timedelta(seconds=1)
    (alarm,) = (await one.until(200)).alarms
    assert (alarm.severity, alarm.since) == (Severity.CRITICAL, NOW + timedelta(seconds=60))
