"""Scenarios that are loaded and played; the same file drives a demo, a rehearsal and a golden test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from livedeck.simulator.engine.pattern import RequestPattern
from livedeck.simulator.engine.reference import read_table, table_names
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.timeline import Playback, TimelineEntry
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import ApiError, SimulatorError
from livedeck.simulator.models import RequestBody, check
from livedeck.simulator.rehearsal.commands import COMMANDS, FAULT, Command, run_command
from livedeck.simulator.rehearsal.fault_arguments import FaultArguments
from livedeck.simulator.rehearsal.naming import find_document
from livedeck.simulator.rehearsal.scenario import Scenario, Step
from livedeck.simulator.rehearsal.scenario_file import draft
from livedeck.simulator.rehearsal.shapes import use_shapes
from livedeck.simulator.rehearsal.workspaces import read_toml, rebuild, served_table


class _FaultsFile(RequestBody):
    faults: Annotated[list[FaultArguments], Field(max_length=10_000, default_factory=list)]


def names() -> list[str]:
    """Return the names of the scenarios that ship with the simulator."""
    return table_names("scenarios")


def load(scenario: str | Path) -> Scenario:
    """Load a shipped scenario by name, or a file. Raises SimulatorError with everything that is wrong with it."""
    path = Path(scenario)
    with explained(scenario):
        loaded, flaws = draft(path.stem, read_source("scenarios", scenario), {}, path.parent)
    if flaws:
        raise SimulatorError(f"{scenario} is invalid: {'; '.join(f'{name} {reason}' for name, reason in flaws)}")
    return loaded


def set_faults(world: World, faults: str | Path) -> None:
    """Replace the faults with a shipped set, by name, or with a file. Raises SimulatorError if it is invalid."""
    with explained(faults), world.store.transaction():
        world.faults.clear()
        for arguments in check_faults(read_source("faults", faults)):
            run_command(world, FAULT, world.now(), {}, arguments)


def check_faults(table: Mapping[str, Any]) -> list[FaultArguments]:
    """Return the faults of a table. Raises the documented error that lists what is wrong."""
    return check(_FaultsFile, table).faults


@contextmanager
def explained(source: str | Path) -> Iterator[None]:
    """Convert errors of a file into a SimulatorError that says what is wrong with it."""
    try:
        yield
    except ApiError as error:
        wrong = "; ".join(f"{name} {reason}" for name, reason in error.invalid_params)
        raise SimulatorError(f"{source} is invalid: {wrong}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SimulatorError(f"cannot read {source}: {error}") from error


def read_source(folder: str, source: str | Path) -> dict[str, Any]:
    """Return the table of a TOML file, or the shipped table of this name. Raises SimulatorError for an unknown name."""
    if Path(source).suffix == ".toml":
        return read_toml(Path(source).read_text(encoding="utf-8"))
    if str(source) not in table_names(folder):
        raise SimulatorError(
            f"no {source!s} among the {folder}: choose from {', '.join(table_names(folder))}, or give a TOML file"
        )
    return read_table(folder, str(source))


def start(world: World, scenario: Scenario, seed: int, workspaces: Sequence[Workspace]) -> None:
    """Create the scenario's workspace in place of the first of `workspaces`, as of now, and play it from here."""
    served, *others = workspaces
    with world.store.transaction():
        served = replace(served, name=scenario.workspace)
        rebuild(world, seed, [served, *others], scenario.template)
        use_shapes(world, {**(scenario.template or {}).get("shapes", {}), **scenario.shapes})
        world.timeline.start(_playback(world, scenario, world.now()))


def playing(world: World) -> Scenario | None:
    """Return the scenario in play, even after its end or a stop."""
    playback = world.timeline.playback
    return None if playback is None else _kept(playback.name, playback.table)


def make_anew(world: World, seed: int) -> None:
    """Create the served workspaces anew from `seed`, as of now, and play the scenario, if any, from its beginning."""
    scenario = playing(world)
    if scenario is None:
        rebuild(world, seed, world.workspaces(), served_table(world))
    else:
        start(world, scenario, seed, world.workspaces())


def go_on(world: World) -> None:
    """Continue the kept scenario, if any, from its position."""

    def playback(name: str, table: Mapping[str, Any], began_at: float) -> Playback:
        return _playback(world, _kept(name, table), began_at)

    world.timeline.go_on(playback)


def _kept(name: str, kept: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a stored playback, with the table of its workspace."""
    scenario, _ = draft(name, kept["scenario"], {kept["workspace"]: kept["template"]} if kept["template"] else {})
    return replace(scenario, workspace=kept["workspace"], template=kept["template"])


def _playback(world: World, scenario: Scenario, began_at: float) -> Playback:
    entries = [
        TimelineEntry(
            step.at if step.after is not None else began_at + step.at,
            f"{step.command} {step.target}".strip(),
            step.index,
            partial(_run_step, world, step),
            step.after,
            None if step.when is None else RequestPattern(step.when),
        )
        for step in scenario.steps
    ]
    kept = {"scenario": scenario.table, "workspace": scenario.workspace, "template": scenario.template}
    return Playback(scenario.name, began_at, began_at + scenario.lasts, entries, kept)


def _run_step(world: World, step: Step, at: float) -> None:
    command = COMMANDS[step.command]
    for target in _targets(world, command, step.target):
        run_command(world, command, at, target, step.arguments)


def _targets(world: World, command: Command[Any], name: str) -> list[Document]:
    """Return the documents that a step applies to. Raises the documented error if none has that name."""
    if not command.target:
        return [{}]
    if name != "*":
        return [find_document(world, command.target, name)]
    documents = world.store.find_all(command.target, world.workspaces()[0].workspace_id)
    return [event for event in documents if event.get("stream") and event["stream"]["status"] != "finished"]
