"""Models of the TOML tables of a scenario, and checks that find every flaw (simulator.md, "Scenarios")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field, create_model

from livedeck.simulator.engine.reference import DATA, table_names
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import ApiError
from livedeck.simulator.models import UNSET, Boolean, Must, RequestBody, Time, check, integer, number, one_of, text
from livedeck.simulator.rehearsal.commands import COMMANDS, Command
from livedeck.simulator.rehearsal.fault_arguments import PatternTable
from livedeck.simulator.rehearsal.naming import there_are
from livedeck.simulator.rehearsal.offsets import Offset, offset_of, seconds_of
from livedeck.simulator.rehearsal.scenario import Answer, Expected, Scenario, Step, Timing
from livedeck.simulator.rehearsal.shapes import ShapeRow
from livedeck.simulator.rehearsal.template import Template, find_flaws
from livedeck.simulator.rehearsal.workspaces import Table, find_table

Name = Annotated[str, text(1, 255)]
Seed = Annotated[int, integer(0, 2**53)]
Flaw = tuple[str, str]
"""Path in a table, such as `steps[3].event`, and the reason why it is wrong."""

ALARM_KINDS = tuple((DATA / "alarm_kinds.txt").read_text(encoding="ascii").split())
"""Kinds of alarms that a scenario may expect."""


class AlarmRow(RequestBody):
    """Alarm that the monitor must raise. `since`, `until`: begin and end of its cause."""

    kind: Annotated[str, text(1, 64)]
    event: Annotated[str, text(0, 255)] = ""
    target: Name = UNSET
    since: Offset
    until: Offset = UNSET
    severity: Annotated[str, one_of("critical", "warning", "info")] = UNSET
    most: Annotated[int, integer(1, 100)] = UNSET
    flapping: Boolean = UNSET
    shown: Boolean = UNSET


_Seconds = Annotated[float, number(0, 86_400)]


class ReactionRow(RequestBody):
    """Seconds after the alarm: full credit up to `par`, none from `limit` on."""

    par: _Seconds
    limit: _Seconds


class AnswerRow(RequestBody):
    """Reaction of a good operator to an alarm: an acknowledgement, and perhaps a change or a note."""

    alarm: Annotated[str, text(1, 64)]
    event: Annotated[str, text(0, 255)] = ""
    target: Name = UNSET
    acknowledge: ReactionRow
    request: PatternTable = UNSET
    note: Annotated[str, text(1, 64)] = UNSET
    par: _Seconds = UNSET
    limit: _Seconds = UNSET


class AllowedRow(RequestBody):
    """Change that is neither right nor wrong."""

    request: PatternTable


class StepHead(RequestBody):
    """Step: `at` counts from the start, or from the step with the id `after`. `do`: the command.

    Without `at`, a step waits for the first request that matches `when`, and then for the time `delay`.
    """

    id: Annotated[str, text(1, 64)] = UNSET
    at: Offset = UNSET
    after: Annotated[str, text(1, 64)] = UNSET
    when: PatternTable = UNSET
    delay: Offset = UNSET
    do: Annotated[str, one_of(*COMMANDS)]


class ClockRow(RequestBody):
    """Table `clock` of a scenario file.

    `start`: time at which the copy starts. `quiet_speed`: speed of a drill while no fault waits for an answer.
    """

    start: Time = UNSET
    quiet_speed: Annotated[float, number(1, 30)] = UNSET


_Rows = Annotated[list[Annotated[dict[str, Any], Must("a table")]], Field(max_length=10_000)]


class ScenarioFile(RequestBody):
    """Scenario. `workspace`: its name, the name of a TOML file beside this one, or the table itself."""

    title: Name
    workspace: Annotated[str | dict[str, Any], Must("a name or a table")] = "stage"
    lasts: Offset
    seed: Seed = UNSET
    clock: ClockRow = UNSET
    shapes: Annotated[dict[str, Any], Must("tables [shapes.NAME]")] = Field(default_factory=dict)
    steps: _Rows = Field(default_factory=list)
    alarms: _Rows = Field(default_factory=list)
    answers: _Rows = Field(default_factory=list)
    allowed: _Rows = Field(default_factory=list)


def draft(
    name: str, table: Mapping[str, Any], posted: Mapping[str, Table], folder: Path | None = None
) -> tuple[Scenario, list[Flaw]]:
    """Return the valid parts of the scenario, and all its flaws.

    `posted`: posted workspaces by name. `folder`: folder of further workspaces, as TOML files.
    """
    flaws: list[Flaw] = []
    head = _sound_fields(table, flaws)
    workspace, template = _workspace(head.get("workspace", "stage"), name, posted, folder, flaws)
    shapes = _shapes(head.get("shapes", {}), flaws)
    if template is not None:
        flaws += _template_flaws(template, shapes, "" if isinstance(table["workspace"], dict) else workspace)
    lasts = head.get("lasts")
    if lasts is not None and lasts <= 0:
        flaws.append(("lasts", "must be above 0"))
    clock = head.get("clock") or {}
    steps, alarms = _steps(head.get("steps", ()), lasts, flaws), tuple(_alarms(head.get("alarms", ()), lasts, flaws))
    scenario = Scenario(
        name=name,
        title=head.get("title", ""),
        workspace=workspace,
        lasts=lasts or 0,
        steps=steps,
        alarms=alarms,
        table=table,
        template=template,
        shapes=shapes,
        seed=head.get("seed"),
        start=clock.get("start"),
        quiet_speed=clock.get("quiet_speed"),
        answers=tuple(_answers(head.get("answers", ()), alarms, lasts, flaws)),
        allowed=tuple(_allowed(head.get("allowed", ()), flaws)),
    )
    return scenario, flaws


def flaws_of(model: type[RequestBody], values: object, path: str = "") -> list[Flaw]:
    """Return the flaws of a table by its model, each with its path below `path`."""
    try:
        check(model, values)
    except ApiError as error:
        return [(_below(path, name), _instead(model, name, reason)) for name, reason in error.invalid_params]
    return []


def _instead(model: type[RequestBody], path: str, reason: str) -> str:
    """Return the reason of a flaw, with advice if a field is unknown or must be a table or a list.

    The advice names the fields of the table, or the items of the list.
    """
    parent, _, name = path.rpartition(".")
    if reason == "unknown parameter" and model is ScenarioFile and name in Template.model_fields:
        is_list = get_origin(Template.model_fields[name].annotation) is list
        head = f"[[workspace.{name}]]" if is_list else f"[workspace.{name}.NAME]"
        return f'belongs to the workspace: write {head}, and leave out a line workspace = "NAME"'
    if reason == "unknown parameter" and (table := _model_at(model, parent)):
        return f"{reason}; {there_are(table.sent_names(), name)}"
    if reason == "must be an object" and (table := _model_at(model, path)):
        return f"must be a table of {', '.join(table.model_fields)}"
    if reason == "must be a list" and (table := _model_at(model, parent)) and name in table.model_fields:
        return f"{reason}{_items(table.model_fields[name].annotation)}"
    return reason


def _items(listed: object) -> str:
    """Return the words for the items of the list type `listed`: `, each item a table`. Empty if no rule is known."""
    item = next(iter(get_args(listed)), None)
    rules = getattr(getattr(item, "__value__", item), "__metadata__", ())
    words = next((rule.words for rule in rules if isinstance(rule, Must)), "a table" if _model_in(item) else "")
    return f", each item {words}" if words else ""


def _model_at(model: type[RequestBody], path: str) -> type[RequestBody] | None:
    """Return the model of the table at a path below `model`; None if the path has no model of its own."""
    found: type[RequestBody] | None = model
    for name in re.findall(r"[^.\[\]]+", re.sub(r"\[\d+\]", "", path)):
        field = found.model_fields.get(name) if found else None
        found = _model_in(field.annotation) if field else None
    return found


def _model_in(annotation: object) -> type[RequestBody] | None:
    """Return the model that an annotation names, including inside a list or union; None if it names no model."""
    if isinstance(annotation, type) and issubclass(annotation, RequestBody):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def _below(path: str, name: str) -> str:
    return path if name == "body" and path else f"{path}{'' if not path or name.startswith('[') else '.'}{name}"


def _sound_fields(table: Mapping[str, Any], flaws: list[Flaw]) -> Document:
    """Return the valid fields of the file; add the flaws of the others to `flaws`."""
    wrong = flaws_of(ScenarioFile, table)
    flaws += wrong
    bad = {re.split(r"[.\[]", path)[0] for path, _ in wrong}
    fields = ScenarioFile.model_fields
    rest = {name: value for name, value in table.items() if name in fields and name not in bad}
    fill = {name: value for name, value in {"title": "?", "lasts": "+1d"}.items() if name not in rest}
    sound = ScenarioFile.model_validate(rest | fill).given()
    return {name: value for name, value in sound.items() if name not in fill}


def _workspace(
    given: str | dict[str, Any], scenario: str, posted: Mapping[str, Table], folder: Path | None, flaws: list[Flaw]
) -> tuple[str, Table | None]:
    """Return the name of the workspace, and its table unless it is a shipped one."""
    if isinstance(given, dict):
        return scenario, given
    if given in table_names("workspaces"):
        return given, None
    try:
        return given, find_table(given, posted, folder)
    except LookupError as error:
        flaws.append(("workspace", str(error.args[0])))
        return "stage", None
    except (OSError, ValueError, RecursionError) as error:
        flaws.append(("workspace", f"cannot read {given}.toml: {error}"))
        return "stage", None


def _template_flaws(template: Table, shapes: Mapping[str, Any], name: str) -> list[Flaw]:
    """Return the flaws of a scenario's workspace. `name`: its file or posted table; empty for a table inside."""
    flaws = template_flaws(template, shapes)
    if name:
        return [(f"workspace.{path}", f"in {name}: {reason}") for path, reason in flaws]
    return [(f"workspace.{path}", reason.replace("tables [", "tables [workspace.")) for path, reason in flaws]


def template_flaws(template: Table, shapes: Mapping[str, Any] | None = None) -> list[Flaw]:
    """Return the flaws of the table of a workspace. `shapes`: further shapes for its encoders."""
    flaws = flaws_of(Template, template)
    return flaws or [*find_flaws(check(Template, template), shapes or {})]


def _shapes(rows: Mapping[str, Any], flaws: list[Flaw]) -> dict[str, Any]:
    """Return the rows by name, with a shipped shape in place of an invalid one."""
    wrong = {name: flaws_of(ShapeRow, row, f"shapes.{name}") for name, row in rows.items()}
    for found in wrong.values():
        flaws += found
    return {name: {} if wrong[name] else row for name, row in rows.items()}


def _steps(rows: Sequence[dict[str, Any]], lasts: float | None, flaws: list[Flaw]) -> tuple[Step, ...]:
    """Return the valid steps, ascending by time."""
    steps = [_step(index, row, flaws) for index, row in enumerate(rows)]
    times = _times(rows, flaws)
    placed = [
        replace(step, after=times[step.index][0], at=times[step.index][1])
        for step in steps
        if step is not None and step.index in times
    ]
    for step in placed:
        flaws += _outside(f"steps[{step.index}].{'at' if step.when is None else 'delay'}", step.at, lasts)
    return tuple(sorted(placed, key=lambda step: step.at))


def _outside(path: str, at: float, lasts: float | None) -> Iterator[Flaw]:
    """Yield a flaw if a time is before the start or after `lasts`."""
    if at < 0:
        yield path, f"{offset_of(at)} is before the start, +00:00:00"
    elif lasts is not None and at > lasts:
        yield path, f"{offset_of(at)} is after lasts, {offset_of(lasts)}"


def _step(index: int, row: dict[str, Any], flaws: list[Flaw]) -> Step | None:
    command = COMMANDS.get(row["do"]) if isinstance(row.get("do"), str) else None
    head = {name: row[name] for name in StepHead.model_fields if name in row}
    wrong = flaws_of(_step_model(command), row, f"steps[{index}]") if command else []
    wrong = wrong or flaws_of(StepHead, head, f"steps[{index}]") or [*_mistimed(f"steps[{index}]", row)]
    flaws += wrong
    if command is None or wrong:
        return None
    step = check(_step_model(command), row).given()
    given = {name: row[name] for name in command.arguments.sent_names() if name in row}
    target = step[command.target] if command.target else ""
    return Step(0, command.name, target, check(command.arguments, given), index, when=step.get("when"))


def _mistimed(path: str, row: Mapping[str, Any]) -> Iterator[Flaw]:
    """Yield the contradictions in the time of a step, which has either `at` or `when`."""
    if "when" not in row and "at" not in row:
        yield f"{path}.at", "must be given unless `when` is given"
    for name in ("at", "after") if "when" in row else ("delay",):
        if name in row:
            yield f"{path}.{name}", "must be left out if `when` is given" if "when" in row else "needs `when`"


def _times(rows: Sequence[dict[str, Any]], flaws: list[Flaw]) -> dict[int, tuple[int | None, float]]:
    """Return the index of each step -> `after` and `at` of its `Step`.

    In the file, `after` is the id of any other step, and `at` counts from the time of that step.
    """
    ids: dict[str, int] = {}
    for index, row in enumerate(rows):
        if isinstance(row.get("id"), str) and ids.setdefault(row["id"], index) != index:
            flaws.append((f"steps[{index}].id", f'steps[{ids[row["id"]]}] has the id "{row["id"]}" already'))
    times: dict[int, tuple[int | None, float]] = {}
    for index, row in enumerate(rows):
        if "when" in row and not flaws_of(_StepTime, _time_fields(row)):
            times[index] = index, seconds_of(row.get("delay", "+00:00:00"))
    waiting = {
        index: row
        for index, row in enumerate(rows)
        if index not in times and "at" in row and not flaws_of(_StepTime, _time_fields(row))
    }
    following: dict[int, list[int]] = {}
    for index, row in [*waiting.items()]:
        if "after" not in row:
            times[index] = None, seconds_of(waiting.pop(index)["at"])
        elif row["after"] in ids:
            following.setdefault(ids[row["after"]], []).append(index)
    timed = [*times]
    for before in timed:
        after, base = times[before]
        for index in following.get(before, ()):
            times[index] = after, base + seconds_of(waiting.pop(index)["at"])
            timed.append(index)
    for index, row in waiting.items():
        has_step = row["after"] in ids
        there = there_are([name for name in ids if ids[name] != index], row["after"])
        reason = (
            "waits for itself, or for a step without a time"
            if has_step
            else f'no step has the id "{row["after"]}"; {there}'
        )
        flaws.append((f"steps[{index}].after", reason))
    return times


class _StepTime(RequestBody):
    at: Offset = UNSET
    after: str = UNSET
    delay: Offset = UNSET


def _time_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _StepTime.model_fields if name in row}


@cache
def _step_model(command: Command[Any]) -> type[RequestBody]:
    """Return the model of a whole step of the command, so that one error lists all its flaws."""
    head = {name: (info.annotation, info) for name, info in StepHead.model_fields.items()}
    fields: dict[str, Any] = {**head, **({command.target: (Name, ...)} if command.target else {})}
    model: type[RequestBody] = create_model("Step", __base__=command.arguments, **fields)
    return model


def _alarms(rows: Sequence[dict[str, Any]], lasts: float | None, flaws: list[Flaw]) -> Iterator[Expected]:
    """Yield the valid alarms."""
    for index, row in enumerate(rows):
        path = f"alarms[{index}]"
        wrong = flaws_of(AlarmRow, row, path)
        flaws += wrong
        kind = row.get("kind")
        if isinstance(kind, str) and kind not in ALARM_KINDS:
            flaws.append((f"{path}.kind", f'no alarm is called "{kind}"; {there_are(ALARM_KINDS, kind)}'))
        if wrong:
            continue
        alarm = check(AlarmRow, row).given()
        for name in ("since", "until"):
            flaws += _outside(f"{path}.{name}", alarm.get(name, 0), lasts)
        if "until" in alarm and alarm["until"] <= alarm["since"]:
            flaws.append((f"{path}.until", "must be after since"))
        yield Expected(**{"event": "", "until": None, **alarm}, index=index)


def _answers(
    rows: Sequence[dict[str, Any]], alarms: Sequence[Expected], lasts: float | None, flaws: list[Flaw]
) -> Iterator[Answer]:
    """Yield the valid answers, each with its expected alarm. If several alarms fit, take the first unused one."""
    left = [alarm for alarm in alarms if alarm.shown]
    for index, row in enumerate(rows):
        path = f"answers[{index}]"
        wrong = flaws_of(AnswerRow, row, path) or [*_misplaced(path, row)]
        flaws += wrong
        if wrong:
            continue
        given = check(AnswerRow, row).given()
        target = given.get("target", "")
        alarm = next((alarm for alarm in left if _is_answered(alarm, given)), None)
        if alarm is None:
            expected = [f"{alarm.kind} {alarm.event}".strip() for alarm in left]
            wanted = f"{row['alarm']} {row.get('event', '')}".strip()
            reason = f'no further row of [[alarms]] expects "{wanted}"'
            flaws.append((f"{path}.alarm", f"{reason}; {there_are(expected, wanted)}"))
            continue
        left.remove(alarm)
        timings = {"acknowledge.": given["acknowledge"], **({"": given} if "par" in given else {})}
        for name, timing in timings.items():
            if timing["limit"] <= timing["par"]:
                flaws.append((f"{path}.{name}limit", "must be above par"))
            flaws += _outside(f"{path}.{name}limit", alarm.since + timing["limit"], lasts)
        made = {name: Timing(timing["par"], timing["limit"]) for name, timing in timings.items()}
        yield Answer(
            alarm, target, made["acknowledge."], made.get(""), given.get("request"), given.get("note", ""), index
        )


def _is_answered(alarm: Expected, given: Mapping[str, Any]) -> bool:
    is_named = (alarm.kind, alarm.event) == (given["alarm"], given.get("event", ""))
    return is_named and given.get("target", alarm.target) == alarm.target


def _misplaced(path: str, row: Mapping[str, Any]) -> Iterator[Flaw]:
    """Yield the contradictions in an answer: `par` and `limit` are given exactly with a request or a note."""
    if {"request", "note"} <= {*row}:
        yield f"{path}.note", "must be left out if request is given"
    has_action = not {"request", "note"}.isdisjoint(row)
    for name in ("par", "limit"):
        if (name in row) != has_action:
            reason = "must be given with request or note" if has_action else "needs a request or a note"
            yield f"{path}.{name}", reason


def _allowed(rows: Sequence[dict[str, Any]], flaws: list[Flaw]) -> Iterator[Mapping[str, Any]]:
    """Yield the sound patterns of allowed changes."""
    for index, row in enumerate(rows):
        wrong = flaws_of(AllowedRow, row, f"allowed[{index}]")
        flaws += wrong
        if not wrong:
            yield row["request"]
