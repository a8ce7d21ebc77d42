"""The simulator on a real socket: its addresses, its headers, and a clean end."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket

import httpx
import pytest

from livedeck.simulator import Simulator, serve


def bearer(simulator: Simulator) -> dict[str, str]:
    return {"Authorization": f"Bearer {simulator.token}"}


async def test_it_answers_at_its_addresses(simulator: Simulator) -> None:
    async with serve(simulator) as addresses, httpx.AsyncClient(headers=bearer(simulator)) as api:
        answer = await api.get(f"{addresses.base_url}/v2/live/events")
        assert answer.status_code == 200
        poster = answer.json()["data"][0]["poster"]["xs"]
        assert poster.startswith(addresses.cdn_url)
        assert (await api.get(poster)).headers["content-type"] == "image/png"
        described = await api.get(addresses.control_url, headers={"Authorization": f"Bearer {simulator.control_token}"})
        assert described.status_code == 200


async def test_the_date_is_the_clock_of_the_simulator_and_no_server_header_is_sent(simulator: Simulator) -> None:
    async with serve(simulator) as addresses, httpx.AsyncClient() as api:
        answer = await api.get(addresses.base_url)
    assert answer.headers.get_list("date") == ["Sat, 21 Nov 2026 09:00:00 GMT"]
    assert "server" not in answer.headers


async def test_head_has_no_body_on_the_wire(simulator: Simulator) -> None:
    async with serve(simulator) as addresses, httpx.AsyncClient(headers=bearer(simulator)) as api:
        for _ in range(3):
            head = await api.head(f"{addresses.base_url}/v2/live/events")
            assert (head.status_code, head.content) == (200, b"")


async def test_an_address_in_use_is_said_at_once(simulator: Simulator) -> None:
    async with serve(simulator) as addresses:
        port = int(addresses.base_url.rpartition(":")[2])
        with pytest.raises(OSError, match=str(port)) as raised:
            async with serve(simulator, port=port):
                pytest.fail("two simulators on one port")
        assert raised.value.errno == errno.EADDRINUSE


async def test_it_ends_with_idle_half_sent_and_unread_connections_open(simulator: Simulator) -> None:
    """No task is left, every peer is told, and the port is free for the next."""
    before = asyncio.all_tasks()
    async with serve(simulator) as addresses, httpx.AsyncClient(headers=bearer(simulator)) as api:
        events = (await api.get(f"{addresses.base_url}/v2/live/events")).json()["data"]
        webcam = next(event["id"] for event in events if event["name"] == "Harbour webcam")
        host, port = addresses.base_url.removeprefix("http://").split(":")
        idle, idle_writer = await asyncio.open_connection(host, int(port))
        idle_writer.write(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await idle.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404")
        half, half_writer = await asyncio.open_connection(host, int(port))
        half_writer.write(b"POST /_control/reset HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n")
        unread, unread_writer = await asyncio.open_connection(host, int(port), limit=1024)
        request = (
            f"GET /v2/live/events/{webcam}/qos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {simulator.token}\r\n\r\n"
        )
        unread_writer.write(request.encode() * 40)
        assert await unread.readline() == b"HTTP/1.1 200 OK\r\n"
    assert await idle.read() == await half.read() == b""
    idle_writer.close()
    half_writer.close()
    unread_writer.transport.abort()
    assert asyncio.all_tasks() == before
    async with serve(simulator, port=int(port)) as again:
        assert again == addresses


async def test_a_block_that_fails_fails_as_itself(simulator: Simulator) -> None:
    with pytest.raises(LookupError):
        async with serve(simulator):
            raise LookupError


async def test_the_loopback_of_six_works_where_there_is_one(simulator: Simulator) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        with pytest.raises(OSError, match=str(error.strerror)):
            await serve(simulator, host="::1").__aenter__()
        return
    async with serve(simulator, host="::1") as addresses, httpx.AsyncClient() as api:
        assert addresses.base_url.startswith("http://[::1]:")
        assert (await api.get(addresses.base_url)).status_code == 404


@pytest.mark.parametrize(
    "sent",
    [
        b"what?\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000,
        b"POST /_control/reset HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_bytes_that_are_no_http_get_the_documented_error_object(simulator: Simulator, sent: bytes) -> None:
    async with serve(simulator) as addresses:
        host, port = addresses.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"content-type: application/json" in head.lower()
    assert json.loads(body)["error"]["code"] == 400400


@pytest.mark.parametrize("verb", ["HEAD", "POST"])
async def test_a_body_that_breaks_off_gets_one_answer_and_no_alarm_in_the_log(
    simulator: Simulator, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(simulator) as addresses:
        host, port = addresses.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"{verb} / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode())
        answer = await reader.read()
        writer.close()
    assert answer.count(b"HTTP/1.1 400") == 1
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
