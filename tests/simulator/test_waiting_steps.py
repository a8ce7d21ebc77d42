"""A step that waits for a request runs `delay` after that request came; steps after it count from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from livedeck.simulator import Simulator, SimulatorClock, check_table
from simulator.conftest import START
from simulator.http_client import client_for, data

TEXT = """\
title = "An answer has consequences"
lasts = "+00:10:00"
workspace = "stage"

[[steps]]
id = "asked"
when = { operation = "update_event", event = "Main stage", "json.reconnect_window" = { at_least = 900 } }
delay = "+00:00:20"
do = "encoder"
event = "Main stage"
sending = false

[[steps]]
after = "asked"
at = "+00:00:30"
do = "complete"
event = "Small hall"

[[steps]]
at = "+00:05:00"
do = "delete"
event = "Tomorrow"
"""


def simulator_of(tmp_path: Path, **options: Any) -> Simulator:
    path = tmp_path / "show.toml"
    path.write_text(TEXT, encoding="utf-8")
    return Simulator(scenario=path, clock=SimulatorClock(START, paused=True), **options)


def states(simulator: Simulator) -> dict[int, tuple[str, str | None]]:
    simulator._world.timeline.catch_up(simulator._world.now())
    steps: Any = simulator.progress()["steps"]
    return {step["step"]: (step["state"], step["at"] and step["at"][11:19]) for step in steps}


async def test_it_waits_for_its_request_and_the_steps_after_it_too(tmp_path: Path) -> None:
    simulator = simulator_of(tmp_path)
    async with client_for(simulator, simulator.token) as api:
        (event,) = (row for row in data(await api.get("/v2/live/events")) if row["name"] == "Main stage")
        path = f"/v2/live/events/{event['id']}"
        simulator.clock.step(60)
        await api.put(path, json={"reconnect_window": 60})
        assert states(simulator) == {0: ("waiting", None), 1: ("waiting", None), 2: ("waiting", "09:05:00")}
        await api.put(path, json={"reconnect_window": 900})
        simulator.clock.step(10)
        await api.put(path, json={"reconnect_window": 901})
        assert states(simulator)[0] == ("waiting", "09:01:20")
        simulator.clock.step(10)
        assert states(simulator) == {0: ("done", "09:01:20"), 1: ("waiting", "09:01:50"), 2: ("waiting", "09:05:00")}
        assert "Main stage" not in simulator.on_air()
        simulator.clock.step(30)
        assert states(simulator)[1] == ("done", "09:01:50")
        simulator.clock.step(600)
        assert {state for state, _ in states(simulator).values()} == {"done"}


async def test_a_request_is_remembered_across_a_restart_and_forgotten_by_a_replay(tmp_path: Path) -> None:
    simulator = simulator_of(tmp_path, data=tmp_path / "a.db")
    async with client_for(simulator, simulator.token) as api:
        (event,) = (row for row in data(await api.get("/v2/live/events")) if row["name"] == "Main stage")
        await api.put(f"/v2/live/events/{event['id']}", json={"reconnect_window": 900})
    simulator.close()
    again = Simulator(data=tmp_path / "a.db")
    assert states(again)[0] == ("waiting", "09:00:20")
    again.clock.step(30)
    assert states(again)[0] == ("done", "09:00:20")
    async with client_for(again, again.control_token) as admin:
        await admin.post("/_control/scenario/replay", json={"force": True})
    assert states(again)[0] == ("waiting", None)


async def test_after_the_end_and_after_a_stop_no_request_counts(tmp_path: Path) -> None:
    for end in ("stop", "end"):
        simulator = simulator_of(tmp_path)
        async with client_for(simulator, simulator.token) as api:
            (event,) = (row for row in data(await api.get("/v2/live/events")) if row["name"] == "Main stage")
            if end == "stop":
                simulator._world.timeline.stop()
            else:
                simulator.clock.step(601)
            await api.put(f"/v2/live/events/{event['id']}", json={"reconnect_window": 900})
            simulator.clock.step(60)
            assert states(simulator)[0] == ("waiting", None)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('delay = "+00:00:20"', 'at = "+00:00:20"'), "at: must be left out if `when` is given"),
        (('delay = "+00:00:20"', 'after = "x"'), "after: must be left out if `when` is given"),
        (('at = "+00:05:00"', 'at = "+00:05:00"\ndelay = "+00:00:01"'), "delay: needs `when`"),
        (('at = "+00:05:00"\n', ""), "at: must be given unless `when` is given"),
        (('delay = "+00:00:20"', 'delay = "-00:00:20"'), "delay: -00:00:20 is before the start"),
        (('"Main stage", "json', '"Main", "json'), 'when.event: no event is called "Main"; there are Main stage'),
        (("update_event", "change_event"), 'when.operation: no operation is called "change_event"; there are '),
        (('event = "Main stage"\nsending', 'event = "Main"\nsending'), 'event: no event is called "Main"'),
        (("at_least", "at_the_least"), "when.json.reconnect_window: "),
    ],
)
def test_what_contradicts_itself_is_a_problem(change: tuple[str, str], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "show.toml"
    path.write_text(TEXT.replace(*change), encoding="utf-8")
    found = [*map(str, check_table(path))]
    assert len(found) == 1, found
    assert problem in found[0]


def test_a_step_that_only_its_request_makes_possible_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "show.toml"
    text = TEXT.replace('event = "Main stage"\nsending = false', 'event = "Tomorrow"\nsending = true')
    path.write_text(text, encoding="utf-8")
    assert check_table(path) == ()
