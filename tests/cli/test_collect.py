"""The collector as a service: tokens in its settings file, quick replies, and an end on request."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from cli.commands import TIMEOUT, called, collecting, environment, served, settings_of
from cli.terminals import terminal
from livedeck.presentation.documents import DOCUMENTS


def test_a_token_is_shown_once_and_kept_as_its_digest(tmp_path: Path) -> None:
    env = settings_of(tmp_path, '# mine\ntheme = "dark"  # as ever\n')
    made = called(tmp_path, "collector", "token", "create", "anna", "--may", "act", env=env)
    assert made.returncode == 0, made.stderr
    token = made.stdout.removesuffix("\n")
    assert re.fullmatch("[0-9a-f]{64}", token)
    text = (tmp_path / "config.toml").read_text()
    assert token not in text + made.stderr
    assert text.startswith('# mine\ntheme = "dark"  # as ever\n')
    digest = sha256(token.encode()).hexdigest()
    assert tomllib.loads(text)["collector"] == {"tokens": {"anna": {"sha256": digest, "may": "act"}}}
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
    assert called(tmp_path, "collector", "token", "create", "wall", env=env).returncode == 0
    listed = called(tmp_path, "collector", "token", "list", env=env)
    assert listed.stdout == "anna  act   never expires  last use unknown\nwall  read  never expires  last use unknown\n"
    assert f"{tmp_path}/history.sqlite.uses does not exist" in listed.stderr
    as_json = called(tmp_path, "collector", "token", "list", "--json", env=env)
    found: Any = TypeAdapter(DOCUMENTS["collector token list"]).validate_python(json.loads(as_json.stdout), strict=True)
    assert [(item["name"], item["may"], item["expires"]) for item in found["items"]] == [
        ("anna", "act", None),
        ("wall", "read", None),
    ]
    assert (found["uses_known"], found["items"][0]["last_use"]) == (False, None)
    assert digest not in as_json.stdout
    again = called(tmp_path, "collector", "token", "create", "anna", env=env)
    assert (again.returncode, "anna already has a token" in again.stderr) == (2, True)
    assert called(tmp_path, "collector", "token", "create", "a b", env=env).returncode == 2
    assert called(tmp_path, "collector", "token", "delete", "anna", env=env).returncode == 0
    gone = called(tmp_path, "collector", "token", "delete", "anna", env=env)
    assert (gone.returncode, "tokens of: wall" in gone.stderr) == (2, True)
    named = called(tmp_path, "collector", "token", "create", "bert", env={**env, "LIVEDECK_COLLECTOR": "{}"})
    assert (named.returncode, "LIVEDECK_COLLECTOR is set" in named.stderr) == (2, True)


def token_of(home: Path, name: str = "anna") -> dict[str, Any]:
    """Return the settings of a token in the settings file."""
    table: dict[str, Any] = tomllib.loads((home / "config.toml").read_text())["collector"]["tokens"][name]
    return table


def near(at: datetime, wanted: timedelta) -> bool:
    """Return whether a time is `wanted` from now, within two minutes."""
    return abs(at - datetime.now(UTC) - wanted) < timedelta(minutes=2)


def test_a_token_expires_when_it_was_said_to(tmp_path: Path) -> None:
    env = settings_of(tmp_path)
    for name, expires, wanted in (
        ("days", "30d", timedelta(days=30)),
        ("both", "1d 12h", timedelta(hours=36)),
        ("minutes", "90 min", timedelta(minutes=90)),
    ):
        done = called(tmp_path, "collector", "token", "create", name, "--expires", expires, env=env)
        assert done.returncode == 0, done.stderr
        assert near(at := token_of(tmp_path, name)["expires"], wanted), expires
        assert f"The token of {name} expires {at.astimezone(UTC):%Y-%m-%d %H:%M}Z." in done.stderr
    assert called(tmp_path, "collector", "token", "create", "day", "--expires", "2999-01-31", env=env).returncode == 0
    assert token_of(tmp_path, "day")["expires"].astimezone().timetuple()[:5] == (2999, 1, 31, 0, 0)
    assert called(tmp_path, "collector", "token", "create", "ever", "--expires", "never", env=env).returncode == 0
    assert "expires" not in token_of(tmp_path, "ever")
    before = (tmp_path / "config.toml").read_text()
    for expires, words in (
        ("2020-01-31", "that time has passed"),
        ("soon", "type 30d"),
        ("2999-02-31", "type 30d"),
        ("-3d", "that time has passed"),
    ):
        done = called(tmp_path, "collector", "token", "create", "none", "--expires", expires, env=env)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "config.toml").read_text() == before
    shown = called(tmp_path, "config", "show", env=env).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("collector =")]
    assert tomllib.loads(line)["collector"]["tokens"]["day"]["expires"] == token_of(tmp_path, "day")["expires"]


def test_a_rotation_prints_a_new_token_and_keeps_the_old_one_for_a_while(tmp_path: Path) -> None:
    env = settings_of(tmp_path)
    first = called(tmp_path, "collector", "token", "create", "anna", "--may", "act", env=env).stdout.strip()
    done = called(tmp_path, "collector", "token", "rotate", "anna", env=env)
    second = done.stdout.strip()
    assert re.fullmatch("[0-9a-f]{64}", second)
    assert second != first
    found = token_of(tmp_path)
    assert (found["sha256"], found["may"]) == (sha256(second.encode()).hexdigest(), "act")
    assert found["previous_sha256"] == sha256(first.encode()).hexdigest()
    assert near(found["previous_until"], timedelta(days=1))
    assert "The old token is valid until " in done.stderr
    assert not {first, second} & set((tmp_path / "config.toml").read_text().split('"'))
    assert second not in done.stderr
    again = called(tmp_path, "collector", "token", "rotate", "anna", "--grace", "2h", env=env)
    assert "The token that the old one had replaced is refused now." in again.stderr
    assert token_of(tmp_path)["previous_sha256"] == sha256(second.encode()).hexdigest()
    assert near(token_of(tmp_path)["previous_until"], timedelta(hours=2))
    at_once = called(tmp_path, "collector", "token", "rotate", "anna", "--grace", "0", env=env)
    assert "The old token is refused now." in at_once.stderr
    assert set(token_of(tmp_path)) == {"sha256", "may"}
    for arguments, words in (
        (("bert",), "bert has no token; tokens of: anna"),
        (("anna", "--grace", "31d"), "at most 30d"),
        (("anna", "--grace", "long"), "type 1d"),
    ):
        refused = called(tmp_path, "collector", "token", "rotate", *arguments, env=env)
        assert (refused.returncode, words in refused.stderr) == (2, True), refused.stderr


def test_a_rotation_gives_no_old_token_more_time_than_it_had(tmp_path: Path) -> None:
    env = settings_of(tmp_path)
    assert called(tmp_path, "collector", "token", "create", "anna", "--expires", "1h", env=env).returncode == 0
    refused = called(tmp_path, "collector", "token", "rotate", "anna", env=env)
    assert (refused.returncode, "give the new token an expiry" in refused.stderr) == (2, True), refused.stderr
    assert called(tmp_path, "collector", "token", "rotate", "anna", "--expires", "30d", env=env).returncode == 0
    assert near(token_of(tmp_path)["previous_until"], timedelta(hours=1))
    assert near(token_of(tmp_path)["expires"], timedelta(days=30))
    text = (tmp_path / "config.toml").read_text()
    over = re.sub(r"(?m)^expires = .*$", "expires = 2020-01-01T00:00:00Z", text)
    assert over != text
    (tmp_path / "config.toml").write_text(over)
    assert "EXPIRED 2020-01-01 00:00Z" in called(tmp_path, "collector", "token", "list", env=env).stdout
    assert called(tmp_path, "collector", "token", "rotate", "anna", "--expires", "never", env=env).returncode == 0
    assert set(token_of(tmp_path)) == {"sha256", "may"}  # what had expired stays so


def test_the_list_names_the_last_use_and_cleans_what_others_sent(tmp_path: Path) -> None:
    env = settings_of(tmp_path)
    old = called(tmp_path, "collector", "token", "create", "anna", env=env).stdout.strip()
    called(tmp_path, "collector", "token", "rotate", "anna", env=env)
    use = ["2026-11-21T18:00:59+00:00", "203.0.113.9\x1b[31m"]
    (tmp_path / "history.sqlite.uses").write_text(json.dumps({sha256(old.encode()).hexdigest(): use}))
    listed = called(tmp_path, "collector", "token", "list", env=env)
    new, previous = listed.stdout.splitlines()
    assert new.endswith("no recorded use")
    assert "old token expires " in previous
    assert previous.endswith("last used 2026-11-21 18:00Z from 203.0.113.9[31m")
    assert listed.stderr == ""
    (tmp_path / "history.sqlite.uses").write_text("{")
    assert "not a file of last uses" in called(tmp_path, "collector", "token", "list", env=env).stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("expires = 2027-01-01T00:00:00", "timezone"),
        ('previous_sha256 = "' + "0" * 64 + '"', "or neither"),
        ("previous_until = 2027-01-01T00:00:00Z", "or neither"),
        ('expires = "soon"', "expires"),
    ],
)
def test_a_token_that_cannot_be_judged_is_refused_with_its_line(tmp_path: Path, line: str, words: str) -> None:
    env = settings_of(tmp_path, f'[collector.tokens.anna]\nsha256 = "{"0" * 64}"\n{line}\n')
    done = called(tmp_path, "config", "check", env=env)
    assert (done.returncode, words in done.stderr, "config.toml:" in done.stderr) == (2, True, True), done.stderr


def test_a_collector_notes_who_came_and_keeps_what_it_refused(tmp_path: Path) -> None:
    """Also where it is asked to end at once: the file is written, and the audit."""
    with served(tmp_path) as (_, platform):
        env = settings_of(tmp_path, '[collector]\nlisten = "127.0.0.1:0"\n') | {
            "LIVEDECK_BASE_URL": platform["base_url"],
            "LIVEDECK_TOKEN": platform["token"],
        }
        token = called(tmp_path, "collector", "token", "create", "anna", env=env).stdout.strip()
        called(tmp_path, "collector", "token", "create", "over", env=env)
        with collecting(tmp_path, env) as (collector, address):
            port = int(address.rpartition(":")[2])
            assert asked(port, "/v1/notifications", token)[0] == 200
            wrong = "a-wrong-token-of-a-stranger"
            assert [asked(port, "/v1/snapshot", wrong)[0] for _ in range(12)] == [401] * 10 + [429] * 2
            collector.send_signal(signal.SIGTERM)
            collector.communicate(timeout=TIMEOUT)
        assert collector.returncode == 0
        anna, over = called(tmp_path, "collector", "token", "list", env=env).stdout.splitlines()
        assert re.search(r"last used \d{4}-\d\d-\d\d \d\d:\d\dZ from 127\.0\.0\.1$", anna)
        assert over.endswith("no recorded use")
        found = called(tmp_path, "past", "search", "collector.token", env=env).stdout
        assert "127.0.0.1: collector.token: refused, unknown token" in found
    counts = [int(count or 1) for count in re.findall(r"unknown token: (?:(\d+) times|once)", found)]
    assert sum(counts) == 12, found
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert wrong[:8].encode() not in written


@pytest.mark.parametrize("name", ["a\nb", "a\r", "a\x1b[2Jb", "tab\tx", "a\u2028b", "a\u202eb", "", "\n"])
def test_a_name_that_is_none_is_refused_in_one_line_that_shows_what_is_hidden(tmp_path: Path, name: str) -> None:
    env = settings_of(tmp_path, "")
    for verb in ("create", "delete"):
        done = called(tmp_path, "collector", "token", verb, name, env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.removesuffix("\n").isprintable()
        assert name.strip("ab") not in done.stderr.removesuffix("\n") or not name
    assert (tmp_path / "config.toml").read_text() == ""


def test_a_token_is_the_one_line_of_standard_output_in_a_pipe_and_at_a_terminal(tmp_path: Path) -> None:
    """`TOKEN=$(livedeck collector token create wall)` has it, and nothing else."""
    env = settings_of(tmp_path, "")
    shell = 'TOKEN=$("$0" -m livedeck collector token create wall 2>/dev/null); printf "[%s]" "$TOKEN"'
    asked = ["sh", "-c", shell, sys.executable]
    done = subprocess.run(asked, env=environment(tmp_path, **env), capture_output=True, timeout=TIMEOUT, check=True)
    assert re.fullmatch(rb"\[[0-9a-f]{64}\]", done.stdout)
    config = env["LIVEDECK_CONFIG"]
    with terminal(tmp_path, "collector", "token", "create", "desk", LIVEDECK_CONFIG=config) as shown:
        assert shown.ended() == 0
    assert re.search(rb"shown only now:\r\n[0-9a-f]{64}\r\n\Z", shown.written)


def test_a_file_is_changed_as_it_is_read(tmp_path: Path) -> None:
    """By the same rules: what stands before it, how its lines end, and what is said of a name that is none."""
    env = settings_of(tmp_path, "")
    file = tmp_path / "config.toml"
    file.write_bytes(b'\xef\xbb\xbf# mine\r\ntheme = "dark"\r\n')
    assert called(tmp_path, "collector", "token", "create", "anna", env=env).returncode == 0
    assert file.read_bytes().startswith(b'# mine\r\ntheme = "dark"\r\n')
    for content, words in (
        (b'theme = "dark"\nthem = "dark"\n', "config.toml:2): no such setting; did you mean theme"),
        (b"theme = '\xff'\n", "config.toml:1: not UTF-8"),
    ):
        file.write_bytes(content)
        refused = called(tmp_path, "collector", "token", "create", "anna", env=env)
        assert (refused.returncode, words in refused.stderr, file.read_bytes()) == (2, True, content), refused.stderr


def asked(port: int, path: str, token: str = "", **headers: str) -> tuple[int, bytes]:
    """Return status and body of one request by a client without code of livedeck."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("GET", path, headers={**sent, **headers})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_a_collector_serves_whoever_has_a_token_and_says_where(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = settings_of(tmp_path, '[collector]\nlisten = "127.0.0.1:0"\n') | platform
        token = called(tmp_path, "collector", "token", "create", "anna", env=env).stdout.strip()
        with collecting(tmp_path, env) as (collector, address):
            assert collector.stderr
            line, port = collector.stderr.readline(), int(address.rpartition(":")[2])
            assert "the platform responds" in line
            assert asked(port, "/healthz") == (200, b"well\n")
            assert asked(port, "/v1/snapshot")[0] == 401
            listing = json.loads(asked(port, "/v1/snapshot?samples=1", token)[1])
            assert listing["values"]["events"]
            assert asked(port, "/v1/snapshot", token, Host="elsewhere.example")[0] == 400
            collector.send_signal(signal.SIGTERM)
            _, errors = collector.communicate(timeout=TIMEOUT)
    assert collector.returncode == 0, errors
    assert token not in line + errors


@pytest.mark.parametrize("known", [{}, {"LIVEDECK_BASE_URL": "http://127.0.0.1:9"}], ids=["no platform", "no token"])
def test_a_collector_that_cannot_start_leaves_no_file_beside_the_history(tmp_path: Path, known: dict[str, str]) -> None:
    folder = tmp_path / "histories"
    env = {"LIVEDECK_HISTORY": str(folder / "history.sqlite"), **known}
    done = called(tmp_path, "collector", "run", env=env)
    assert (done.returncode, done.stderr.startswith("livedeck: no ")) == (2, True), done.stderr
    assert not folder.exists()


def test_a_port_that_is_taken_is_named_and_what_to_change(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = settings_of(tmp_path, f'[collector]\nlisten = "127.0.0.1:{port}"\n')
        platform = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9", "LIVEDECK_TOKEN": "none"}
        done = called(tmp_path, "collector", "run", env=env | platform)
    assert done.returncode == 1
    assert f"port {port} of this machine: Address already in use; see `listen` of [collector]" in done.stderr


def test_it_is_reached_from_elsewhere_only_through_a_proxy(tmp_path: Path) -> None:
    for listen, proxy, reason in (
        ("0.0.0.0:8710", "", "beyond loopback only with `behind_proxy = true`"),
        ("127.0.0.1", "", "an address and a port"),
        ("0.0.0.0:8710", "behind_proxy = true\n", ""),
        ("[::1]:8710", "", ""),
        ("", "", ""),
    ):
        env = settings_of(tmp_path, f'[collector]\nlisten = "{listen}"\n{proxy}')
        done = called(tmp_path, "config", "check", env=env)
        assert (done.returncode, reason in done.stderr) == (2 if reason else 0, True), done.stderr
        assert not reason or "config.toml:2" in done.stderr
