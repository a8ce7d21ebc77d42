"""`livedeck notify` and `livedeck collect`, as a person or systemd runs them, against a receiver of other make."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.commands import LIVEDECK, TIMEOUT, called, environment, served
from livedeck.cli.wiring import SystemClock
from livedeck.notify import Spool, spool_path
from notify.sinks import Sink, http_sink, smtp_sink

SECRET = "h00k-of-the-night-shift-77aa"


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A receiver over HTTP."""
    with http_sink() as made:
        yield made


def configured(home: Path, sink: Sink, **env: str) -> dict[str, str]:
    """The environment of settings with one route to that receiver."""
    (home / "hook").write_text(f"{sink.address}/{SECRET}")
    (home / "hook").chmod(0o600)
    config = home / "config.toml"
    config.write_text(
        f'[collect]\nlisten = "127.0.0.1:0"\n[notify.targets.ops]\nwebhook_file = "{home}/hook"\n'
        '[[notify.routes]]\nto = "ops"\nhours = "08:00-20:00"\n'
    )
    return {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(home / "history.sqlite"), **env}


def test_a_route_is_tried_and_explained_and_its_address_is_shown_nowhere(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    tried = called(tmp_path, "notify", "test", env=env)
    assert (tried.returncode, tried.stdout) == (0, "ops -> ops: taken: 200 thanks\n")
    assert json.loads(sink.received[0].body)["status"] == "test"
    sink.status, sink.answer = 403, f"no {SECRET}".encode()
    refused = called(tmp_path, "notify", "test", "ops", env=env)
    assert refused.returncode == 1
    assert refused.stdout.startswith("ops -> ops: NOT TAKEN: 403 no ")
    unknown = called(tmp_path, "notify", "test", "boss", env=env)
    assert (unknown.returncode, "no such route 'boss'; known: ops" in unknown.stderr) == (2, True)
    shown = called(tmp_path, "config", "show", env=env)
    assert SECRET not in tried.stdout + refused.stdout + unknown.stderr + shown.stdout


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
    assert (tried.returncode, tried.stdout) == (0, "ops -> ops: taken: apprise has delivered it\n")
    assert (mail["Subject"], mail["X-Key"]) == ("TEST livedeck", SECRET)
    assert refused.returncode == 1
    assert refused.stdout.startswith("ops -> ops: NOT TAKEN: apprise could not deliver it: ")
    assert SECRET not in tried.stdout + refused.stdout + refused.stderr


@pytest.mark.parametrize(
    ("severity", "at", "expected"),
    [
        ("critical", "2026-11-21T23:00", (0, "yes, 5 s after it began")),
        ("warning", "2026-11-21T23:00", (0, "waits: nobody reads it at Sat 23:00 UTC, and it is not critical")),
        ("warning", "2026-11-21T12:00", (0, "yes, 5 s after it began")),
        ("info", "2026-11-21T12:00", (6, "no: it is info, and the route takes warning and worse")),
    ],
)
def test_what_would_be_told_is_explained(
    tmp_path: Path, sink: Sink, severity: str, at: str, expected: tuple[int, str]
) -> None:
    env = configured(tmp_path, sink)
    done = called(tmp_path, "notify", "explain", "Friday show", "NO_INGEST", severity, "--at", at, env=env)
    code, words = expected
    assert (done.returncode, done.stdout) == (code, f"ops -> ops: {words}\n")


def test_what_is_explained_is_of_a_known_kind_and_the_event_of_the_history(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    typo = called(tmp_path, "notify", "explain", "Main stage", "PACKETLOSS", "critical", env=env)
    assert (typo.returncode, "did you mean PACKET_LOSS" in typo.stderr) == (2, True)
    stranger = called(tmp_path, "notify", "explain", "Main stge", "packet_loss", "critical", "--at", "21:00", env=env)
    assert (stranger.returncode, "no event called 'Main stge' is known here" in stranger.stderr) == (0, True)
    assert called(tmp_path, "notify", "explain", "x", "PACKET_LOSS", "info", "--at", "soon", env=env).returncode == 2
    help_text = called(tmp_path, "notify", "--help").stdout
    assert "by every route, and print what the receiver answers." in " ".join(help_text.split())


def test_a_target_that_cannot_be_used_is_told_before_it_is_needed(tmp_path: Path, sink: Sink) -> None:
    env = configured(tmp_path, sink)
    assert called(tmp_path, "config", "validate", env=env).returncode == 0
    (tmp_path / "hook").chmod(0o644)
    checked = called(tmp_path, "config", "validate", env=env)
    assert (checked.returncode, "notify.targets.ops.webhook_file" in checked.stderr) == (2, True)
    checks = json.loads(called(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
    (found,) = (check for check in checks if check["name"] == "notify")
    assert (found["verdict"], "notify.targets.ops.webhook_file" in found["found"]) == ("fail", True)
    assert sink.received == []


@pytest.mark.parametrize("word", ["list", "retry"])
def test_what_several_collectors_share_is_in_no_file_here_which_is_said(tmp_path: Path, sink: Sink, word: str) -> None:
    env = configured(tmp_path, sink)
    with Path(env["LIVEDECK_CONFIG"]).open("a") as config:
        config.write('[engine]\nredis_url_command = ["false"]\n')
    done = called(tmp_path, "notify", word, env=env)
    assert (done.returncode, done.stdout, "`collector_url` in the settings" in done.stderr) == (2, "", True), (
        done.stderr
    )


def test_a_collector_watches_tells_keeps_and_ends_when_it_is_asked_to(tmp_path: Path, sink: Sink) -> None:
    with served(tmp_path) as (_, service):
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = environment(tmp_path, **configured(tmp_path, sink, **platform))
        collector = subprocess.Popen(
            [*LIVEDECK, "collect"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            lines = _lines_until(collector, lambda line: "  told  " in line)
            second = called(tmp_path, "collect", env=configured(tmp_path, sink, **platform))
        finally:
            collector.send_signal(signal.SIGTERM)
            rest, errors = collector.communicate(timeout=TIMEOUT)
    assert collector.returncode == 0, errors
    assert (second.returncode, "another process notifies from this history" in second.stderr) == (1, True)
    assert any("raised" in line for line in lines)
    assert SECRET not in "".join(lines) + rest + errors
    spool = Spool(spool_path(tmp_path / "history.sqlite"), reads=True)
    state = spool.state(SystemClock().now())
    spool.close()
    assert state.lives
    listed = called(tmp_path, "notify", "list", env=configured(tmp_path, sink))
    assert listed.returncode == 0


def _lines_until(process: subprocess.Popen[str], is_last: Callable[[str], bool]) -> list[str]:
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if is_last(line):
            break
    return lines
