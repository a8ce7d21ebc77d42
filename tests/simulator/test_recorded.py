"""A recorded show is served as it was; a recording with fields that no platform has is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from livedeck.simulator import (
    RecordedEvent,
    RecordedShow,
    Simulator,
    SimulatorClock,
    SimulatorError,
    check_table,
    write_show,
)
from simulator.conftest import START
from simulator.http_client import client_for, data

EVENT, STREAM, LATER = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
HOUR = 3600
CREATED = "2026-11-20T09:00:00.000Z"
LIVE = {"id": STREAM, "status": "live", "started_at": "2026-11-21T09:00:00.000Z"}
FIELDS: dict[str, Any] = {"name": "Gala", "created_at": CREATED, "stream": LIVE, "reconnect_window": 90}


def show(*events: RecordedEvent, samples: tuple[Any, ...] = ()) -> RecordedShow:
    return RecordedShow("Gala", START, START + timedelta(hours=3), events, samples, ())


def served(tmp_path: Path, recorded: RecordedShow) -> Simulator:
    write_show(recorded, tmp_path / "show.tar", "token")
    return Simulator(snapshot=tmp_path / "show.tar", clock=SimulatorClock(START, paused=True))


def second(number: float) -> int:
    return round((START.timestamp() + number) * 1000)


async def test_events_change_appear_and_go_at_their_times(tmp_path: Path) -> None:
    window = RecordedEvent(START + timedelta(seconds=60), EVENT, {**FIELDS, "reconnect_window": 900})
    new = RecordedEvent(START + timedelta(seconds=90), LATER, {"name": "Later", "created_at": CREATED})
    gone = RecordedEvent(START + timedelta(seconds=120), EVENT, None)
    simulator = served(tmp_path, show(RecordedEvent(START, EVENT, FIELDS), window, new, gone))
    seen = []
    async with client_for(simulator, simulator.token) as api:
        for _ in range(3):
            rows = data(await api.get("/v2/live/events?order=name.asc"))
            seen.append([(row["id"], row["name"], row["reconnect_window"]) for row in rows])
            simulator.clock.step(60)
    gala, later = (EVENT, "Gala", 90), (LATER, "Later", 600)
    assert seen == [[gala], [(*gala[:2], 900)], [later]]


async def test_samples_are_served_at_any_age_as_they_were_with_gaps_and_missing_values(tmp_path: Path) -> None:
    """Also after the newest 3,600, which are the most that a reply holds, and after a replay."""
    rows: list[Any] = [
        (STREAM, second(number * 1.5), 4_000_000.0, 128_000.5, 29.97, 0) for number in range(5 * HOUR // 3)
    ]
    rows[1] = (STREAM, second(1.5), None, None, None, None)
    del rows[3:400]
    simulator = served(tmp_path, show(RecordedEvent(START, EVENT, FIELDS), samples=tuple(rows)))
    transport, auth = httpx.ASGITransport(app=simulator.app), {"Authorization": f"Bearer {simulator.token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=auth) as api:

        async def read() -> list[dict[str, Any]]:
            simulator.clock.change(jump=START + timedelta(seconds=700))
            return list(data(await api.get(f"/v2/live/events/{EVENT}/qos")))

        first = await read()
        assert [row["bitrate_video"] for row in first[:3]] == [4_000_000, None, 4_000_000]
        assert (first[0]["frame_rate"], first[0]["bitrate_audio"], first[1]["status"]) == (29.97, 128_000.5, None)
        assert first[1]["time"] == "2026-11-21T09:00:02.000Z"
        times = [row["time"] for row in first]
        assert times[3] == "2026-11-21T09:10:00.500Z"
        async with client_for(simulator, simulator.control_token) as admin:
            simulator.clock.step(HOUR)
            assert len(data(await api.get(f"/v2/live/events/{EVENT}/qos"))) > len(first)
            assert (await admin.post("/_control/scenario/replay")).status_code == 200
            assert simulator.clock.now() == START
        assert await read() == first


async def test_a_client_changes_it_until_a_step_sets_the_same(tmp_path: Path) -> None:
    named = RecordedEvent(START + timedelta(seconds=60), EVENT, {**FIELDS, "name": "Gala, hall 2"})
    simulator = served(tmp_path, show(RecordedEvent(START, EVENT, FIELDS), named))
    async with client_for(simulator, simulator.token) as api:
        path = f"/v2/live/events/{EVENT}"
        assert (await api.put(path, json={"name": "Mine", "reconnect_window": 30})).status_code == 200
        simulator.clock.step(61)
        event = data(await api.get(path))
    assert (event["name"], event["reconnect_window"]) == ("Gala, hall 2", 30)


async def test_its_events_become_a_table_of_ones_own(tmp_path: Path) -> None:
    samples = ((STREAM, second(0), 4_000_000.0, 128_000.0, 30.0, 0),)
    simulator = served(tmp_path, show(RecordedEvent(START, EVENT, FIELDS), samples=samples))
    async with client_for(simulator, simulator.control_token) as admin:
        (tmp_path / "gala.toml").write_bytes((await admin.get("/_control/template")).content)
    assert check_table(tmp_path / "gala.toml") == ()
    assert "Gala" in (tmp_path / "gala.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("event_id", "fields", "words"),
    [
        (EVENT, {**FIELDS, "type": "\x1b[31m"}, "type must be one of"),
        (EVENT, {**FIELDS, "stream": {"id": "../x"}}, "stream.id must be a UUID"),
        (EVENT, {**FIELDS, "unheard": 1}, "unheard unknown parameter"),
        (EVENT, {"created_at": CREATED}, "name must be given"),
        ("../x", FIELDS, "id must be a UUID"),
    ],
)
def test_fields_of_a_stranger_are_refused(event_id: str, fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match=words):
        served(tmp_path, show(RecordedEvent(START, event_id, fields)))
    assert not (tmp_path / "show.tar").exists()
