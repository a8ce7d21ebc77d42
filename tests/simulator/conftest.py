"""Simulator whose clock stands still, and clients that reach it in process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock
from simulator.http_client import FindEvent, Row, Samples, client_for, data

START = datetime(2026, 11, 21, 9, 0, 0, 500_000, tzinfo=UTC)


@pytest.fixture
def simulator() -> Simulator:
    return Simulator(seed=7, clock=SimulatorClock(START, paused=True))


@pytest.fixture
async def api(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with client_for(simulator, simulator.token) as client:
        yield client


@pytest.fixture
async def other(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    """Client of the other workspace."""
    async with client_for(simulator, simulator.other_workspace.token) as client:
        yield client


@pytest.fixture
async def admin(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    """Client of the control API."""
    async with client_for(simulator, simulator.control_token) as client:
        yield client


@pytest.fixture
def find_event(api: httpx.AsyncClient) -> FindEvent:
    """Function that returns the event of a name, from the list."""

    async def find(name: str) -> Row:
        events: list[Row] = data(await api.get("/v2/live/events?per_page=100"))
        return next(event for event in events if event["name"] == name)

    return find


@pytest.fixture
def samples(api: httpx.AsyncClient, find_event: FindEvent) -> Samples:
    """Function that returns the QoS samples of the event of a name."""

    async def read(name: str) -> list[Row]:
        event = await find_event(name)
        rows: list[Row] = data(await api.get(f"/v2/live/events/{event['id']}/qos"))
        return rows

    return read


@pytest.fixture
async def video(api: httpx.AsyncClient, find_event: FindEvent) -> str:
    """Id of a video with posters, subtitles, annotations and materials."""
    event = await find_event("Rehearsal Tuesday")
    videos = data(await api.get(f"/v2/live/events/{event['id']}/videos"))
    return str(videos[0]["id"])
