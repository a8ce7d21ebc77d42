"""What a message says, to a person on a lock screen and to a program."""

from __future__ import annotations

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from livedeck.monitor import Severity
from livedeck.notify import Entry, Message, Plan, Route, Sender
from livedeck.text.secrets import register_secret
from notify.stage import Desk, alarm, over

ROUTE = Route("ops", "ops")
SENDER = Sender("watch-1", "arena", ZoneInfo("Europe/Berlin"))


def told(*alarms: str, sender: Sender = SENDER, name: str = "Friday show") -> Message:
    """The message of alarms of these events."""
    desk = Desk(ROUTE)
    desk.plan = Plan((ROUTE,), sender)
    desk.put(*(replace(alarm(event), subject=name) for event in alarms or ("one",)))
    (message,) = desk.watch(6)
    return message


def test_a_text_says_what_is_since_when_what_viewers_see_why_and_what_to_do() -> None:
    message = told()
    assert message.title == "CRIT NO_INGEST Friday show"
    assert message.text.split("\n") == [
        "Friday show: no samples (expected samples), since 21:14:05 CET, 6 s",
        "Viewers: nothing",
        "Cause: the encoder is off",
        "Do: call the venue",
        "watch-1 profile arena: livedeck alarms --profile arena",
    ]


@pytest.mark.parametrize("count", [1, 3, 60])
def test_the_first_120_characters_say_which_event_what_is_wrong_and_since_when(count: int) -> None:
    message = told(*(f"event-{number:02}" for number in range(count)))
    start = f"{message.text[:120]}"
    assert "Friday show" in start
    assert "no samples" in start
    assert "since 21:14:05 CET" in start
    assert len(message.text) <= 1000
    assert len(message.title) <= 120


def test_of_many_the_worst_are_named_and_the_rest_counted() -> None:
    message = told(*(f"event-{number:02}" for number in range(60)))
    payload = json.loads(message.payload)
    assert message.text.count("NO_INGEST") == 5
    assert "and 55 more of 55 events" in message.text
    assert (len(payload["alarms"]), payload["truncated"]) == (50, 10)


def test_the_json_has_what_a_program_needs() -> None:
    payload = json.loads(told().payload)
    (entry,) = payload.pop("alarms")
    assert {name: payload[name] for name in ("schema", "status", "route", "incident", "truncated")} == {
        "schema": 1,
        "status": "firing",
        "route": "ops",
        "incident": "",
        "truncated": 0,
    }
    assert payload["id"] == told().key
    assert payload["at"].startswith("2026-11-21T20:14:")
    assert entry["key"] == ["one", "NO_INGEST", ""]
    assert (entry["severity"], entry["event"], entry["since"]) == (
        "critical",
        "Friday show",
        "2026-11-21T20:14:05+00:00",
    )
    assert (entry["actual"], entry["viewers"], entry["advice"]) == ("no samples", "nothing", "call the venue")


def test_no_name_steers_a_receiver_and_no_secret_leaves() -> None:
    register_secret("k3y-of-the-stage-9c1d")
    message = told(name="\x1b]0;gone\x07\u202eevil\nFake: line k3y-of-the-stage-9c1d")
    for text in (message.title, message.text, message.payload):
        assert not {*"\x1b\x07\u202e"} & {*text}
        assert "k3y-of-the-stage" not in text
    assert "\nFake:" not in message.text


def test_a_link_is_the_readers_own_and_no_id_leaves_it() -> None:
    message = told("../a b?c", sender=replace(SENDER, link="https://wiki.example/{event_id}"))
    assert message.text.endswith("watch-1 profile arena: https://wiki.example/..%2Fa%20b%3Fc")


def test_an_end_says_after_how_long() -> None:
    desk = Desk(ROUTE)
    desk.put(alarm(severity=Severity.WARNING))
    desk.watch(250)
    desk.put(over(alarm(), desk.now))
    (message,) = desk.watch(200)
    assert message.title == "RESOLVED NO_INGEST ONE after 4 min"
    assert message.text.startswith("ONE: NO_INGEST is over after 4 min, since 20:14:05 UTC")


def test_what_waits_in_the_file_holds_no_secret() -> None:
    register_secret("k3y-of-the-stage-9c1d")
    desk = Desk(ROUTE)
    for number in range(13):
        desk.put(alarm(f"event-{number}", actual="refused: k3y-of-the-stage-9c1d"))
        desk.watch(10)
    entries = [entry for entries in desk.state.held.values() for entry in entries]
    assert entries
    for entry in entries:
        text = entry.to_json()
        assert "k3y-of-the-stage" not in text
        assert replace(Entry.from_json(text), actual=entry.actual) == entry
