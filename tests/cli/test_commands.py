"""Commands in scripts and without a terminal."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from breadth import slow_rows
from cli.commands import TIMEOUT, called, livedeck, served
from livedeck import __version__
from livedeck.cli import status_report
from livedeck.cli.version import commit

HEADS = ("TALLY", "INGEST", "HEALTH", "VIDEO", "AUDIO", "FPS", "EVENT", "WRONG")


def asked(address: str, token: str | None) -> tuple[int, dict[str, Any]]:
    """Return status and body of a GET."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_the_version(tmp_path: Path) -> None:
    said = livedeck(tmp_path, "--version").stdout
    assert re.fullmatch(rf"livedeck {__version__} \(commit \S+, Python {sys.version.split()[0]}\)\n", said)


def test_the_commit_of_a_package_is_what_its_build_wrote_or_what_git_says_of_its_checkout(tmp_path: Path) -> None:
    package = tmp_path / "src" / "livedeck"
    package.mkdir(parents=True)
    assert commit(package) == "unknown"
    (tmp_path / ".git").mkdir()
    assert commit(package) == "unknown"  # no repository
    (tmp_path / ".git").rmdir()
    who = ("-c", "user.name=a", "-c", "user.email=a@a.example")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "a")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert re.fullmatch(r"[0-9a-f]{12}", commit(package))
    (package / "commit.txt").write_text("0123456789ab-dirty\n")
    assert commit(package) == "0123456789ab-dirty"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Return the demo run in a pipe, with settings of a platform that does not exist, and its home."""
    home = tmp_path_factory.mktemp("demo")
    env = {"LIVEDECK_TIMEOUT": "99", "LIVEDECK_CONFIG": str(home / "absent.toml"), "LIVEDECK_TOKEN": "another"}
    return livedeck(home, "demo", env=env), home


def test_the_demo_without_a_terminal_prints_every_event_and_what_is_wrong(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """It needs no setting, and heeds none but read-only."""
    done, _ = demo
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert all(word in head for word in HEADS)
    events = [row for row in rows if row and "events," not in row]
    assert len(events) >= 12
    for name, fault in {
        "Cup final, pitch 2": "RECONNECTING",
        "Town hall, main": "PACKET_LOSS",
        "Morning service": "KEYFRAME_",
    }.items():
        assert any(name in row and fault in row for row in events), done.stdout
    assert any("Choir, hall B" in row and "100 GOOD" in row for row in events)
    assert "not a terminal" in done.stderr


def test_the_demo_in_a_terminal_that_moves_no_cursor_prints_its_events(tmp_path: Path) -> None:
    done = livedeck(tmp_path, "demo", "--scenario", "clean-show", env={"TERM": "dumb"})
    assert (done.returncode, "TERM=dumb" in done.stderr) == (0, True), done.stderr
    assert all(word in done.stdout for word in (*HEADS, "Foyer", "Opening"))


def test_serve_prints_one_object_and_answers_in_the_documented_envelope(tmp_path: Path) -> None:
    with served(tmp_path) as (process, service):
        for field in ("base_url", "upload_url", "cdn_url", "control_url", "token", "workspace_id", "user_id"):
            assert service[field]
        status, body = asked(f"{service['base_url']}/v2/live/events", service["token"])
        assert (status, set(body)) == (200, {"meta", "data"})
        assert body["meta"]["pagination"] == {"page": 1, "per_page": 20, "total": 12}
        assert body["meta"]["order"] == {"created_at": "desc", "name": "asc"}
        status, body = asked(f"{service['base_url']}/v2/live/events", None)
        assert (status, body["error"]["code"]) == (401, 401401)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 0


def test_a_scenario_is_played_by_serve_and_by_the_demo(tmp_path: Path) -> None:
    with served(tmp_path, "--scenario", "big-workspace") as (_, service):
        _, body = asked(f"{service['base_url']}/v2/live/events", service["token"])
        assert body["meta"]["pagination"]["total"] == 400
    done = called(tmp_path, "demo", "--scenario", "clean-show")
    assert (done.returncode, "0 alarms" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_past_time_without_a_screen_is_refused_and_not_answered_with_the_present(tmp_path: Path) -> None:
    done = called(tmp_path, "--at", "-5m", env={"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "token"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "--at needs a screen" in done.stderr


def test_status_as_an_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is judged, however long the replies take on a busy machine."""
    monkeypatch.setattr(status_report, "TIMEOUT", 300.0)
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        done = called(tmp_path, "status", "--json", "--patience", "5m", env=env)
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert set(status) == {
        "as_of",
        "link",
        "flood",
        "events",
        "alarms",
        "unreadable",
        "shortfall",
        "list_doubt",
        "open_changes",
        "unread",
    }
    assert status["link"]["state"] == "ok"
    clean = next(event for event in status["events"] if event["name"] == "Choir, hall B")
    assert {"id", "name", "tally", "ingest", "health", "last_sample"} <= set(clean)
    assert (clean["tally"], clean["ingest"]["state"], clean["health"]["score"]) == ("ON AIR", "receiving", 100)
    assert 0 <= clean["last_sample"]["age"] < 15
    assert {alarm["kind"] for alarm in status["alarms"]} >= {"RECONNECTING", "PACKET_LOSS", "LATE_START"}


def test_the_deck_without_a_terminal_prints_the_status_of_the_settings(tmp_path: Path) -> None:
    with served(tmp_path, "--scenario", "clean-show") as (_, service):
        token_file = tmp_path / "token"
        token_file.touch(mode=0o600)
        token_file.write_text(service["token"], encoding="utf-8")
        config = tmp_path / "livedeck.toml"
        config.write_text(f'base_url = "{service["base_url"]}"\ntoken_file = "{token_file}"\n', encoding="utf-8")
        done = livedeck(tmp_path, env={"LIVEDECK_CONFIG": str(config)})
    assert done.returncode == 0, done.stderr
    assert "Foyer" in done.stdout


def test_a_platform_that_cannot_be_reached_is_exit_code_four_and_says_so(tmp_path: Path) -> None:
    with served(tmp_path) as (process, service):
        process.kill()
        process.wait(TIMEOUT)
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        for arguments in ((), ("status",), ("status", "--json")):
            done = called(tmp_path, *arguments, env=env)
            assert done.returncode == 4
            assert "refuses connections" in done.stderr


def test_flags_stand_before_or_after_the_command(tmp_path: Path) -> None:
    with served(tmp_path, "--scenario", "clean-show") as (_, service):
        address, env = service["base_url"], {"LIVEDECK_TOKEN": service["token"]}
        for arguments in (("--base-url", address, "status"), ("status", "--base-url", address, "--read-only")):
            assert "Foyer" in livedeck(tmp_path, *arguments, env=env).stdout


def test_a_refused_token_is_exit_code_three_and_never_shown(tmp_path: Path) -> None:
    secret = "a-token-that-nobody-knows"
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": secret}
        done = called(tmp_path, "status", "--json", env=env)
    assert done.returncode == 3
    assert "token" in done.stderr
    assert secret not in done.stdout + done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("host", ["127.0.0.2", "::1"])
def test_an_address_that_only_this_machine_reaches_needs_no_token_of_ones_own(tmp_path: Path, host: str) -> None:
    done = called(tmp_path, "serve", "--host", host, "--snapshot", "none.tar")
    assert (done.returncode, "none.tar" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        ((), {}, "LIVEDECK_BASE_URL"),
        (("status",), {"LIVEDECK_BASE_URL": "http://127.0.0.1:1"}, "LIVEDECK_TOKEN"),
        (("status",), {"LIVEDECK_BASE_URL": "http://platform.example", "LIVEDECK_TOKEN": "t" * 20}, "https"),
        (("serve", "--host", "0.0.0.0"), {}, "--token"),
        (("serve", "--ingest", "--ingest-host", "0.0.0.0"), {}, "--ingest-host 0.0.0.0 can be reached"),
        (("serve", "--host", "0.0.0.0", "--token", "livedeck-demo"), {}, "--token"),
        (("serve", "--port", "99999"), {}, "--port"),
        (("demo", "--scenario", "no-such-show"), {}, "no-such-show"),
        (("--base-url", "https://platform.example", "demo"), {}, "--base-url"),
        (("--base-url", "https://platform.example", "serve"), {}, "--base-url"),
        (("fly",), {}, "No such command"),
    ],
)
def test_wrong_use_is_exit_code_two_and_says_what_to_do(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], words: str
) -> None:
    done = called(tmp_path, *arguments, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_a_clear_error(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        port = service["base_url"].rpartition(":")[2]
        done = livedeck(tmp_path, "serve", "--port", port)
    assert done.returncode == 1
    assert port in done.stderr
    assert "Traceback" not in done.stderr


def test_the_log_goes_to_a_private_file_and_nowhere_else(demo: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, home = demo
    (log,) = home.rglob("livedeck.log")
    assert log.parent.stat().st_mode & 0o077 == log.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert {"alarm raised"} <= {line["event"] for line in lines}
    assert "alarm raised" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [("eve", "event"), ("alarm list --sch", "--schema"), *slow_rows(("sta", "status"), ("config c", "check"))],
)
def test_the_shell_completes_commands_and_flags(tmp_path: Path, words: str, found: str) -> None:
    env = {"_LIVEDECK_COMPLETE": "bash_complete", "COMP_WORDS": f"livedeck {words}"}
    done = livedeck(tmp_path, env={**env, "COMP_CWORD": str(len(words.split()))})
    assert (done.returncode, done.stdout) == (0, f"plain,{found}\n")
