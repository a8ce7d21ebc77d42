"""The collector as a service: who may ask is said beside it, it answers at once, and ends when it is asked to."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import tomllib
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, called, collecting, environment, served, settings_of
from cli.terminals import terminal


def test_a_token_is_shown_once_and_kept_as_its_digest(tmp_path: Path) -> None:
    env = settings_of(tmp_path, '# mine\ntheme = "dark"  # as ever\n')
    made = called(tmp_path, "collect", "token", "add", "anna", "--may", "act", env=env)
    assert made.returncode == 0, made.stderr
    token = made.stdout.removesuffix("\n")
    assert re.fullmatch("[0-9a-f]{64}", token)
    text = (tmp_path / "config.toml").read_text()
    assert token not in text + made.stderr
    assert text.startswith('# mine\ntheme = "dark"  # as ever\n')
    digest = sha256(token.encode()).hexdigest()
    assert tomllib.loads(text)["collect"] == {"tokens": {"anna": {"sha256": digest, "may": "act"}}}
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
    assert called(tmp_path, "collect", "token", "add", "wall", env=env).returncode == 0
    assert called(tmp_path, "collect", "token", "list", env=env).stdout == "anna  act\nwall  read\n"
    again = called(tmp_path, "collect", "token", "add", "anna", env=env)
    assert (again.returncode, "there is a token of anna already" in again.stderr) == (2, True)
    assert called(tmp_path, "collect", "token", "add", "a b", env=env).returncode == 2
    assert called(tmp_path, "collect", "token", "remove", "anna", env=env).returncode == 0
    gone = called(tmp_path, "collect", "token", "remove", "anna", env=env)
    assert (gone.returncode, "known: wall" in gone.stderr) == (2, True)
    named = called(tmp_path, "collect", "token", "add", "bert", env={**env, "LIVEDECK_COLLECT": "{}"})
    assert (named.returncode, "LIVEDECK_COLLECT is set" in named.stderr) == (2, True)


@pytest.mark.parametrize("name", ["a\nb", "a\r", "a\x1b[2Jb", "tab\tx", "a\u2028b", "a\u202eb", "", "\n"])
def test_a_name_that_is_none_is_refused_in_one_line_that_shows_what_is_hidden(tmp_path: Path, name: str) -> None:
    env = settings_of(tmp_path, "")
    for verb in ("add", "remove"):
        done = called(tmp_path, "collect", "token", verb, name, env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.removesuffix("\n").isprintable()
        assert name.strip("ab") not in done.stderr.removesuffix("\n") or not name
    assert (tmp_path / "config.toml").read_text() == ""


def test_a_token_is_the_one_line_of_standard_output_in_a_pipe_and_at_a_terminal(tmp_path: Path) -> None:
    """`TOKEN=$(livedeck collect token add wall)` has it, and nothing else."""
    env = settings_of(tmp_path, "")
    shell = 'TOKEN=$("$0" -m livedeck collect token add wall 2>/dev/null); printf "[%s]" "$TOKEN"'
    asked = ["sh", "-c", shell, sys.executable]
    done = subprocess.run(asked, env=environment(tmp_path, **env), capture_output=True, timeout=TIMEOUT, check=True)
    assert re.fullmatch(rb"\[[0-9a-f]{64}\]", done.stdout)
    settings: dict[str, Any] = {**env}
    with terminal(tmp_path, "collect", "token", "add", "desk", **settings) as shown:
        assert shown.ended() == 0
    assert re.search(rb"shown this once:\r\n[0-9a-f]{64}\r\n\Z", shown.written)


def test_a_file_is_changed_as_it_is_read(tmp_path: Path) -> None:
    """By the same rules: what stands before it, how its lines end, and what is said of a name that is none."""
    env = settings_of(tmp_path, "")
    file = tmp_path / "config.toml"
    file.write_bytes(b'\xef\xbb\xbf# mine\r\ntheme = "dark"\r\n')
    assert called(tmp_path, "collect", "token", "add", "anna", env=env).returncode == 0
    assert file.read_bytes().startswith(b'# mine\r\ntheme = "dark"\r\n')
    for content, words in (
        (b'theme = "dark"\nthem = "dark"\n', "config.toml:2): no such setting; did you mean theme"),
        (b"theme = '\xff'\n", "config.toml:1: it is no text in UTF-8"),
    ):
        file.write_bytes(content)
        refused = called(tmp_path, "collect", "token", "add", "anna", env=env)
        assert (refused.returncode, words in refused.stderr, file.read_bytes()) == (2, True, content), refused.stderr


def asked(port: int, path: str, token: str = "", **headers: str) -> tuple[int, bytes]:
    """Status and body of one request, by a client that is not ours."""
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
        env = settings_of(tmp_path, '[collect]\nlisten = "127.0.0.1:0"\n') | platform
        token = called(tmp_path, "collect", "token", "add", "anna", env=env).stdout.strip()
        with collecting(tmp_path, env) as (collector, address):
            assert collector.stderr
            line, port = collector.stderr.readline(), int(address.rpartition(":")[2])
            assert "the platform answers" in line
            assert asked(port, "/healthz") == (200, b"well\n")
            assert asked(port, "/v1/snapshot")[0] == 401
            listing = json.loads(asked(port, "/v1/snapshot?samples=1", token)[1])
            assert listing["values"]["events"]
            assert asked(port, "/v1/snapshot", token, Host="elsewhere.example")[0] == 400
            collector.send_signal(signal.SIGTERM)
            _, errors = collector.communicate(timeout=TIMEOUT)
    assert collector.returncode == 0, errors
    assert token not in line + errors


def test_a_port_that_is_taken_is_named_and_what_to_change(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = settings_of(tmp_path, f'[collect]\nlisten = "127.0.0.1:{port}"\n')
        platform = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9", "LIVEDECK_TOKEN": "none"}
        done = called(tmp_path, "collect", env=env | platform)
    assert done.returncode == 1
    assert f"port {port} of this machine: Address already in use; `listen` of [collect] says where" in done.stderr


def test_it_is_reached_from_elsewhere_only_through_a_proxy(tmp_path: Path) -> None:
    for listen, proxy, reason in (
        ("0.0.0.0:8710", "", "beyond loopback only with `behind_proxy = true`"),
        ("127.0.0.1", "", "an address and a port"),
        ("0.0.0.0:8710", "behind_proxy = true\n", ""),
        ("[::1]:8710", "", ""),
        ("", "", ""),
    ):
        env = settings_of(tmp_path, f'[collect]\nlisten = "{listen}"\n{proxy}')
        done = called(tmp_path, "config", "validate", env=env)
        assert (done.returncode, reason in done.stderr) == (2 if reason else 0, True), done.stderr
        assert not reason or "config.toml:2" in done.stderr
