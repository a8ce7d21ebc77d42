"""Recorded show as a snapshot: its events and samples, and a scenario that sets each change at its time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Any

from livedeck.simulator.engine.clock import SimulatorClock, format_timestamp
from livedeck.simulator.engine.identity import secret_of
from livedeck.simulator.engine.store import Document, Files, State, Store
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.models import is_uuid
from livedeck.simulator.rehearsal import scenario_file, scenarios, snapshots
from livedeck.simulator.rehearsal.event_fields import NewEventFields
from livedeck.simulator.rehearsal.offsets import offset_of
from livedeck.simulator.rehearsal.scenario import Expected
from livedeck.simulator.rehearsal.scenario_file import flaws_of

WORKSPACE = "recorded"
_SEED = 1
"""Seed of the parts that no recording has, such as keys and chat messages."""

RecordedSample = tuple[str, int, float | None, float | None, float | None, int | None]
"""Stream, time (epoch ms), video and audio (bit/s), frames per second, status; None for a missing value."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """Fields of an event from `at` on, in the form of the API; None if it was deleted."""

    at: datetime
    event_id: str
    fields: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordedShow:
    """Show as a deck recorded it. `events`: ascending by time. `alarms`: their times count from `since`, in seconds."""

    title: str
    since: datetime
    until: datetime
    events: Sequence[RecordedEvent]
    samples: Iterable[RecordedSample]
    alarms: Sequence[Expected]


def write_show(show: RecordedShow, path: Path, token: str) -> None:
    """Write a snapshot that plays the show from its beginning.

    `token`: token of its workspace. Raises SimulatorError for fields that no event of the platform has.
    """
    served = {row.event_id: _whole(row) for row in show.events if row.at <= show.since and row.fields is not None}
    table = {
        "title": show.title,
        "workspace": WORKSPACE,
        "lasts": offset_of(max(1, ceil((show.until - show.since).total_seconds()))),
        "clock": {"start": format_timestamp(show.since)},
        "steps": [*_steps(show, served)],
        "alarms": [*map(_alarm, show.alarms)],
    }
    template: Document = {"events": [], "recorded": served}
    scenario, flaws = scenario_file.draft(WORKSPACE, table, {WORKSPACE: template})
    flaws = [flaw for flaw in flaws if not flaw[0].startswith("workspace")]
    if flaws:
        raise SimulatorError(f"the recording cannot be played: {flaws[0][0]} {flaws[0][1]}")
    with World.in_memory(SimulatorClock(show.since, paused=True), Files()) as world:
        world.store.add_recorded(show.samples)
        workspaces = [Workspace.of(WORKSPACE, token), Workspace.of("other", secret_of("other", token, _SEED))]
        scenarios.start(world, scenario, _SEED, workspaces)
        world.clock.change(paused=False)
        state = State(Store(), Files())
        snapshots.take(world, state)
    with path.open("wb") as file:
        snapshots.write(state, file)


def _steps(show: RecordedShow, served: Mapping[str, Document]) -> Iterator[Document]:
    """Yield a step for each change after the start."""
    present = dict(served)
    for row in show.events:
        if row.at <= show.since:
            continue
        step: Document = {"at": offset_of(int((row.at - show.since).total_seconds()))}
        before = present.pop(row.event_id, None)
        if row.fields is None:
            if before is not None:
                yield step | {"do": "delete", "event": row.event_id}
            continue
        present[row.event_id] = now = _whole(row)
        if before is None:
            yield step | {"do": "create", "event_id": row.event_id, "fields": now}
        elif changed := {name: value for name, value in now.items() if before.get(name) != value}:
            yield step | {"do": "set", "event": row.event_id, "fields": changed}


def _whole(row: RecordedEvent) -> Document:
    """Return a recorded event with every field of the platform. Raises SimulatorError if a field is invalid."""
    assert row.fields is not None
    flaws = flaws_of(NewEventFields, row.fields)
    if flaws or not is_uuid(row.event_id):
        where, reason = flaws[0] if flaws else ("id", "must be a UUID")
        raise SimulatorError(
            f"the event {row.event_id} of {format_timestamp(row.at)} cannot be played: {where} {reason}"
        )
    return NewEventFields.model_validate(row.fields).whole()


def _alarm(alarm: Expected) -> Document:
    row = {"kind": alarm.kind, "event": alarm.event, "since": offset_of(max(0, int(alarm.since)))}
    optional = {"target": alarm.target, "severity": alarm.severity}
    until = {} if alarm.until is None else {"until": offset_of(max(int(alarm.since), 0, ceil(alarm.until) - 1) + 1)}
    return row | {name: value for name, value in optional.items() if value} | until
