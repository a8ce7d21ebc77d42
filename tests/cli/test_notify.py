"""Messages of `livedeck collector run`, and `livedeck notify`."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import TypeAdapter

from cli.commands import TIMEOUT, called, environment, served
from cli.groups_stage import Stage
from cli.starts import LIVEDECK, Start
from collector.engine.servers import RedisServer, skip_without_redis
from livedeck.cli.collect.engine import join_others
from livedeck.cli.collect.notify import explain_command
from livedeck.cli.wiring import SystemClock
from livedeck.monitor import BroadcastState, EventRecord, History, HistoryReader
from livedeck.notify import DEAD, WAITING, Message, Outcome, Spool, State, Status, spool_path
from livedeck.presentation.documents import DOCUMENTS
from livedeck.settings import Settings
from notify.sinks import Sink, http_sink, smtp_sink
from notify.stage import Desk, alarm

SECRET = "h00k-of-the-night-shift-77aa"


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Receiver over HTTP."""
    with http_sink() as made:
        yield made


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """Redis that several collectors share."""
    skip_without_redis()
    server = RedisServer()
    yield server
    server.close()


def configured(home: Path, sink: Sink, **env: str) -> dict[str, str]:
    """Return the environment of settings with one route to that receiver."""
    (home / "hook").write_text(f"{sink.address}/{SECRET}")
    (home / "hook").chmod(0o600)
    config = home / "config.toml"
    config.write_text(
        f'[collector]\nlisten = "127.0.0.1:0"\n[notify]\nallow_private = ["127.0.0.1"]\n'
        f'[notify.targets.ops]\nwebhook_file = "{home}/hook"\n'
        '[[notify.routes]]\nto = "ops"\nhours = "08:00-20:00"\n'
    )
    return {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(home / "history.sqlite"), **env}


def test_a_route_is_tried_and_explained_and_its_address_is_shown_nowhere(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    tried = called(tmp_path, "notify", "test", env=env)
    assert (tried.returncode, tried.stdout) == (0, "ops -> ops: taken: 200 thanks\n")
    body = json.loads(sink.received[0].body)
    assert body["status"] == "test"
    assert re.match(r"livedeck/[0-9a-f]{8}/", body["alarms"][0]["dedup_key"])
    ended = called(tmp_path, "notify", "test", "--end", env=env)
    assert ended.stdout == "ops -> ops: taken: 200 thanks\nops -> ops, end: taken: 200 thanks\n"
    begin, end = (json.loads(received.body) for received in sink.received[1:])
    assert [begin["title"], end["title"]] == ["TEST livedeck", "TEST livedeck ended"]
    assert begin["alarms"][0]["dedup_key"] == end["alarms"][0]["dedup_key"]
    assert (begin["alarms"][0]["cleared"], bool(end["alarms"][0]["cleared"])) == (None, True)
    sink.status, sink.answer = 403, f"no {SECRET}".encode()
    refused = called(tmp_path, "notify", "test", "ops", env=env)
    assert refused.returncode == 1
    assert refused.stdout.startswith("ops -> ops: NOT TAKEN: 403 no ")
    unknown = called(tmp_path, "notify", "test", "boss", env=env)
    assert (unknown.returncode, "no such route 'boss'; known: ops" in unknown.stderr) == (2, True)
    shown = called(tmp_path, "config", "show", env=env)
    assert SECRET not in tried.stdout + refused.stdout + unknown.stderr + shown.stdout


def test_every_level_is_tried_and_doctor_names_those_without_a_test(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    config = tmp_path / "config.toml"
    config.write_text(
        f'{config.read_text()}levels = [{{ after = 5, to = "boss" }}, {{ after = 15, to = "cto" }}]\n'
        f'[notify.targets.boss]\nwebhook_file = "{tmp_path}/hook"\n'
        f'[notify.targets.cto]\nslack_file = "{tmp_path}/hook"\n'
    )

    def untested() -> list[str]:
        """What `doctor` says about tests."""
        checks = json.loads(called(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
        return [check["found"] for check in checks if check["name"] == "notify" and check["verdict"] == "warn"]

    assert untested() == [
        "ops -> ops: has accepted no test so far",
        "ops, level 1 -> boss: has accepted no test so far",
        "ops, level 2 -> cto: has accepted no test so far",
    ]
    one = called(tmp_path, "notify", "test", "ops", "--level", "1", env=env)
    assert (one.returncode, one.stdout) == (0, "ops, level 1 -> boss: taken: 200 thanks\n")
    assert untested() == ["ops -> ops: has accepted no test so far", "ops, level 2 -> cto: has accepted no test so far"]
    every = called(tmp_path, "notify", "test", env=env)
    assert [line.partition(":")[0] for line in every.stdout.splitlines()] == [
        "ops -> ops",
        "ops, level 1 -> boss",
        "ops, level 2 -> cto",
    ]
    assert untested() == []
    tested = tmp_path / "history.sqlite.notify.tested"
    tested.write_text(re.sub(r'"20\d\d-', '"2020-', tested.read_text()))
    assert next(finding.partition(" on ")[0] for finding in untested()) == "ops -> ops: last accepted a test"
    none = called(tmp_path, "notify", "test", "--level", "3", env=env)
    assert (none.returncode, "no level 3" in none.stderr) == (2, True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what apprise imports
def test_a_route_of_mail_is_tried_and_why_it_failed_is_said(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    with smtp_sink() as box:
        address = f"mailto://127.0.0.1:{box.port}/?from=deck@example.org&to=ops@example.org&+X-Key={SECRET}"
        (tmp_path / "mail").write_text(f"{address}&mode=insecure")
        (tmp_path / "mail").chmod(0o600)
        config = tmp_path / "config.toml"
        config.write_text(config.read_text().replace(f'webhook_file = "{tmp_path}/hook"', 'apprise_file = "~/mail"'))
        box.to_readers = ["550 5.1.1 no such reader"]
        refused = called(tmp_path, "notify", "test", env=env)
        tried = called(tmp_path, "notify", "test", env=env)
    (mail,) = box.mails
    assert (tried.returncode, tried.stdout) == (0, "ops -> ops: taken: delivered by apprise\n")
    assert (mail["Subject"], mail["X-Key"]) == ("TEST livedeck", SECRET)
    assert refused.returncode == 1
    assert refused.stdout.startswith("ops -> ops: NOT TAKEN: apprise failed: ")
    assert SECRET not in tried.stdout + refused.stdout + refused.stderr


@pytest.mark.parametrize(
    ("severity", "at", "expected"),
    [
        ("critical", "2026-11-21T23:00", (0, "yes, 5 s after the alarm is raised")),
        (
            "warning",
            "2026-11-21T23:00",
            (0, "waits: Sat 23:00 UTC is outside the route's hours, and the severity is below critical"),
        ),
        ("warning", "2026-11-21T12:00", (0, "yes, 5 s after the alarm is raised")),
        ("info", "2026-11-21T12:00", (6, "no: severity info is below warning")),
    ],
)
def test_what_would_be_told_is_explained(
    tmp_path: Path, sink: Sink, severity: str, at: str, expected: tuple[int, str]
) -> None:
    env = configured(tmp_path, sink)
    done = called(tmp_path, "notify", "explain", "Friday show", "NO_INGEST", severity, "--at", at, env=env)
    code, words = expected
    assert (done.returncode, done.stdout) == (code, f"ops -> ops: {words}\n")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("API_BLIND", "yes, 5 s after the alarm is raised"),
        ("NOTIFY_FAILING", "yes, at once"),
        ("CDN", "no: the event of the alarm does not match Studio *"),
    ],
)
def test_an_alarm_of_no_event_is_explained_as_it_is_sent(tmp_path: Path, sink: Sink, kind: str, words: str) -> None:
    env = configured(tmp_path, sink)
    with (tmp_path / "config.toml").open("a") as config:
        config.write('events = ["Studio *"]\n')
    done = called(tmp_path, "notify", "explain", "livedeck", kind, "critical", "--at", "2026-11-21T12:00", env=env)
    assert (done.returncode, done.stdout) == (6 if words.startswith("no") else 0, f"ops -> ops: {words}\n")


def test_without_a_route_it_is_said_that_nobody_is_notified(tmp_path: Path) -> None:
    done = called(tmp_path, "notify", "explain", "Friday show", "NO_INGEST", env={"LIVEDECK_HISTORY": "off"})
    assert (done.returncode, done.stdout) == (6, "")
    assert "the settings have no route, so nobody is notified" in done.stderr
    attached = {"LIVEDECK_HISTORY": "off", "LIVEDECK_COLLECTOR_URL": "http://127.0.0.1:9"}
    away = called(tmp_path, "notify", "explain", "Friday show", "NO_INGEST", env=attached)
    assert away.returncode == 2
    assert "the collector has the routes; run this command on its machine" in away.stderr


def test_without_a_severity_each_one_of_the_kind_is_explained(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    fixed = called(tmp_path, "notify", "explain", "Friday show", "NO_INGEST", "--at", "2026-11-21T12:00", env=env)
    rising = called(tmp_path, "notify", "explain", "Friday show", "PACKET_LOSS", "--at", "2026-11-21T12:00", env=env)
    assert (fixed.returncode, fixed.stdout) == (0, "critical: ops -> ops: yes, 5 s after the alarm is raised\n")
    assert (rising.returncode, rising.stdout.splitlines()) == (
        0,
        [
            "critical: ops -> ops: yes, 5 s after the alarm is raised",
            "warning: ops -> ops: yes, 5 s after the alarm is raised",
            "info: ops -> ops: no: severity info is below warning",
        ],
    )


def test_what_is_explained_is_of_a_known_kind_and_the_event_of_the_history(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    typo = called(tmp_path, "notify", "explain", "Main stage", "PACKETLOSS", "critical", env=env)
    assert (typo.returncode, "did you mean PACKET_LOSS" in typo.stderr) == (2, True)
    stranger = called(tmp_path, "notify", "explain", "Main stge", "packet_loss", "critical", "--at", "21:00", env=env)
    assert (stranger.returncode, "this machine has no history; using EVENT as typed" in stranger.stderr) == (0, True)
    assert called(tmp_path, "notify", "explain", "x", "PACKET_LOSS", "info", "--at", "soon", env=env).returncode == 2
    help_text = called(tmp_path, "notify", "--help").stdout
    assert "on every route, and print the reply of each receiver" in " ".join(help_text.split())


@pytest.mark.parametrize(
    ("words", "code"), [("Friday", 0), ("friday SHOW", 0), ("4d2", 0), ("Show", 6), ("Friday rehearsal", 6)]
)
def test_an_event_of_the_history_is_named_by_the_beginning_of_its_id_or_name(
    tmp_path: Path, sink: Sink, monkeypatch: pytest.MonkeyPatch, words: str, code: int
) -> None:
    async def events(_: HistoryReader) -> tuple[EventRecord, ...]:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        named = ("4d2c", "Friday show"), ("7a1b", "Saturday show")
        return tuple(EventRecord(at, id_, name, BroadcastState.ON_AIR) for id_, name in named)

    for name, value in configured(tmp_path, sink).items():
        monkeypatch.setenv(name, value)
    config = tmp_path / "config.toml"
    config.write_text(
        config.read_text().replace("hours =", 'events = ["4d2c"]\nthrough =').replace('"08:00-20:00"', '"info"')
    )
    (tmp_path / "history.sqlite").touch()
    monkeypatch.setattr("livedeck.cli.collect.notify.latest_events", events)
    assert CliRunner().invoke(explain_command, [words, "NO_INGEST", "critical"]).exit_code == code


def test_a_target_that_cannot_be_used_is_told_before_it_is_needed(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    assert called(tmp_path, "config", "check", env=env).returncode == 0
    (tmp_path / "hook").chmod(0o644)
    checked = called(tmp_path, "config", "check", env=env)
    assert (checked.returncode, "notify.targets.ops.webhook_file" in checked.stderr) == (2, True)
    checks = json.loads(called(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
    (found,) = (check for check in checks if check["name"] == "notify")
    assert (found["verdict"], "notify.targets.ops.webhook_file" in found["found"]) == ("fail", True)
    assert sink.received == []


NOT_ALLOWED = 'not sent: 127.0.0.1 is on this machine; to allow it, set allow_private = ["127.0.0.1"] in [notify]'


def test_a_receiver_that_the_settings_do_not_allow_is_named_with_the_line_to_add(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    config = tmp_path / "config.toml"
    allowed = config.read_text()
    (tmp_path / "beat").write_text(f"{sink.address}/{SECRET}")
    (tmp_path / "beat").chmod(0o600)
    config.write_text(allowed.replace('allow_private = ["127.0.0.1"]', f'heartbeat_file = "{tmp_path}/beat"'))
    tried = called(tmp_path, "notify", "test", env=env)
    assert (tried.returncode, tried.stdout) == (1, f"ops -> ops: NOT TAKEN: {NOT_ALLOWED}\n")
    checked = called(tmp_path, "config", "check", env=env)
    assert checked.returncode == 2
    checks = json.loads(called(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
    found = [check["found"] for check in checks if (check["name"], check["verdict"]) == ("notify", "fail")]
    assert found == [f"notify.targets.ops: {NOT_ALLOWED}", f"notify.heartbeat: {NOT_ALLOWED}"]
    assert all(fault in checked.stderr for fault in found)
    assert sink.received == []
    mend = NOT_ALLOWED.partition("set ")[2].removesuffix(" in [notify]")
    config.write_text(config.read_text().replace("[notify]\n", f"[notify]\n{mend}\n"))
    assert called(tmp_path, "notify", "test", env=env).returncode == 0
    assert called(tmp_path, "config", "check", env=env).returncode == 0
    assert SECRET not in tried.stdout + checked.stderr + str(found)


def test_a_collector_says_at_its_start_which_receiver_it_may_not_send_to_and_the_list_says_why(
    tmp_path: Path, sink: Sink
) -> None:
    with served(tmp_path) as (_, service):
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = environment(tmp_path, **configured(tmp_path, sink, **platform))
        config = tmp_path / "config.toml"
        config.write_text(config.read_text().replace('allow_private = ["127.0.0.1"]', ""))
        command = [*LIVEDECK, "collector", "run"]
        with Start(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as collector:
            assert collector.stderr
            line = next(line for line in collector.stderr if "notify.targets" in line)
            collector.send_signal(signal.SIGTERM)
            collector.communicate(timeout=TIMEOUT)
    assert line == f"livedeck collector run: notify.targets.ops: {NOT_ALLOWED}\n"
    assert sink.received == []
    spool = Spool(spool_path(tmp_path / "history.sqlite"))
    desk = Desk()
    desk.put(alarm())
    (message,) = desk.watch(6)
    spool.keep(Outcome(desk.state, (message,)), desk.now)
    spool.mark(message.key, WAITING, 3, NOT_ALLOWED)
    spool.close()
    (listed,) = called(tmp_path, "notify", "list", env=configured(tmp_path, sink)).stdout.splitlines()
    assert listed.endswith(f"waits after 3 tries: {NOT_ALLOWED}")


def test_a_collector_watches_tells_keeps_and_ends_when_it_is_asked_to(tmp_path: Path, sink: Sink) -> None:
    with served(tmp_path) as (_, service):
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = environment(tmp_path, **configured(tmp_path, sink, **platform))
        collector = Start(
            [*LIVEDECK, "collector", "run"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            stage = Stage(tmp_path, service)
            event_id = stage.read("event", "get", "Harbour webcam")["id"]
            lines = _lines_until(collector, ("Harbour webcam",))  # it has been looked at, so a new fault is not "found"
            stage.control("POST", f"encoders/{event_id}", {"sending": False})
            lines += _lines_until(collector, ("  raised  ", "  notify  "))
            second = called(tmp_path, "collector", "run", env=configured(tmp_path, sink, **platform))
        finally:
            collector.send_signal(signal.SIGTERM)
            rest, errors = collector.communicate(timeout=TIMEOUT)
    assert collector.returncode == 0, errors
    assert (second.returncode, "another process sends notifications from this history" in second.stderr) == (1, True)
    assert all(any(sign in line for line in lines) for sign in ("  raised  ", "  notify  ")), errors
    assert SECRET not in "".join(lines) + rest + errors
    spool = Spool(spool_path(tmp_path / "history.sqlite"), reads=True)
    state = spool.state(SystemClock().now())
    spool.close()
    assert state.lives
    listed = called(tmp_path, "notify", "list", env=configured(tmp_path, sink))
    assert listed.returncode == 0


def test_what_several_collectors_gave_up_is_listed_and_tried_again_from_what_they_share(
    tmp_path: Path, sink: Sink, redis: RedisServer
) -> None:
    file, env = tmp_path / "redis", configured(tmp_path, sink)
    file.write_text(redis.address)
    file.chmod(0o600)
    with (tmp_path / "config.toml").open("a") as config:
        config.write(f'[engine]\nredis_url_file = "{file}"\n')
    asyncio.run(_give_up(Settings.model_validate({"engine": {"redis_url_file": str(file)}}), tmp_path))
    listed = called(tmp_path, "notify", "list", env=env)
    waiting, given_up = listed.stdout.splitlines()
    assert waiting.endswith("CRIT NO_INGEST one  waits")
    assert given_up.endswith("CRIT NO_INGEST two  given up after 3 tries: 404 gone")
    retried = called(tmp_path, "notify", "dead", "retry", env=env)
    assert (retried.returncode, retried.stdout) == (0, "1 message will be retried\n")
    again = called(tmp_path, "notify", "list", env=env)
    assert [line.split("  ")[-1] for line in again.stdout.splitlines()] == ["waits", "waits"]
    redis.kill()
    for command in (("list",), ("dead", "retry")):
        away = called(tmp_path, "notify", *command, env=env)
        assert (away.returncode, away.stdout, away.stderr.count("\n")) == (1, "", 1)
        assert "notifications are unknown: Redis: " in away.stderr


async def _give_up(settings: Settings, folder: Path) -> None:
    """Write a spool as a collector does: one message waits, and one is a dead letter."""
    now = SystemClock().now()
    history = await History.open(folder / "history.sqlite", now)
    async with join_others(settings, history) as others:
        assert others
        for key in ("one", "two"):
            message = Message(key, "ops", "ops", now, Status.FIRING, f"CRIT NO_INGEST {key}", "text", "{}")
            others.spool.keep(Outcome(State(), (message,), ()), now)
        others.spool.mark("two", DEAD, 3, "404 gone")
    await history.close()


def _lines_until(process: subprocess.Popen[str], signs: Sequence[str]) -> list[str]:
    """Return the lines up to the one with which each of the signs has been in a line."""
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if all(any(sign in line for line in lines) for sign in signs):
            break
    return lines


def test_why_it_was_given_up_is_listed_though_it_was_never_tried(tmp_path: Path, sink: Sink) -> None:
    desk, spool = Desk(), Spool(spool_path(tmp_path / "history.sqlite"))
    desk.put(alarm())
    (message,) = desk.watch(6)
    spool.keep(Outcome(desk.state, (message,)), desk.now)
    spool.mark(message.key, DEAD, 0, "no such target in the settings")
    spool.close()
    env = configured(tmp_path, sink)
    (line,) = called(tmp_path, "notify", "list", env=env).stdout.splitlines()
    assert line.endswith("CRIT NO_INGEST ONE  given up: no such target in the settings")
    listed = json.loads(called(tmp_path, "notify", "list", "--json", env=env).stdout)
    document: Any = TypeAdapter(DOCUMENTS["notify list"]).validate_python(listed, strict=True)
    (item,) = document["items"]
    assert (item["state"], item["tries"], item["answer"]) == ("dead", 0, "no such target in the settings")
    assert item["at"].endswith("Z")


def test_dead_letters_are_listed_shown_retried_and_dropped(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    spool, now = Spool(spool_path(tmp_path / "history.sqlite")), SystemClock().now()
    for key in ("abc1", "abd2", "bcd3"):
        message = Message(key, "ops", "ops", now, Status.FIRING, f"CRIT NO_INGEST {key}", f"{key}\ntext", '{"a": 1}')
        spool.keep(Outcome(State(), (message,)), now)
        spool.mark(key, DEAD, 3, "500 broken")
    spool.close()

    def asked(*words: str) -> subprocess.CompletedProcess[str]:
        return called(tmp_path, "notify", "dead", *words, env=env)

    def document(*words: str) -> Any:
        values = json.loads(asked(*words, "--json").stdout)
        return TypeAdapter(DOCUMENTS[f"notify dead {words[0]}"]).validate_python(values, strict=True)

    (line, *_) = asked("list").stdout.splitlines()
    assert line.endswith("ops           CRIT NO_INGEST abc1  abc1 after 3 tries: 500 broken")
    assert [item["id"] for item in document("list")["items"]] == ["abc1", "abd2", "bcd3"]
    checks = json.loads(called(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
    assert "3 dead letters for ops" in [check["found"] for check in checks if check["name"] == "notify"]
    shown = asked("show", "abc")
    assert (shown.returncode, shown.stdout.splitlines()[1:]) == (
        0,
        ["", "CRIT NO_INGEST abc1", "abc1", "text", "", '{"a": 1}'],
    )
    assert {name: document("show", "abc1")[name] for name in ("id", "text", "payload", "answer")} == {
        "id": "abc1",
        "text": "abc1\ntext",
        "payload": '{"a": 1}',
        "answer": "500 broken",
    }
    for words in (("show", "ab"), ("show", "x"), ("drop", "ab"), ("retry", "x"), ("drop",), ("drop", "abc1", "--all")):
        assert asked(*words).returncode == 2, words
    assert (asked("retry", "abc").stdout, document("drop", "abd2")["count"]) == ("1 message will be retried\n", 1)
    assert [item["id"] for item in document("list")["items"]] == ["bcd3"]
    assert (asked("drop", "--all").stdout, document("retry")["count"]) == ("1 dead letter dropped\n", 0)
    left = asked("list")
    assert (left.returncode, left.stdout, left.stderr) == (0, "", "no dead letters\n")
