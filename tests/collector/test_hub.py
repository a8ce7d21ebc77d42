"""Changes for many readers: each is encoded once, none is missed, and a reader that cannot resume is told so."""

from __future__ import annotations

import asyncio
import gzip
import re
import zlib
from contextlib import aclosing
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from collector.worlds import TURNS, World
from livedeck.collector.protocol.wire import Held
from livedeck.collector.serving import hub as hubs
from livedeck.collector.serving.hub import GONE, Gone, Hub
from monitor.recordings import readings, snapshot, ticking
from virtual_clock import VirtualClock


class Frame(NamedTuple):
    """Event of the stream, as any reader of such streams parses it."""

    id: str
    data: Any


def taken_apart(frame: bytes) -> Frame:
    """Parse one event: fields, a line each, and an empty line."""
    found = re.fullmatch(rb"id: (\S+)\ndata: ([^\r\n]+)\n\n", frame)
    assert found, frame
    return Frame(found[1].decode(), json.decode(found[2]))


async def make_hub(count: int = 1) -> Hub:
    """Return a hub with `count` published snapshots."""
    hub = Hub(VirtualClock(), "b00t")
    for index in range(count):
        await hub.publish(snapshot({"one": readings(ticking(index + 1))}, at=index))
    return hub


async def caught_up(hub: Hub, after: str) -> list[Frame]:
    """Return the events after an id that need no wait."""
    frames = []
    async with aclosing(hub.changes(after)) as changes:
        async for frame in changes:
            if frame.startswith(b":"):
                break
            frames.append(taken_apart(frame))
    return frames


async def test_every_change_is_made_once_for_all_readers() -> None:
    hub = await make_hub(4)
    async with aclosing(hub.changes("b00t-1")) as first, aclosing(hub.changes("b00t-1")) as second:
        for _ in range(3):
            assert await anext(first) is await anext(second)


async def test_a_reader_is_told_who_it_heard_last_and_what_time_it_is() -> None:
    hub = await make_hub()
    async with aclosing(hub.changes("b00t-1")) as changes:
        assert await anext(changes) == b": b00t-1 1772366400000\n"
        assert hub.readers == 1
    assert hub.readers == 0


async def test_a_comment_comes_again_and_again_though_changes_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "BEAT_SECONDS", 0.0)
    hub = await make_hub(2)
    async with aclosing(hub.changes("b00t-1")) as changes:
        assert taken_apart(await anext(changes)).id == "b00t-2"
        assert (await anext(changes)).startswith(b": b00t-2 ")
        await hub.publish(snapshot({"one": readings(ticking(9))}, at=9))
        assert [(await anext(changes))[:10] for _ in range(2)] == [b"id: b00t-3", b": b00t-3 1"]


async def test_a_reader_hears_at_once_of_what_is_published() -> None:
    hub = await make_hub()
    async with aclosing(hub.changes("b00t-1")) as changes:
        await anext(changes)
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        await hub.publish(snapshot({"one": readings(ticking(2))}, at=2))
        assert taken_apart(await waiting).id == "b00t-2"


@pytest.mark.parametrize("after", ["", "b00t", "b00t-", "b00t-x", "b00t--1", "b00t-5", "other-2", "b00t-²", "b00t-1 "])
async def test_an_id_that_is_not_of_this_run_is_gone(after: str) -> None:
    with pytest.raises(Gone):
        (await make_hub(4)).changes(after)


async def test_what_fell_out_of_the_ring_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "RING_DELTAS", 2)
    hub = await make_hub(5)
    with pytest.raises(Gone):
        hub.changes("b00t-2")
    assert [frame.id for frame in await caught_up(hub, "b00t-3")] == ["b00t-4", "b00t-5"]


async def test_a_reader_that_is_left_behind_is_told_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "RING_DELTAS", 2)
    hub = await make_hub(3)
    async with aclosing(hub.changes("b00t-1")) as changes:
        assert taken_apart(await anext(changes)).id == "b00t-2"
        for index in range(3, 6):
            await hub.publish(snapshot({"one": readings(ticking(index + 1))}, at=index))
        assert await anext(changes) == GONE
        with pytest.raises(StopAsyncIteration):
            await anext(changes)


async def test_the_ring_keeps_no_more_bytes_and_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "RING_BYTES", 1)
    hub = await make_hub(5)
    assert len(await caught_up(hub, "b00t-4")) == 1
    with pytest.raises(Gone):
        hub.changes("b00t-3")
    monkeypatch.setattr(hubs, "RING_BYTES", 10**9)
    clock = VirtualClock()
    late = Hub(clock, "b00t")
    for index in range(3):
        await late.publish(snapshot({"one": readings(ticking(index + 1))}, at=index))
        await clock.run(clock.sleep(400))
    assert len(await caught_up(late, "b00t-2")) == 1
    with pytest.raises(Gone):
        Hub(clock, "b00t").changes("b00t-1")


async def test_readers_go_when_the_hub_is_closed() -> None:
    hub = await make_hub()
    async with aclosing(hub.changes("b00t-1")) as changes:
        await anext(changes)
        hub.close()
        with pytest.raises(StopAsyncIteration):
            await anext(changes)


async def test_there_is_no_listing_before_a_snapshot() -> None:
    assert await Hub(VirtualClock(), "b00t").listing() is None


class Reader:
    """Reader that lists and follows, and can be cut off at any time."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.id = hub, ""
        self.held: Held | None = None

    async def read(self) -> None:
        """Continue from its last place as far as there are events; list again if that place has expired."""
        try:
            frames = await caught_up(self.hub, self.id)
        except Gone:
            listed = await self.hub.listing(3)
            assert listed is not None
            self.id, self.held = listed.id, Held.listed(json.decode(listed.body))
            return
        assert self.held is not None
        for frame in frames:
            self.id, self.held = frame.id, self.held.changed(frame.data)


@given(st.integers(0, 99), st.lists(st.tuples(st.sampled_from(TURNS), st.integers(0, 7)), max_size=20))
async def test_readers_that_come_and_go_miss_nothing(seed: int, history: list[tuple[str, int]]) -> None:
    """Three readers; each turn says which of them reads after it."""
    world, hub = World(seed), Hub(VirtualClock(), "b00t")
    await hub.publish(world.snapshot())
    readers = [Reader(hub) for _ in range(3)]
    for turn, who in history:
        world.turn(turn)
        await hub.publish(world.snapshot())
        for index, reader in enumerate(readers):
            if who & 1 << index:
                await reader.read()
    fresh = Reader(hub)
    await fresh.read()
    assert fresh.held is not None
    for reader in readers:
        await reader.read()
        assert reader.held is not None
        assert (reader.id, reader.held.last.values) == (hub.id, fresh.held.last.values)


async def test_what_is_packed_is_one_gzip_that_can_be_read_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "RING_DELTAS", 3)
    hub = await make_hub(4)
    unpacker, received, plain = zlib.decompressobj(zlib.MAX_WBITS | 16), [], []
    async with aclosing(hub.changes("b00t-1", is_packed=True)) as packed, aclosing(hub.changes("b00t-1")) as frames:
        for _ in range(4):  # three changes, and the comment
            received.append(await anext(packed))
            plain.append(await anext(frames))
            assert unpacker.decompress(received[-1]) == plain[-1]
        for index in range(9, 14):
            await hub.publish(snapshot({"one": readings(ticking(index))}, at=index))
        received += [part async for part in packed]
        plain += [part async for part in frames]
    assert gzip.decompress(b"".join(received)) == b"".join(plain)
    assert plain[-1] == GONE
