"""Check before the start: plays a scenario to its end on a copy in memory, and lists everything that is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.encoder import encoder_states, first_sent_at
from livedeck.simulator.engine.store import Document, Files, Store
from livedeck.simulator.engine.timeline import Refusal
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import ApiError, SimulatorError
from livedeck.simulator.http import Endpoint
from livedeck.simulator.models import RequestBody
from livedeck.simulator.rehearsal import scenario_file, scenarios
from livedeck.simulator.rehearsal.fault_arguments import OPERATIONS
from livedeck.simulator.rehearsal.naming import there_are
from livedeck.simulator.rehearsal.scenario import Expected, Scenario
from livedeck.simulator.rehearsal.scenario_file import Flaw
from livedeck.simulator.rehearsal.workspaces import Table, read_toml

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""Time at which the copy starts if the scenario has no `start`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Place in a table that is wrong, and the reason. `path`: such as `steps[3].event`. `line`: in the TOML text."""

    path: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        row, _, field = self.path.partition(".")
        place = row if self.line is None else f"{row} (line {self.line})".strip()
        place = f"{place}, {field}" if field else place
        return f"{place}: {self.reason}" if place else self.reason


class TableError(ApiError):
    """Reply to a wrong table: every problem, with its line if the table came as TOML."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(400, 400400, "invalid parameters", [(problem.path, problem.reason) for problem in problems])
        self.problems = tuple(problems)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the documented error object. A problem with a line names it."""
        wrong = [
            {"name": problem.path or "body", "reason": problem.reason}
            | ({} if problem.line is None else {"line": problem.line})
            for problem in self.problems
        ]
        error = {"code": self.code, "message": self.message, "invalid_params": wrong}
        return JSONResponse({"error": error}, self.status, headers)


@dataclass(frozen=True, slots=True)
class Source:
    """Table as received. `text`: its TOML, or None. `folder`: the place of TOML files that it names, or None."""

    name: str
    table: Mapping[str, Any]
    text: str | None = None
    folder: Path | None = None

    @classmethod
    def of_text(cls, name: str, text: str, folder: Path | None = None) -> Source:
        """Read a text of TOML. Raises TableError if the text is not TOML."""
        try:
            return cls(name, read_toml(text), text, folder)
        except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            at = re.search(r"at line (\d+)", str(error))
            reason = "nested too deeply" if isinstance(error, RecursionError) else f"not TOML: {error}"
            raise TableError([Problem("", int(at[1]) if at else None, reason)]) from None

    @classmethod
    def of_file(cls, path: Path) -> Source:
        """Read a TOML file. Raises TableError if it is not TOML, and SimulatorError if it cannot be read."""
        try:
            return cls.of_text(path.stem, path.read_text(encoding="utf-8"), path.parent)
        except UnicodeDecodeError:
            raise SimulatorError(f"cannot read {path}: it is not UTF-8 text") from None
        except OSError as error:
            raise SimulatorError(f"cannot read {path}: {error.strerror}") from None

    def problems(self, flaws: Sequence[Flaw]) -> list[Problem]:
        """Return the flaws with their lines, in the order of the text."""
        lines = Lines(self.text) if self.text is not None else None
        found = [
            Problem(path, None if lines is None else lines.of(path), reason) for path, reason in dict.fromkeys(flaws)
        ]
        return sorted(found, key=lambda problem: problem.line or 0)


def read_scenario(source: Source, posted: Mapping[str, Table]) -> Scenario:
    """Return the scenario, after it played to its end on a copy without a refusal. Raises TableError."""
    scenario, flaws = scenario_file.draft(source.name, source.table, posted, source.folder)
    if not any(path.startswith("workspace") for path, _ in flaws):
        flaws += _play(scenario)
    if flaws:
        raise TableError(source.problems(flaws))
    return scenario


def check_workspace(source: Source) -> None:
    """Raise TableError if the table is no workspace."""
    flaws = scenario_file.template_flaws(source.table)
    if flaws:
        raise TableError(source.problems(flaws))


def _play(scenario: Scenario) -> Iterator[Flaw]:
    """Play the scenario to its end on a copy.

    Yields the steps that the copy refuses, the alarms about events or parts that the copy lacks, and wrong patterns.
    """
    with World.in_memory(SimulatorClock(scenario.start or START, paused=True), _NoFiles(), _Copy) as world:
        served = Workspace(scenario.workspace, "00000000-0000-4000-8000-000000000001", "", "")
        scenarios.start(world, scenario, scenario.seed or 1, [served])
        events = {
            row["name"]: row for row in world.store.find_all("event", served.workspace_id, order=[("name", "asc")])
        }
        yield from _alarm_flaws(events, scenario.alarms)
        yield from _request_flaws(events, scenario)
        misnamed = _misnamed(world, scenario)
        for refusal in world.timeline.catch_up(inf):
            yield _flaw_of(refusal, scenario)
        still = {path for path, _ in _misnamed(world, scenario)}
        yield from (flaw for flaw in misnamed if flaw[0] in still)


def _misnamed(world: World, scenario: Scenario) -> list[Flaw]:
    """Return the waiting steps that name an object which the present state lacks.

    Other refusals of a waiting step prove nothing, because the state may differ when the step runs.
    """
    refused = world.timeline.refused_waiting(world.now())
    return [_flaw_of(refusal, scenario) for refusal in refused if refusal.error.invalid_params]


def _flaw_of(refusal: Refusal, scenario: Scenario) -> Flaw:
    field, reason = (refusal.error.invalid_params or [("", refusal.error.message)])[0]
    row = scenario.table["steps"][refusal.entry.index]
    shown = field if field in row else next(name for name in ("event", "room", "do") if name in row)
    return f"steps[{refusal.entry.index}].{shown}", reason


def _alarm_flaws(events: Mapping[str, Document], alarms: Sequence[Expected]) -> Iterator[Flaw]:
    for alarm in alarms:
        path = f"alarms[{alarm.index}]"
        if alarm.event and alarm.event not in events:
            yield f"{path}.event", f'no event is called "{alarm.event}"; {there_are(events, alarm.event)}'
        elif alarm.event and alarm.target:
            targets = [row["name"] for row in events[alarm.event]["restreams"]]
            if alarm.target not in targets:
                reason = (
                    f'no restream of "{alarm.event}" is called "{alarm.target}"; {there_are(targets, alarm.target)}'
                )
                yield f"{path}.target", reason


def _request_flaws(events: Mapping[str, Document], scenario: Scenario) -> Iterator[Flaw]:
    """Yield the unknown events and body fields in all patterns for requests, and the unknown events of faults."""
    requests = {f"answers[{answer.index}]": answer.request or {} for answer in scenario.answers}
    requests |= {f"allowed[{index}]": request for index, request in enumerate(scenario.allowed)}
    patterns = {f"{path}.request": request for path, request in requests.items()}
    patterns |= {f"steps[{step.index}].when": step.when or {} for step in scenario.steps}
    faults = {f"steps[{step.index}].match": step.arguments.given().get("match") or {} for step in scenario.steps}
    names = [*events, *_later_names(scenario)]
    known = {*names, *(row["id"] for row in events.values())}
    for path, request in {**patterns, **faults}.items():
        if isinstance(wanted := request.get("event"), str) and wanted not in known:
            yield f"{path}.event", f'no event is called "{wanted}"; {there_are(names, wanted)}'
    for path, request in patterns.items():
        if isinstance(named := request.get("operation"), str):
            yield from _body_flaws(path, OPERATIONS[named], request)


def _later_names(scenario: Scenario) -> Iterator[str]:
    """Yield the names and ids of events that a step of the scenario gives."""
    for step in scenario.steps:
        given = step.arguments.given()
        yield from (name for name in (given.get("fields", {}).get("name"), given.get("event_id")) if name)


def _body_flaws(path: str, endpoint: Endpoint[Any], request: Mapping[str, Any]) -> Iterator[Flaw]:
    """Yield the fields of the body that the operation does not have: such a request never comes."""
    body = endpoint.takes
    if not (isinstance(body, type) and issubclass(body, RequestBody)):
        return
    for key in request:
        field = key.removeprefix("json.").partition(".")[0]
        if key.startswith("json.") and field not in {*body.model_fields, *body.ignored()}:
            there = there_are(body.model_fields, field)
            yield f"{path}.{key}", f'{endpoint.operation} has no field "{field}"; {there}'


class _NoFiles(Files):
    """Files of a copy, which nobody downloads."""

    def save(self, storage_id: str, content: bytes) -> None:
        """Keep nothing."""

    def keep(self, storage_ids: object) -> None:
        """Delete nothing."""


class _Copy(Store):
    """Documents of a copy. Its events lack the past that no step needs, so each step costs the same."""

    def update(self, kind: str, document: Document) -> None:
        """Keep the encoder's first sending state, which begins a stream, its newest state, and the newest chat rate."""
        if kind == "event":
            states = encoder_states(document["encoder"])
            began_at = first_sent_at(states, inf)
            kept = [state for state in states if state.at == began_at or state is states[-1]]
            document = document | {"encoder": kept, "chat": document["chat"][-1:], "earlier": []}
        super().update(kind, document)


_LONGEST_PATH = 1000
"""Maximum number of characters of a path that are used to find its line."""


class Lines:
    """Lines of a TOML text at which its tables and fields begin."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        counts: dict[str, int] = {}
        table, quotes = "", ""
        for number, line in enumerate(text.splitlines(), 1):
            if not quotes:
                table = self._read(line, number, table, counts)
            for mark in re.findall(r'"""|\'\'\'', line):
                quotes = mark if not quotes else "" if mark == quotes else quotes

    def _read(self, line: str, number: int, table: str, counts: dict[str, int]) -> str:
        """Note what begins on this line; return the table that the next lines belong to."""
        header = re.match(r"(\[\[?)([^\[\]]+)\]", line.strip())
        if header is None:
            field = re.match(r"\s*([\w.-]+|\"[^\"]*\")\s*=", line)
            if field is not None:
                self._lines.setdefault(f"{table}.{_plain(field[1])}".removeprefix("."), number)
            return table
        name = ".".join(map(_plain, header[2].split(".")))
        parent = max((table for table in counts if name.startswith(f"{table}.")), key=len, default="")
        base = f"{parent}[{counts[parent] - 1}]{name[len(parent) :]}" if parent else name
        if header[1] == "[[":
            counts[name] = counts.get(name, 0) + 1
            for below in [table for table in counts if table.startswith(f"{name}.")]:
                del counts[below]
            base = f"{base}[{counts[name] - 1}]"
        self._lines[base] = number
        return base

    def of(self, path: str) -> int | None:
        """Return the line of the field, or of the nearest table around it."""
        path = path[:_LONGEST_PATH]
        while path and path not in self._lines:
            if f"{path}[0]" in self._lines:
                return self._lines[f"{path}[0]"]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self._lines.get(path)


def _plain(name: str) -> str:
    return name.strip().strip("\"'")


def check_table(path: Path) -> Sequence[Problem]:
    """Return every problem of a scenario, a workspace or faults in a TOML file.

    Raises SimulatorError if the file cannot be read.
    """
    try:
        source = Source.of_file(path)
        if "events" in source.table and "lasts" not in source.table:
            check_workspace(source)
        elif "faults" in source.table:
            scenarios.check_faults(source.table)
        else:
            read_scenario(source, {})
    except TableError as error:
        return error.problems
    except ApiError as error:
        return source.problems(error.invalid_params)
    return ()
