"""Scenario: a timeline of commands on a workspace, with the alarms and answers that it expects. Values only.

Offsets count from the start of the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from livedeck.simulator.models import RequestBody
from livedeck.simulator.rehearsal.workspaces import Table


@dataclass(frozen=True, slots=True)
class Step:
    """Command of a scenario. `at`: seconds from the start, or from a request.

    `target`: the name or id of an event or room, "*" for every event with an unfinished stream, empty if the command
    has none. `index`: its place in the table. `when`: pattern of the request that this step waits for. `after`: index
    of the step whose request `at` counts from, which may be this step itself; None for the start.
    """

    at: float
    command: str
    target: str
    arguments: RequestBody
    index: int = 0
    after: int | None = None
    when: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """Alarm that the scenario must raise.

    `since`, `until`: start and end of its cause, in seconds from the start of the scenario; `until` is None if the
    cause stays. `event`: name of the event; empty for an alarm about the platform. `target`: part of the event with the
    fault. `severity`: highest severity of the alarm; empty for any. `most`: maximum number of times that it is raised.
    `flapping`: the alarm flaps. `shown`: False if another alarm suppresses this alarm.
    `index`: its place in the table.
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
    index: int = 0


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds after an alarm: full credit for a reaction up to `par`, none from `limit` on."""

    par: float
    limit: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Reaction of a good operator to the alarm of a row of `[[alarms]]`.

    `target`: part of the event that the alarm must name; empty for any. `action`: time for a change that matches
    `request`, or for a note that contains the word `note`; None if only the acknowledgement counts. `index`: its place
    in the table.
    """

    alarm: Expected
    target: str
    acknowledge: Timing
    action: Timing | None = None
    request: Mapping[str, Any] | None = None
    note: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """Timeline on a workspace. `lasts`: seconds. Steps ascend by time. `table`: the whole file as read.

    `template`: table of its workspace, None for a shipped one. `shapes`: its custom shapes, as rows. `seed`, `start`,
    `quiet_speed`: as in the file, or None. `answers`: reactions that a drill grades. `allowed`: patterns of changes
    that are neither right nor wrong.
    """

    name: str
    title: str
    workspace: str
    lasts: float
    steps: tuple[Step, ...]
    alarms: tuple[Expected, ...]
    table: Mapping[str, Any]
    template: Table | None = None
    shapes: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    start: datetime | None = None
    quiet_speed: float | None = None
    answers: tuple[Answer, ...] = ()
    allowed: tuple[Mapping[str, Any], ...] = ()
