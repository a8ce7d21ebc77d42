"""Delay of critical alarms from their announcement to the POST, over real HTTP, on an event loop where nobody waits."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from golden.player import Clock
from golden.warp import Warp
from livedeck.client import Outgoing
from livedeck.monitor import Alarm, AlarmKey, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import Notifier, Plan, Route, Spool, Webhook
from notify.stage import alarm
from notify.test_egress import EVERYWHERE

EACH, STEADY, BURST = 10, 60, 240
"""Seconds between two critical alarms, their number, and the number of those that begin together after them."""


@dataclass
class Sink:
    """A receiver of raw bytes. `posts`: for each request the time by the loop, and its JSON."""

    address: str = ""
    posts: list[tuple[float, dict[str, object]]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read requests and answer 200, until the peer closes the connection."""
        while head := await _until_blank(reader):
            (size,) = (line.partition(b":")[2] for line in head.splitlines() if line.lower().startswith(b"content-le"))
            self.posts.append((Clock().monotonic(), json.loads(await reader.readexactly(int(size)))))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        writer.close()


async def _until_blank(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


@asynccontextmanager
async def sink_and_notifier(path: Path) -> AsyncIterator[tuple[Sink, Notifier]]:
    """Run a notifier whose only target is a sink on loopback."""
    sink = Sink()
    async with await asyncio.start_server(sink.serve, "127.0.0.1", 0) as server, Outgoing(egress=EVERYWHERE) as way:
        host, port = server.sockets[0].getsockname()
        target = Webhook(way.send, f"http://{host}:{port}/")
        notifier = Notifier(Plan((Route("ops", "ops"),)), {"ops": target}, Spool(path), Clock(), Random(1))
        await notifier.open()
        sending = asyncio.create_task(notifier.run())
        yield sink, notifier
        sending.cancel()
        await notifier.close()


def percentile(values: list[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    return sorted(values)[round(share * (len(values) - 1))]


def test_no_critical_waits_longer_than_fifteen_seconds_in_a_flood(tmp_path: Path) -> None:
    announced: dict[str, float] = {}
    present: dict[AlarmKey, Alarm] = {}

    def begin(name: str, severity: Severity = Severity.CRITICAL) -> None:
        now = Clock().now()
        begun = alarm(name, "PACKET_LOSS", severity, since=now, changed=now)
        present[begun.key] = begun
        announced[name] = Clock().monotonic()

    async def look(notifier: Notifier) -> None:
        now = Clock().now()
        link = ConnectionStatus(ConnectionState.OK, now, as_of=now)
        await notifier.take(Snapshot(1, now, link, alarms=tuple(present.values())))
        await asyncio.sleep(1)

    async def play() -> Sink:
        async with sink_and_notifier(tmp_path / "spool") as (sink, notifier):
            for second in range(EACH * STEADY):
                if second % EACH == 0:
                    begin(f"steady-{second // EACH}")
                    begin(f"warning-{second // EACH}", Severity.WARNING)
                await look(notifier)
            for number in range(BURST):
                begin(f"burst-{number}")
            for _ in range(60):
                await look(notifier)
        return sink

    with asyncio.Runner(loop_factory=Warp) as runner:
        sink = runner.run(play())

    arrived = dict[str, float]()
    for at, body in sink.posts:
        for entry in body["alarms"]:  # type: ignore[attr-defined]
            arrived.setdefault(entry["event_id"], at)
    (burst,) = (body for _, body in sink.posts if body["truncated"])
    delays = {name: at - announced[name] for name, at in arrived.items() if not name.startswith("warning")}
    named = [name for name in delays if name.startswith("burst")]
    values = [*delays.values()]
    table = Counter(f"{delay:.0f} s" for delay in values)
    print(f"{len(sink.posts)} posts; {dict(sorted(table.items()))}; worst {max(values):.1f} s")  # noqa: T201
    assert percentile(values, 0.99) <= 10
    assert max(values) <= 15
    assert len(delays) - len(named) == STEADY
    assert len(named) + int(str(burst["truncated"])) == BURST
    assert burst["title"] == "CRIT 240 x PACKET_LOSS"
    assert "Flood: " in str(burst["text"])
