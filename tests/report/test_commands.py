"""Commands about the past answer from the history's file, without the platform."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cli.commands import called
from livedeck.client import Event
from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmState,
    AuditOutcome,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    History,
    Matcher,
    Phase,
    QosState,
    Severity,
    Silence,
    Silenced,
    Snapshot,
)
from report.night import SCRIPT

FROM, TO = "2026-11-21T09:00Z", "2026-11-21T09:13Z"
STRETCH = ("--from", FROM, "--to", TO)


def run(night: Path, tmp_path: Path, *line: str, code: int = 0) -> str:
    """Return the standard output of the command on that history, or its standard error for a failure.

    The address of the platform has no server.
    """
    env = {"LIVEDECK_HISTORY": str(night), "LIVEDECK_BASE_URL": "http://127.0.0.1:9", "TZ": "UTC"}
    done = called(tmp_path, *line, env=env)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_what_happened_is_answered_in_one_command(night: Path, tmp_path: Path) -> None:
    """Every thing that the scenario did to the event, who answered, and when nobody watched."""
    said = run(night, tmp_path, "past", "show", "main stage", *STRETCH)
    for words in (
        "restream      Video share disconnected",
        "FPS_COLLAPSE raised: fps 15",
        "FPS_COLLAPSE acknowledged",
        "(by anna@regie)",
        "note: camera 2 runs at half its rate",
        "marker        change over to camera 1",
        "action        event.edit: done (by anna@regie)",
        "nobody watched for 01:0",
        "connection blind",
    ):
        assert words in said, f"{words}\n{said}"
    assert "RECONNECTING" not in said, "that was another event's"


def test_its_json_follows_the_schema_and_has_every_sample(night: Path, tmp_path: Path) -> None:
    """The CSV has every sample too."""
    found = json.loads(run(night, tmp_path, "past", "show", "Main stage", *STRETCH, "--json"))
    schema = json.loads(run(night, tmp_path, "past", "show", "--schema"))
    jsonschema_rs.validator_for(schema).validate(found)
    times = [sample["time"] for sample in found["samples"]]
    assert times == sorted(times)
    first, last = (datetime.fromisoformat(time) for time in (times[0], times[-1]))
    assert times[0] == "2026-11-21T09:00:00.000Z"
    assert times[-1] > "2026-11-21T09:12:30"
    assert len(times) == (last - first).total_seconds() / 2 + 1
    rows = list(
        csv.DictReader(io.StringIO(run(night, tmp_path, "past", "show", "Main stage", *STRETCH, "--format", "csv")))
    )
    assert [row["at"] for row in rows if row["type"] == "sample"] == times
    assert len(rows) == len(times) + len(found["entries"])


def test_episodes_are_those_of_the_scenario(night: Path, tmp_path: Path) -> None:
    """The episodes match the expected alarms of the scenario to a sample; restreams match to the second."""
    found = json.loads(run(night, tmp_path, "past", "episodes", *STRETCH, "--json"))
    jsonschema_rs.validator_for(json.loads(run(night, tmp_path, "past", "episodes", "--schema"))).validate(found)
    script = tomllib.loads(SCRIPT.read_text(encoding="utf-8"))
    wanted = {(alarm["event"], alarm["kind"]) for alarm in script["alarms"] if "event" in alarm}
    wanted -= {("Small hall", "ENDED_ON_AIR")}  # no fault of samples, so no episode
    assert {(episode["event"], episode["kind"]) for episode in found["episodes"]} >= wanted
    downs = [episode for episode in found["episodes"] if episode["kind"] == "RESTREAM_DOWN"]
    assert {(down["since"], down["until"]) for down in downs} == {("2026-11-21T09:01:30Z", "2026-11-21T09:02:30Z")}
    text = run(night, tmp_path, "past", "episodes", "Second", *STRETCH)
    assert "09:05:44Z to 09:07:16Z     01:32  ✖ Second stage: RECONNECTING" in text
    assert "Main stage" not in text


@pytest.mark.parametrize(
    ("words", "kind"), [("camera 2", "alarm action"), ("CHANGE over", "marker"), ("anna edit", "action")]
)
def test_a_search_finds_notes_markers_and_actions(night: Path, tmp_path: Path, words: str, kind: str) -> None:
    """Whatever the case, and all of the words."""
    found = json.loads(run(night, tmp_path, "past", "search", *words.split(), "--from", FROM, "--json"))
    jsonschema_rs.validator_for(json.loads(run(night, tmp_path, "past", "search", "--schema"))).validate(found)
    assert kind in {entry["type"] for entry in found["entries"]}
    assert "no record contains" in run(night, tmp_path, "past", "search", words, "never", "--from", FROM)


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no such event": (("past", "show", "Nobody"), "no event is called 'Nobody'"),
    "no moment": (("past", "show", "Main stage", "--from", "sometime"), "is not a time"),
    "no stretch": (
        ("past", "show", "Main stage", "--to", FROM, "--from", TO),
        "read as 2026-11-21 09:00:00Z is not after --from, read as 2026-11-21 09:13:00Z",
    ),
    "not past": (("past", "show", "Main stage", "--from", "+20m"), "is in the future"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_use_says_what_is_wrong(night: Path, tmp_path: Path, case: str) -> None:
    """The exit code is 2."""
    line, words = REFUSED[case]
    assert words in run(night, tmp_path, *line, code=2)


def test_an_end_before_the_start_is_not_taken_for_the_end_of_tomorrow(night: Path, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    since, until = (f"{now - timedelta(minutes=minutes):%H:%M}" for minutes in (2, 4))
    for command in (("show", "Main stage"), ("report", "Main stage"), ("report", "--day", "today")):
        said = run(night, tmp_path, "past", *command, "--from", since, "--to", until, code=2)
        assert "is not after --from" in said


def test_without_a_file_nothing_is_known_and_that_is_said(tmp_path: Path) -> None:
    """A file that is none is a fault as well."""
    missing = tmp_path / "none.sqlite"
    assert "there is no history at" in run(missing, tmp_path, "past", "search", "x", code=1)
    missing.write_text("no database, but long enough to be taken for one, for it has more than a hundred bytes " * 3)
    assert str(missing) in run(missing, tmp_path, "past", "episodes", code=1)


def platform_event(**fields: Any) -> Event:
    """Return an event as the platform sends it."""
    return Event.model_validate(fields)


async def _record_evening(path: Path, now: datetime) -> None:
    """Record a choir on air with an acknowledged and a shelved alarm, and a planned show."""
    read = Alarm(
        "e1",
        "AUDIO_LOST",
        Severity.CRITICAL,
        now - timedelta(minutes=4),
        "Choir | hall",
        "audio 0",
        "128k",
        changed=now,
        state=AlarmState.ACKNOWLEDGED,
        answered_by="anna@regie:7",
        answered_at=now - timedelta(minutes=3),
        acknowledged_until=now + timedelta(minutes=2),
        note="the mixer is looked at",
    )
    shelved = replace(read, kind="FPS_LOW", severity=Severity.WARNING, state=AlarmState.SHELVED, reason="known camera")
    shelved = replace(shelved, shelved_until=now + timedelta(hours=1), note="")
    choir = platform_event(id="e1", name="Choir | hall", stream={"id": "s", "started_at": now.isoformat()})
    later = platform_event(id="e2", name="Late show", scheduled={"time": (now + timedelta(hours=2)).isoformat()})
    on_air = EventState(choir, now, Phase(BroadcastState.ON_AIR), QosState(), HealthAssessment())
    coming = replace(on_air, event=later, phase=Phase(BroadcastState.SCHEDULED))
    history = await History.open(path, now)
    link = ConnectionStatus(ConnectionState.OK, now, as_of=now - timedelta(hours=2))
    covering = Silenced("s-1", now + timedelta(hours=1), "encoder swap", "anna@regie:7")
    new = replace(read, kind="FPS_COLLAPSE", state=AlarmState.UNACKNOWLEDGED, silenced=covering, note="")
    await history.append(Snapshot(1, now, link, (on_air, coming), (read, new), (shelved,)))
    for number, (text, hours) in enumerate((("name ~ Choir*", 1), ("name ~ Late*", 1), ("name ~ Choir*", -1))):
        ends_at, actor = now + timedelta(hours=hours), "anna@regie:7"
        matchers, starts_at = (Matcher.parse(text),), now - timedelta(hours=2)
        history.record_silence(
            Silence(f"u{number}", f"s-{number}", matchers, starts_at, ends_at, actor, "encoder swap", starts_at, actor)
        )
    await history.close()


async def _record_deletion(path: Path, now: datetime) -> None:
    """Record two choirs, one of which is deleted."""
    states = [
        EventState(
            platform_event(id=event_id, name=name), now, Phase(BroadcastState.DRAFT), QosState(), HealthAssessment()
        )
        for event_id, name in (("a1", "Choir, hall A"), ("b2", "Choir, hall B"))
    ]
    history = await History.open(path, now)
    for listed in (states, states[:1]):
        link = ConnectionStatus(ConnectionState.OK, now, as_of=now)
        await history.append(Snapshot(1, now - timedelta(minutes=len(listed)), link, tuple(listed)))
    await history.close()


def test_a_deleted_event_is_known_by_its_name(tmp_path: Path) -> None:
    """A name that fits several is answered with their ids."""
    path = tmp_path / "deck.sqlite"
    asyncio.run(_record_deletion(path, datetime.now(UTC)))
    assert "no longer listed" in run(path, tmp_path, "past", "show", "choir, hall b")
    candidates = run(path, tmp_path, "past", "show", "Choir", code=2)
    assert "a1  Choir, hall A" in candidates
    assert "b2  Choir, hall B" in candidates


async def _record_creation(path: Path, now: datetime) -> None:
    """Record two choirs, watched from two minutes ago to one minute ago; then a person creates a show."""
    await _record_deletion(path, now)
    history = await History.open(path, now)
    made = ActionRecord(now - timedelta(seconds=50), "event.create", "event", "", "Stranger show", AuditOutcome.DONE)
    await history.record_action(made)
    await history.record_action(replace(made, action="event.edit", target_id="b2", target_name="Choir, hall B"))
    await history.close()


def test_what_is_told_of_an_event_is_its_own_and_past(tmp_path: Path) -> None:
    """No action on another event, and nothing of a time that is still to come; a search finds what is of no event."""
    path = tmp_path / "deck.sqlite"
    asyncio.run(_record_creation(path, datetime.now(UTC)))
    stretch = ("--from", "-3m", "--to", "+20m")
    said = run(path, tmp_path, "past", "show", "choir, hall a", *stretch)
    assert "event." not in said
    assert "nobody has watched since: " in said
    assert "UTC (03:0" in said, "the stretch ends now"
    assert "event.edit: done" in run(path, tmp_path, "past", "show", "choir, hall b", *stretch)
    assert "Stranger show: event.create: done" in run(path, tmp_path, "past", "search", "event.create")
    report = json.loads(run(path, tmp_path, "past", "report", "choir, hall a", *stretch, "--json"))
    assert report["events"][0]["actions"] == []


def test_a_handover_says_what_runs_who_promised_what_and_what_comes(tmp_path: Path) -> None:
    """The text, Markdown and JSON have everything, and say that nobody watches now."""
    path = tmp_path / "deck.sqlite"
    asyncio.run(_record_evening(path, datetime.now(UTC)))
    said = run(path, tmp_path, "past", "handover")
    for words in (
        "NOBODY WATCHES NOW",
        "● Choir | hall: ON AIR",
        "✖ Choir | hall: AUDIO_LOST since",
        "acknowledged by anna@regie at",
        "note: the mixer is looked at",
        "▲ Choir | hall: FPS_LOW",
        ": known camera",
        "silenced until ",
        "M Choir | hall: until ",
        "name ~ Choir*; by anna@regie; s-0",
        "○ Late show: ",
    ):
        assert words in said, f"{words}\n{said}"
    assert "- ✖ Choir \\| hall: AUDIO_LOST" in run(path, tmp_path, "past", "handover", "--format", "markdown")
    found = json.loads(run(path, tmp_path, "past", "handover", "--json"))
    jsonschema_rs.validator_for(json.loads(run(path, tmp_path, "past", "handover", "--schema"))).validate(found)
    assert [alarm["kind"] for alarm in found["quiet_alarms"]] == ["FPS_LOW"]
    assert found["fresh"] is False
    assert [(silence["id"], silence["on_air"]) for silence in found["silences"]] == [("s-0", ["Choir | hall"])]
