"""Scenarios: timelines of acts, read from TOML, with the alarms that they expect (service.md).

The same file drives a demo, a rehearsal and a golden test. Offsets count from the start of the scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.timeline import Programme, TimelineEntry
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import Refusal, SimulatorError, unknown
from livedeck.simulator.rehearsal import workspaces
from livedeck.simulator.rehearsal.commands import COMMANDS, perform
from livedeck.simulator.rules import (
    BOOLEAN,
    Rule,
    Rules,
    choice,
    demand,
    each,
    gather,
    integer,
    needed,
    nested,
    take,
    text,
)


@dataclass(frozen=True, slots=True)
class Step:
    """An act at so many seconds from the start. `on`: the name of an event or room, "*" for every event on a stream."""

    at: float
    act: str
    on: str
    asked: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """An alarm that the fault brings about.

    `since` and `until` are when its cause begins and ends, in seconds; None: it stays. `event` is empty for an alarm
    about the platform; `target` names the part of the event that is wrong. `severity`: the loudest that it becomes;
    empty: any. `most`: how often it may come while the cause lasts; `flapping`: whether that is too often to ring each
    time. `shown`: False where another alarm says it already, so that a person reads it for a moment at most.
    """

    kind: str
    event: str
    since: float
    until: float | None
    target: str = ""
    severity: str = ""
    most: int = 1
    flapping: bool = False
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Scenario:
    """A timeline on a workspace. `lasts`: seconds. Steps ascend by time."""

    name: str
    title: str
    workspace: str
    lasts: float
    steps: tuple[Step, ...]
    alarms: tuple[Expected, ...]


def names() -> list[str]:
    """The scenarios that come with the service."""
    return _names("scenarios")


def load(scenario: str | Path) -> Scenario:
    """One that comes with the service, by its name, or a file. Raises ServiceError for what is no scenario."""
    with _said(scenario):
        return _scenario(Path(scenario).stem, _table("scenarios", scenario))


def load_faults(faults: str | Path) -> list[dict[str, Any]]:
    """The parameters of faults, by name or from a file. Raises ServiceError for what are no faults."""
    with _said(faults):
        rows = take(_TABLES, _table("faults", faults).get("faults", []), "faults")
        return [gather(COMMANDS["fault"].parameters, row) for row in rows]


@contextmanager
def _said(source: str | Path) -> Iterator[None]:
    """What is wrong with a file, in words."""
    try:
        yield
    except Refusal as refusal:
        wrong = "; ".join(f"{name} {reason}" for name, reason in refusal.invalid)
        raise SimulatorError(f"{source} is not sound: {wrong}") from refusal
    except (OSError, ValueError) as error:
        raise SimulatorError(f"cannot read {source}: {error}") from error


def _table(folder: str, source: str | Path) -> dict[str, Any]:
    if Path(source).suffix == ".toml":
        return tomllib.loads(Path(source).read_text(encoding="utf-8"))
    if str(source) not in _names(folder):
        raise SimulatorError(
            f"there is no {source!s} among the {folder}: {', '.join(_names(folder))}, or name a TOML file"
        )
    return tomllib.loads((_shipped(folder) / f"{source}.toml").read_text(encoding="utf-8"))


def _names(folder: str) -> list[str]:
    return sorted(file.name.removesuffix(".toml") for file in _shipped(folder).iterdir())


def _shipped(folder: str) -> resources.abc.Traversable:
    return resources.files("livedeck.simulator") / "data" / folder


def begin(world: World, scenario: Scenario, seed: int) -> None:
    """Make its workspace anew, as of now, and play it from here."""
    served, *others = world.workspaces()
    workspaces.found(world, seed, [replace(served, name=scenario.workspace), *others])
    play(world, scenario)


def play(world: World, scenario: Scenario) -> None:
    """Play it from here on the workspace that is there."""
    start = world.now()
    dues = [
        TimelineEntry(start + step.at, f"{step.act} {step.on}".strip(), partial(_do, world, step))
        for step in scenario.steps
    ]
    world.agenda.begin(Programme(scenario.name, start, start + scenario.lasts, dues))


def _do(world: World, step: Step, at: float) -> None:
    for document in _targets(world, step):
        perform(world, step.act, at, document, dict(step.asked))


def _targets(world: World, step: Step) -> list[Document]:
    """What the step is done to. Raises a refusal where nothing has that name."""
    kind = COMMANDS[step.act].on
    if not kind:
        return [{}]
    there = world.store.every(kind, world.workspaces()[0].workspace_id)
    if step.on == "*":
        return [one for one in there if one.get("stream") and one["stream"]["status"] != "finished"]
    found = [one for one in there if one["name"] == step.on]
    if not found:
        raise unknown()
    return found


_TABLES = each(Rule("a table", lambda value: demand(isinstance(value, dict), value)), 10_000)

_ALARM: Rules = {
    "kind": needed(text(1, 64)),
    "event": text(0, 255),
    "target": text(1, 255),
    "since": needed(text(1, 32)),
    "until": text(1, 32),
    "severity": choice("critical", "warning", "info"),
    "most": integer(1, 100),
    "flapping": BOOLEAN,
    "shown": BOOLEAN,
}

_SHAPE: Rules = {
    "title": needed(text(1, 255)),
    "workspace": choice(*workspaces.names()),
    "lasts": needed(text(1, 32)),
    "alarms": each(nested(_ALARM), 1000),
}


def _scenario(name: str, table: dict[str, Any]) -> Scenario:
    rows = take(_TABLES, table.pop("steps", []), "steps")
    whole = gather(_SHAPE, table)
    return Scenario(
        name=name,
        title=whole["title"],
        workspace=whole.get("workspace", "stage"),
        lasts=workspaces.seconds(whole["lasts"]),
        steps=tuple(sorted(_steps(rows), key=lambda step: step.at)),
        alarms=tuple(_expected(row) for row in whole.get("alarms", ())),
    )


def _steps(rows: list[dict[str, Any]]) -> Iterator[Step]:
    fixed: Rules = {"at": needed(text(1, 32)), "do": needed(choice(*COMMANDS))}
    for row in rows:
        taken = gather(fixed, {name: row[name] for name in row if name in fixed})
        act = COMMANDS[taken["do"]]
        on: Rules = {act.on: needed(text(1, 255))} if act.on else {}
        asked = gather(on | act.parameters, {name: row[name] for name in row if name not in fixed})
        yield Step(workspaces.seconds(taken["at"]), taken["do"], asked.pop(act.on, ""), asked)


def _expected(row: dict[str, Any]) -> Expected:
    until = workspaces.seconds(row["until"]) if "until" in row else None
    return Expected(**{"event": ""} | row | {"since": workspaces.seconds(row["since"]), "until": until})
