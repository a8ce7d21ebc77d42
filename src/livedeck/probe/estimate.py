"""Estimate of the probe's traffic before it is enabled. It reads each event's playlists once, and no segment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from livedeck.monitor import Viewed
from livedeck.probe.fetch import Answer, Fetcher, Round, Want
from livedeck.probe.plan import Address, Cost, Plan
from livedeck.probe.playlist import Master, Media, Part, Rung, Unusable, read_playlist
from livedeck.record import Record

_AT_ONCE = 8
"""Maximum number of events read at a time. The fetcher limits the requests."""


class Planned(Record):
    """Traffic of an event on air.

    `lowest`: rendition to read. `rate`: in bit/s; None if unknown, with the `reason`. `is_limit`: the real rate is
    lower, because the playlist states only the highest bit rate. `requests`: per second.
    """

    event_id: str
    address: Address
    lowest: str = ""
    rate: float | None = None
    is_limit: bool = False
    requests: float = 0.0
    reason: str = ""


async def estimate(plan: Plan, fetcher: Fetcher, events: Sequence[Viewed]) -> list[Planned]:
    """Return the traffic of each event, at the interval of the settings and without the budget."""
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def measure(event: Viewed) -> Planned:
        address = plan.address(event)
        if not address.text:
            return Planned(event.event_id, address, reason=address.reason)
        async with at_once:
            return await _measured(plan, fetcher.round(address.home), event.event_id, address)

    return [*await asyncio.gather(*map(measure, events))]


async def _measured(plan: Plan, requests: Round, event_id: str, address: Address) -> Planned:
    master_size, rungs = 0, tuple[Rung, ...]()
    try:
        answer, found = await _read(requests, address.text)
        if isinstance(found, Master):
            rungs, master_size = found.rungs, len(answer.body)
            answer, found = await _read(requests, rungs[0].address)
    except Unusable as reason:
        return Planned(event_id, address, rungs[0].name if rungs else "", reason=str(reason))
    lowest = rungs[0].name if rungs else ""
    bandwidth = (rungs[0].usual or rungs[0].bandwidth) if rungs else 0
    if isinstance(found, Master) or not bandwidth:
        return Planned(event_id, address, lowest, reason="its bit rate is not stated")
    cost = Cost(
        bandwidth=bandwidth,
        target=found.target,
        rungs=len(rungs),
        playlist_size=len(answer.body),
        master_size=master_size,
        has_sound_apart=bool(rungs[0].sound),
    )
    is_limit = not rungs[0].usual
    return Planned(event_id, address, lowest, cost.rate(plan.interval), is_limit, cost.requests(plan.interval))


async def _read(requests: Round, address: str) -> tuple[Answer, Master | Media]:
    """Return the reply and playlist of an address. Raises Unusable."""
    answer = await requests.get(Part(address), Want.PLAYLIST)
    if answer.error:
        raise Unusable(answer.error)
    return answer, read_playlist(answer.body, answer.address)
