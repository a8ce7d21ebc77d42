"""Check that a response belongs to its request: surplus bytes, early responses, and floods of interim responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from client.test_early_refusals import sparse
from client.test_faults import answer, error
from client.test_transport import api_at
from livedeck.client import Api, Conflict, Event, Unknown, Unreachable, Unreadable

EVENT = answer(200, b'{"data": {"id": "e1", "name": "Trial show"}}')
OTHER = answer(200, b'{"data": {"id": "e2", "name": "Somebody else"}}')
SUCCESS = answer(200, b'{"data": {"success": true}}')
CONFLICT = error(409, 409409)
MIB = 2**20

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def platform(talk: Talk) -> AsyncIterator[str]:
    """Start a server that has this conversation on each connection. Yields its address."""
    talks: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await talk(reader, writer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await asyncio.gather(*(talk for talk in talks if talk))


def answering(*answers: tuple[bytes, bytes]) -> Talk:
    """Answer each request with the bytes for the beginning of its head, and keep the connection open."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(next(sent for start, sent in answers if head.startswith(start)))
            await writer.drain()

    return talk


@pytest.mark.parametrize("surplus", [SUCCESS, SUCCESS[:20], b"\r\n", b"x"], ids=["whole", "begun", "blank", "byte"])
async def test_bytes_behind_a_read_answer_neither_a_change_nor_another_read(surplus: bytes) -> None:
    """Send surplus bytes in the same segment as the response of a read: httpcore would keep them."""
    talk = answering((b"GET /v2/live/events/e1 ", EVENT + surplus), (b"GET", OTHER), (b"PUT", CONFLICT))
    async with platform(talk) as address, api_at(address) as api:
        for _ in range(2):
            assert await api.events.get("e1") == Event(id="e1", name="Trial show")
            assert (await api.events.get("e2")).id == "e2"
            await api.events.get("e1")
            with pytest.raises(Conflict):
                await api.events.enable("e1")


async def test_a_change_has_a_connection_of_its_own_and_reads_share_theirs() -> None:
    """Fail if a change reuses a connection, or a read opens a second one."""
    connections = list[list[bytes]]()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = list[bytes]()
        connections.append(methods)
        while True:
            method = (await reader.readuntil(b"\r\n\r\n")).split()[0]
            methods.append(method)
            writer.write(EVENT if method == b"GET" else SUCCESS)
            await writer.drain()

    async with platform(talk) as address, api_at(address) as api:
        for _ in range(2):
            await api.events.get("e1")
            await api.events.enable("e1")
            await api.events.complete("e1")
    assert sorted(connections) == [[b"GET", b"GET"], [b"PUT"], [b"PUT"], [b"PUT"], [b"PUT"]]


@pytest.mark.parametrize("first", [SUCCESS, answer(200, b"{}", "Connection: close"), CONFLICT])
async def test_two_responses_to_one_change_prove_neither(first: bytes) -> None:
    async with platform(answering((b"PUT", first + CONFLICT))) as address, api_at(address) as api:
        with pytest.raises(Unknown, match="the platform sent more than one response to the same change"):
            await api.events.enable("e1")


async def test_a_line_break_behind_the_response_to_a_change_proves_nothing_else() -> None:
    async with platform(answering((b"PUT", SUCCESS + b"\r\n"))) as address, api_at(address) as api:
        await api.events.enable("e1")


async def test_a_server_that_speaks_first_is_not_asked() -> None:
    """Let the bytes arrive before the client writes."""
    asked = list[bytes]()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SUCCESS)
        asked.append(await reader.read())

    async with platform(talk) as address, speaking_first(api_at(address)) as api:
        with pytest.raises(Unreachable, match="responded before a request was sent; nothing was sent"):
            await api.events.enable("e1")
        with pytest.raises(Unreachable, match=r"responded before a request was sent$"):
            await api.events.get("e1")
    assert asked == [b"", b""]


@asynccontextmanager
async def speaking_first(api: Api) -> AsyncIterator[Api]:
    """Yield the client, with new connections held back until they have received something."""
    from livedeck.client.http import network

    connect = network.AsyncioBackend.connect_tcp

    async def connect_and_wait(backend: network.AsyncioBackend, *facts: object, **named: object) -> object:
        stream = await connect(backend, *facts, **named)  # type: ignore[arg-type]  # passed on
        for _ in range(10_000):  # turns of the loop, which the server shares
            if stream.get_extra_info("is_readable"):
                break
            await asyncio.sleep(0)
        return stream

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network.AsyncioBackend, "connect_tcp", connect_and_wait)
        async with api:
            yield api


@pytest.mark.parametrize("size", [MIB // 2, 24 * MIB])
async def test_an_early_success_does_not_stop_an_upload(size: int, tmp_path: Path) -> None:
    received = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(200, b'{"data": {"id": "m1"}}'))
        await writer.drain()
        while received < size and (part := await reader.read(65_536)):
            received += len(part)

    async with platform(talk) as address, api_at(address) as api:
        assert (await api.materials.upload("v", sparse(tmp_path, size), "slides.pdf", "Slides")) is not None
    assert received == size


async def test_an_early_success_that_hangs_up_on_the_rest_is_no_success(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(200, b'{"data": {"id": "m1"}}'))
        await writer.drain()

    async with platform(talk) as address, api_at(address) as api:
        with pytest.raises(Unknown, match="closed the connection before the file was complete"):
            await api.materials.upload("v", sparse(tmp_path, 24 * MIB), "slides.pdf", "Slides")


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
PROCESSING = b"HTTP/1.1 102\n\n"


@pytest.mark.parametrize("count", [101, 10_000, 200_000])
@pytest.mark.parametrize("hint", [HINT, PROCESSING], ids=["hints", "bare"])
async def test_a_flood_of_interim_responses_is_not_read(hint: bytes, count: int) -> None:
    async with platform(answering((b"", hint * count + EVENT))) as address, api_at(address) as api:
        with pytest.raises(Unreadable, match="sent more than 100 interim responses"):
            await api.events.get("e1")
        with pytest.raises(Unknown, match="sent more than 100 interim responses"):
            await api.events.enable("e1")


@pytest.mark.parametrize("cuts", [1, 7, 1000])
async def test_some_interim_responses_in_any_pieces_are_skipped(cuts: int) -> None:
    """Send them in pieces of `cuts` bytes, each in a turn of the loop that both sides share."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = HINT * 20 + PROCESSING * 20 + EVENT
        await reader.readuntil(b"\r\n\r\n")
        for start in range(0, len(sent), cuts):
            writer.write(sent[start : start + cuts])
            await asyncio.sleep(0)
        await reader.read()

    async with platform(talk) as address, api_at(address) as api:
        assert (await api.events.get("e1")).name == "Trial show"
