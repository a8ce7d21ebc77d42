"""However often the connection breaks, a deck misses no change of the collector and ends with its state."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import pairwise
from random import Random

import pytest

from breadth import slow_rows
from collector.cutting import cable
from collector.stand_in import Asked, plain, stand_in
from collector.third_party import LoopClock
from collector.worlds import TURNS, World
from golden.warp import warped
from livedeck.client import Outgoing, Secret
from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.attached.link import Link
from livedeck.collector.protocol.wire import Held
from livedeck.collector.serving.hub import Gone, Hub


class Watched:
    """Hub of a made-up world, with the least HTTP that works. `restarts`: number of times that it was killed."""

    def __init__(self, clock: LoopClock, seed: int) -> None:
        self.clock, self.world, self.restarts = clock, World(seed), 0
        self.hub = Hub(clock, "boot-0")

    async def turn(self, hub: Hub | None = None) -> None:
        """Change the world at random and publish it."""
        for _ in range(2):
            self.world.turn(self.world.random.choice(TURNS))
        await (hub or self.hub).publish(self.world.snapshot())

    async def restart(self) -> None:
        """Start a new hub, without the changes that the old one kept."""
        self.restarts += 1
        self.hub.close()
        hub = Hub(self.clock, f"boot-{self.restarts}")
        await self.turn(hub)
        self.hub = hub

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Reply to one request."""
        hub = self.hub
        if asked.target.startswith("/v1/snapshot"):
            listed = await hub.listing(60)
            assert listed is not None
            writer.write(plain("200 OK", listed.body, "Content-Type: application/json"))
            return
        try:
            changes = hub.changes(asked.headers["last-event-id"])
        except Gone:
            writer.write(plain("410 Gone", b'{"error":"gone","say":"list again"}'))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        async for frame in changes:
            writer.write(frame)
            await writer.drain()


@pytest.mark.parametrize(("cuts", "restarts"), [(40, 3), *slow_rows((1000, 40))])
@warped
async def test_no_change_is_missed_and_the_end_is_what_the_collector_knows(cuts: int, restarts: int) -> None:
    clock, random = LoopClock(), Random(cuts)
    watched = Watched(clock, seed=7)
    await watched.turn()
    taken, news = list[tuple[int, bool]](), asyncio.Event()

    def take(held: Held, is_listed: bool) -> None:
        taken.append((held.snapshot.seq, is_listed))
        news.set()

    async with stand_in(watched.answer) as server, cable(server.address, cuts, random) as way, Outgoing() as outgoing:
        follower = Follower(Link(outgoing, [way.address], Secret("deck")), RemoteClock(clock), take, Random(1))
        following = asyncio.create_task(follower.follow())
        async with asyncio.timeout(30_000):
            while way.left:
                await watched.turn()
                if random.random() < restarts / cuts / 4:
                    await watched.restart()
                await asyncio.sleep(0.2)
            await watched.turn()
            while taken[-1][0] != watched.world.seq:
                news.clear()
                await news.wait()
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
    assert all(seq == before + 1 for (before, _), (seq, is_listed) in pairwise(taken) if not is_listed)
    assert way.cuts >= cuts
    assert follower.held is not None
    listing = await watched.hub.listing(3600)
    assert listing is not None
    listed = Held.listed(json.loads(listing.body))
    assert follower.held.last.values == listed.last.values
    for state in follower.held.snapshot.events:
        known = listed.snapshot.find(state.id)
        assert known is not None
        size = min(len(known.qos.readings), len(state.qos.readings))
        assert list(state.qos.readings.time[-size:]) == list(known.qos.readings.time[-size:])
