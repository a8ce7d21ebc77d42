"""Connections that keep the server waiting end after their time, and disturb no other connection.

See simulator.md, "Simulator limits". The time is that of a loop where nothing waits; the limit of descriptors is that
of a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from cli.commands import TIMEOUT, served
from golden.warp import Warp
from livedeck.simulator import Simulator, SimulatorClock, serve
from livedeck.simulator.connections import Crowd

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
HEAD, BODY, IDLE = 10, 30, 60
"""Documented timeouts in seconds."""

LATE = 3
"""Seconds of tolerance: the server checks for overdue connections once a second."""

GET = b"GET /_control/clock HTTP/1.1\r\nHost: x\r\n\r\n"
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Stage:
    """Simulator on a socket, and its time."""

    simulator: Simulator
    port: int

    async def connect(self) -> Ends:
        """Return a new connection to it, which reads only on request."""
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1024)

    @property
    def post(self) -> bytes:
        """Return the head of a request whose body is read to its end: 50 bytes."""
        token = self.simulator.control_token.encode()
        return (
            b"POST /_control/reset HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nAuthorization: Bearer "
            + token
            + b"\r\n\r\n"
        )

    def qos(self, event_id: str) -> bytes:
        """Return a request for 200 KB."""
        token = self.simulator.token
        return (
            f"GET /v2/live/events/{event_id}/qos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )

    async def webcam(self) -> str:
        """Return the id of an event that has been on air for long."""
        reader, writer = await self.connect()
        token = self.simulator.token
        writer.write(
            f"GET /v2/live/events?per_page=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        events = json.loads((await answer_from(reader)).partition(b"\r\n\r\n")[2])["data"]
        writer.close()
        return next(str(event["id"]) for event in events if event["name"] == "Harbour webcam")


def play(scene: Callable[[Stage], Coroutine[Any, Any, None]]) -> None:
    """Play a scene on a loop where nothing waits."""

    async def on_stage() -> None:
        simulator = Simulator(clock=SimulatorClock(START, paused=True))
        async with serve(simulator) as addresses, asyncio.timeout(10_000):
            await scene(Stage(simulator, int(addresses.base_url.rpartition(":")[2])))

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(on_stage())


def now() -> float:
    return asyncio.get_running_loop().time()


async def answer_from(reader: asyncio.StreamReader) -> bytes:
    """Read one whole answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))


@pytest.mark.parametrize(("sent", "seconds"), [(b"G", HEAD), (GET[:-2], HEAD), ("post", BODY), ("post {", BODY)])
def test_a_request_that_never_ends_is_refused(sent: bytes | str, seconds: float) -> None:
    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        began = now()
        writer.write(sent if isinstance(sent, bytes) else stage.post + sent.removeprefix("post").encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert seconds <= now() - began <= seconds + LATE
        assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert json.loads(body)["error"]["code"] == 408408
        writer.close()

    play(scene)


def test_a_connection_that_says_nothing_is_closed() -> None:
    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        began = now()
        assert await reader.read() == b""
        assert HEAD <= now() - began <= HEAD + LATE
        writer.close()

    play(scene)


def test_a_head_that_drips_has_its_time_as_a_whole() -> None:
    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        began, answer = now(), asyncio.ensure_future(reader.read())
        await asyncio.sleep(0.5)  # no byte comes at the very end, where it would reset the connection
        while not answer.done() and now() - began <= len(GET) - 3:
            writer.write(GET[int(now() - began) :][:1])
            await asyncio.sleep(1)
        assert (await answer).startswith(b"HTTP/1.1 408 ")
        assert now() - began <= HEAD + LATE
        writer.close()

    play(scene)


def test_a_body_has_its_time_for_every_byte() -> None:
    """However slow it is: what comes is waited for."""

    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        writer.write(stage.post)
        for _ in range(50):
            await asyncio.sleep(BODY - LATE)
            writer.write(b" ")
        assert b"HTTP/1.1 400 " in await answer_from(reader)
        writer.close()

    play(scene)


def test_a_connection_is_kept_between_requests_for_a_while() -> None:
    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        for _ in range(5):
            writer.write(GET)
            assert b"HTTP/1.1 401 " in await answer_from(reader)
            await asyncio.sleep(IDLE - LATE)
        began = now()
        assert await reader.read() == b""
        assert now() - began <= 2 * LATE
        writer.close()

    play(scene)


def test_a_later_request_has_the_time_of_a_first_one() -> None:
    async def scene(stage: Stage) -> None:
        reader, writer = await stage.connect()
        for _ in range(3 * HEAD):
            await asyncio.sleep(1)
            writer.write(GET)
            assert b"HTTP/1.1 401 " in await answer_from(reader)
        writer.write(GET[:-2])
        began = now()
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        assert HEAD <= now() - began <= HEAD + LATE
        writer.close()

    play(scene)


@pytest.mark.parametrize("keeps_reading", [False, True])
def test_a_peer_that_takes_nothing_of_its_answers_is_cut_off_and_a_slow_one_is_not(keeps_reading: bool) -> None:
    async def scene(stage: Stage) -> None:
        event_id = await stage.webcam()
        reader, writer = await stage.connect()
        writer.write(stage.qos(event_id) * 40)
        first = await answer_from(reader)
        if not keeps_reading:
            await asyncio.sleep(BODY + LATE)
            with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
                await reader.readexactly(len(first) * 39)
        else:
            for _ in range(3):
                await asyncio.sleep(BODY - LATE)
                await reader.readexactly(13 * len(first))
        writer.transport.abort()

    play(scene)


def test_a_request_that_is_worked_on_has_no_limit() -> None:
    """A platform that hangs is a fault that can be played."""

    async def scene(stage: Stage) -> None:
        control, control_writer = await stage.connect()
        body = b'{"kind": "latency", "seconds": 600}'
        control_writer.write(
            b"POST /_control/faults HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nAuthorization: Bearer %s\r\n\r\n%s"
            % (len(body), stage.simulator.control_token.encode(), body)
        )
        assert b"HTTP/1.1 200 " in await answer_from(control)
        reader, writer = await stage.connect()
        writer.write(GET.replace(b"_control/clock", b"v1/meet/rooms"))
        assert b"HTTP/1.1 401 " in await answer_from(reader)
        assert now() >= 600
        writer.close()
        control_writer.close()

    play(scene)


def test_at_the_limit_of_descriptors_real_requests_are_answered(tmp_path: Path) -> None:
    """More connections than there are descriptors, none of which ever says a word; the log has one line."""
    with served(tmp_path) as (process, simulator), ExitStack() as open_ones:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (120, 120))
        address = "127.0.0.1", int(simulator["base_url"].rpartition(":")[2])
        before = processor_seconds(process.pid)
        for _ in range(3):
            for _ in range(115):
                open_ones.enter_context(socket.create_connection(address))
            for _ in range(10):
                connection = HTTPConnection(*address, timeout=TIMEOUT)
                connection.request("GET", "/v1/meet/rooms", headers={"Authorization": f"Bearer {simulator['token']}"})
                answer = connection.getresponse()
                assert (answer.status, answer.read()[:8]) == (200, b'{"meta":')
                connection.close()
        assert processor_seconds(process.pid) - before < 2
    lines = [line for path in tmp_path.rglob("*.log") for line in path.read_text("utf-8").splitlines()]
    assert [line for line in lines if "descriptors" in line] == lines[-1:]


def test_without_a_descriptor_left_connections_are_refused_until_there_is_one(tmp_path: Path) -> None:
    with served(tmp_path) as (process, simulator):
        address = "127.0.0.1", int(simulator["base_url"].rpartition(":")[2])
        used = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used, 1000))
        before = processor_seconds(process.pid)
        for _ in range(20):
            with socket.create_connection(address, 30) as connection:
                assert connection.recv(1) == b""
        assert processor_seconds(process.pid) - before < 1
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1000, 1000))
        kept = HTTPConnection(*address, timeout=TIMEOUT)
        kept.request("GET", "/")
        assert kept.getresponse().status == 404
        kept.close()
    lines = [line for path in tmp_path.rglob("*.log") for line in path.read_text("utf-8").splitlines()]
    assert len([line for line in lines if "descriptors" in line]) == len(lines) == 1


def processor_seconds(pid: int) -> float:
    """Return the processor seconds that the process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_500_idle_and_50_slow_connections_are_nothing_to_others_and_all_end(tmp_path: Path) -> None:
    """Connections within the limit displace nobody, though others came and went before."""
    with served(tmp_path, "--head-timeout", "3") as (process, simulator), ExitStack() as open_ones:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (600, 600))
        address = "127.0.0.1", int(simulator["base_url"].rpartition(":")[2])
        for _ in range(100):
            earlier = HTTPConnection(*address, timeout=TIMEOUT)
            earlier.request("GET", "/")
            assert earlier.getresponse().status == 404
            earlier.close()
        waiting = []
        for number in range(550):
            waiting.append(open_ones.enter_context(socket.create_connection(address)))
            if number >= 500:
                waiting[-1].sendall(GET[:20])
        connection = HTTPConnection(*address, timeout=TIMEOUT)
        for _ in range(100):
            connection.request("GET", "/v1/meet/rooms", headers={"Authorization": f"Bearer {simulator['token']}"})
            answer = connection.getresponse()
            assert (answer.status, answer.read()[:8]) == (200, b'{"meta":')
        for silent in waiting:
            silent.settimeout(TIMEOUT)
        assert [silent.recv(12) for silent in waiting] == [b""] * 500 + [b"HTTP/1.1 408"] * 50
        connection.close()
    assert "descriptors" not in "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.log"))


def test_a_request_that_hangs_ends_with_the_server_and_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def on_stage() -> None:
        simulator = Simulator(clock=SimulatorClock(START, paused=True), faults="dead")
        control = {"Authorization": f"Bearer {simulator.control_token}"}
        async with serve(simulator) as addresses, httpx.AsyncClient(base_url=addresses.control_url) as admin:
            await admin.delete("/faults", headers=control)
            hanging = []
            for fault in ({"kind": "hang"}, {"kind": "latency", "seconds": 600}, {"kind": "drip", "seconds": 600}):
                await admin.post("/faults", headers=control, json={**fault, "path": f"/{fault['kind']}"})
                reader, writer = await asyncio.open_connection("127.0.0.1", int(addresses.base_url.rpartition(":")[2]))
                writer.write(GET.replace(b"/_control/clock", f"/{fault['kind']}".encode()))
                hanging.append((reader, writer))
            await asyncio.sleep(1)
        for reader, writer in hanging:
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
            writer.transport.abort()
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(asyncio.wait_for(on_stage(), 300))
    assert not [record for record in caplog.records if record.exc_info]


def test_room_is_made_at_the_same_cost_however_many_connections_there_are() -> None:
    """The oldest connection without a request makes room; nothing looks at the others."""
    crowd, closed = Crowd(), list[int]()

    class Transport:
        def __init__(self, number: int) -> None:
            self.abort = partial(closed.append, number)
            self.asked = 0

        def is_closing(self) -> bool:
            self.asked += 1
            return False

    class Peer:
        def __init__(self, transport: Transport) -> None:
            self.transport = transport

    transports = [Transport(number) for number in range(1000)]
    for transport in transports:
        crowd.unused[cast("Any", Peer(transport))] = None
    assert [crowd.make_room() for _ in range(3)] == [True] * 3
    assert closed == [0, 1, 2]
    assert sum(transport.asked for transport in transports) == 3
