"""A service whose clock stands still, and clients that reach it in process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock
from simulator.asking import asking

START = datetime(2026, 11, 21, 9, 0, 0, 500_000, tzinfo=UTC)
Named: TypeAlias = Callable[[str], Awaitable[dict[str, Any]]]
Samples: TypeAlias = Callable[[str], Awaitable[list[dict[str, Any]]]]


@pytest.fixture
def service() -> Simulator:
    return Simulator(seed=7, clock=SimulatorClock(START, paused=True))


@pytest.fixture
async def api(service: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(service, service.token) as one:
        yield one


@pytest.fixture
async def other(service: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(service, service.other_workspace.token) as one:
        yield one


@pytest.fixture
async def admin(service: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(service, service.control_token) as one:
        yield one


@pytest.fixture
def named(api: httpx.AsyncClient) -> Named:
    """The event of that name, as the list shows it."""

    async def find(name: str) -> dict[str, Any]:
        events: list[dict[str, Any]] = (await api.get("/v2/live/events?per_page=100")).json()["data"]
        return next(event for event in events if event["name"] == name)

    return find


@pytest.fixture
def samples(api: httpx.AsyncClient, named: Named) -> Samples:
    """The QoS samples of the event of that name."""

    async def read(name: str) -> list[dict[str, Any]]:
        answer = await api.get(f"/v2/live/events/{(await named(name))['id']}/qos")
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows

    return read


@pytest.fixture
async def video(api: httpx.AsyncClient, named: Named) -> str:
    """The id of a video with posters, subtitles, annotations and materials."""
    event = await named("Rehearsal Tuesday")
    recordings = (await api.get(f"/v2/live/events/{event['id']}/videos")).json()["data"]
    return str(recordings[0]["id"])
