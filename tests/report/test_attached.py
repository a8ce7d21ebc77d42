"""Commands about the past on an attached machine: the collector answers them over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cli.commands import called
from collector.stand_in import plain, saying, stand_in
from livedeck.cli.exposure import Exposure
from livedeck.client import Outgoing, Secret
from livedeck.collector.attached.link import CollectorError, Link
from livedeck.collector.attached.reads import RemoteHistory
from livedeck.collector.serving import past
from livedeck.collector.serving.access import Access, Doorkeeper
from livedeck.http_server import serve_app
from livedeck.monitor import HistoryReader
from livedeck.settings import CollectorTokenSettings
from report.test_commands import STRETCH
from virtual_clock import VirtualClock

TOKEN = "of-a-deck-" + "x" * 32
NOW = datetime(2026, 11, 21, 9, 13, 45, tzinfo=UTC)
"""Present time by the collector's clock. A deck watched half a minute ago."""


class Failing:
    """App that replies 502 to paths with a given end."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_refused = self._path and scope["path"].endswith(self._path)
        await (Response("no", 502) if is_refused else self._app)(scope, receive, send)


@contextmanager
def served(history: Path, guard: Callable[[ASGIApp], ASGIApp] = lambda app: app) -> Iterator[str]:
    """Yield the address of a collector's answers about the past. `guard`: wraps the app."""
    tokens = {"wall": CollectorTokenSettings(sha256=sha256(TOKEN.encode()).hexdigest(), may="read")}
    app = Starlette(routes=past.routes(HistoryReader(history), lambda: NOW))
    door = guard(Doorkeeper(app, Access(lambda: tokens, VirtualClock(NOW))))
    began, addresses, end = Event(), list[str](), list[Callable[[], object]]()

    async def serve() -> None:
        is_over, loop = asyncio.Event(), asyncio.get_running_loop()
        with Exposure(0).listen() as listener:
            async with serve_app(listener, door, max_connections=8) as address:
                addresses.append(address)
                end.append(lambda: loop.call_soon_threadsafe(is_over.set))
                began.set()
                await is_over.wait()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert began.wait(60)
    try:
        yield addresses[0]
    finally:
        end[0]()
        thread.join(60)


@pytest.fixture(scope="module")
def collector(night: Path) -> Iterator[str]:
    """Address of a collector that has seen the bad night."""
    with served(night) as address:
        yield address


def environment(home: Path, address: str, history: Path, token: str = TOKEN) -> dict[str, str]:
    """Return the environment of an attached deck with a history of its own."""
    file = home / "collector-token"
    file.write_text(token)
    file.chmod(0o600)
    return {
        "LIVEDECK_COLLECTOR_URL": address,
        "LIVEDECK_COLLECTOR_TOKEN_FILE": str(file),
        "LIVEDECK_HISTORY": str(history),
        "TZ": "UTC",
    }


COMMANDS: dict[str, tuple[str, ...]] = {
    "history": ("past", "show", "Main stage", *STRETCH),
    "history --json": ("past", "show", "Main stage", *STRETCH, "--json"),
    "episodes": ("past", "episodes", *STRETCH),
    "search": ("past", "search", "fps", *STRETCH),
    "report": ("past", "report", "Main stage", *STRETCH, "--json"),
    "report --day": ("past", "report", "--day", "2026-11-21", *STRETCH, "--format", "csv"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_told_as_beside_the_file(name: str, night: Path, collector: str, tmp_path: Path) -> None:
    """The output differs only in the time that it was made; no history file is created."""
    own = tmp_path / "own.sqlite"
    file = called(tmp_path, *COMMANDS[name], env={"LIVEDECK_HISTORY": str(night), "TZ": "UTC"})
    attached = called(tmp_path, *COMMANDS[name], env=environment(tmp_path, collector, own))
    assert (attached.returncode, attached.stderr) == (0, ""), attached.stderr
    assert _undated(attached.stdout) == _undated(file.stdout)
    assert len(attached.stdout) > 200
    assert not own.exists()


def _undated(text: str) -> Any:
    return {**json.loads(text), "written": None} if text.startswith("{") else text


class Older:
    """App like a collector of the version before `unwatched` and `stops`."""

    NEWER = "unwatched", "stops"

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_newer = scope["path"].rpartition("/")[2] in self.NEWER
        say = "no such question; use one of series, recorded, readings"
        body = json.dumps({"error": "unknown", "say": say})
        await (Response(body, 404, media_type="application/json") if is_newer else self._app)(scope, receive, send)


def test_an_older_collector_does_not_record_unwatched_time_and_that_is_told(night: Path, tmp_path: Path) -> None:
    """The rest is told as beside the file."""
    words = "not recorded by this collector (older version)"
    with served(night, Older) as address:
        env = environment(tmp_path, address, tmp_path / "own.sqlite")
        shown, shown_json, found, report = (
            called(tmp_path, *line, env=env)
            for line in (
                COMMANDS["history"],
                COMMANDS["history --json"],
                ("past", "search", "not recorded", *STRETCH),
                COMMANDS["report"],
            )
        )
    for done in (shown, shown_json, found, report):
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert words in done.stdout
    limits = json.loads(report.stdout)["events"][0]["limits"]
    assert any("This collector (older version) does not record" in sentence for sentence in limits)
    file = called(tmp_path, *COMMANDS["history"], env={"LIVEDECK_HISTORY": str(night), "TZ": "UTC"})
    assert {*file.stdout.splitlines()} < {*shown.stdout.splitlines()}


async def test_a_question_that_an_older_collector_does_not_know_is_no_fault() -> None:
    """A screen asks on, and a report is not refused."""
    refusal = plain("404 Not Found", b'{"error":"unknown","say":"no such question"}', "Content-Type: application/json")
    async with stand_in(saying(refusal)) as collector, Outgoing() as outgoing:
        link = Link(outgoing, [collector.address], Secret(TOKEN))
        for is_strict in (True, False):
            remote = RemoteHistory(link, is_strict=is_strict)
            assert await remote.unwatched(NOW, NOW) == ()
            assert await remote.stops(NOW, NOW) == ()
            assert not remote.fault
            assert sorted(remote.unknown_questions) == ["stops", "unwatched"]
        collector.answer = saying(refusal.replace(b"unknown", b"foreign"))
        with pytest.raises(CollectorError, match="no such question"):
            await RemoteHistory(link, is_strict=True).unwatched(NOW, NOW)


def test_ages_are_by_the_clock_of_the_collector(collector: str, tmp_path: Path) -> None:
    done = called(tmp_path, "past", "handover", "--json", env=environment(tmp_path, collector, tmp_path / "own.sqlite"))
    handover = json.loads(done.stdout)
    assert (handover["written"], handover["fresh"]) == ("2026-11-21T09:13:45Z", True)
    assert handover["on_air"]


def test_a_file_is_read_all_the_same_where_it_is_named(night: Path, tmp_path: Path) -> None:
    env = environment(tmp_path, "http://127.0.0.1:9", tmp_path / "own.sqlite")
    done = called(tmp_path, "past", "episodes", *STRETCH, "--history", str(night), env=env)
    assert (done.returncode, "RECONNECTING" in done.stdout) == (0, True), done.stderr


def test_a_collector_that_is_away_or_refuses_is_told_and_nothing_else(
    collector: str, night: Path, tmp_path: Path
) -> None:
    """Nor is the file of this machine asked in its place."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    for address, token, code, words in (
        (nowhere, TOKEN, 4, "refuses connections; check that the collector runs"),
        (collector, "wrong", 3, "refuses this deck's token (401)"),
    ):
        env = environment(tmp_path, address, night, token)
        for line in (
            ("past", "handover"),
            ("past", "search", "camera"),
            ("past", "report", "Main stage"),
            ("past", "show", "Main stage"),
        ):
            done = called(tmp_path, *line, env=env)
            assert (done.returncode, words in done.stderr, done.stdout) == (code, True, ""), done.stderr


@pytest.mark.parametrize("fails", ["alarm_log", "audit", "watched", "connection_log", "readings", "spans"])
def test_of_half_of_the_answers_nothing_is_told(fails: str, night: Path, tmp_path: Path) -> None:
    with served(night, lambda app: Failing(app, fails)) as address:
        env = environment(tmp_path, address, tmp_path / "own.sqlite")
        done = called(tmp_path, "past", "report", "Main stage", *STRETCH, env=env)
    assert (done.returncode, done.stdout) == (4, "")
    assert "responds 502: the collector or its proxy has failed" in done.stderr


@pytest.mark.parametrize("line", [("check",), ("prune", "--before", "2020-01-01"), ("export", "-o", "OUT")])
def test_what_looks_after_a_file_says_whose_it_is(line: tuple[str, ...], night: Path, tmp_path: Path) -> None:
    line = tuple(str(tmp_path / "out") if word == "OUT" else word for word in line)
    env = environment(tmp_path, "http://127.0.0.1:9", night)
    words = "this is the history of this machine; the collector's history is on its own machine"
    assert words in called(tmp_path, "past", *line, env=env).stderr
    assert words not in called(tmp_path, "past", *line, "--history", str(night), env=env).stderr
