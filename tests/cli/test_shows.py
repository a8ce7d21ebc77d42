"""check, wait and preflight, and the show of scripting.md, against the simulator over HTTP."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cli.commands import called, command_of, environment
from cli.groups_stage import ON_AIR, REHEARSAL, Stage, stage
from cli.starts import LIVEDECK, Start
from livedeck import docs
from livedeck.cli.event.wait import Wait
from livedeck.cli.exit_codes import NOT_SO
from livedeck.monitor import BroadcastState

SCRIPT = docs.page("scripting").partition("```bash\n")[2].partition("```")[0]

PERFORMANCE = re.compile(r"(?:'(?:[^'=]|'')+'|[^\s'=]+)=-?\d+(?:\.\d+)?(?:s|%|B|c)?(?:;[\d.:@~-]*){0,4}")
"""Pattern of a value of performance data, by the guidelines for Nagios plugins."""


@pytest.fixture(scope="module")
def on_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("shows")) as made:
        yield made


def run(on_stage: Stage, *arguments: str, **env: str) -> Any:
    return called(on_stage.home, *arguments, env={**on_stage.env, **env})


@pytest.mark.parametrize(
    ("arguments", "code", "word"), [((ON_AIR,), 0, "OK"), ((), 2, "CRITICAL"), (("no such event",), 3, "UNKNOWN")]
)
def test_a_check_is_a_plugin(on_stage: Stage, arguments: tuple[str, ...], code: int, word: str) -> None:
    """scripting.md, "Checks"."""
    done = run(on_stage, "event", "check", *arguments)
    assert (done.returncode, done.stderr) == (code, "")
    head = done.stdout.splitlines()[0]
    assert head.startswith(f"LIVEDECK {word} - ")
    text, bar, performance = head.partition(" | ")
    assert "|" not in text
    rest = PERFORMANCE.sub("", performance).strip()
    assert (bool(bar), rest) == (code != 3, "")


def test_a_check_of_a_show_file_is_about_its_events_alone(on_stage: Stage) -> None:
    """It needs no secret of the file, and runs none of its programs."""
    restream = 'restreams: [{name: CDN, url: "rtmp://a.example/b", key: {command: [touch, RAN]}}]'
    well = on_stage.file("well.yaml", f"events:\n  - {{name: {json.dumps(ON_AIR)}, {restream}}}\n")
    done = run(on_stage, "event", "check", "--show", well)
    assert (done.returncode, done.stdout.startswith("LIVEDECK OK - "), ON_AIR in done.stdout) == (0, True, True)
    assert not Path("RAN").exists()
    lacks = on_stage.file("lacks.yaml", f"events:\n  - name: {json.dumps(ON_AIR)}\n  - name: Never made\n")
    done = run(on_stage, "event", "check", "--show", lacks)
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 3)
    assert """CRITICAL event "Never made": not in the platform's list""" in done.stdout
    broken = run(on_stage, "event", "check", "--show", on_stage.file("broken.yaml", "events:\n  - nam: Gala\n"))
    assert (broken.returncode, "broken.yaml:2" in broken.stdout) == (3, True)
    assert run(on_stage, "event", "check", ON_AIR, "--show", well).returncode == 3


GONE = "5b0c7f8e-4d53-4a57-9f0c-5f1e9a6b7c01"


@pytest.mark.parametrize(
    ("item", "state", "text"),
    [
        ("name: Evening", "UNKNOWN", "the list is empty, which does not prove that the event is missing"),
        ("id: ID", "UNKNOWN", "the platform has it, but does not list it"),
        (f"id: {GONE}", "CRITICAL", "the platform does not have it"),
    ],
)
def test_only_a_reply_by_id_proves_to_a_check_that_an_event_is_missing_from_an_empty_list(
    on_stage: Stage, item: str, state: str, text: str
) -> None:
    file = on_stage.file("show.yaml", f"events:\n  - {item}\n".replace("ID", on_stage.ids("event", "list")[0]))
    empty = {"meta": {"pagination": {"page": 1, "per_page": 100, "total": 0}, "order": {}}, "data": []}
    with on_stage.fault(kind="answer", method="GET", path="/v2/live/events", json=empty):
        done = run(on_stage, "event", "check", "--show", file)
    assert (done.stdout.startswith(f"LIVEDECK {state} - "), text in done.stdout) == (True, True), done.stdout


def test_wrong_use_and_a_platform_that_is_silent_are_unknown_to_a_check(on_stage: Stage) -> None:
    assert run(on_stage, "event", "check", "--no-such").returncode == 3
    silent = run(on_stage, "event", "check", ON_AIR, LIVEDECK_BASE_URL="http://127.0.0.1:9", LIVEDECK_UPLOAD_URL="")
    assert (silent.returncode, silent.stdout.startswith("LIVEDECK UNKNOWN")) == (3, True)


def test_what_is_so_already_is_not_waited_for_and_what_never_will_be_neither(on_stage: Stage) -> None:
    assert run(on_stage, "event", "wait", ON_AIR, "--until", "on-air").returncode == 0
    never = run(on_stage, "event", "wait", REHEARSAL, "--until", "on-air")
    assert (never.returncode, "has ended" in never.stderr) == (6, True)
    late = run(on_stage, "event", "wait", "Untitled event", "--until", "healthy", "--timeout", "8s")
    assert (late.returncode, "after 8 s" in late.stderr) == (6, True)


def test_a_wait_outlasts_an_outage(on_stage: Stage) -> None:
    """scripting.md, "Ready or not"."""
    event = on_stage.made("event", "create", "--name", "Outlasting")
    env = environment(on_stage.home, **on_stage.env, LIVEDECK_CADENCE='{"events": 1, "events_near": 1}')
    line = [*LIVEDECK, "event", "wait", event, "--until", "on-air", "--timeout", "5m", "--debug"]
    with Start(line, env=env, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None
        assert any("DRAFT" in said for said in waiting.stderr)
        with on_stage.fault(kind="status", status=503, method="GET"):
            assert any(": 503" in said for said in waiting.stderr)
        assert run(on_stage, "event", "delete", event, "--confirm", event).returncode == 0
        rest = waiting.stderr.read()
    assert (waiting.returncode, "the event no longer exists" in rest) == (6, True), rest


def test_a_wait_that_ends_in_an_outage_says_so(on_stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9"}
    silent = run(on_stage, "event", "wait", ON_AIR, "--until", "on-air", "--timeout", "1s", **nowhere)
    assert (silent.returncode, "no usable reply" in silent.stderr) == (4, True), silent.stderr
    at = datetime(2026, 11, 24, 21, 4, tzinfo=UTC)
    waiting = Wait("on-air", is_quiet=False, answered_at=at, problem="503", code=NOT_SO)
    assert waiting.end_late(8.0) == NOT_SO
    assert "no usable reply since 21:04:00Z: 503" in capsys.readouterr().err


def test_a_platform_that_fails_is_an_outage_and_no_refusal(on_stage: Stage) -> None:
    """commands.md, "Exit codes"."""
    with on_stage.fault(kind="status", status=503, method="GET"):
        for line in (("event", "list"), ("status",), ("event", "enable", ON_AIR, "--yes")):
            assert run(on_stage, *line).returncode == 4


def test_preflight_says_why_and_its_json_follows_its_schema(on_stage: Stage) -> None:
    draft = run(on_stage, "event", "preflight", "Untitled event")
    assert (draft.returncode, "NO-GO: schedule" in draft.stdout) == (6, True)
    done = run(on_stage, "event", "preflight", ON_AIR, "--json")
    found = json.loads(done.stdout)
    schema = json.loads(run(on_stage, "event", "preflight", "--schema").stdout)
    jsonschema_rs.validator_for(schema).validate(found)
    assert (done.returncode, found["go"]) == (0, True)


@pytest.mark.parametrize("line", [("status",), ("alarm", "list", "--shelved"), ("event", "qos", ON_AIR), ("doctor",)])
def test_what_a_report_prints_follows_its_schema(on_stage: Stage, line: tuple[str, ...]) -> None:
    printed = json.loads(run(on_stage, *line, "--json").stdout)
    schema = json.loads(run(on_stage, *command_of(line), "--schema").stdout)
    jsonschema_rs.validator_for(schema).validate(printed)
    assert {*printed} >= {*schema["properties"]}


def test_metrics_say_too_that_the_platform_does_not_answer(on_stage: Stage) -> None:
    told = run(on_stage, "status", "--format", "prometheus")
    assert (told.returncode, "livedeck_platform_link_up 1\n" in told.stdout) == (0, True)
    silent = run(
        on_stage, "status", "--format", "prometheus", LIVEDECK_BASE_URL="http://127.0.0.1:9", LIVEDECK_UPLOAD_URL=""
    )
    assert (silent.returncode, "livedeck_platform_link_up 0\n" in silent.stdout) == (4, True)
    measured = "livedeck_platform_clock_skew_seconds 0\n"
    assert (measured in told.stdout, measured in silent.stdout) == (True, False)


def test_the_requests_are_shown_without_secrets(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Debugged")
    done = run(on_stage, "event", "get", event, "--debug")
    assert re.search(r"GET /v2/live/events/\S+: 200", done.stderr)
    assert on_stage.service["token"] not in done.stderr


def test_the_show_of_the_documentation_runs_from_nothing_to_its_end(on_stage: Stage, tmp_path: Path) -> None:
    """scripting.md, "A show": the script as it stands there, by bash, with a program in place of the encoder."""
    assert len(SCRIPT.splitlines()) <= 40
    bin_folder, work = tmp_path / "bin", tmp_path / "work"
    bin_folder.mkdir()
    work.mkdir()
    service = on_stage.service
    start = json.dumps({"url": f"{service['control_url']}/encoders/", "token": service["control_token"]})
    programs = {
        "livedeck": f'#!/bin/sh\nexec "{sys.executable}" -m livedeck "$@"\n',
        "encoder": f"#!{sys.executable}\n{ENCODER.replace('START', start)}",
    }
    for name, text in programs.items():
        path = bin_folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    env = environment(on_stage.home, **on_stage.env, CDN_KEY="the-cdn-key-4711", ENCODER=str(bin_folder / "encoder"))
    env["PATH"] = f"{bin_folder}:{env['PATH']}"
    done = subprocess.run(
        ["bash", "-c", SCRIPT, "show", "Script show"],
        env=env, cwd=work, capture_output=True, text=True, timeout=240, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"over; recordings: [\da-f-]{8}", done.stderr), done.stderr
    assert f"LIVEDECK OK - Script show: {BroadcastState.ON_AIR}" in done.stdout
    assert (work / "chat.csv").exists()
    (show,) = json.loads((work / "report" / "report.json").read_text(encoding="utf-8"))["events"]
    assert (show["name"], show["uptime"], show["outages"]) == ("Script show", 100, [])
    assert {entry["text"].partition(":")[0] for entry in show["actions"]} >= {"event.enable", "event.complete"}
    assert (work / "report" / "report.html").stat().st_size > 10_000
    texts = [path.read_text(encoding="utf-8") for path in [*(work / "report").iterdir(), work / "collect.log"]]
    assert "the-cdn-key" not in "".join([done.stdout, done.stderr, *texts])


ENCODER = """import json, sys, urllib.request
start = json.loads('START')
headers = {"Authorization": "Bearer " + start["token"], "Content-Type": "application/json"}
body = json.dumps({"sending": True}).encode()
urllib.request.urlopen(urllib.request.Request(start["url"] + sys.argv[1], body, headers, method="POST")).close()
"""
