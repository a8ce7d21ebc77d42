"""`livedeck event chat` in scripts: contents of the file, messages, and exit codes."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from breadth import slow
from cli.commands import TIMEOUT, called, environment, livedeck, served
from cli.starts import LIVEDECK, Start, run
from livedeck.monitor import History
from monitor.recordings import NOW, readings, snapshot, ticking

CHAT = "/v2/live/events/*/stream/*/chat.*"
EVENT = "Choir, hall B"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with served(tmp_path_factory.mktemp("home")) as (_, simulator):
        yield simulator


@pytest.fixture
def env(simulator: dict[str, Any]) -> dict[str, str]:
    return {"LIVEDECK_BASE_URL": simulator["base_url"], "LIVEDECK_TOKEN": simulator["token"]}


def asked(method: str, address: str, token: str, body: object = None) -> Any:
    """Return the reply to a request."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.load(answer)


def events_of(simulator: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all events of the simulator."""
    found: list[dict[str, Any]] = asked("GET", f"{simulator['base_url']}/v2/live/events", simulator["token"])["data"]
    return found


@contextmanager
def struck(simulator: dict[str, Any], **fault: Any) -> Iterator[None]:
    """Keep a fault of the chat in force during the block."""
    door = f"{simulator['control_url'].rstrip('/')}/faults"
    asked("POST", door, simulator["control_token"], {"match": {"path": CHAT}, **fault})
    try:
        yield
    finally:
        asked("DELETE", door, simulator["control_token"])


def names(folder: Path) -> list[str]:
    """Return the names in the folder, without the home of the test."""
    return sorted(path.name for path in folder.iterdir() if path.name != "home")


def export(tmp_path: Path, env: dict[str, str], *arguments: str, event: str = EVENT) -> Any:
    return called(tmp_path / "home", "event", "chat", event, *arguments, env=env)


def piped(tmp_path: Path, env: dict[str, str], *arguments: str) -> Any:
    """Return an export to the standard output of a process of its own."""
    return livedeck(tmp_path / "home", "event", "chat", EVENT, "-o", "-", *arguments, env=env)


class Endless(BaseHTTPRequestHandler):
    """Platform of one event whose chat begins and never ends."""

    def do_GET(self) -> None:
        """Reply, or begin a reply without an end."""
        listed = json.dumps({"data": [{"id": "e", "name": EVENT, "stream": {"id": "s"}}]}).encode()
        body = b'{"data":[' if "/chat." in self.path else listed
        self.send_response(200)
        self.send_header("Content-Length", "999999" if body is not listed else str(len(listed)))
        self.end_headers()
        self.wfile.write(body)
        if body is not listed:
            assert isinstance(self.server, Platform)
            self.server.begun.set()
            self.connection.recv(1)  # until the other side is gone

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Null(BaseHTTPRequestHandler):
    """Platform of one event whose chat has null in place of its list."""

    def do_GET(self) -> None:
        """Reply."""
        listed = json.dumps({"data": [{"id": "e", "name": EVENT, "stream": {"id": "s"}}]}).encode()
        body = NULL if "/chat." in self.path else listed
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


NULL = b'{"data":null}'


def test_force_replaces_a_good_file_by_a_log_and_force_twice_by_any_answer(tmp_path: Path) -> None:
    to = tmp_path / "chat.json"
    with ThreadingHTTPServer(("127.0.0.1", 0), Null) as platform:
        threading.Thread(target=platform.serve_forever, kwargs={"poll_interval": 0.01}).start()
        env = {"LIVEDECK_BASE_URL": f"http://127.0.0.1:{platform.server_port}", "LIVEDECK_TOKEN": "t"}
        try:
            new = export(tmp_path, env, "-o", str(to))
            assert (new.returncode, to.read_bytes()) == (0, NULL)
            assert "this is not proved to be the log: its list of messages is null" in new.stderr
            to.write_text("of last week")
            assert export(tmp_path, env, "-o", str(to)).returncode == 1
            kept = export(tmp_path, env, "-o", str(to), "--force")
            assert (kept.returncode, to.read_text()) == (4, "of last week")
            assert "its list of messages is null" in kept.stderr
            assert kept.stderr.rstrip().endswith(
                f"and {to} stays as it was; give --force twice to write the content anyway"
            )
            assert export(tmp_path, env, "-o", str(to), "--force", "--force").returncode == 0
            assert to.read_bytes() == NULL
        finally:
            platform.shutdown()
    assert names(tmp_path) == ["chat.json"]


class Platform(ThreadingHTTPServer):
    """Server of the handler. `begun`: set once the chat has begun."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Endless)
        self.begun = threading.Event()


@contextmanager
def begun(tmp_path: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield an export that has begun and will not end. Its file is created before the chat is requested."""
    with Platform() as platform:
        threading.Thread(target=platform.serve_forever, kwargs={"poll_interval": 0.01}).start()
        address = f"http://127.0.0.1:{platform.server_port}"
        given = environment(tmp_path / "home", LIVEDECK_BASE_URL=address, LIVEDECK_TOKEN="t", LIVEDECK_TIMEOUT="60")
        command = [*LIVEDECK, "event", "chat", EVENT, *arguments]
        with Start[bytes](command, env=given, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                assert platform.begun.wait(TIMEOUT)
                yield process
            finally:
                process.kill()
                platform.shutdown()


def test_a_file_holds_what_the_platform_sends_and_words_go_to_stderr(
    tmp_path: Path, env: dict[str, str], simulator: dict[str, Any]
) -> None:
    to = tmp_path / "chat.csv"
    done = export(tmp_path, env, "-o", str(to))
    assert (done.returncode, done.stdout) == (0, "")
    assert "as the platform sent it" in done.stderr
    event = next(one for one in events_of(simulator) if one["name"] == EVENT)
    address = f"{simulator['base_url']}/v2/live/events/{event['id']}/stream/{event['stream']['id']}/chat.csv"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {simulator['token']}"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        assert answer.read().startswith(to.read_bytes())  # it grows on
    again = export(tmp_path, env, "-o", str(to))
    assert (again.returncode, "already exists; add --force to replace it" in again.stderr) == (1, True)
    assert export(tmp_path, env, "-o", str(to), "--force").returncode == 0


def test_standard_output_carries_data_only(tmp_path: Path, env: dict[str, str]) -> None:
    done = piped(tmp_path, env, "--format", "ndjson", "--tz", "Europe/Berlin", "--search", "BEAUTIFUL")
    assert done.returncode == 0, done.stderr
    messages = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert {one["message"] for one in messages} == {"beautiful"}
    assert all(one["created_at"].endswith(("+01:00", "+02:00")) for one in messages)
    assert f"{len(messages)} of " in done.stderr


def test_from_is_the_first_moment_and_to_the_first_one_no_more(tmp_path: Path, env: dict[str, str]) -> None:
    everything = json.loads(piped(tmp_path, env).stdout)["data"]
    moments = [datetime.fromisoformat(one["created_at"]) for one in everything]
    first, end = moments[len(moments) // 3], moments[len(moments) // 2]
    expected = [one["id"] for one, at in zip(everything, moments, strict=True) if first <= at < end]
    berlin = ZoneInfo("Europe/Berlin")
    here = tuple(moment.astimezone(berlin).replace(tzinfo=None).isoformat() for moment in (first, end))
    naive = tuple(moment.replace(tzinfo=None).isoformat() for moment in (first, end))
    offset = tuple(moment.astimezone(berlin).isoformat() for moment in (first, end))
    for (since, until), *zone in ((naive,), (offset,), (here, "--tz", "Europe/Berlin")):
        done = piped(tmp_path, env, "--format", "ndjson", "--from", since, "--to", until, *zone)
        found = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        assert [one["id"] for one in found] == expected, done.stderr
        assert [datetime.fromisoformat(one["created_at"]) for one in found][:1] == [first]
    assert end not in [datetime.fromisoformat(one["created_at"]) for one in found]


def test_safe_csv_says_how_many(tmp_path: Path, env: dict[str, str]) -> None:
    done = piped(tmp_path, env, "--format", "csv", "--safe-csv")
    cells = [cell for row in csv.reader(io.StringIO(done.stdout, newline="")) for cell in row]
    changed = [cell for cell in cells if cell.startswith(("'=", "'+", "'-", "'@"))]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert f"made safe for spreadsheets by an apostrophe: {len(changed)}" in done.stderr
    assert changed


def test_a_file_without_a_name_is_called_after_the_event_and_stays_here(tmp_path: Path, env: dict[str, str]) -> None:
    given = environment(tmp_path / "home", **env)
    command = [*LIVEDECK, "event", "chat", EVENT, "--format", "txt"]
    assert run(command, env=given, cwd=tmp_path, capture_output=True, timeout=TIMEOUT).returncode == 0
    (name,) = names(tmp_path)
    assert name.startswith("Choir-hall-B-")
    assert name.endswith(".txt")


def test_all_streams_go_into_a_folder_and_are_named(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "chats").mkdir()
    done = export(tmp_path, env, "--all-streams", "-o", str(tmp_path / "chats"))
    assert done.returncode == 0, done.stderr
    assert "known streams of Choir, hall B: " in done.stderr
    assert "(current)" in done.stderr
    assert len(names(tmp_path / "chats")) == done.stderr.count(", to ")


async def remember(path: Path, event_id: str) -> None:
    """Write a history with a stream of the event that the platform does not have."""
    history = await History.open(path, NOW)
    await history.append(snapshot({event_id: readings(ticking(3))}))
    await history.close()


def test_streams_of_the_history_are_named_and_a_refusal_of_one_does_not_keep_the_others(
    tmp_path: Path, env: dict[str, str], simulator: dict[str, Any]
) -> None:
    event = next(one for one in events_of(simulator) if one["name"] == EVENT)
    asyncio.run(remember(tmp_path / "deck.sqlite", event["id"]))
    (tmp_path / "chats").mkdir()
    env |= {"LIVEDECK_HISTORY": str(tmp_path / "deck.sqlite")}
    done = export(tmp_path, env, "--all-streams", "-o", str(tmp_path / "chats"))
    assert done.returncode == 3
    assert f"stream-{event['id'][:20]}" in done.stderr
    assert "(history, 2026-03-01 12:00Z)" in done.stderr
    assert "(current)" in done.stderr
    (name,) = names(tmp_path / "chats")
    assert event["stream"]["id"] in name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "xml"), "xml"),
        (("--from", "yesterday"), "is not a time"),
        (("--to", "25:00"), "is not a time"),
        (("--from", "2026-11-21T18:00", "--to", "2026-11-21T18:00"), "--from"),
        (("--from", "2026-11-21T18:00Z", "--to", "2026-11-21T18:30", "--tz", "Europe/Berlin"), "--from"),
        (("--tz", "Mars/Olympus"), "time zone"),
        (("--from", "2026-11-22", "--to", "2026-11-21"), "--from"),
        (("--all-streams", "--stream", "x"), "exclude each other"),
        (("--all-streams", "-o", "-"), "folder"),
        (("--safe-csv",), "--format csv"),
    ],
)
def test_wrong_use_is_exit_code_two_before_anything_is_asked(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = export(tmp_path, {}, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "LIVEDECK_BASE_URL" not in done.stderr


def test_a_refusal_is_three_and_nobody_there_is_four(tmp_path: Path, env: dict[str, str]) -> None:
    refused = export(tmp_path, env, "--stream", "11111111-1111-4111-8111-111111111111", "-o", str(tmp_path / "a"))
    assert (refused.returncode, "404404" in refused.stderr) == (3, True)
    alone = export(tmp_path, env | {"LIVEDECK_BASE_URL": "http://127.0.0.1:1"}, "-o", str(tmp_path / "a"))
    assert (alone.returncode, "refuses connections" in alone.stderr) == (4, True)
    assert not names(tmp_path)


def test_an_event_without_a_stream_is_wrong_use_and_an_unknown_ending_is_told(
    tmp_path: Path, env: dict[str, str]
) -> None:
    none = export(tmp_path, env, "-o", str(tmp_path / "a"), event="Untitled event")
    assert (none.returncode, "no stream" in none.stderr, "--stream" in none.stderr) == (2, True, True)
    odd = export(tmp_path, env, "-o", str(tmp_path / "a.foo"))
    assert (odd.returncode, ".foo is not a format: writing json" in odd.stderr) == (0, True)
    assert "is not a format" not in export(tmp_path, env, "-o", str(tmp_path / "b.csv")).stderr


def test_a_connection_lost_on_the_way_is_four_and_leaves_nothing(
    tmp_path: Path, env: dict[str, str], simulator: dict[str, Any]
) -> None:
    with struck(simulator, kind="truncate"):
        for name in ("a.json", "a.ndjson"):
            done = export(tmp_path, env, "-o", str(tmp_path / name))
            assert (done.returncode, "broke before its response was complete" in done.stderr) == (4, True), done.stderr
    assert not names(tmp_path)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_leaves_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with begun(tmp_path, "-o", str(tmp_path / "a.json")) as process:
        process.send_signal(number)
        assert process.wait(TIMEOUT) == code
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert not names(tmp_path)


def test_a_kill_leaves_at_most_what_is_known_for_unfinished(tmp_path: Path) -> None:
    to = tmp_path / "a.json"
    to.write_text("of last week")
    with begun(tmp_path, "-o", str(to), "--force") as process:
        process.kill()
        process.wait(TIMEOUT)
    left, kept = sorted(names(tmp_path), key=len, reverse=True)
    assert (kept, to.read_text()) == ("a.json", "of last week")
    assert left.startswith("a.json.")
    assert left.endswith(".part")


@pytest.mark.parametrize("form", ["json", "xlsx", *slow("ndjson")])
def test_a_full_disk_is_said_and_leaves_nothing(form: str, tmp_path: Path, env: dict[str, str]) -> None:
    """A limit on the size of files stands for it: 8 kB."""
    (tmp_path / "home").mkdir()
    shell = f'ulimit -f 8; exec "$@" -o {tmp_path}/a.{form}'
    command = ["bash", "-c", shell, "-", *LIVEDECK, "event", "chat", EVENT]
    given = environment(tmp_path / "home", **env) | {"PYTHONDONTWRITEBYTECODE": "1"}  # the limit would cut it short
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (done.returncode, "File too large" in done.stderr) == (1, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert not names(tmp_path)


def test_a_full_pipe_is_said(tmp_path: Path, env: dict[str, str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*LIVEDECK, "event", "chat", EVENT, "-o", "-"]
        given = environment(tmp_path / "home", **env)
        done = run(command, env=given, stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert (done.returncode, b"No space left on device" in done.stderr) == (1, True)


def test_a_reader_who_leaves_ends_it_quietly(tmp_path: Path, env: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*LIVEDECK, "event", "chat", EVENT, "-o", "-", "--format", "txt"]
    given = environment(tmp_path / "home", **env)
    done = run(command, env=given, stdout=writing, stderr=subprocess.PIPE, timeout=TIMEOUT)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_terminal_is_not_given_what_it_would_obey(tmp_path: Path) -> None:
    outer, inner = os.openpty()
    command = [*LIVEDECK, "event", "chat", EVENT, "-o", "-"]
    given = environment(tmp_path / "home")
    done = run(command, env=given, stdout=inner, stderr=subprocess.PIPE, timeout=TIMEOUT)
    os.close(outer)
    os.close(inner)
    assert (done.returncode, b"terminal" in done.stderr) == (2, True)
