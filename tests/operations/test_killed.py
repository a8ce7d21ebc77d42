"""kill -9 after a change was sent: its intent was in the audit before, and stays there without a verdict."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from cli.commands import TIMEOUT, environment, livedeck
from livedeck.monitor import HistoryReader, OpenChange

EVENT = {"id": "ev-1", "name": "Morning show", "type": "one-time", "stream": None}

SCRIPT = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path

from livedeck.client import Api
from livedeck.monitor import History
from livedeck.operations.events import EnableEvent, EventTarget
from livedeck.operations.executor import Executor
from livedeck.operations.operation import Platform


class Agree:
    async def confirm(self, operation, confirmation):
        return True

    async def watch(self, title, work):
        return await work(lambda *_: None)


class Clock:
    def now(self):
        return datetime.now(UTC)

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)


async def main(base_url, path):
    history = await History.open(Path(path), Clock().now())
    async with Api(base_url=base_url, token="t") as api:
        executor = Executor(Platform(api), Clock(), confirmations=Agree(), progress=Agree(), audit=history)
        await executor.run(EnableEvent(EventTarget.of_event(await api.events.get("ev-1"))))

asyncio.run(main(*sys.argv[1:]))
"""


class Platform(ThreadingHTTPServer):
    """Platform of one event that never replies to a change. `at_arrival`: open changes in that file by then."""

    daemon_threads = True

    def __init__(self, history: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.history = history
        self.at_arrival: tuple[OpenChange, ...] = ()
        self.arrived, self.over = Event(), Event()


class _Handler(BaseHTTPRequestHandler):
    server: Platform

    def do_GET(self) -> None:
        is_list = self.path.partition("?")[0].endswith("/events")
        body = json.dumps({"data": [EVENT] if is_list else [] if "qos" in self.path else EVENT}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.server.at_arrival = asyncio.run(HistoryReader(self.server.history).open_changes())
        self.server.arrived.set()
        self.server.over.wait(TIMEOUT)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the library calls it
        """Nothing."""


@contextmanager
def platform(history: Path) -> Iterator[Platform]:
    """Serve such a platform while the block runs."""
    with Platform(history) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def test_a_killed_process_leaves_the_intent_of_what_it_had_sent(tmp_path: Path) -> None:
    path = tmp_path / ".local/share/livedeck/history.sqlite"
    with platform(path) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        command = [sys.executable, "-c", SCRIPT, address, str(path)]
        with subprocess.Popen(command, env=environment(tmp_path)) as process:
            assert server.arrived.wait(TIMEOUT)
            process.kill()
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "t", "LIVEDECK_HISTORY": str(path)}
        table, status = livedeck(tmp_path, "status", env=env), livedeck(tmp_path, "status", "--json", env=env)
    (change,) = server.at_arrival
    intent = change.intent
    assert (intent.action, intent.target_id, intent.target_name) == ("event.enable", "ev-1", "Morning show")
    assert intent.pid == process.pid
    assert asyncio.run(HistoryReader(path).open_changes()) == server.at_arrival
    assert (
        f'? {intent.id[:8]} unknown: enable "Morning show", sent {intent.at:%H:%M:%S}Z: livedeck ended before'
        in table.stdout
    )
    assert "do not repeat it" in table.stdout
    (shown,) = json.loads(status.stdout)["open_changes"]
    assert (shown["id"], shown["by"]["pid"], shown["detail"]) == (intent.id, process.pid, None)
