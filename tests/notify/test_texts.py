"""Contents of a message, for a person at a lock screen and for a program."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from livedeck.client import Event
from livedeck.monitor import Diagnosis, Severity
from livedeck.notify import Board, Entry, EventInfo, Message, Plan, Route, Sender, State, Status, compose, step
from livedeck.text.secrets import register_secret
from notify.stage import NOW, Desk, alarm, over

ROUTE = Route("ops", "ops")
SENDER = Sender("watch-1", "arena", ZoneInfo("Europe/Berlin"))


def told(*alarms: str, sender: Sender = SENDER, name: str = "Friday show", **fields: Any) -> Message:
    """Return the message about alarms of these events; `name`: name of each event."""
    desk = Desk(ROUTE)
    desk.plan = Plan((ROUTE,), sender)
    desk.put(*(replace(alarm(event), subject=name, **fields) for event in alarms or ("one",)))
    (message,) = desk.watch(6)
    return message


def test_a_text_says_what_is_since_when_what_viewers_see_why_and_what_to_do() -> None:
    message = told()
    assert message.title == "CRIT NO_INGEST Friday show"
    assert message.text.split("\n") == [
        "Friday show: no samples, since 21:14:05 CET, 5 s (expected samples)",
        "Viewers: nothing",
        "Cause: the encoder is off",
        "Do: call the venue",
        "watch-1 profile arena: livedeck alarm list --profile arena",
    ]


@pytest.mark.parametrize("count", [1, 3, 60])
@pytest.mark.parametrize("name", ["Friday show", "The Friday show of the " + "very " * 20 + "long name"])
@pytest.mark.parametrize("actual", ["no samples", "no samples, as " + "the platform refused the token " * 9])
def test_the_first_120_characters_say_which_event_what_is_wrong_and_since_when(
    count: int, name: str, actual: str
) -> None:
    message = told(*(f"event-{number:02}" for number in range(count)), name=name, actual=actual)
    start = message.text[:120]
    assert "Friday show" in start
    assert "no samples" in start
    assert "since 21:14:05 CET, 5 s" in start
    assert len(message.text) <= 1000
    assert len(message.title) <= 120


def test_what_a_lock_screen_has_no_room_for_is_said_below() -> None:
    actual = "the platform refused the token " * 5 + "of LIVEDECK_TOKEN"
    assert f"\nSeen: {actual}\n" in told(actual=actual).text
    assert "Seen" not in told().text


def test_of_many_the_worst_are_named_and_the_rest_counted() -> None:
    message = told(*(f"event-{number:02}" for number in range(60)))
    payload = json.loads(message.payload)
    assert message.text.count("NO_INGEST") == 5
    assert "and 55 more of 55 events" in message.text
    assert (len(payload["alarms"]), payload["truncated"]) == (50, 10)


@pytest.mark.parametrize(
    ("criticals", "warnings", "title"),
    [
        (40, 0, "CRIT 40 x NO_INGEST"),
        (4, 2, "CRIT 6 alarms: 4 x NO_INGEST, WARN 2 x FPS_LOW"),
        (0, 7, "WARN 7 x FPS_LOW"),
    ],
)
def test_a_title_counts_more_alarms_than_it_can_name(criticals: int, warnings: int, title: str) -> None:
    desk = Desk(ROUTE)
    desk.put(*(alarm(f"event-{number}") for number in range(criticals)))
    desk.put(*(alarm(f"other-{number}", "FPS_LOW", Severity.WARNING) for number in range(warnings)))
    (message,) = desk.watch(6)
    assert message.title == title
    desk.put(*(over(known, desk.now) for known in desk.alarms.values()))
    (end,) = desk.watch(150)
    assert end.title == f"RESOLVED {title.removeprefix('CRIT ').replace('WARN ', '')}"


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


def test_an_alarm_has_one_dedup_key_from_its_beginning_to_its_end() -> None:
    desk = Desk(Route("ops", "ops", escalate=1, escalate_to="boss"))
    desk.plan = replace(desk.plan, sender=replace(SENDER, origin="0a1b2c3d"))
    standing = alarm("one", "RESTREAM_DOWN", Severity.WARNING, target="7")
    desk.put(standing)
    desk.watch(90)
    desk.put(replace(standing, severity=Severity.CRITICAL, changed=desk.now))
    desk.watch(10)
    desk.put(over(standing, desk.now))
    desk.watch(150)
    keys = [(message.status, json.loads(message.payload)["alarms"][0]["dedup_key"]) for message in desk.told]
    key = f"livedeck/0a1b2c3d/one/RESTREAM_DOWN/7/{round(NOW.timestamp() * 1000)}"
    assert keys == [
        (Status.FIRING, key),
        (Status.ESCALATED, key),
        (Status.FIRING, key),
        (Status.RESOLVED, key),
        (Status.RESOLVED, key),
    ]


def test_long_dedup_keys_are_cut_and_stay_apart() -> None:
    keys = {
        json.loads(compose("ops", "ops", [entry_of(f"{'x' * 300}{number}")], NOW, SENDER).payload)["alarms"][0][
            "dedup_key"
        ]
        for number in range(9)
    }
    assert len(keys) == 9
    assert {len(key) for key in keys} == {255}


def test_no_name_steers_a_receiver_and_no_secret_leaves() -> None:
    register_secret("k3y-of-the-stage-9c1d")
    message = told(name="\x1b]0;gone\x07\u202eevil\nFake: line k3y-of-the-stage-9c1d")
    for text in (message.title, message.text, message.payload):
        assert not {*"\x1b\x07\u202e"} & {*text}
        assert "k3y-of-the-stage" not in text
    assert "\nFake:" not in message.text


@pytest.mark.parametrize("name", ["gala-2026-main", "Gala26"])
def test_an_event_whose_key_is_its_name_is_named(name: str) -> None:
    """A message about `••••` would tell nobody which event it means."""
    event = Event.model_validate({"id": "one", "name": name, "streamkey": name.lower()})
    message = told(name=name)
    assert (message.title, message.text.startswith(f"{name}: no samples")) == (f"CRIT NO_INGEST {name}", True)
    assert json.loads(message.payload)["alarms"][0]["event"] == name
    assert name not in f"{event.streamkey} {event.model_dump(mode='json')['streamkey']}"


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
    assert message.text.startswith("ONE: NO_INGEST cleared after 4 min, 20:14:05 to 20:18:16 UTC\n")


def test_what_waits_in_the_file_holds_no_secret() -> None:
    register_secret("k3y-of-the-stage-9c1d")
    desk = Desk(ROUTE)
    for number in range(13):
        desk.put(alarm(f"event-{number}", severity=Severity.WARNING, actual="refused: k3y-of-the-stage-9c1d"))
        desk.watch(10)
    entries = [entry for entries in desk.state.held.values() for entry in entries]
    assert entries
    for entry in entries:
        text = entry.to_json()
        assert "k3y-of-the-stage" not in text
        assert replace(Entry.from_json(text), actual=entry.actual) == entry


def ended(began: datetime, *, after: timedelta, sender: Sender = SENDER, **fields: Any) -> Message:
    """Return the message about the end of an alarm."""
    desk = Desk(ROUTE, now=began)
    desk.plan = Plan((ROUTE,), sender)
    standing = alarm(since=began, changed=began, **fields)
    desk.put(standing)
    desk.watch(10)
    desk.now = began + after
    desk.look()
    desk.put(over(standing, desk.now))
    (message,) = desk.watch(150, 5)
    return message


@pytest.mark.parametrize(
    ("began", "after", "said"),
    [
        ("2026-11-21T20:14:05", 600, "cleared after 10 min, 21:14:05 to 21:24:10 CET"),
        ("2026-11-21T22:30:00", 3600, "cleared after 60 min, 2026-11-21 23:30:00 to 00:30:05 CET"),
        ("2026-11-19T20:00:00", 170_000, "cleared after 47 h 13 min, 2026-11-19 21:00:00 to 20:13:25 CET"),
        ("2026-10-25T00:40:00", 3000, "cleared after 50 min, 02:40:00 CEST to 02:30:05 CET"),  # clocks went back at 3
        ("2026-03-29T00:40:00", 3000, "cleared after 50 min, 01:40:00 CET to 03:30:05 CEST"),  # and forth at 2
    ],
)
def test_times_are_those_of_the_readers_clock_with_a_day_that_is_not_today(began: str, after: int, said: str) -> None:
    message = ended(datetime.fromisoformat(began).replace(tzinfo=UTC), after=timedelta(seconds=after))
    assert message.text.splitlines()[0] == f"ONE: NO_INGEST {said}"


def test_an_end_names_the_part_of_the_event_and_a_platform_once() -> None:
    began, after = datetime(2026, 11, 21, 20, tzinfo=UTC), timedelta(minutes=5)
    part = ended(began, after=after, event="one", kind="RESTREAM_DOWN", target="7", target_name="Video share")
    assert part.title == "RESOLVED RESTREAM_DOWN ONE / Video share after 5 min"
    assert part.text.startswith("ONE / Video share: RESTREAM_DOWN cleared after 5 min, 21:00:00 to 21:05:")
    assert ended(began, after=after, event="", kind="PLATFORM").title == "RESOLVED PLATFORM after 5 min"


def test_several_ends_are_one_list_without_severities() -> None:
    desk = Desk(ROUTE)
    desk.put(alarm("one"), alarm("two", "FPS_LOW", Severity.WARNING))
    desk.watch(10)
    desk.put(over(alarm("one"), desk.now), over(alarm("two", "FPS_LOW", Severity.WARNING), desk.now))
    (message,) = desk.watch(150)
    assert message.title == "RESOLVED 2 alarms: NO_INGEST ONE, FPS_LOW TWO"
    assert message.text.splitlines() == [
        "NO_INGEST ONE: cleared after 11 s, 20:14:05 to 20:14:16 UTC",
        "FPS_LOW TWO: cleared after 11 s, 20:14:05 to 20:14:16 UTC",
        "livedeck alarm list",
    ]


def test_what_was_over_before_it_could_be_told_is_called_so_and_stands_behind_what_was_told() -> None:
    over_by_then = entry_of("late", is_cleared=True, seconds=60.0)
    ended = entry_of("early", status=Status.RESOLVED, severity=Severity.WARNING, seconds=30.0)
    message = compose("ops", "ops", [over_by_then, ended], NOW, SENDER)
    assert message.status is Status.RESOLVED
    assert message.title == "RESOLVED 2 alarms: NO_INGEST EARLY, NO_INGEST LATE"
    assert message.text.splitlines()[:2] == [
        "NO_INGEST EARLY: cleared after 30 s, 21:14:05 to 21:14:35 CET",
        "CRIT NO_INGEST LATE: no samples, 21:14:05 to 21:15:05 CET, cleared after 60 s",
    ]
    assert compose("ops", "ops", [over_by_then], NOW, SENDER).title == "CLEARED CRIT NO_INGEST LATE after 60 s"


def test_the_json_says_when_what_is_over_was_and_of_nothing_else() -> None:
    over_by_then = entry_of("late", is_cleared=True, seconds=60.0)
    for entry, end in (
        (over_by_then, "2026-11-21T20:15:05+00:00"),
        (replace(over_by_then, is_cleared=False, status=Status.RESOLVED), "2026-11-21T20:15:05+00:00"),
        (replace(over_by_then, is_cleared=False), None),
        (replace(over_by_then, is_cleared=False, status=Status.ESCALATED), None),
    ):
        body = json.loads(compose("ops", "ops", [entry], NOW, SENDER).payload)
        assert ([alarm["cleared"] for alarm in body["alarms"]], body["status"] == "resolved") == (
            [end],
            end is not None,
        )


def entry_of(event: str, **fields: Any) -> Entry:
    """Return a critical alarm of an event, to be notified."""
    told = Entry(
        Status.FIRING,
        event,
        0,
        event,
        "NO_INGEST",
        "",
        Severity.CRITICAL,
        event.upper(),
        "",
        "no samples",
        "",
        NOW,
        0.0,
    )
    return replace(told, **fields)


@pytest.mark.parametrize(
    ("tally", "said"),
    [
        ("ON AIR", "Event: on air since 2026-11-21 20:56 CET"),
        ("RECONNECTING", "Event: reconnecting, on air since 2026-11-21 20:56 CET"),
        ("SCHEDULED", "Event: scheduled for 2026-11-21 20:56 CET"),
        ("LATE", "Event: late since 2026-11-21 20:56 CET"),
        ("COMPLETED", "Event: completed"),
    ],
)
def test_whether_the_event_is_on_air_is_said_in_its_own_tense(tally: str, said: str) -> None:
    plan = Plan((ROUTE,), SENDER)
    events = {"one": EventInfo("Friday show", tally, NOW - timedelta(minutes=18))}
    state, *_ = step(plan, State(), Board((alarm(),), events), NOW)
    _, (message,), _ = step(plan, state, Board((alarm(),), events), NOW + timedelta(seconds=6))
    assert said in message.text.splitlines()


def test_a_test_says_that_nothing_is_wrong_and_nothing_else() -> None:
    entry = Entry(Status.TEST, "test/1", 0, "", "TEST", "", Severity.INFO, "livedeck", "", "a test", "", NOW, 0.0)
    message = compose("ops", "ops", [entry], NOW, SENDER)
    assert message.title == "TEST livedeck"
    assert message.text.splitlines() == [
        "Test message from livedeck, 21:14:05 CET. No alarm.",
        "watch-1 profile arena: livedeck alarm list --profile arena",
    ]


def test_a_long_text_is_cut_before_who_tells_and_never_after() -> None:
    words = Diagnosis(*(f"{name} " * 80 for name in ("cause", "viewers", "advice")))
    message = told(name="x" * 200, actual="y" * 400, expected="z" * 400, diagnosis=words)
    assert len(message.text) == 1000
    assert message.text.endswith("…\nwatch-1 profile arena: livedeck alarm list --profile arena")
