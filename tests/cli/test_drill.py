"""Drills: what a drill watches, keeps and shows, and a whole drill with a scripted operator on a fast clock."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, cast
from urllib.request import Request, urlopen

import pytest

from cli.commands import called, environment
from cli.starts import LIVEDECK, Start
from cli.terminals import terminal
from drill.drilling import BEGAN, answer, at, evidence, truth, wrong
from livedeck.cli.drill.play import NO_SCORE, attend
from livedeck.cli.drill.watch import BEAT, BEATS, BUSY, LATE, DrillWatch
from livedeck.collector.protocol.commands import key_text
from livedeck.drill.grade import RULES, TOO_BUSY
from livedeck.drill.scores import score_of, write_line
from livedeck.monitor import (
    AlarmChange,
    AlarmKey,
    AlarmTransition,
    ConnectionState,
    ConnectionStatus,
    Severity,
    Snapshot,
)
from livedeck.monitor.polling.machine import Load
from livedeck.simulator import Platform, Simulator, SimulatorClock
from notify.stage import alarm
from virtual_clock import VirtualClock


class BusyMachine:
    """Machine on which this process waits for a processor as long as a test sets."""

    def __init__(self) -> None:
        self.awaited: float | None = 0.0

    def load(self) -> Load:
        return Load(0.0, self.awaited, 0.0)


@contextmanager
def watched(quiet_speed: float | None = None) -> Iterator[tuple[DrillWatch, Simulator, BusyMachine, Any]]:
    """Yield a watch over a drill of an hour, its simulator and machine, and a function that passes a beat."""
    clock, machine = VirtualClock(), BusyMachine()
    with closing(Simulator(clock=SimulatorClock(BEGAN, paused=True))) as simulator:
        watch = DrillWatch(simulator, replace(truth(answer(30)), ends=at(3600)), clock, machine, quiet_speed)

        def beat(seconds: float = BEAT, awaited: float = 0.0) -> None:
            clock._tick += seconds
            simulator.clock.step(seconds)
            machine.awaited = None if machine.awaited is None else machine.awaited + awaited
            watch.look()

        yield watch, simulator, machine, beat


@pytest.mark.parametrize(("share", "is_starved"), [(BUSY - 0.05, False), (BUSY + 0.01, True)])
def test_a_machine_is_too_busy_if_this_process_waits_for_a_processor(share: float, is_starved: bool) -> None:
    with watched() as (watch, simulator, _, beat):
        for _ in range(4 * BEATS):
            beat(BEAT, share * BEAT)
        assert bool(watch.starved) == is_starved
        if is_starved:
            (starved,) = watch.starved
            assert starved.since <= BEGAN + timedelta(seconds=2 * BEAT)
            assert starved.until == simulator.clock.now()


def test_a_short_wait_and_a_system_that_does_not_say_are_no_busy_machine() -> None:
    with watched() as (watch, _, machine, beat):
        for _ in range(2 * BEATS):
            beat()
        beat(BEAT, BEAT)
        for _ in range(2 * BEATS):
            beat()
        machine.awaited = None
        for _ in range(2 * BEATS):
            beat()
        assert watch.starved == []


def test_a_machine_that_stood_still_is_too_busy_for_as_long() -> None:
    with watched() as (watch, _, _, beat):
        beat()
        beat(LATE + BEAT - 0.01)
        assert watch.starved == []
        beat(60)
        beat()
        (starved,) = watch.starved
        assert (starved.until - starved.since).total_seconds() == 60


def test_the_watch_is_over_when_the_scenario_ends() -> None:
    with watched() as (watch, _, _, beat):
        beat(1)
        assert not watch.over.is_set()
        beat(3600)
        assert watch.over.is_set()


def test_a_quiet_stretch_runs_fast_and_an_answer_has_the_pace_of_a_person() -> None:
    with watched(quiet_speed=20) as (_, simulator, _, beat):
        speeds = {}
        for minute in (0, 29, 30, 35, 37):
            beat((at(60 * minute) - simulator.clock.now()).total_seconds() + 45)
            speeds[minute] = simulator.clock.speed
        assert speeds == {0: 20, 29: 1, 30: 1, 35: 1, 37: 20}


def test_a_drill_is_lost_once_this_machine_was_too_busy_for_half_of_it() -> None:
    with watched() as (watch, _, _, beat):
        beat(600)
        assert not watch.lost.is_set()
        beat(1300)
        assert watch.lost.is_set()


def test_the_alarms_of_a_snapshot_are_noted_once() -> None:
    change = AlarmChange(at(5), AlarmTransition.RAISED, alarm())
    snapshot = Snapshot(1, at(9), ConnectionStatus(ConnectionState.OK, at(9)), changes=(change,))
    with watched() as (watch, _, _, _):
        for shown in (snapshot, None, snapshot):
            watch.note_announced(shown)
        assert [(record.at, record.turn) for record in watch.announced] == [(at(5), AlarmTransition.RAISED)]


class Screen:
    """Deck that records its notices and its end."""

    def __init__(self) -> None:
        self.drawn, self.snapshot_signal = asyncio.Event(), self
        self.past = self.snapshot = None
        self.said: list[str] = []
        self.code: int | None = None

    def subscribe(self, *_: object, immediate: bool) -> None:
        assert immediate

    def announce(self, text: str, _: Severity) -> None:
        self.said.append(text)

    def end(self, code: int) -> None:
        self.code = code


async def settled() -> None:
    """Let the tasks run as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_clock_starts_with_the_first_frame_and_a_lost_drill_is_said_before_its_end() -> None:
    with watched() as (watch, simulator, _, beat):
        screen = Screen()
        task = asyncio.create_task(attend(simulator, watch, cast("Any", screen)))
        await settled()
        pauses = [simulator.clock.paused]
        screen.drawn.set()
        await settled()
        assert [*pauses, simulator.clock.paused] == [True, False]
        simulator.clock.change(paused=True)
        beat()
        beat(1900)
        await settled()
        assert (screen.said, screen.code) == ([NO_SCORE], None)
        beat(3600)
        await task
        assert screen.code == 0


def test_a_drill_says_before_the_first_screen_what_is_judged_and_how_to_leave(tmp_path: Path) -> None:
    file = tmp_path / "drill.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    with terminal(tmp_path, "drill", "play", str(file)) as deck:
        deck.until("An encoder drops. It lasts 03:20 from the first screen; ctrl.c ends it.")
        deck.until_raw(rb"Judged: [^\x1b]*Wrong changes cost points[\s\S]*\x1b\[\?1049h")
        deck.until("19:00:[0-5][1-9]Z")
        deck.press("q")
        assert deck.ended() == 6
    assert b"No score: the drill ended before the limit" in deck.written


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Home in which two drills were played."""
    scores = [score_of(evidence(acknowledge=40, act=None, more=[wrong(60)]), BEGAN), score_of(evidence(), BEGAN)]
    file = tmp_path / ".local/share/livedeck/drills.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(map(write_line, scores)), encoding="utf-8")
    return tmp_path


def test_the_scores_so_far_are_listed_shown_and_graded_again(home: Path) -> None:
    listed = json.loads(called(home, "drill", "list", "--json").stdout)["drills"]
    assert [(drill["number"], drill["score"]) for drill in listed] == [(1, 4.0), (2, 100.0)]
    assert [line.split()[3] for line in called(home, "drill", "list").stdout.splitlines()[1:]] == ["4.0", "100.0"]
    shown = json.loads(called(home, "drill", "show", "1", "--json").stdout)
    assert [incident["acknowledged"] for incident in shown["incidents"]] == [40, 40]
    assert [change["cost"] for change in shown["wrong"]] == [10]
    page = called(home, "drill", "show", "1").stdout
    graded = called(home, "drill", "grade", "1")
    assert page.startswith("# Drill: ")
    assert (graded.stdout, graded.stderr) == (page, f"rules {RULES}: 4.0; rules {RULES}: 4.0\n")


def test_what_is_not_there_is_said(tmp_path: Path, home: Path) -> None:
    for arguments, says in (
        (("drill", "show", "3"), "there is no drill 3: `livedeck drill list` lists 2"),
        (("drill", "play", "clean-show", "--headless"), "clean-show has no [[answers]]: choose from api-dead, "),
        (("drill", "play", "--headless"), "name a drill, or add --random"),
        (("drill", "play", "bad-night", "--random", "--headless"), "name a drill, or add --random"),
        (("drill", "play", "nonsense", "--headless"), "no nonsense among the scenarios"),
        (("drill", "play", "bad-night"), "add --headless"),
        (("drill", "bad-night"), "Did you mean 'livedeck drill play'?"),
    ):
        done = called(home, *arguments)
        assert done.returncode == 2, arguments
        assert says in " ".join(done.stderr.split()), done.stderr
    empty = called(tmp_path / "empty", "drill", "list")
    assert (empty.returncode, empty.stdout) == (0, "")


def test_a_score_of_other_rules_is_graded_again_on_request_only(home: Path) -> None:
    file = home / ".local/share/livedeck/drills.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace(f'"rules":{RULES}', '"rules":0'), encoding="utf-8")
    refused = called(home, "drill", "show", "1")
    assert refused.returncode == 2
    assert f"`livedeck drill grade 1` grades it by rules {RULES}" in " ".join(refused.stderr.split())
    assert called(home, "drill", "grade", "1").stderr == f"rules 0: 4.0; rules {RULES}: 4.0\n"
    file.write_text("nonsense\n", encoding="utf-8")
    assert "line 1 is no score" in called(home, "drill", "list").stderr


SCENARIO = """\
title = "An encoder drops"
lasts = "+00:03:20"

[clock]
start = 2026-03-01T19:00:00Z

[[steps]]
at = "+00:00:40"
do = "encoder"
event = "Main stage"
sending = false

[[alarms]]
kind = "RECONNECTING"
event = "Main stage"
since = "+00:00:40"
severity = "critical"

[[answers]]
alarm = "RECONNECTING"
event = "Main stage"
acknowledge = { par = 20, limit = 60 }
request = { operation = "update_event", event = "Main stage", "json.reconnect_window" = { at_least = 900 } }
par = 30
limit = 80
"""


def asked(method: str, address: str, token: str, body: object = None) -> Any:
    """Return the reply of the collector or the platform."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, content, headers, method=method)) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_a_scripted_operator_half_way_between_par_and_limit_gets_half_of_the_score(tmp_path: Path) -> None:
    file = tmp_path / "drill.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    line = [*LIVEDECK, "drill", "play", str(file), "--headless"]
    with Start(line, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            report = react(json.loads(process.stdout.readline()), process.stdout)
        finally:
            process.kill()
    if report["void"] != TOO_BUSY:
        assert (report["score"], report["missed"]) == (50.0, [])
        (kept,) = json.loads(called(tmp_path, "drill", "list", "--json").stdout)["drills"]
        assert kept == {name: report[name] for name in kept}


@pytest.mark.slow
def test_a_random_drill_is_drawn_from_its_seed(tmp_path: Path) -> None:
    line = [*LIVEDECK, "drill", "play", "--random", "--seed", "3", "--headless"]
    with Start(line, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            printed = json.loads(process.stdout.readline())
            played = Platform.attach(printed["control_url"], printed["control_token"]).scenario.progress()
            process.send_signal(signal.SIGTERM)
            report = json.loads(process.stdout.read())
        finally:
            process.kill()
    assert (played["scenario"], report["scenario"], report["seed"], report["score"]) == ("random", "random", 3, None)
    assert [row["alarm"] for row in report["incidents"]] == ["BLACKOUT", "VIDEO_LOW", "AUDIO_LOST"]


def react(printed: dict[str, Any], output: IO[str]) -> Any:
    """Acknowledge 40 s and act 55 s after the alarm, and return the report."""
    platform = Platform.attach(printed["control_url"], printed["control_token"])
    token = Path(printed["collector_token_file"]).read_text(encoding="utf-8")
    platform.clock.run(4)  # the alarm must be seen within 40 s of this clock, for a jump back makes the deck forget it
    raised = None
    while raised is None:
        log = asked("GET", f"{printed['collector_url']}/v1/history/alarm_log?since=2026-03-01T19:00:00Z", token)
        raised = next((record for record in log["answer"] if record["turn"] == "raised"), None)
    at, event_id = datetime.fromisoformat(raised["at"]), raised["event_id"]
    platform.clock.pause()
    platform.clock.jump(at + timedelta(seconds=40))
    alarm = alarm_at(at + timedelta(seconds=40), printed["collector_url"], token)
    path = f"/v1/alarms/{key_text(AlarmKey(event_id, raised['kind']))}/acknowledge"
    asked("POST", printed["collector_url"] + path, token, {name: alarm[name] for name in ("since", "severity")})
    platform.clock.jump(at + timedelta(seconds=55))
    path = f"/v2/live/events/{event_id}"
    asked("PUT", printed["base_url"] + path, printed["token"], {"reconnect_window": 900})
    platform.clock.jump(at + timedelta(minutes=5))
    return json.loads(output.read())


def alarm_at(at: datetime, collector: str, token: str) -> dict[str, Any]:
    """Return the alarm as the collector lists it once its clock has reached a time."""
    while True:
        listing = asked("GET", f"{collector}/v1/snapshot", token)
        if listing["now"] + 1 >= at.timestamp() * 1000:  # both are rounded
            (alarm,) = listing["values"]["alarms"].values()
            return dict(alarm)
