"""Actions of persons at attached decks: one result for all, under the token's name, and no unseen alarm is silenced."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from sqlite3 import connect
from typing import Any

import pytest

from collector.attached import Attached, fields
from livedeck.client import Api
from livedeck.collector.protocol.commands import VERBS, command_of, key_text, parse_key, request_of
from livedeck.collector.serving import acts
from livedeck.collector.serving.acts import MAX_DECKS, MAX_DECKS_OF_TOKEN, MAX_LISTS_OF_TOKEN, Interests, Pokes, routes
from livedeck.collector.serving.endpoints import MAX_BODY, Refusal
from livedeck.monitor import (
    ActionKind,
    ActionRecord,
    Alarm,
    AlarmCommand,
    AlarmKey,
    AuditOutcome,
    Content,
    History,
    IntentRecord,
    Monitor,
    ResourceKey,
    ResourceKind,
    Severity,
    Shown,
    Snapshot,
)
from livedeck.monitor.published.codec import decode_alarm
from monitor.stage import NOW, Stage, at, event
from monitor.test_restart import MovedClock
from virtual_clock import VirtualClock

KEY = AlarmKey("one", "LATE_START")
AT = 240.0
"""Time in seconds from NOW."""


@dataclass
class Room:
    """Collector that watches an event shortly before its start without an encoder, and two decks."""

    stage: Stage
    monitor: Monitor
    snapshots: AsyncGenerator[Snapshot, None]
    history: History
    anna: Attached
    bert: Attached
    wall: Attached

    async def until(self, is_so: Callable[[Snapshot], object]) -> Snapshot:
        """Return the next snapshot that meets a condition."""
        async with asyncio.timeout(60):
            while not is_so(snapshot := await anext(self.snapshots)):
                pass
        return snapshot

    async def start_encoder(self) -> None:
        """Start the encoder, and wait for its first samples."""
        self.stage.unsent.clear()
        self.monitor.refresh()
        await self.until(lambda snapshot: snapshot.events[0].qos.readings.last)

    def standing(self) -> Alarm:
        """Return the alarm in the collector's state now."""
        alarm = self.monitor.find_alarm(KEY)
        assert alarm
        return alarm

    def command(self, kind: ActionKind, **said: Any) -> AlarmCommand:
        """Return a command for the alarm in its present state."""
        return AlarmCommand(KEY, kind, **{"shown": self.standing().shown, **said})


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with opened() as room:
        yield room


@asynccontextmanager
async def opened(path: Path | None = None) -> AsyncIterator[Room]:
    """Yield that room. `path`: file of its history; None: in memory."""
    stage = Stage(VirtualClock(NOW + timedelta(seconds=AT)), event("one", scheduled={"time": at(AT + 200)}))
    stage.events[0]["stream"].update(status="pending", started_at=None)
    stage.unsent.add("one")
    history = await History.open(path, NOW)
    clock = MovedClock(AT)
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=stage) as api:
        monitor = Monitor(api, clock, random=Random(1), history=history, actor="collector@rack:1")
        routed = routes(monitor, history)
        decks = [Attached(routed, token) for token in ("anna", "bert", "wall")]
        async with aclosing(monitor.snapshots()) as snapshots:
            room = Room(stage, monitor, snapshots, history, *decks)
            await room.until(lambda snapshot: snapshot.alarms)
            yield room
        for deck in decks:
            await deck.close()
    await history.close()


async def test_what_is_answered_at_one_deck_is_so_for_all_by_the_name_of_its_token(room: Room) -> None:
    answered = await room.anna.command(room.command(ActionKind.ACKNOWLEDGE, actor="mallory"))
    assert (answered.status, answered.body["changed"]) == (200, True)
    assert decode_alarm(answered.body["alarm"]) == room.standing()
    snapshot = await room.until(lambda snapshot: snapshot.alarm_actions)
    assert [(answer.kind, answer.actor) for answer in snapshot.alarm_actions] == [(ActionKind.ACKNOWLEDGE, "anna")]
    await room.history.flush()
    (kept,) = await room.history.answer_log(NOW)
    assert (kept.actor, kept.key) == ("anna", KEY)


async def test_an_alarm_without_a_stage_is_acknowledged_as_a_snapshot_shows_it(room: Room) -> None:
    """Which leaves the stage out: one that has got to a later stage meanwhile is not silenced so."""
    path, body = request_of(room.command(ActionKind.ACKNOWLEDGE))
    del body["stage"]
    assert (await room.anna.post(path, body)).status == (200 if room.standing().stage == 0 else 409)
    assert room.standing().needs_ack is (room.standing().stage > 0)


async def test_who_acknowledges_second_is_told_who_was_first(room: Room) -> None:
    await room.anna.command(room.command(ActionKind.ACKNOWLEDGE))
    second = await room.bert.command(room.command(ActionKind.ACKNOWLEDGE))
    assert (second.status, second.body["changed"]) == (200, False)
    assert second.body["say"].startswith("LATE_START: acknowledged by anna, ")
    assert fields(second, "answered_by") == {"answered_by": "anna"}
    assert len((await room.until(lambda snapshot: snapshot.alarm_actions)).alarm_actions) == 1


async def test_an_acknowledgement_is_taken_back_by_the_token_that_gave_it_and_by_no_other(room: Room) -> None:
    await room.anna.command(room.command(ActionKind.ACKNOWLEDGE))
    refused = await room.bert.command(room.command(ActionKind.UNACKNOWLEDGE))
    assert (refused.status, refused.body["error"]) == (409, "refused")
    assert "only anna can take it back" in refused.body["say"]
    back = room.command(ActionKind.UNACKNOWLEDGE)
    first, again = await room.anna.command(back), await room.anna.command(back)
    assert (first.status, again.status) == (200, 200)
    assert room.standing().needs_ack
    assert (await room.anna.command(room.command(ActionKind.ACKNOWLEDGE))).body["changed"]
    assert (await room.anna.command(back)).status == 200
    assert not room.standing().needs_ack, "sent again, as after a lost answer, it is not done again"
    await room.history.flush()
    kinds = [answer.kind for answer in await room.history.answer_log(NOW)]
    assert kinds == [ActionKind.ACKNOWLEDGE, ActionKind.UNACKNOWLEDGE, ActionKind.ACKNOWLEDGE]


async def test_the_same_command_again_is_the_same_answer(room: Room) -> None:
    shelf = room.command(ActionKind.SHELVE, minutes=15, text="the line is being changed")
    first, again = await room.anna.command(shelf), await room.anna.command(shelf)
    assert first == again
    await room.bert.command(room.command(ActionKind.UNSHELVE))
    assert fields(await room.anna.command(shelf), "state") == {"state": None}, "in sight: it was brought back since"
    assert len((await room.until(lambda snapshot: snapshot.alarm_actions)).alarm_actions) == 2


async def test_the_id_of_a_command_is_of_no_other(room: Room) -> None:
    note = room.command(ActionKind.NOTE, text="called the venue")
    assert (await room.anna.command(note)).status == 200
    for other in (replace(note, kind=ActionKind.SHELVE, minutes=15), replace(note, text="nobody answers")):
        answered = await room.bert.command(other)
        assert (answered.status, answered.body["say"]) == (
            409,
            "This id belongs to another command. Use a new id for each command.",
        )
    assert (room.standing().note, room.standing().needs_ack) == ("called the venue", True)


async def test_what_was_done_is_on_the_disk_before_it_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "KEPT_SECONDS", 30.0)
    path = tmp_path / "history.db"
    async with opened(path) as room:
        with closing(connect(path, isolation_level=None)) as other:
            for number in range(5):
                noted = await room.anna.command(room.command(ActionKind.NOTE, text=f"look {number}"))
                assert "kept" not in noted.body["say"]
                assert other.execute("SELECT count(*) FROM answer").fetchone() == (number + 1,)
            monkeypatch.setattr(acts, "KEPT_SECONDS", 0.01)
            other.execute("BEGIN IMMEDIATE")
            waits = await room.anna.command(room.command(ActionKind.ACKNOWLEDGE))
            assert (waits.body["changed"], "; not saved yet: " in waits.body["say"]) == (True, True)


async def test_a_command_for_another_occurrence_is_refused_with_the_alarm_as_it_is(room: Room) -> None:
    before = room.standing()
    shown = Shown(before.since - timedelta(hours=1), before.severity, before.stage)
    for kind in (ActionKind.ACKNOWLEDGE, ActionKind.SHELVE, ActionKind.OUT_OF_SERVICE, ActionKind.NOTE):
        answered = await room.anna.command(room.command(kind, shown=shown, text="known"))
        assert (answered.status, answered.body["error"]) == (409, "over")
        assert "LATE_START came back at" in answered.body["say"]
        assert decode_alarm(answered.body["alarm"]) == before == room.standing()


async def test_what_got_worse_since_it_was_shown_is_not_silenced(room: Room) -> None:
    shown = Shown(room.standing().since, Severity.INFO, 0)
    answered = await room.anna.command(room.command(ActionKind.ACKNOWLEDGE, shown=shown))
    assert (answered.status, answered.body["error"]) == (409, "got worse")
    assert room.standing().needs_ack


async def test_shelf_service_and_note_reach_all(room: Room) -> None:
    done: list[tuple[ActionKind, dict[str, Any], dict[str, Any]]] = [
        (ActionKind.NOTE, {"text": "called the venue"}, {"note": "called the venue"}),
        (ActionKind.SHELVE, {"minutes": 15, "text": "known"}, {"state": "shelved", "reason": "known"}),
        (ActionKind.UNSHELVE, {}, {"state": None}),
        (ActionKind.OUT_OF_SERVICE, {"text": "no camera"}, {"state": "out of service", "reason": "no camera"}),
    ]
    for kind, said, expected in done:
        assert fields(await room.anna.command(room.command(kind, **said)), *expected) == expected
    refused = await room.bert.command(room.command(ActionKind.SHELVE, minutes=5, text="known"))
    assert (refused.status, refused.body["error"]) == (409, "refused")
    assert "return it to service first" in refused.body["say"]
    assert (await room.bert.command(room.command(ActionKind.IN_SERVICE))).status == 200
    assert [answer.actor for answer in (await room.until(lambda snapshot: snapshot.alarm_actions)).alarm_actions] == [
        "anna"
    ] * 4 + ["bert"]


async def test_an_alarm_that_is_not_there_is_gone(room: Room) -> None:
    answered = await room.anna.command(replace(room.command(ActionKind.ACKNOWLEDGE), key=AlarmKey("no", "BLACKOUT")))
    assert (answered.status, answered.body["error"]) == (404, "gone")
    halves, nested = key_text(AlarmKey("\ud800", "\ud800")), urlsafe_b64encode(b"[" * 30_000).decode()
    for path in (
        "/v1/alarms/nonsense/acknowledge",
        f"/v1/alarms/{key_text(KEY)}/silence",
        f"/v1/alarms/{halves}/acknowledge",
        f"/v1/alarms/{nested}/acknowledge",
    ):
        assert (await room.anna.post(path, request_of(room.command(ActionKind.ACKNOWLEDGE))[1])).status == 404


async def test_who_may_only_read_cannot_act_and_who_has_no_token_nothing(room: Room) -> None:
    path, body = request_of(room.command(ActionKind.ACKNOWLEDGE))
    acting = [path, "/v1/events/one/usual", "/v1/events/one/content", "/v1/unit", "/v1/materials", "/v1/audit"]
    routed = routes(room.monitor, room.history)
    nobody, prometheus = Attached(routed, ""), Attached(routed, "prometheus")
    for target in acting:
        for reader in (room.wall, prometheus):
            assert (await reader.post(target, body)).status == 403
        assert (await nobody.post(target, body)).status == 401
    assert (await room.wall.post("/v1/poke")).status == 200
    assert (await prometheus.post("/v1/poke")).status == 403
    assert room.standing().needs_ack
    for deck in (nobody, prometheus):
        await deck.close()


@pytest.mark.parametrize(
    ("change", "say"),
    [
        ({"severity": "loud"}, "severity: Input should be 'critical', 'warning' or 'info'"),
        ({"stage": "1"}, "stage: Input should be a valid integer"),
        ({"since": "2026-03-01T12:00:00"}, "since: Input should have timezone info"),
        ({"since": None}, "since: Input should be a valid datetime"),
        ({"actor": "mallory"}, "actor: unknown"),
    ],
)
async def test_a_body_that_is_not_understood_does_nothing(room: Room, change: dict[str, Any], say: str) -> None:
    path, body = request_of(room.command(ActionKind.ACKNOWLEDGE))
    answered = await room.anna.post(path, {**body, **change})
    assert (answered.status, answered.body) == (422, {"error": "not understood", "say": say})
    assert room.standing().needs_ack


async def test_no_body_is_too_long_or_no_json_or_foreign(room: Room) -> None:
    path, body = request_of(room.command(ActionKind.NOTE, text="x" * MAX_BODY))
    assert (await room.anna.post(path, body)).status == 413
    for foreign in (b"{", b"[]", b"\xff", b"[" * 8000, b'{"since": 1e999, "severity": "info", "stage": 0}'):
        assert (await room.anna.post(path, foreign)).status == 422
    short = await room.anna.post(path, idempotency_key="short")
    assert short.status == 422


async def test_rulings_are_of_the_person_whose_token_it_is(room: Room) -> None:
    await room.start_encoder()
    assert (await room.anna.post("/v1/events/one/usual")).body == {"changed": True}
    assert (await room.bert.post("/v1/events/one/content", {"content": "slides"})).body == {"changed": True}
    assert (await room.bert.post("/v1/events/one/content", {"content": "slides"})).body == {"changed": False}
    snapshot = await room.until(lambda snapshot: snapshot.rule_changes)
    assert [(change.event_id, change.actor) for change in snapshot.rule_changes] == [("one", "anna"), ("one", "bert")]
    assert snapshot.events[0].content is Content.SLIDES
    assert (await room.bert.post("/v1/events/one/content")).status == 422
    assert (await room.bert.post("/v1/events/two/usual")).status == 404


async def test_the_unit_of_the_bit_rates_is_set_for_all_by_the_person_whose_token_it_is(room: Room) -> None:
    await room.start_encoder()
    refused = await room.bert.post("/v1/unit", {"unit": "kbit"})
    assert (refused.status, refused.body["say"]) == (409, "rates look like bit/s (4500000 / 128000)")
    assert (await room.bert.post("/v1/unit", {"unit": "bit"})).body == {"changed": True}
    assert (await room.bert.post("/v1/unit", {"unit": "bit"})).body == {"changed": False}
    snapshot = await room.until(lambda snapshot: snapshot.rule_changes)
    (change,) = snapshot.rule_changes
    assert (change.event_id, change.actor) == ("", "bert")
    assert change.text.endswith("taken as bit/s by bert")
    assert (await room.bert.post("/v1/unit", {"unit": "byte"})).status == 422


async def test_materials_are_remembered_for_all(room: Room) -> None:
    made = {"id": "m1", "video_id": "v1", "title": "Handout", "file_name": "handout.pdf"}
    assert (await room.anna.post("/v1/materials", {"remember": [made]})).status == 200
    assert [record.title for record in await room.history.materials("v1")] == ["Handout"]
    assert (await room.anna.post("/v1/materials", {"forget": ["m1"]})).status == 200
    assert await room.history.materials("v1") == ()
    answered = await room.anna.post("/v1/materials", {"remember": [{**made, "url": "https://x/?sig=1"}]})
    assert answered.body["say"] == "remember.0.url: unknown"


def intent(**said: Any) -> dict[str, Any]:
    """Return a change that a person at a deck is about to send, as JSON."""
    made = IntentRecord("i1", NOW, "event.complete", "complete", "event", "one", "Friday show", "m", "desk", 7)
    return {**asdict(made), "at": NOW.isoformat(), **said}


async def test_who_completes_an_event_at_an_attached_deck_is_known_to_have_done_it(room: Room) -> None:
    """So that nobody is told that it was lost."""
    await room.start_encoder()
    now = room.monitor.clock.now().isoformat()
    assert (await room.anna.post("/v1/audit", {"intent": intent(at=now, actor="mallory")})).status == 200
    (shown,) = room.stage.events
    shown["stream"] = {**shown["stream"], "status": "completed", "finished_at": now}
    room.monitor.refresh()
    snapshot = await room.until(lambda snapshot: snapshot.ended)
    assert [(ended.id, ended.by) for ended in snapshot.ended] == [("one", "anna@desk")]


async def test_an_audit_is_dated_no_later_than_now_and_holds_what_is_known(room: Room) -> None:
    at = (NOW + timedelta(days=1)).isoformat()
    done = ActionRecord(NOW, "event.complete", "event", "one", "Friday show", AuditOutcome.DONE, intent="i1")
    action = {**asdict(done), "at": at}
    marker = {"at": at, "event_id": "one", "text": "doors open"}
    assert (await room.anna.post("/v1/audit", {"intent": intent(at=at)})).status == 200
    assert [change.intent.actor for change in await room.history.open_changes()] == ["anna"]
    assert (await room.anna.post("/v1/audit", {"action": action, "marker": marker})).status == 200
    assert await room.history.open_changes() == ()
    now = room.monitor.clock.now()
    assert all(record.at <= now for record in await room.history.audit(NOW))
    assert all(record.at <= now for record in await room.history.intents(NOW))
    (kept,) = await room.history.markers("one")
    assert (kept.text, kept.at <= room.monitor.clock.now() + timedelta(seconds=1)) == ("doors open", True)
    for bad, say in [
        (intent(at="2026-03-01T12:00:00"), "intent.at: a time needs its zone"),
        (intent(password="x"), "intent.password: unknown"),
        (intent(edits=[{"name": "a", "before": "b", "after": "c", "more": 1}]), "intent.edits.0.more: unknown"),
    ]:
        answered = await room.anna.post("/v1/audit", {"intent": bad})
        assert (answered.status, answered.body["say"]) == (422, say)


async def test_what_is_looked_at_is_asked_for_more_often_until_nobody_looks(room: Room) -> None:
    looks = {"deck": "d1", "focus": "one", "lists": [["rooms"]], "ttl": 30}
    assert (await room.anna.ask("PUT", "/v1/interest", looks)).status == 200
    snapshot = await room.until(lambda snapshot: snapshot.lists)
    assert [key.kind for key in snapshot.lists] == [ResourceKind.ROOMS]
    for bad in ({"ttl": 31}, {"ttl": 0}, {"deck": ""}, {"lists": [["cues", "v", "t"]]}, {"lists": [["rooms"]] * 33}):
        assert (await room.anna.ask("PUT", "/v1/interest", {**looks, **bad})).status == 422


class Looks:
    """Monitor that records what it is asked to poll for viewers."""

    def __init__(self) -> None:
        self.focus: dict[str, str | None] = {}
        self.lists: dict[str, tuple[ResourceKey, ...]] = {}
        self.left = asyncio.Event()

    def set_focus(self, event_id: str | None, viewer: str = "") -> None:
        """Record that a viewer looks at an event."""
        self.focus[viewer] = event_id

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Record that a viewer looks at lists."""
        self.lists[viewer] = keys
        if not keys:
            self.left.set()


async def test_a_deck_that_says_nothing_more_looks_at_nothing() -> None:
    looks = Looks()
    interests = Interests(looks)
    lists = (ResourceKey(ResourceKind.ROOMS),)
    interests.put("anna", acts.Interest(deck="d1", focus="one", lists=lists, ttl=30))
    interests.put("anna", acts.Interest(deck="d2", focus="two", lists=lists, ttl=0.001))
    assert looks.focus == {"anna/d1": "one", "anna/d2": "two"}
    await asyncio.wait_for(looks.left.wait(), 60)
    assert looks.focus == {"anna/d1": "one", "anna/d2": None}
    assert looks.lists == {"anna/d1": lists, "anna/d2": ()}
    interests.put("anna", acts.Interest(deck="d1", ttl=30))
    assert set(looks.focus.values()) == {None}


async def test_what_one_token_looks_at_is_bounded_and_shuts_nobody_out() -> None:
    looks = Looks()
    interests = Interests(looks)

    def look(person: str, deck: int, *lists: ResourceKey, ttl: float = 30) -> None:
        interests.put(person, acts.Interest(deck=f"d{deck}", focus="one", lists=lists, ttl=ttl))

    for deck in range(MAX_DECKS_OF_TOKEN):
        look("anna", deck, ResourceKey(ResourceKind.ROOMS))
    with pytest.raises(Refusal, match="8 decks already use the token of anna"):
        look("anna", MAX_DECKS_OF_TOKEN)
    posters = [ResourceKey(ResourceKind.POSTERS, f"v{number}") for number in range(MAX_LISTS_OF_TOKEN)]
    look("bert", 0, *posters)
    look("bert", 1, posters[0])
    with pytest.raises(Refusal, match="the decks with the token of bert show more than 32 lists together"):
        look("bert", 1, ResourceKey(ResourceKind.ROOMS))
    assert looks.lists["bert/d1"] == (posters[0],), "it looks at what it did"
    for number in range(MAX_DECKS - MAX_DECKS_OF_TOKEN - 2):
        look(f"carl{number}", 0)
    with pytest.raises(Refusal, match="256 decks are already attached"):
        look("dora", 0)
    look("anna", 0, posters[0])
    for viewer in tuple(looks.focus):
        person, _, name = viewer.partition("/")
        interests.put(person, acts.Interest(deck=name, ttl=30))
    assert set(looks.focus.values()) == {None}


async def test_many_pokes_are_one_and_one_behind() -> None:
    refreshed = asyncio.Queue[None]()
    pokes = Pokes(lambda: refreshed.put_nowait(None), 0.01)
    for _ in range(20):
        pokes.poke()
    assert refreshed.qsize() == 1
    await refreshed.get()
    await asyncio.wait_for(refreshed.get(), 60)
    assert refreshed.empty()


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_comes_back_as_it_was_sent(verb: str) -> None:
    kind, body = VERBS[verb]
    key = AlarmKey("büro/7?", "DEST_DOWN", "a\x1fb")
    shown = Shown(NOW, Severity.WARNING, 2) if "since" in body.model_fields else None
    minutes = 15.5 if "minutes" in body.model_fields else None
    text = "known" if {"reason", "text"} & body.model_fields.keys() else ""
    text = "meant so" if "verdict" in body.model_fields else text
    command = AlarmCommand(key, kind, shown, minutes, text, "anna", "uid-of-it")
    path, sent = request_of(command)
    assert parse_key(path.split("/")[3]) == key
    assert command_of(key, kind, body.model_validate_json(json.dumps(sent)), "anna", "uid-of-it") == command


async def test_without_a_history_an_audit_is_refused(room: Room) -> None:
    deck = Attached(routes(room.monitor, None))
    answered = await deck.post("/v1/audit", {"intent": intent()})
    assert (answered.status, answered.body["error"]) == (503, "no history")
    await deck.close()
