"""Rows that the platform announces and does not send are counted in words, in JSON and by the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema_rs
import pytest

from cli.commands import called, command_of
from client.lists import CASES, Case, listed
from client.raw_lists import RawPlatform, raw_platform

BARE = replace(CASES["nothing"], missing=None)
"""Empty list without the documented number of rows, which does not prove that there is no event."""

SHOWN = {**CASES, "nothing": BARE}


def run(home: Path, platform: RawPlatform, *words: str) -> CompletedProcess[str]:
    return called(home, *words, env={"LIVEDECK_BASE_URL": platform.address, "LIVEDECK_TOKEN": "t"})


def read(home: Path, platform: RawPlatform, *words: str) -> tuple[int, Any, str]:
    """Return the exit code of a command, its JSON, which must follow its schema, and its standard error."""
    done = run(home, platform, *words, "--json")
    schema = json.loads(run(home, platform, *command_of(words), "--schema").stdout)
    printed = json.loads(done.stdout)
    jsonschema_rs.validator_for(schema).validate(printed)
    return done.returncode, printed, done.stderr


def shortfall(case: Case) -> dict[str, int | None] | None:
    """Return the JSON about the missing rows."""
    return None if case.is_complete else {"missing": case.missing, "announced": case.announced}


@pytest.mark.parametrize("name", SHOWN)
def test_a_list_of_events_says_what_is_missing(tmp_path: Path, name: str) -> None:
    case = SHOWN[name]
    with raw_platform(case.body) as platform:
        code, printed, said = read(tmp_path, platform, "event", "list")
    assert len(printed["items"]) == case.received
    assert printed["shortfall"] == shortfall(case)
    assert code == (0 if case.is_complete else 4)
    assert said == ("" if case.is_complete else f"livedeck: {case.words} not received\n")


@pytest.mark.parametrize("name", ["nothing of 5", "null", "null of 5", "null of 0", "nothing"])
@pytest.mark.parametrize("form", ["--quiet", "--format=csv", "--format=ndjson", "--columns=id"])
def test_every_form_of_output_says_so(tmp_path: Path, name: str, form: str) -> None:
    case = SHOWN[name]
    with raw_platform(case.body) as platform:
        done = run(tmp_path, platform, "event", "list", form)
    assert (done.returncode, "not received" in done.stderr) == ((0, False) if case.is_complete else (4, True))


@pytest.mark.parametrize(
    "case", [CASES["nothing of 5"], CASES["null"], CASES["null of 0"], BARE], ids=["short", "null", "none", "bare"]
)
def test_the_status_counts_no_events_only_if_there_are_none(tmp_path: Path, case: Case) -> None:
    with raw_platform(case.body) as platform:
        code, printed, _ = read(tmp_path, platform, "status")
        done = run(tmp_path, platform, "status")
        metrics = run(tmp_path, platform, "status", "--format", "prometheus")
    assert (printed["events"], printed["shortfall"]) == ([], shortfall(case))
    assert code == done.returncode == metrics.returncode == (0 if case.is_complete else 4)
    assert ("0 events, 0 alarms" in done.stdout) is case.is_complete
    assert (f"{case.words} not received" in done.stdout) is not case.is_complete


@pytest.mark.parametrize("case", [CASES["nothing of 5"], CASES["null of 0"]], ids=["short", "none"])
def test_a_preview_of_a_silence_says_that_it_may_cover_others(tmp_path: Path, case: Case) -> None:
    words = ("silence", "add", "--name", "Gala*", "--duration", "30m", "--comment", "swap", "--preview")
    with raw_platform(case.body) as platform:
        done = run(tmp_path, platform, *words)
    is_said = f"{case.words} not received; the silence may cover other alarms" in done.stderr
    assert (done.returncode, is_said) == ((0, False) if case.is_complete else (4, True)), done.stderr


@pytest.mark.parametrize("case", [CASES["nothing of 5"], CASES["null of 0"], BARE], ids=["short", "none", "bare"])
def test_a_list_of_alarms_and_curves_say_which_events_they_lack(tmp_path: Path, case: Case) -> None:
    with raw_platform(case.body) as platform:
        alarms = run(tmp_path, platform, "alarm", "list")
        curves = run(tmp_path, platform, "status", "--plot")
    assert alarms.returncode == curves.returncode == (0 if case.is_complete else 4)
    assert (f"{case.words} not received" in alarms.stderr) is not case.is_complete
    assert ("nothing is on air" in curves.stdout) is case.is_complete


@pytest.mark.parametrize("case", [CASES["nothing of 5"], CASES["null"], BARE], ids=["short", "null", "bare"])
def test_a_check_of_all_is_unknown(tmp_path: Path, case: Case) -> None:
    with raw_platform(case.body) as platform:
        done = run(tmp_path, platform, "event", "check")
    assert done.returncode == 3
    assert f"LIVEDECK UNKNOWN - {case.words} not received" in done.stdout


def test_a_name_that_is_not_found_may_be_that_of_a_row_not_received(tmp_path: Path) -> None:
    with raw_platform(listed(replaced={3: [None]})) as platform:
        done = run(tmp_path, platform, "event", "get", "Hall of fame")
    assert (done.returncode, "20 of 300 events not received" in done.stderr) == (4, True)


def test_an_order_of_tracks_that_are_not_all_known_is_not_sent(tmp_path: Path) -> None:
    with raw_platform(listed(replaced={3: [None]})) as platform:
        done = run(tmp_path, platform, "video", "subtitle", "reorder", "v", "e1", "--yes")
    assert (done.returncode, "20 of 300 subtitles not received" in done.stderr) == (4, True), done.stderr


def test_doctor_says_that_the_list_is_incomplete(tmp_path: Path) -> None:
    with raw_platform(listed(replaced={3: [None]})) as platform:
        done = run(tmp_path, platform, "doctor")
    assert "the list of events is incomplete: 20 of 300 events not received" in done.stdout
    assert "all fields of all events are readable" not in done.stdout


@pytest.mark.parametrize(
    "words", [("event", "get", "Gala"), ("event", "preflight", "Gala"), ("event", "check", "Gala")]
)
def test_an_event_that_is_not_in_a_part_of_the_list_is_not_called_missing(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with raw_platform(CASES["nothing of 5"].body) as platform:
        done = run(tmp_path, platform, *words)
    said = " ".join((done.stdout + done.stderr).split())
    assert "5 of 5 events not received; in the rest no event is called 'Gala'" in said
