"""An attached deck shows the whole state of the collector, each change once, and trusts nothing while it is silent."""

from __future__ import annotations

import asyncio
import json
from asyncio import StreamWriter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import pytest

from collector.stand_in import PATIENCE, Asked, StandIn, plain, saying, stand_in
from collector.third_party import STARTED, LoopClock, ThirdParty, look, text_of
from golden.warp import warped
from livedeck.client import Api, Outgoing, Secret
from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.attached.link import Link, ServerEvent
from livedeck.collector.attached.remote import Remote
from livedeck.monitor import (
    AlarmKey,
    AlarmRefused,
    AlarmTransition,
    AttachmentState,
    ConnectionProblem,
    ConnectionState,
    Freshness,
    Grade,
    Matcher,
    Monitor,
    Silence,
    SilenceDraft,
    Snapshot,
)
from livedeck.monitor.model.own import Why
from livedeck.monitor.polling.machine import Load
from livedeck.monitor.published.codec import encode_record
from livedeck.presentation.connection import banner_line
from livedeck.presentation.events import doubt_cause
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain as text_of_line
from livedeck.text.times import parse_timestamp
from monitor.stage import NOW, Stage, at, event

NO_INGEST = AlarmKey("e1", "NO_INGEST")
SILENT = AlarmKey("", "COLLECTOR_SILENT")


@dataclass
class Attached:
    """Deck attached to a collector of another make."""

    theirs: ThirdParty
    server: StandIn
    remote: Remote
    snapshots: AsyncGenerator[Snapshot, None]
    clocks: tuple[LoopClock, ...]

    def pass_time(self, seconds: float) -> None:
        """Let time pass while this deck does not run."""
        for clock in self.clocks:
            clock.began -= seconds

    async def watching(self) -> Snapshot:
        """Return the first snapshot of the collector's state while its changes arrive."""
        return (await look(self.snapshots, is_watching))[-1]


def is_watching(snapshot: Snapshot) -> bool:
    """Return whether changes arrive."""
    return bool(snapshot.attachment and snapshot.attachment.state is AttachmentState.WATCHING)


@asynccontextmanager
async def attached(clock: LoopClock | None = None, ahead: float = 0.0, **words: Any) -> AsyncIterator[Attached]:
    """Yield a deck and a collector. `ahead`: seconds that the deck's clock is ahead."""
    clock = clock or LoopClock()
    theirs = ThirdParty(clock)
    own_clock = LoopClock(ahead, clock.began)
    async with stand_in(theirs.answer) as server, Outgoing() as outgoing:
        link = Link(outgoing, [server.address], Secret("of-a-deck"), silence=12)
        remote = Remote(link, own_clock, actor="me", **words)
        async with aclosing(remote.snapshots()) as snapshots:
            yield Attached(theirs, server, remote, snapshots, (clock, own_clock))


@warped
async def test_a_deck_sees_what_the_collector_lists_and_then_what_changes() -> None:
    async with attached() as deck:
        seen = await look(deck.snapshots, is_watching)
        assert (seen[0].seq, seen[0].link.state) == (0, ConnectionState.CONNECTING)
        (event,) = seen[-1].events
        assert (event.event.name, event.assessment.health.score, event.qos.readings.last is not None) == (
            "Größe 試合",
            97,
            True,
        )
        deck.theirs.raise_alarm()
        (told,) = (await look(deck.snapshots, lambda snapshot: bool(snapshot.alarms)))[-1:]
        assert [(change.transition, change.alarm.key) for change in told.changes] == [
            (AlarmTransition.RAISED, NO_INGEST)
        ]
        assert told.bells == (NO_INGEST,)
        deck.theirs.tell(changes=[], bells=[])
        (after,) = (await look(deck.snapshots, lambda snapshot: snapshot.seq > told.seq))[-1:]
        assert (after.changes, after.bells, len(after.alarms)) == ((), (), 1)


@pytest.mark.parametrize("mishap", ["gap", "gone", "half", "page"])
@warped
async def test_what_went_astray_is_listed_anew_or_resumed_and_no_change_is_told_twice(mishap: str) -> None:
    async with attached() as deck:
        deck.theirs.mishaps = [mishap]
        deck.theirs.tell(unreadable=1)
        first = await deck.watching() if mishap != "page" else None
        deck.theirs.tell(unreadable=2)
        deck.theirs.raise_alarm()
        deck.theirs.tell(unreadable=3, changes=[], bells=[])
        seen = await look(deck.snapshots, lambda snapshot: snapshot.unreadable == 3 and is_watching(snapshot))
        changes = [change for snapshot in seen for change in snapshot.changes]
        assert [change.alarm.key for change in changes] == [NO_INGEST]
        assert first is None or first.unreadable <= 3


@warped
async def test_a_silent_collector_blinds_the_deck_which_rings_by_itself_and_nothing_is_green() -> None:
    async with attached() as deck:
        deck.theirs.raise_alarm()
        await deck.watching()
        deck.theirs.speaks.clear()
        seen = await look(deck.snapshots, lambda snapshot: snapshot.link.state is ConnectionState.BLIND)
        blind = seen[-1]
        assert blind.link.problem is ConnectionProblem.COLLECTOR_SILENT
        assert "the collector has been silent since 12:" in blind.link.reason
        assert blind.attachment is not None
        assert blind.attachment.state is AttachmentState.SILENT
        assert SILENT in blind.bells
        assert {alarm.key for alarm in blind.alarms} == {SILENT, NO_INGEST}
        (event,) = blind.events
        assert (event.is_stale, event.assessment.health.grade, event.qos.freshness) == (
            True,
            Grade.STALE,
            Freshness.STALE,
        )
        assert RenderTime.from_snapshot(blind, deck.remote.clock.now()).stale
        assert deck.remote.clock.monotonic() < 30
        with pytest.raises(AlarmRefused, match="the collector has been silent since"):
            await deck.remote.acknowledge(NO_INGEST)
        assert await deck.remote.acknowledge(SILENT)
        deck.theirs.speaks.set()
        well = (await look(deck.snapshots, is_watching))[-1]
        assert well.link.state is ConnectionState.OK
        assert well.events[0].assessment.health.grade is Grade.GOOD
        assert {alarm.key for alarm in well.alarms} == {NO_INGEST}


class Idle:
    """Measurements of a process that does nothing."""

    def load(self) -> Load:
        return Load(0.0, 0.0, 0.0)


@warped
async def test_a_deck_that_was_stopped_trusts_no_old_snapshot_and_does_not_blame_the_collector() -> None:
    clock = LoopClock()
    async with attached(clock, machine=Idle()) as deck:
        before = await deck.watching()
        assert before.events[0].is_stale is False
        deck.theirs.speaks.clear()
        deck.theirs.tell(unreadable=1)
        deck.pass_time(600)  # nobody runs meanwhile, and what was told before is on its way
        seen = await look(deck.snapshots, lambda snapshot: bool(snapshot.link.own.stops))
        stopped = seen[-1]
        (stop,) = stopped.link.own.stops
        assert (stop.why, round(stop.seconds, -2)) == (Why.STOPPED, 600)
        own = f"livedeck was stopped until {stop.until:%H:%M:%S}Z: not known yet if the platform answers"
        assert (stopped.link.state, stopped.link.blame.text) == (ConnectionState.FAILING, own)
        assert [state.is_stale for state in stopped.events] == [True]
        assert SILENT not in {alarm.key for snapshot in seen for alarm in snapshot.alarms}
        shown = RenderTime.from_snapshot(stopped, deck.remote.clock.now())
        assert doubt_cause(stopped.events[0], shown).short == "livedeck was stopped"
        assert "not known yet" in text_of_line(banner_line(stopped, shown))
        deck.theirs.tell(unreadable=2, at=text_of(deck.theirs.clock.now()))
        deck.theirs.speaks.set()
        back = (await look(deck.snapshots, lambda snapshot: snapshot.unreadable == 2))[-1]
        assert back.link.state is ConnectionState.OK
        assert [state.is_stale for state in back.events] == [False]
        assert SILENT not in {alarm.key for alarm in back.alarms}


class Buffered:
    """Collector that sent ten minutes of heartbeats while this deck was stopped; they wait to be read."""

    def __init__(self, theirs: ThirdParty) -> None:
        self.theirs, self.host, self.lists, self.listed = theirs, "collector", asyncio.Semaphore(0), 0

    async def get(self, path: str, query: str = "") -> Any:
        """Return a listing."""
        del path, query
        self.listed += 1
        self.lists.release()
        return self.theirs.listing()

    @asynccontextmanager
    async def stream(self, path: str, place: str) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Yield the heartbeats, each with the time at which it was sent."""
        del path

        async def waiting() -> AsyncIterator[ServerEvent]:
            for seconds in range(0, 600, 3):
                yield ServerEvent(None, comment=f"{place} {round((STARTED.timestamp() + seconds) * 1000)}")
            await asyncio.Event().wait()

        yield waiting()


@warped
async def test_messages_from_before_a_deck_ran_again_are_dropped_and_do_not_set_its_clock() -> None:
    theirs = ThirdParty(LoopClock())
    theirs.clock.began -= 600
    link, clock, looks = Buffered(theirs), RemoteClock(theirs.clock), list[int]()

    def look_once() -> None:
        if not looks:
            follower.start_over()
        looks.append(link.listed)

    follower = Follower(cast("Link", link), clock, lambda _held, _is_listed: None, look=look_once)
    task = asyncio.create_task(follower.follow())
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            await link.lists.acquire()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert looks.count(1) == 1
    assert abs((clock.now() - theirs.clock.now()).total_seconds()) < 60


@pytest.mark.parametrize(
    ("listed", "refusal"),
    [
        ({}, ""),
        ({"by": "anna", "may": "act"}, ""),
        ({"by": "wall", "may": "read"}, "needs a token with the right act: the token of wall has the right read"),
    ],
)
@warped
async def test_a_deck_knows_what_its_token_may(listed: dict[str, Any], refusal: str) -> None:
    async with attached() as deck:
        deck.theirs.listed = listed
        seen = (await deck.watching()).attachment
        assert seen is not None
        assert (seen.actor, seen.may) == (listed.get("by", ""), listed.get("may", ""))
        assert seen.refusal(NO_INGEST) == refusal
        deck.theirs.speaks.clear()
        (blind,) = (await look(deck.snapshots, lambda found: found.link.state is ConnectionState.BLIND))[-1:]
        assert blind.attachment is not None
        assert blind.attachment.refusal(NO_INGEST).startswith("needs the collector, which has been silent since 12:0")
        assert blind.attachment.refusal(SILENT) == ""


@warped
async def test_a_collector_that_is_heard_and_tells_nothing_new_for_a_minute_is_not_believed() -> None:
    async with attached() as deck:
        deck.theirs.is_stuck = True
        deck.theirs.raise_alarm()
        await deck.watching()
        blind = (await look(deck.snapshots, lambda snapshot: snapshot.link.state is ConnectionState.BLIND))[-1]
        assert 60 <= deck.remote.clock.monotonic() < 120
        assert "the collector has sent no new data since 12:0" in blind.link.reason
        assert blind.attachment is not None
        assert blind.attachment.state is AttachmentState.SILENT
        assert blind.attachment.since == blind.link.since.replace(microsecond=0)
        assert SILENT in blind.bells
        with pytest.raises(AlarmRefused, match="has sent no new data since"):
            await deck.remote.acknowledge(NO_INGEST)
        assert await deck.remote.acknowledge(SILENT)
        deck.theirs.tell(changes=[], bells=[])
        well = (await look(deck.snapshots, is_watching))[-1]
        assert well.link.state is ConnectionState.OK
        assert {alarm.key for alarm in well.alarms} == {NO_INGEST}


@warped
async def test_a_collector_that_comes_back_with_nothing_of_the_old_is_listed_and_what_came_meanwhile_is_told() -> None:
    async with attached() as deck:
        await deck.watching()
        deck.theirs.raise_alarm(rings=True, at=STARTED - timedelta(minutes=5))
        deck.theirs.boot, deck.theirs.seq, deck.theirs.ring = "another", 77, {}
        deck.server.cut()
        seen = await look(deck.snapshots, lambda snapshot: bool(snapshot.alarms) and is_watching(snapshot))
        changes = [change for snapshot in seen for change in snapshot.changes]
        assert [(change.transition, change.alarm.key) for change in changes] == [(AlarmTransition.RAISED, NO_INGEST)]
        assert not any(snapshot.bells for snapshot in seen)  # it is five minutes old


@warped
async def test_a_resume_brings_what_was_missed_and_does_not_ring_the_evening_again() -> None:
    async with attached() as deck:
        await deck.watching()
        deck.server.cut()
        deck.theirs.raise_alarm(rings=True, at=STARTED - timedelta(seconds=11))
        deck.theirs.tell(changes=[], bells=[], unreadable=4)
        seen = await look(deck.snapshots, lambda snapshot: snapshot.unreadable == 4)
        assert [change.alarm.key for snapshot in seen for change in snapshot.changes] == [NO_INGEST]
        assert not any(snapshot.bells for snapshot in seen)
        assert [asked.target for asked in deck.server.asked if "/v1/snapshot" in asked.target] == [
            "/v1/snapshot?samples=180"
        ]


@warped
async def test_times_are_the_collectors_whatever_this_machine_says() -> None:
    async with attached(ahead=3600) as deck:
        snapshot = await deck.watching()
        assert snapshot.attachment is not None
        assert abs(snapshot.attachment.skew - 3600) < 5
        assert abs((deck.remote.clock.now() - deck.theirs.clock.now()).total_seconds()) < 5
        assert not RenderTime.from_snapshot(snapshot, deck.remote.clock.now()).stale


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            plain("401 Unauthorized", b'{"error":"no token","say":"a token is needed"}'),
            "refuses this deck's token (401)",
        ),
        (
            plain("403 Forbidden", b'{"error":"not allowed","say":"this token may only read metrics"}'),
            "does not allow this with this deck's token (403)",
        ),
        (
            plain("200 OK", b'{"schema":2,"id":"b-1","values":{},"samples":{}}', "Content-Type: application/json"),
            "COLLECTOR SPEAKS SCHEMA 2: upgrade this deck",
        ),
    ],
)
@warped
async def test_a_collector_that_refuses_is_said_in_its_words_at_once(answer: bytes, words: str) -> None:
    clock = LoopClock()
    async with stand_in(saying(answer)) as server, Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [server.address], Secret("of-a-deck")), clock)
        async with aclosing(remote.snapshots()) as snapshots:
            blind = (await look(snapshots, lambda snapshot: snapshot.link.state is ConnectionState.BLIND))[-1]
        assert blind.link.problem is ConnectionProblem.COLLECTOR_REFUSES
        assert words in blind.link.reason
        assert blind.attachment is not None
        assert blind.attachment.state is AttachmentState.REFUSED
        assert not blind.link.is_unauthorized  # that is the platform's token
        assert [alarm.key for alarm in blind.alarms] == [SILENT]


@pytest.mark.parametrize("status", [401, 403])
@warped
async def test_a_page_with_a_refusal_is_not_taken_for_the_collectors(status: int) -> None:
    page = plain(f"{status} Refused", b"<html>Log in</html>", "Content-Type: text/html")
    async with stand_in(saying(page)) as server, Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [server.address], Secret("of-a-deck")), LoopClock())
        snapshot = await remote.wait_ready()
        assert snapshot.link.state is ConnectionState.BLIND
        assert f"responds {status} with text/html, unlike a collector" in snapshot.link.reason
        assert "token" not in snapshot.link.reason


@warped
async def test_the_first_refusal_stays_the_reason_though_later_tries_are_too_many() -> None:
    answers = [plain("401 Unauthorized", b'{"error":"no token","say":"this token is not known here"}')]
    too_many = plain("429 Too Many Requests", b'{"error":"too many","say":"10 wrong tokens came from here"}')

    async def answer(asked: Asked, writer: StreamWriter) -> None:
        await saying(answers.pop() if answers else too_many)(asked, writer)

    async with stand_in(answer) as server, Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [server.address], Secret("of-a-deck")), LoopClock())
        remote.set_focus("e1")
        async with aclosing(remote.snapshots()) as snapshots:
            blind = (await look(snapshots, lambda snapshot: snapshot.link.state is ConnectionState.BLIND))[-1]
            assert blind.link.next_try is not None
            assert (blind.link.next_try - blind.at).total_seconds() > 10  # a collector that is away: 5 s at most
            remote.attach_again()
            await server.wait_for("GET", "/v1/snapshot?samples=180", 3)
            assert await remote.acknowledge(SILENT)
            after = await anext(snapshots)
        assert after.link.problem is ConnectionProblem.COLLECTOR_REFUSES
        assert "this token is not known here" in after.link.reason
        assert [alarm.key for alarm in after.alarms] == [SILENT]  # not over meanwhile
        assert {asked.target for asked in server.asked} == {"/v1/snapshot?samples=180"}, "what is looked at is no try"


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"id": None}, AttachmentState.SILENT),
        ({"id": "b"}, AttachmentState.SILENT),
        ({"id": "b-\u0661\r\n"}, AttachmentState.SILENT),
        ({"now": 10**30}, AttachmentState.WATCHING),
    ],
)
@warped
async def test_a_listing_of_no_use_is_said_and_ends_nothing(change: dict[str, Any], state: AttachmentState) -> None:
    async with attached() as deck:
        deck.theirs.listed = change
        seen = await look(
            deck.snapshots, lambda snapshot: bool(snapshot.attachment and snapshot.attachment.state is state)
        )
        assert seen[-1].attachment is not None
        assert ("no id to resume from" in seen[-1].attachment.reason) is (state is AttachmentState.SILENT)


@warped
async def test_a_report_waits_for_the_collector_and_says_why_where_there_is_none() -> None:
    async with stand_in(ThirdParty(LoopClock()).answer) as server, Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [server.address], Secret("of-a-deck")), LoopClock())
        assert (await remote.wait_ready()).link.state is ConnectionState.OK
        address = server.address
    async with Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [address], Secret("of-a-deck")), LoopClock())
        snapshot = await remote.wait_ready()
        assert snapshot.link.state is ConnectionState.BLIND
        assert "refuses connections" in snapshot.link.reason


@warped
async def test_commands_carry_what_was_shown_and_are_refused_in_the_words_of_the_collector() -> None:
    async with attached() as deck:
        deck.theirs.raise_alarm()
        await look(deck.snapshots, lambda snapshot: bool(snapshot.alarms))
        assert await deck.remote.acknowledge(NO_INGEST)
        (body,) = deck.server.bodies("POST", "/acknowledge")
        assert (body["severity"], body["stage"]) == ("critical", 0)
        assert body["since"].startswith("2026-03-01T12:0")
        await deck.remote.unacknowledge(NO_INGEST)
        (back,) = deck.server.bodies("POST", "/unacknowledge")
        assert back == body
        deck.theirs.commands["shelve"] = plain("409 Conflict", b'{"error":"worse","say":"it got worse"}')
        with pytest.raises(AlarmRefused, match="it got worse"):
            await deck.remote.shelve(NO_INGEST, 5, "known")
        deck.theirs.commands["note"] = plain("403 Forbidden", b'{"error":"not allowed","say":"anna may read"}')
        with pytest.raises(AlarmRefused, match="anna may read"):
            await deck.remote.note(NO_INGEST, "words")
        with pytest.raises(AlarmRefused, match="no longer exists"):
            await deck.remote.unshelve(AlarmKey("e9", "NO_INGEST"))
        deck.theirs.commands["unshelve"] = b""
        with pytest.raises(AlarmRefused, match="unknown whether"):
            await deck.remote.unshelve(NO_INGEST)
        keys = {a.headers["idempotency-key"] for a in deck.server.asked if a.target.endswith("/unshelve")}
        assert len(keys) == 1  # tried three times, done once


@warped
async def test_what_is_looked_at_is_said_again_and_again_and_its_hour_is_fetched() -> None:
    async with attached() as deck:
        await deck.watching()
        deck.remote.set_focus("e1")
        seen = await look(deck.snapshots, lambda snapshot: len(snapshot.events[0].qos.readings) == 4)
        readings = seen[-1].events[0].qos.readings
        assert [readings[index].video for index in range(4)] == [1, 2, 4e6, None]
        *_, body = await deck.server.wait_for("PUT", "/v1/interest", 2)
        assert (body["focus"], body["lists"], body["ttl"] <= 30) == ("e1", [], True)
        deck.remote.refresh()
        assert await deck.server.wait_for("POST", "/v1/poke") == [{}]


@asynccontextmanager
async def with_platform(ahead: float = 0.0, **words: Any) -> AsyncIterator[Attached]:
    """Yield a deck with its own token, and a platform that shows the same event. `ahead`: as in `attached`."""
    clock = LoopClock()
    stage = Stage(clock, event("e1", stream={"id": "s1", "event_id": "e1", "status": "live", "started_at": at(-600)}))
    async with (
        Api(base_url="http://127.0.0.1", token=Secret("of-the-person"), now=clock.now, mount=stage) as api,
        attached(clock, ahead, make_monitor=lambda: Monitor(api, LoopClock(ahead, clock.began)), **words) as deck,
    ):
        deck.theirs.raise_alarm()
        await look(deck.snapshots, lambda snapshot: bool(snapshot.alarms) and is_watching(snapshot))
        assert stage.asked == []
        yield deck


def is_alone(snapshot: Snapshot) -> bool:
    """Return whether the deck polls the platform itself and gets replies."""
    is_told = bool(snapshot.attachment and snapshot.attachment.state is AttachmentState.ALONE)
    return is_told and snapshot.link.as_of is not None and snapshot.link.state.is_answering


def unshared(snapshot: Snapshot) -> tuple[AlarmKey, ...]:
    """Return the alarms whose actions wait to be sent to the collector."""
    return snapshot.attachment.unshared if snapshot.attachment else ()


@pytest.mark.parametrize("is_asked_for", [False, True])
@warped
async def test_alone_it_goes_on_from_the_alarms_it_knew_and_shares_its_answers_later(*, is_asked_for: bool) -> None:
    async with with_platform(polls_alone=not is_asked_for) as deck:
        with pytest.raises(AlarmRefused, match="the collector responds"):
            deck.remote.poll_alone()
        deck.theirs.speaks.clear()
        if is_asked_for:
            await look(deck.snapshots, lambda snapshot: snapshot.link.state is ConnectionState.BLIND)
            deck.remote.poll_alone()
        seen = await look(deck.snapshots, is_alone)
        alone = seen[-1].attachment
        assert alone is not None
        assert is_asked_for or (alone.since - STARTED).total_seconds() >= 60
        assert not any(NO_INGEST in snapshot.bells for snapshot in seen)
        assert {alarm.key for alarm in seen[-1].alarms} >= {NO_INGEST, SILENT}
        assert seen[-1].events[0].assessment.health.grade is not Grade.STALE
        assert await deck.remote.acknowledge(NO_INGEST)
        waiting = (await look(deck.snapshots, lambda snapshot: bool(unshared(snapshot))))[-1]
        assert unshared(waiting) == (NO_INGEST,)
        assert deck.server.bodies("POST", "/acknowledge") == []
        deck.theirs.speaks.set()
        if is_asked_for:
            deck.remote.attach_again()
        back = await look(deck.snapshots, is_watching)
        (body,) = deck.server.bodies("POST", "/acknowledge")
        assert body["severity"] == "critical"
        assert unshared(back[-1]) == ()


@warped
async def test_what_was_answered_alone_is_dated_by_the_collectors_clock_when_it_is_shared() -> None:
    async with with_platform(600.0, polls_alone=True) as deck:
        deck.theirs.speaks.clear()
        (shown,) = [row for row in (await look(deck.snapshots, is_alone))[-1].alarms if row.key == NO_INGEST]
        assert await deck.remote.acknowledge(NO_INGEST)
        deck.theirs.speaks.set()
        await look(deck.snapshots, is_watching)
        (body,) = deck.server.bodies("POST", "/acknowledge")
        meant = parse_timestamp(body["since"])
        raised = parse_timestamp(deck.theirs.values["alarms"]["e1\x1fNO_INGEST\x1f"]["since"])
        assert shown.since - raised > timedelta(seconds=500)  # by the clock of the deck
        assert abs(meant - raised) < timedelta(seconds=10)


@warped
async def test_what_the_collector_does_not_take_any_more_is_told() -> None:
    async with with_platform(polls_alone=True) as deck:
        deck.theirs.speaks.clear()
        await look(deck.snapshots, is_alone)
        await deck.remote.acknowledge(NO_INGEST)
        deck.theirs.commands["acknowledge"] = plain("409 Conflict", b'{"error":"over","say":"this is another fault"}')
        deck.theirs.speaks.set()
        seen = await look(deck.snapshots, is_watching)
        outcomes = [text for snapshot in seen if snapshot.attachment for text in snapshot.attachment.outcomes]
        assert outcomes == ["NO_INGEST: your action at this deck was refused: this is another fault"]


@warped
async def test_without_a_token_nothing_polls_and_the_deck_says_that_it_only_reads() -> None:
    async with attached(polls_alone=True) as deck:
        seen = await look(deck.snapshots, is_watching)
        assert seen[0].attachment is not None
        assert seen[0].attachment.outcomes == ("read-only: this deck has no platform token of its own",)
        with pytest.raises(AlarmRefused, match="no platform token"):
            deck.remote.poll_alone()


@warped
async def test_a_silence_is_asked_of_the_collector_and_refused_in_its_words() -> None:
    made = Silence("u1", "s-1", (Matcher.parse("event = e1"),), NOW, NOW, "anna", "swap", NOW, "anna")
    body = json.dumps({"silence": encode_record(made)}).encode()
    async with attached() as deck:
        await deck.watching()
        deck.theirs.commands |= {"silences": plain("200 OK", body), "s-1": plain("200 OK", body)}
        draft = SilenceDraft(made.matchers, 600.0, "swap", uid="command-1")
        assert await deck.remote.add_silence(draft) == made
        assert await deck.remote.extend_silence("s-1", 60.0) == made
        assert await deck.remote.end_silence("s-1") == made
        (added,) = deck.server.bodies("POST", "/silences")
        assert added["matchers"] == [{"field": "event", "op": "=", "value": "e1"}]
        assert deck.server.bodies("POST", "/s-1") == [{"seconds": 60.0}]
        (ended,) = [asked for asked in deck.server.asked if asked.target.endswith("/silences/s-1") and not asked.body]
        assert ended.headers["idempotency-key"]
        deck.theirs.commands["silences"] = plain("409 Conflict", b'{"error":"refused","say":"covers an event on air"}')
        with pytest.raises(AlarmRefused, match="covers an event on air"):
            await deck.remote.add_silence(draft)
