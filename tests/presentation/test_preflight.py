"""GO or NO-GO: each item by itself, and how they make the verdict."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from livedeck.client import Event, FieldFault
from livedeck.monitor import (
    BroadcastState,
    CachedList,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Readings,
    Snapshot,
    event_key,
)
from livedeck.monitor.published.codec import decode, encode
from livedeck.presentation.preflight import Item, Mark, Preflight, PreflightFacts, gather_facts, preflight

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)


def event(**fields: Any) -> Event:
    start = (NOW + timedelta(minutes=30)).isoformat()
    stream = {"id": "s", "status": "pending", "started_at": start}
    plain = {
        "id": "e", "name": "Show", "scheduled": {"time": start}, "stream": stream, "reconnect_window": 600,
        "poster": {"original": "https://pictures.example/a.png", "status": "done"}, "chat_active": True,
        "restreams": [],
    }  # fmt: skip
    return Event.model_validate({**plain, **fields})


def restream(key: str | None = "a-key-of-4711", **fields: Any) -> dict[str, Any]:
    return {"id": "r", "name": "CDN", "url": "rtmp://live.example/app", "key": key, "enabled": True, **fields}


def facts(show: Event | None = None, *others: Event, **changes: Any) -> PreflightFacts:
    plain = PreflightFacts(show or event(), others, None, NOW, 0.0, is_read_only=False)
    return replace(plain, **changes)


def mark_of(name: str, given: PreflightFacts) -> Mark:
    return next(item.mark for item in preflight(given).items if item.name == name)


@pytest.mark.parametrize(
    ("name", "given", "mark"),
    [
        ("schedule", facts(), Mark.GO),
        ("schedule", facts(event(scheduled=None, stream=None)), Mark.NO_GO),
        ("schedule", facts(now=NOW + timedelta(hours=1)), Mark.NO_GO),
        ("stream", facts(event(stream=None)), Mark.CHECK),
        ("conflicts", facts(), Mark.GO),
        ("conflicts", facts(event(), event(id="other")), Mark.CHECK),
        ("conflicts", facts(event(restreams=[restream()]), event(id="o", restreams=[restream()])), Mark.NO_GO),
        ("conflicts", facts(event(restreams=[restream()]), event(id="o", restreams=[restream("b-key-1")])), Mark.CHECK),
        (
            "conflicts",
            facts(event(restreams=[restream()]), event(id="o", restreams=[restream(enabled=False)])),
            Mark.CHECK,
        ),
        ("reconnect window", facts(event(reconnect_window=5)), Mark.CHECK),
        ("reconnect window", facts(event(reconnect_window=None)), Mark.UNKNOWN),
        ("restreams", facts(), Mark.GO),
        ("restreams", facts(event(restreams=[restream()])), Mark.GO),
        ("restreams", facts(event(restreams=[restream("")])), Mark.NO_GO),
        ("restreams", facts(event(restreams=[restream("", enabled=False)])), Mark.NO_GO),
        ("restreams", facts(event(restreams=[restream(), restream("", enabled=False)])), Mark.CHECK),
        ("poster", facts(event(poster=None)), Mark.CHECK),
        ("chat", facts(event(chat_active=None)), Mark.UNKNOWN),
        ("signal", facts(), Mark.CHECK),
        ("clock", facts(skew=9.0), Mark.CHECK),
        ("clock", facts(skew=-9.0), Mark.CHECK),
        ("clock", facts(skew=None), Mark.UNKNOWN),
        ("token", facts(is_read_only=True), Mark.CHECK),
        ("token", facts(), Mark.UNKNOWN),
    ],
)
def test_an_item_is_marked_by_what_is_known(name: str, given: PreflightFacts, mark: Mark) -> None:
    assert mark_of(name, given) is mark


@pytest.mark.parametrize(
    ("tally", "seconds", "mark", "words"),
    [
        (BroadcastState.SCHEDULED, 4.0, Mark.GO, "samples arrive, newest 4 s old; not judged before the start"),
        (BroadcastState.SCHEDULED, 90.0, Mark.CHECK, "newest sample 01:30 old"),
        (BroadcastState.ON_AIR, 4.0, Mark.GO, "good, newest sample 4 s old"),
    ],
)
def test_a_signal_is_good_only_if_it_was_judged(tally: BroadcastState, seconds: float, mark: Mark, words: str) -> None:
    at = NOW.timestamp() - seconds
    time, video, audio, fps = (array("d", [value]) for value in (at, 4e6, 128e3, 30.0))
    readings = Readings(time, video, audio, fps, array("q", [0]))
    phase = Phase(tally, ingest=Ingest(IngestState.RECEIVING))
    state = EventState(event(), NOW, phase, QosState(readings=readings), HealthAssessment())
    (item,) = (item for item in preflight(facts(state=state)).items if item.name == "signal")
    assert (item.mark, item.finding) == (mark, words)


@pytest.mark.parametrize(
    ("qos", "mark", "words"),
    [
        (QosState(error="get QoS: 502"), Mark.UNKNOWN, "samples could not be read: get QoS: 502"),
        (QosState(), Mark.UNKNOWN, "samples not read yet"),
        (QosState(as_of=NOW), Mark.NO_GO, "no sample yet"),
    ],
)
def test_samples_that_were_not_read_are_not_missing(qos: QosState, mark: Mark, words: str) -> None:
    show = event(stream={"id": "s", "status": "live", "started_at": NOW.isoformat()})
    state = EventState(show, NOW, Phase(BroadcastState.ON_AIR), qos, HealthAssessment())
    (item,) = (item for item in preflight(facts(show, state=state)).items if item.name == "signal")
    assert (item.mark, item.finding) == (mark, words)


def test_events_that_were_not_received_may_conflict() -> None:
    items = {item.name: item for item in preflight(facts(has_all=False)).items}
    assert items["conflicts"].mark is Mark.UNKNOWN
    assert items["conflicts"].finding == "none with the received events, but the list is incomplete"


def test_of_what_the_platform_does_not_say_nothing_has_passed() -> None:
    """A field that is missing, and one that could not be read; null is an answer."""
    bare = preflight(facts(Event.model_validate({"id": "e"})))
    assert {item.name for item in bare.marked(Mark.GO)} == {"clock"}
    odd = event().with_faults((FieldFault("restreams.0.key", "should be text", "a number"),))
    assert {item.name for item in preflight(facts(odd)).marked(Mark.UNKNOWN)} >= {"restreams", "conflicts"}


def test_shows_that_begin_together_are_one_item_the_nearest_first() -> None:
    others = (at(minutes=44, id="far"), at(minutes=31, id="near"), at(minutes=46, id="another hour"))
    (item,) = (item for item in preflight(facts(event(), *others)).items if item.name == "conflicts")
    assert item.finding == '2 others start at about the same time: "near", "far"'


def at(*, minutes: float, **fields: Any) -> Event:
    """Return an event that begins in `minutes`."""
    start = (NOW + timedelta(minutes=minutes)).isoformat()
    stream = {"id": "s", "status": "pending", "started_at": start}
    return event(name=None, scheduled={"time": start}, stream=stream, **fields)


@pytest.mark.parametrize("mark", Mark)
def test_only_a_no_go_keeps_a_show_from_starting(mark: Mark) -> None:
    found = Preflight((Item("schedule", Mark.GO, "-"), Item("poster", mark, "-")))
    assert found.is_go is (mark is not Mark.NO_GO)
    assert found.verdict == ("NO-GO: poster" if mark is Mark.NO_GO else "GO")


def test_what_is_not_well_says_what_to_do_and_no_key_is_told() -> None:
    given = facts(event(restreams=[restream()], scheduled=None, stream=None), event(id="o", restreams=[restream()]))
    items = preflight(given).items
    assert all(item.advice for item in items if item.mark in {Mark.NO_GO, Mark.CHECK})
    assert "a-key-of" not in repr(items)


def test_a_key_that_is_also_a_name_has_to_be_looked_at() -> None:
    keys = ("the stream key", "the key of restream CDN")
    items = [item for item in preflight(facts(public_keys=keys)).items if item.name == "keys"]
    assert [(item.mark, item.finding.split(" is also ")[0]) for item in items] == [(Mark.CHECK, key) for key in keys]
    assert not any(item.name == "keys" for item in preflight(facts()).items)


PICTURE = "https://pictures.example/a.png"
KEYS = ("a-key-of-4711", "a-key-of-4712", "", None)


def workspace(chance: Random) -> Snapshot:
    """Return four events that start soon or run, with restreams and posters of any kind."""
    events = []
    for place in range(4):
        restreams = [
            restream(id=f"r{number}", key=chance.choice(KEYS), enabled=chance.random() < 0.7)
            for number in range(chance.randrange(3))
        ]
        poster = chance.choice([None, {"original": f"{PICTURE}?signature=a-key-of-4713"}, {"original": None}])
        minutes = chance.choice([-20, 5, 8, 90])
        events.append(at(minutes=minutes, id=f"e{place}", restreams=restreams, poster=poster))
    states = [EventState(show, NOW, Phase(BroadcastState.SCHEDULED), QosState(), HealthAssessment()) for show in events]
    return Snapshot(0, NOW, ConnectionStatus(ConnectionState.OK, NOW), tuple(states))


NEEDED = ("scheduled", "restreams", "poster", "video", "chat_active", "reconnect_window")


def partly_listed(moment: Snapshot, chance: Random) -> Snapshot:
    """Return the workspace as if its list lacked some fields; those of some events were read by id."""
    states, lists = [], {}
    for state in moment.events:
        lacked = {name for name in NEEDED if chance.random() < 0.4}
        kept = {name: getattr(state.event, name) for name in state.event.model_fields_set - lacked}
        states.append(replace(state, event=state.event.model_construct({*kept}, **kept)))
        if chance.random() < 0.7:
            lists[event_key(state.id)] = CachedList((state.event,), NOW)
    skew = chance.choice([0.0, 4.0])
    link = replace(moment.link, as_of=NOW, skew=skew)
    return replace(moment, events=tuple(states), lists=lists, link=link)


def marks(moment: Snapshot, place: int) -> dict[str, Mark]:
    found = preflight(gather_facts(moment, moment.events[place].event, NOW, is_read_only=False))
    return {item.name: item.mark for item in found.items}


def passed_on(moment: Snapshot, *without: str) -> Snapshot:
    """Return the snapshot as the history stores it and a collector sends it."""
    values = json.loads(json.dumps(encode(moment).values))
    assert "a-key-of" not in json.dumps(values)
    return decode({name: value for name, value in values.items() if name not in without})


def test_the_past_and_an_attached_deck_give_the_verdict_of_the_deck_that_has_the_keys() -> None:
    """They get neither keys nor addresses. Two hundred workspaces; every verdict occurs."""
    seen = Counter[tuple[str, Mark]]()
    for seed in range(200):
        moment = workspace(Random(seed))
        for place in range(4):
            assert marks(passed_on(moment), place) == marks(moment, place)
            seen.update(marks(moment, place).items())
    for name in ("conflicts", "restreams", "poster"):
        assert {mark for found, mark in seen if found == name} >= {Mark.GO, Mark.CHECK}
    assert seen["restreams", Mark.NO_GO] > seen["conflicts", Mark.NO_GO] > 20


def test_the_past_has_what_the_deck_read_by_id_because_the_list_lacked_it() -> None:
    seen = Counter[Mark]()
    for seed in range(100):
        moment = partly_listed(workspace(Random(seed)), Random(seed))
        for place in range(4):
            assert marks(passed_on(moment), place) == marks(moment, place)
            seen[marks(moment, place)["restreams"]] += 1
    assert min(seen[mark] for mark in Mark) > 5


def test_without_keys_and_without_facts_about_them_nothing_is_said_of_them() -> None:
    """So it is in a history of an older version."""
    shows = [event(id=name, restreams=[restream()]) for name in ("a", "b")]
    states = [EventState(show, NOW, Phase(BroadcastState.SCHEDULED), QosState(), HealthAssessment()) for show in shows]
    moment = Snapshot(0, NOW, ConnectionStatus(ConnectionState.OK, NOW), tuple(states))
    assert {name: mark for name, mark in marks(moment, 0).items() if name in {"conflicts", "restreams", "poster"}} == {
        "conflicts": Mark.NO_GO, "restreams": Mark.GO, "poster": Mark.GO,
    }  # fmt: skip
    older = marks(passed_on(moment, "withheld"), 0)
    assert {older[name] for name in ("restreams", "poster")} == {Mark.UNKNOWN}
    found = preflight(gather_facts(passed_on(moment, "withheld"), shows[0], NOW, is_read_only=False))
    assert [item.mark for item in found.items if item.name == "conflicts"] == [Mark.CHECK, Mark.UNKNOWN]
    assert found.is_go
