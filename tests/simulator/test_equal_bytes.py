"""Equal inputs give equal bytes: token, seed, start, a stopped clock, and the same requests in one order."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock
from simulator.http_client import client_for, data

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def made(seed: int = 5, token: str = "t", data: Path | None = None) -> Simulator:
    return Simulator(seed=seed, token=token, clock=SimulatorClock(START, paused=True), data=data)


async def answers(simulator: Simulator) -> list[tuple[str, int, list[tuple[bytes, bytes]], bytes]]:
    """Return the answers, heads included, to reads, changes, an upload, signed links and steps of the clock."""
    found = []
    async with client_for(simulator, simulator.token) as api, client_for(simulator, simulator.control_token) as admin:

        async def ask(method: str, path: str, **options: object) -> httpx.Response:
            answer = await api.request(method, path, **options)  # type: ignore[arg-type]  # options of httpx
            found.append((path, answer.status_code, answer.headers.raw, answer.content))
            return answer

        assert (await admin.post("/_control/clock", json={"step": 30})).status_code == 200
        draft = {"name": "New", "type": "one-time"}
        await ask("POST", "/v2/live/events", json=draft)
        for event in data(await ask("GET", "/v2/live/events?per_page=100")):
            item = f"/v2/live/events/{event['id']}"
            await ask("GET", f"{item}/qos")
            for video in data(await ask("GET", f"{item}/videos")):
                headers = {"X-Video-ID": video["id"], "X-File-Name": "a.txt"}
                material = data(await ask("POST", "/upload/additional-material", headers=headers, content=b"slides"))
                link = data(await ask("GET", f"/v1/additional-materials/{material['id']}/link"))["link"]
                await ask("GET", link)
                await ask("GET", link, headers={"Range": "bytes=0-1,3-4"})
                for track in data(await ask("GET", f"/v1/videos/{video['id']}/subtitles")):
                    if track["url"]:
                        await ask("GET", track["url"])
    return found


async def test_two_simulators_answer_alike_to_the_last_header(tmp_path: Path) -> None:
    first, second, kept = await answers(made()), await answers(made()), await answers(made(data=tmp_path / "deck.db"))
    assert first == second == kept
    assert {status for _, status, _, _ in first} == {200}
    assert any(b"etag" in dict(head) for _, _, head, _ in first)
    assert not any(b"last-modified" in dict(head) for _, _, head, _ in first)


@pytest.mark.parametrize("other", [made(seed=6), made(token="u")])
async def test_another_seed_or_token_signs_otherwise(other: Simulator) -> None:
    def signatures(simulator: list[tuple[str, int, list[tuple[bytes, bytes]], bytes]]) -> set[str]:
        return {path.partition("sign=")[2] for path, *_ in simulator if "sign=" in path}

    assert not signatures(await answers(made())) & signatures(await answers(other))
    assert made().other_workspace.token != other.other_workspace.token


async def test_the_clock_is_watched_without_a_token_and_no_fault_hits_it(admin: httpx.AsyncClient) -> None:
    async with httpx.AsyncClient(transport=admin._transport, base_url="http://platform.test") as follower:
        await admin.post("/_control/faults", json={"kind": "status"})
        known = data(await follower.get("/_clock"))
        waiting = asyncio.ensure_future(follower.get("/_clock", params={"after": known["epoch"], "wait": 60}))
        await asyncio.sleep(0)
        assert not waiting.done()
        changed = data(await admin.post("/_control/clock", json={"step": 5, "speed": 20, "paused": True}))
        assert data(await waiting) == changed
        assert changed == known | {"now": "2026-11-21T09:00:05.500Z", "speed": 20, "epoch": known["epoch"] + 1}
        assert data(await follower.get("/_clock", params={"after": known["epoch"], "wait": 60})) == changed
        assert data(await follower.get("/_clock", params={"after": changed["epoch"], "wait": 0})) == changed


async def test_a_follower_of_a_simulator_that_began_anew_does_not_wait() -> None:
    clock = SimulatorClock()
    for epoch, is_told in (
        (7, True),
        (clock.state.epoch, False),
    ):  # an epoch of the earlier process, and the present one
        waiting = asyncio.ensure_future(clock.wait(epoch, 60))
        await asyncio.sleep(0)
        assert waiting.done() is is_told
        waiting.cancel()
