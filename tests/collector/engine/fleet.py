"""Three `livedeck collector run` before one counting platform, one Redis and one receiver: what happens when each dies.

`python tests/collector/engine/fleet.py [EVENTS]` prints the table; `test_fleet.py` (slow) holds its bounds.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

TESTS = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS))

from collector.engine.servers import RedisServer  # noqa: E402  as a program it finds its way by itself

TTL, INTERVAL = 6, 15
"""Seconds until other collectors take over, and between two polls of an event: enough for a busy machine."""

START_SECONDS = 60.0
_CONFIG = """base_url = "http://127.0.0.1:{port}"
history = "{home}/history.sqlite"
[cadence]
qos = {interval}
budget = 150
at_once = 16
[collector]
listen = ""
[engine]
redis_url_file = "{home}/redis"
name = "{name}"
ttl = {ttl}
[notify]
allow_private = ["127.0.0.1"]
[notify.targets.ops]
webhook_file = "{home}/webhook"
[[notify.routes]]
to = "ops"
resolved = false
"""


class Relay:
    """Connection of a collector to Redis that the test can cut."""

    def __init__(self, folder: Path, server: RedisServer) -> None:
        self.path, self._target = folder / "relay.sock", str(server.socket)
        self.is_cut = False
        self._pairs: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Stop all traffic and refuse new connections."""
        self.is_cut = True
        for end in self._pairs:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let all traffic through again."""
        self.is_cut = False

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            far = socket.socket(socket.AF_UNIX)
            if self.is_cut:
                near.close()
                continue
            with suppress(OSError):
                far.connect(self._target)
            self._pairs += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Receiver(BaseHTTPRequestHandler):
    """Handler that receives messages."""

    taken: list[dict[str, Any]] = []  # noqa: RUF012  the server makes an object a request

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the library
        """Log nothing."""

    def do_POST(self) -> None:
        """Store the message."""
        Receiver.taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@dataclass
class Row:
    """The result of one fault: seconds, requests a second, and counts of the whole run so far."""

    fault: str
    longest: float
    rate: float
    doubled: float
    stale: int
    alarms: int
    messages: int
    sent_twice: int
    under_two_keys: int

    def __str__(self) -> str:
        return (
            f"| {self.fault} | {self.longest:.2f} s | {self.rate:.0f}/s | {100 * self.doubled:.1f} % | "
            f"{self.stale} | {self.alarms} | {self.messages} | {self.sent_twice} | {self.under_two_keys} |"
        )


@dataclass
class Fleet:
    """Processes by name, and what the platform counted."""

    events: int
    folder: Path
    redis: RedisServer
    relay: Relay
    platform: subprocess.Popen[str]
    webhook: str
    black: Path
    asked: defaultdict[str, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))
    collectors: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    begun: int = 0
    stale: int = 0
    _epochs: dict[str, int] = field(default_factory=dict)
    _last_id: str = "0"

    def read(self) -> None:
        """Read what the platform prints, until it ends."""
        assert self.platform.stdout
        for line in self.platform.stdout:
            when, event, asker = line.split()
            self.asked[event].append((float(when), asker))

    def start(self, name: str, port: int) -> None:
        """Start a collector of that name."""
        home = self.folder / name
        home.mkdir(exist_ok=True)
        place = f"unix://{self.relay.path}" if name == "c" else self.redis.address
        config = _CONFIG.format(port=port, home=home, name=name, interval=INTERVAL, ttl=TTL)
        for file, text in {"redis": place, "webhook": self.webhook, "config.toml": config}.items():
            (home / file).write_text(text, encoding="utf-8")
            (home / file).chmod(0o600)
        places = {variable: str(home) for variable in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        environment = {**os.environ, **places, "LIVEDECK_CONFIG": f"{home}/config.toml", "LIVEDECK_TOKEN": name * 40}
        with (home / "out").open("ab") as out:
            self.collectors[name] = subprocess.Popen(
                [sys.executable, "-m", "livedeck", "collector", "run"], env=environment, stdout=out, stderr=out
            )

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until the condition holds. Raises AssertionError if that takes too long."""
        until = time.monotonic() + START_SECONDS
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(f"{what}: not within {START_SECONDS:g} s")
            time.sleep(0.1)

    def owners(self) -> Counter[str]:
        """Return the number of leases by the first letter of the holder; empty while Redis is away."""
        try:
            with Redis.from_url(self.redis.address, decode_responses=True, socket_timeout=1) as client:
                (key,) = client.keys("livedeck:*:leases") or [""]
                leases = client.hvals(key) if key else []
        except RedisError:
            return Counter()
        return Counter(str(lease)[:1] for lease in leases)

    def is_shared_out(self, *names: str) -> bool:
        """Return whether these collectors together hold all leases."""
        owners = self.owners()
        return set(owners) == set(names) and sum(owners.values()) >= self.events + 1

    def check_epochs(self) -> None:
        """Count answers in the stream whose epoch is below one that was there before: each is a stale write."""
        with Redis.from_url(self.redis.address, decode_responses=True) as client:
            (key,) = client.keys("livedeck:*:answers") or [""]
            entries: Any = client.xrange(key, min=f"({self._last_id}") if key else []
        for entry_id, values in entries:
            self._last_id = entry_id
            if "event" in values:
                event, epoch = values["event"], int(values["epoch"])
                self.stale += epoch < self._epochs.get(event, 0)
                self._epochs[event] = max(epoch, self._epochs.get(event, 0))

    def fail_events(self, count: int) -> None:
        """Make the pictures of `count` more events black from now on."""
        self.begun += count
        self.black.write_text("\n".join(f"e{number}" for number in range(self.begun)), encoding="utf-8")

    def row(self, fault: str, since: float, until: float) -> Row:
        """Return the measurements between these times."""
        gaps, doubled, total = [], 0, 0
        for asked in self.asked.values():
            times = [since, *(when for when, _ in asked if since < when < until), until]
            gaps += [later - earlier for earlier, later in pairwise(times)]
            within = [entry for entry in asked if since < entry[0] < until]
            total += len(within)
            doubled += sum(
                later[0] - earlier[0] < INTERVAL / 2 and later[1] != earlier[1] for earlier, later in pairwise(within)
            )
        sent = Counter(message["id"] for message in Receiver.taken)
        told = {alarm["event_id"] for message in Receiver.taken for alarm in message["alarms"]}
        return Row(
            fault,
            max(gaps),
            total / (until - since),
            doubled / max(1, total),
            self.stale,
            len(told),
            len(Receiver.taken),
            sum(count > 1 for count in sent.values()),
            sum(len(keys) > 1 for keys in _keys_of_lives().values()),
        )

    def end(self) -> None:
        """End every process that was started here."""
        processes: list[subprocess.Popen[Any]] = [*self.collectors.values(), self.platform]
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        self.redis.close()


@contextmanager
def fleet_of(events: int) -> Iterator[Fleet]:
    """Yield three collectors that have shared out that many events."""
    Receiver.taken.clear()
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with TemporaryDirectory(prefix="ld-") as name:
        folder = Path(name)
        black = folder / "black"
        black.touch()
        program = [sys.executable, str(Path(__file__).with_name("counting.py")), str(events), str(black)]
        platform = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert platform.stdout
        port = int(platform.stdout.readline())
        redis = RedisServer()
        webhook = f"http://127.0.0.1:{receiver.server_port}/hook"
        fleet = Fleet(events, folder, redis, Relay(folder, redis), platform, webhook, black)
        threading.Thread(target=fleet.read, daemon=True).start()
        try:
            for collector in "abc":
                fleet.start(collector, port)
            fleet.wait(lambda: fleet.is_shared_out("a", "b", "c"), "three collectors share everything")
            time.sleep(2 * INTERVAL + TTL)  # each has asked for everything once, to know what was before
            yield fleet
        finally:
            fleet.end()
            receiver.shutdown()
            receiver.server_close()


def trial(events: int) -> Iterator[Row]:
    """Yield the result of every fault, one after another, each in a window of its own.

    Five pictures fail as each begins.
    """
    with fleet_of(events) as fleet:
        port = int((fleet.folder / "a" / "config.toml").read_text(encoding="utf-8").split(":")[2].split('"')[0])

        def watch(fault: str, begin: Callable[[], object], end: Callable[[], object], seconds: float) -> Row:
            since = time.monotonic()
            fleet.fail_events(5)
            begin()
            time.sleep(seconds)
            end()
            time.sleep(TTL + INTERVAL + 2)
            until = time.monotonic()
            fleet.wait(lambda: _is_told(fleet), f"{fault}: all is told")
            fleet.check_epochs()
            return fleet.row(fault, since, until)

        def nothing() -> None: ...

        stopped = fleet.collectors["a"].send_signal
        redis, relay, away = fleet.redis, fleet.relay, TTL + INTERVAL / 2
        yield watch("nothing", nothing, nothing, INTERVAL)
        yield watch("one stopped, then woken", partial(stopped, signal.SIGSTOP), partial(stopped, signal.SIGCONT), away)
        yield watch("Redis killed, and back", redis.kill, redis.start, away)
        yield watch("Redis hangs, and goes on", redis.hang, redis.wake, away)
        yield watch("Redis killed, and back empty", partial(redis.kill, forgets=True), redis.start, away)
        yield watch("one cut off from Redis", relay.cut, relay.mend, away)
        yield watch("one killed (kill -9)", fleet.collectors["b"].kill, nothing, TTL)
        yield watch("... and started again", partial(fleet.start, "b", port), nothing, TTL)
        yield watch("one ended (SIGTERM)", fleet.collectors["a"].terminate, nothing, TTL)


def _keys_of_lives() -> dict[tuple[str, str], set[str]]:
    """Return the message keys of each alarm, by its severity at the time."""
    keys = defaultdict(set)
    for message in Receiver.taken:
        for alarm in message["alarms"]:
            keys[alarm["life"], alarm["severity"]].add(message["id"])
    return keys


def _is_told(fleet: Fleet) -> bool:
    return len({alarm["event_id"] for message in Receiver.taken for alarm in message["alarms"]}) >= fleet.begun


if __name__ == "__main__":
    sys.stdout.write(
        "| fault | longest unasked | asked | asked twice | stale writes | alarms | told | twice | two keys |\n"
    )
    sys.stdout.write("|---|---|---|---|---|---|---|---|---|\n")
    for row in trial(int(sys.argv[1]) if len(sys.argv) > 1 else 300):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
