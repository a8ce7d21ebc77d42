"""A receiver of tally messages never keeps a red lamp that nothing proves any more, over real sockets."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, DatagramProtocol, Queue, Semaphore, StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tslumd.messages import Display, Message

from livedeck.client import Event
from livedeck.collector.tally import REPEAT_SECONDS, Receiver, TallySender
from livedeck.egress import Egress
from livedeck.monitor import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Snapshot,
)
from monitor.stage import NOW

STATE = EventState(
    Event(id="one", name="Studio A"),
    NOW,
    Phase(BroadcastState.ON_AIR, NOW, Ingest(IngestState.RECEIVING)),
    QosState(),
    HealthAssessment(),
)
SNAPSHOT = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, since=NOW, as_of=NOW), (STATE,))
RED, UNKNOWN = ("Studio A", 1), ("? Studio A", 0)
LOCAL = Egress.of(["127.0.0.0/8"])


class Steps:
    """Clock whose sleeper wakes when a test says so."""

    def __init__(self) -> None:
        self.seconds, self._wakes = 0.0, Semaphore(0)
        self.slept = Queue[float]()

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.put_nowait(seconds)
        await self._wakes.acquire()

    def step(self, seconds: float = 1.0) -> None:
        self.seconds += seconds
        self._wakes.release()


class Taken(DatagramProtocol):
    """A receiver of datagrams."""

    def __init__(self) -> None:
        self.packets = Queue[bytes]()

    def datagram_received(self, data: bytes, _: Any) -> None:
        self.packets.put_nowait(data)


def read(packet: bytes) -> tuple[str, int]:
    """Return text and lamp of a packet, read by another library."""
    message, rest = Message.parse(packet)
    found: Display = message.displays[0]
    assert (rest, message.screen, found.index) == (b"", 3, 7)
    return found.text, int(found.txt_tally)


def receiver(port: int, **fields: Any) -> Receiver:
    usual = {"host": "127.0.0.1", "version": "5.0", "transport": "udp", "screen": 3, "numbers": {"one": 7}}
    return Receiver(name="wall", port=port, **{**usual, **fields})


@asynccontextmanager
async def sending(
    made: Receiver, clock: Steps, published: list[Snapshot], egress: Egress = LOCAL
) -> AsyncIterator[Any]:
    said = list[str]()
    sender = TallySender(made, egress, lambda: published[-1] if published else None, clock, said.append)
    task = asyncio.create_task(sender.run())
    try:
        yield said
    finally:
        task.cancel()
        with suppress(CancelledError):
            await task


async def test_a_lamp_is_red_only_while_the_platform_answers() -> None:
    clock, published = Steps(), list[Snapshot]()
    transport, taken = await asyncio.get_running_loop().create_datagram_endpoint(Taken, local_addr=("127.0.0.1", 0))
    try:
        async with sending(receiver(transport.get_extra_info("sockname")[1]), clock, published):
            assert read(await taken.packets.get()) == ("? one", 0)
            published.append(SNAPSHOT)
            clock.step()
            assert read(await taken.packets.get()) == RED
            for _ in range(int(REPEAT_SECONDS)):  # nothing new: sent again after that time, and not before
                clock.step()
            assert read(await taken.packets.get()) == RED
            assert taken.packets.empty()
            clock.step(40.0)
            assert read(await taken.packets.get()) == UNKNOWN
            published.append(replace(SNAPSHOT, link=ConnectionStatus(ConnectionState.OK, since=NOW, as_of=clock.now())))
            clock.step()
            assert read(await taken.packets.get()) == RED
        assert read(await taken.packets.get()) == UNKNOWN  # the sender has ended
    finally:
        transport.close()


async def test_a_refusal_of_datagrams_is_reported_once() -> None:
    clock = Steps()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Taken, local_addr=("127.0.0.1", 0))
    async with sending(receiver(transport.get_extra_info("sockname")[1]), clock, [SNAPSHOT]) as said:
        await clock.slept.get()
        transport.abort()
        for _ in range(4):
            clock.step(REPEAT_SECONDS)
            await clock.slept.get()
            await asyncio.sleep(0)
        assert said == ["tally wall: Connection refused"]


async def test_3_1_goes_out_as_18_bytes() -> None:
    transport, taken = await asyncio.get_running_loop().create_datagram_endpoint(Taken, local_addr=("127.0.0.1", 0))
    try:
        made = receiver(transport.get_extra_info("sockname")[1], version="3.1")
        async with sending(made, Steps(), [SNAPSHOT]):
            assert await taken.packets.get() == bytes([0x87, 0x31]) + b"Studio A        "
    finally:
        transport.close()


async def unframed(reader: StreamReader) -> bytes:
    """Return the next packet of a stream: DLE STX, the length, and the rest, with each DLE doubled."""
    assert await reader.readexactly(2) == b"\xfe\x02"
    packet = b""
    while len(packet) < 2 or len(packet) < 2 + int.from_bytes(packet[:2], "little"):
        byte = await reader.readexactly(1)
        if byte == b"\xfe":
            assert await reader.readexactly(1) == byte
        packet += byte
    return packet


async def test_tcp_is_framed_and_comes_back_after_the_receiver_was_away() -> None:
    connections, clock = Queue[tuple[StreamReader, StreamWriter]](), Steps()
    server = await asyncio.start_server(lambda *both: connections.put_nowait(both), "127.0.0.1", 0)
    async with server:
        made = receiver(server.sockets[0].getsockname()[1], transport="tcp", numbers={"one": 0xFEFE})
        async with sending(made, clock, [SNAPSHOT]) as said:
            reader, writer = await connections.get()
            message, _ = Message.parse(await unframed(reader))
            assert (message.displays[0].index, message.displays[0].text) == (0xFEFE, "Studio A")
            writer.close()
            await writer.wait_closed()
            while not said:
                await clock.slept.get()
                clock.step()
            assert said == ["tally wall: the receiver closed the connection"]
            clock.step()
            reader, writer = await connections.get()
            await unframed(reader)
            while len(said) < 2:
                await clock.slept.get()
                clock.step()
            assert said[1:] == ["tally wall: sends again"]
        message, _ = Message.parse(await unframed(reader))
        while message.displays[0].text != UNKNOWN[0]:
            message, _ = Message.parse(await unframed(reader))
        writer.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "239.1.1.1"])
async def test_a_private_receiver_needs_an_entry(host: str) -> None:
    clock = Steps()
    transport, taken = await asyncio.get_running_loop().create_datagram_endpoint(Taken, local_addr=("127.0.0.1", 0))
    try:
        made = receiver(transport.get_extra_info("sockname")[1], host=host)
        async with sending(made, clock, [SNAPSHOT], Egress()) as said:
            assert await clock.slept.get() > 1.0
            assert len(said) == 1
            assert "allow_private" in said[0]
            assert taken.packets.empty()
    finally:
        transport.close()
