"""Scenarios: timelines of commands, read from TOML, with the alarms that they expect (simulator.md).

The same file drives a demo, a rehearsal and a golden test. Offsets count from the start of the scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from livedeck.simulator.engine.reference import read_table, table_names
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.timeline import Playback, TimelineEntry
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import ApiError, SimulatorError, not_found
from livedeck.simulator.models import UNSET, Boolean, Must, RequestBody, check, integer, one_of, text
from livedeck.simulator.rehearsal.commands import COMMANDS, FAULT, Command, FaultArguments, run_command
from livedeck.simulator.rehearsal.workspaces import names as workspace_names
from livedeck.simulator.rehearsal.workspaces import rebuild, seconds_of

Name = Annotated[str, text(1, 255)]
Offset = Annotated[str, text(1, 32)]


@dataclass(frozen=True, slots=True)
class Step:
    """Command, `at` seconds from the start.

    `target`: the name of an event or room, "*" for every event with an unfinished stream, empty if the command has
    none.
    """

    at: float
    command: str
    target: str
    arguments: RequestBody


@dataclass(frozen=True, slots=True)
class Expected:
    """Alarm that the scenario must raise.

    `since`, `until`: start and end of its cause, in seconds from the start of the scenario; `until` is None if the
    cause stays. `event`: name of the event; empty for an alarm about the platform. `target`: part of the event with the
    fault. `severity`: highest severity of the alarm; empty for any. `most`: maximum number of times that it is raised.
    `flapping`: the alarm flaps. `shown`: False if another alarm suppresses it, so that it is hardly visible.
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
    """Timeline on a workspace. `lasts`: seconds. Steps ascend by time. `table`: the whole file as read."""

    name: str
    title: str
    workspace: str
    lasts: float
    steps: tuple[Step, ...]
    alarms: tuple[Expected, ...]
    table: Mapping[str, Any]


class _AlarmRow(RequestBody):
    kind: Annotated[str, text(1, 64)]
    event: Annotated[str, text(0, 255)] = ""
    target: Name = UNSET
    since: Offset
    until: Offset = UNSET
    severity: Annotated[str, one_of("critical", "warning", "info")] = UNSET
    most: Annotated[int, integer(1, 100)] = UNSET
    flapping: Boolean = UNSET
    shown: Boolean = UNSET


class _StepHead(RequestBody):
    at: Offset
    do: Annotated[str, one_of(*COMMANDS)]


class _ScenarioFile(RequestBody):
    title: Name
    workspace: Annotated[str, one_of(*workspace_names())] = "stage"
    lasts: Offset
    steps: Annotated[list[Annotated[dict[str, Any], Must("a table")]], Field(max_length=10_000, default_factory=list)]
    alarms: Annotated[list[_AlarmRow], Field(max_length=1000, default_factory=list)]


class _FaultsFile(RequestBody):
    faults: Annotated[list[FaultArguments], Field(max_length=10_000, default_factory=list)]


def names() -> list[str]:
    """Return the names of the scenarios that ship with the simulator."""
    return table_names("scenarios")


def load(scenario: str | Path) -> Scenario:
    """Load a shipped scenario by name, or a file. Raises SimulatorError if it is invalid."""
    with _explained(scenario):
        return _scenario(Path(scenario).stem, _read_table("scenarios", scenario))


def set_faults(world: World, faults: str | Path) -> None:
    """Replace the faults with a shipped set, by name, or with a file. Raises SimulatorError if it is invalid."""
    with _explained(faults), world.store.transaction():
        world.faults.clear()
        for arguments in check(_FaultsFile, _read_table("faults", faults)).faults:
            run_command(world, FAULT, world.now(), {}, arguments)


@contextmanager
def _explained(source: str | Path) -> Iterator[None]:
    """Convert errors of a file into a SimulatorError that says what is wrong with it."""
    try:
        yield
    except ApiError as error:
        wrong = "; ".join(f"{name} {reason}" for name, reason in error.invalid_params)
        raise SimulatorError(f"{source} is invalid: {wrong}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SimulatorError(f"cannot read {source}: {error}") from error


def _read_table(folder: str, source: str | Path) -> dict[str, Any]:
    if Path(source).suffix == ".toml":
        return tomllib.loads(Path(source).read_text(encoding="utf-8"))
    if str(source) not in table_names(folder):
        raise SimulatorError(
            f"no {source!s} among the {folder}: choose from {', '.join(table_names(folder))}, or give a TOML file"
        )
    return read_table(folder, str(source))


def start(world: World, scenario: Scenario, seed: int, workspaces: Sequence[Workspace]) -> None:
    """Create the scenario's workspace in place of the first of `workspaces`, as of now, and play it from here."""
    served, *others = workspaces
    with world.store.transaction():
        rebuild(world, seed, [replace(served, name=scenario.workspace), *others])
        world.timeline.start(_playback(world, scenario, world.now()))


def make_anew(world: World, seed: int) -> None:
    """Create the served workspaces anew from `seed`, as of now, and play the scenario, if any, from its beginning."""
    kept = world.store.get("world", "playback")
    if kept is None:
        rebuild(world, seed, world.workspaces())
    else:
        start(world, _scenario(kept["name"], kept["table"]), seed, world.workspaces())


def go_on(world: World) -> None:
    """Continue the kept scenario, if any, from its position."""

    def playback(name: str, table: Mapping[str, Any], began_at: float) -> Playback:
        with _explained(f"the kept scenario {name}"):
            return _playback(world, _scenario(name, table), began_at)

    world.timeline.go_on(playback)


def _playback(world: World, scenario: Scenario, began_at: float) -> Playback:
    entries = [
        TimelineEntry(began_at + step.at, f"{step.command} {step.target}".strip(), partial(_run_step, world, step))
        for step in scenario.steps
    ]
    return Playback(scenario.name, began_at, began_at + scenario.lasts, entries, scenario.table)


def _run_step(world: World, step: Step, at: float) -> None:
    command = COMMANDS[step.command]
    for target in _targets(world, command, step.target):
        run_command(world, command, at, target, step.arguments)


def _targets(world: World, command: Command[Any], name: str) -> list[Document]:
    """Return the documents that a step applies to. Raises the documented error if none has that name."""
    if not command.target:
        return [{}]
    documents = world.store.find_all(command.target, world.workspaces()[0].workspace_id)
    if name == "*":
        return [event for event in documents if event.get("stream") and event["stream"]["status"] != "finished"]
    targets = [document for document in documents if document["name"] == name]
    if not targets:
        raise not_found()
    return targets


def _scenario(name: str, table: Mapping[str, Any]) -> Scenario:
    file = check(_ScenarioFile, table)
    return Scenario(
        name=name,
        title=file.title,
        workspace=file.workspace,
        lasts=seconds_of(file.lasts),
        steps=tuple(sorted(map(_step, file.steps), key=lambda step: step.at)),
        alarms=tuple(map(_expected, file.alarms)),
        table=table,
    )


def _step(row: dict[str, Any]) -> Step:
    head = check(_StepHead, {name: row[name] for name in _StepHead.model_fields if name in row})
    command = COMMANDS[head.do]
    step = check(_step_model(command), row).given()
    arguments = {name: step[name] for name in command.arguments.model_fields if name in step}
    target = step[command.target] if command.target else ""
    return Step(seconds_of(head.at), head.do, target, command.arguments.model_validate(arguments))


@cache
def _step_model(command: Command[Any]) -> type[RequestBody]:
    """Return the model of a whole step of the command, so that one error lists all its faults."""
    fields: dict[str, Any] = {"at": (str, ...), "do": (str, ...)}
    fields |= {command.target: (Name, ...)} if command.target else {}
    model: type[RequestBody] = create_model("Step", __base__=command.arguments, **fields)
    return model


def _expected(alarm: _AlarmRow) -> Expected:
    times = {"since": seconds_of(alarm.since), "until": alarm.until and seconds_of(alarm.until)}
    return Expected(**{"event": "", **alarm.given(), **times})
