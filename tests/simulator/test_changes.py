"""Changes that reached the platform: their effect, their sender, and no secrets."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Simulator, load_scenario
from livedeck.simulator.rehearsal.changes import Change, changes_of
from simulator.http_client import FindEvent, data
from simulator.test_answers import DRILL, written

EVENTS = "/v2/live/events"


def made(simulator: Simulator, folder: Path) -> list[Change]:
    text = DRILL.replace('event = "Main stage", "json.restreams" = { absent', '"json.reconnect_window" = { absent')
    scenario = load_scenario(written(folder, text))
    return [*changes_of(simulator.journal.after(0), scenario, [simulator.token])]


async def add_fault(admin: httpx.AsyncClient, **fault: object) -> None:
    data(await admin.post("/_control/faults", json=fault))


async def test_a_change_knows_its_rows_and_reads_are_none(
    simulator: Simulator, api: httpx.AsyncClient, find_event: FindEvent, tmp_path: Path
) -> None:
    event = await find_event("Lecture 7")
    path = f"{EVENTS}/{event['id']}"
    await api.put(path, json={"reconnect_window": 900})
    await api.put(path, json={"name": "Lecture 8"})
    await api.put(path, json={"reconnect_window": -1})
    await api.put(f"{path}/complete")
    changes = made(simulator, tmp_path)
    assert [(change.does, change.event) for change in changes] == [
        ('update_event {"reconnect_window":900}', "Lecture 7"),
        ('update_event {"name":"Lecture 8"}', "Lecture 7"),
        ('update_event {"reconnect_window":-1}', "Lecture 8"),
        ("complete_event", "Lecture 8"),
    ]
    assert [change.answers for change in changes] == [(0,), (), (0,), ()]
    assert [change.is_allowed for change in changes] == [False, True, False, False]
    assert [change.is_carried_out for change in changes] == [True, True, False, True]
    assert [change.ends_event for change in changes] == [False, False, False, True]
    assert {change.at for change in changes} == {simulator.clock.now()}
    assert {change.event_id for change in changes} == {event["id"]}


@pytest.mark.parametrize(
    ("fault", "is_carried_out"),
    [
        ({"kind": "lose"}, True),
        ({"kind": "drop"}, False),
        ({"kind": "status"}, False),
        ({"kind": "late-apply", "lands": "at-once"}, True),
        ({"kind": "late-apply", "lands": "late", "seconds": 10}, True),
        ({"kind": "late-apply", "lands": "never"}, False),
    ],
    ids=str,
)
async def test_a_change_counts_if_it_was_carried_out_whatever_its_sender_heard(
    simulator: Simulator,
    api: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    tmp_path: Path,
    *,
    fault: dict[str, object],
    is_carried_out: bool,
) -> None:
    event = data(await admin.get("/_control/events/Lecture 7"))
    await add_fault(admin, match={"method": "PUT"}, **fault)
    try:
        await api.put(f"{EVENTS}/{event['id']}", json={"name": "Lecture 8"})
    except ConnectionError:
        assert fault["kind"] in {"lose", "drop"}
    simulator.clock.step(20)
    await api.get(EVENTS)
    assert [change.is_carried_out for change in made(simulator, tmp_path)] == [is_carried_out]


async def test_no_word_of_a_change_has_a_secret(
    simulator: Simulator, api: httpx.AsyncClient, find_event: FindEvent, tmp_path: Path
) -> None:
    event = await find_event("Lecture 7")
    restream = {"name": "Share", "url": "rtmp://share.example/live", "key": "s3cr3t-canary"}
    await api.put(f"{EVENTS}/{event['id']}", json={"restreams": [restream]})
    (change,) = made(simulator, tmp_path)
    assert "s3cr3t-canary" not in change.does
