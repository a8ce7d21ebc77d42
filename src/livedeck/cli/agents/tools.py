"""Tools for agents, made from the nouns and the operations, with JSON Schemas of input and output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from livedeck.cli.change import NOT_RECORDED
from livedeck.cli.event.preflight import judge, preflight_object
from livedeck.cli.exit_codes import DONE, USAGE, code_of_link
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import find_named
from livedeck.cli.objects.changing import Wanted, carry_out, changed_form, result_object
from livedeck.cli.objects.consent import CommandPort, Consent, preview_lines
from livedeck.cli.objects.entries import file_entries
from livedeck.cli.objects.reading import faults_of, object_of
from livedeck.cli.schema import command_schemas
from livedeck.cli.status_report import TIMEOUT, recorded_changes, status_object
from livedeck.cli.wiring import SystemClock, open_watch
from livedeck.client import Api
from livedeck.monitor import PATIENCE, History
from livedeck.monitor.polling.on_demand import MaterialCache
from livedeck.operations.commands import COMMANDS, Command, Names
from livedeck.operations.diff import ParsedForm
from livedeck.operations.nouns import NOUNS, RECORDINGS, RESTREAMS, Found, Noun, Rows
from livedeck.operations.operation import Confirmation, ConfirmLevel, Operation
from livedeck.operations.schema import Field, FieldKind, FormSchema, schema_of_rows
from livedeck.presentation.open_changes import open_change_object
from livedeck.presentation.preflight import preflight
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import fault_object, shortfall_object
from livedeck.settings import Settings, SettingsError
from livedeck.text.values import safe

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """Objects that tools work with. `files`: folder of the files that may be uploaded; None forbids uploads."""

    settings: Settings
    api: Api
    history: History | None
    files: Path | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool for agents. `work`: returns the result as JSON of the schema `output`.

    `changes`: the tool changes something. `is_dangerous`: the change may cut off an audience or delete something.
    """

    name: str
    text: str
    input: dict[str, Any]
    output: dict[str, Any]
    work: Callable[[Session, Arguments], Awaitable[Mapping[str, Any]]]
    changes: bool = False
    is_dangerous: bool = False


_TEXT = {"type": "string"}
_HOW = "an id, a name, or the beginning of either, if unambiguous"


def make_tools(allowed: Iterable[str] = ()) -> dict[str, Tool]:
    """Return the tools by name: every read, and the changes with these names (`event.create`).

    Raises UsageError if a name is not that of a change.
    """
    made = [_status(), _preflight(), _open_changes(), _listing(RECORDINGS, "video list"), _listing(RESTREAMS)]
    for noun in NOUNS.values():
        made += [_listing(noun), _reading(noun)]
    for name in allowed:
        if name not in COMMANDS:
            raise click.BadParameter(
                f"there is no change {safe(name, 40)!r}; there are {', '.join(COMMANDS)}", param_hint="--allow"
            )
        made.append(_change(COMMANDS[name]))
    return {tool.name: tool for tool in made}


def _tool(path: str, text: str, arguments: Iterable[str], work: Any, **more: Any) -> Tool:
    """Return the tool of the command at `path`. `arguments`: names of objects, which are required."""
    names = {argument.lower(): {**_TEXT, "description": _HOW} for argument in arguments}
    schema = _object({**names, **more.pop("fields", {})}, [*names, *more.pop("required", ())])
    output = more.pop("output", None) or command_schemas()[path]()
    return Tool(path.replace(" ", "_").replace("-", "_"), text, schema, output, work, **more)


def _object(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": {**properties}, "required": [*required], "additionalProperties": False}


def _listing(noun: Noun, path: str = "") -> Tool:
    path = path or (f"event {noun.name}" if noun is RESTREAMS else f"{noun.path} list")
    has_token = noun.name in NOUNS

    async def work(session: Session, arguments: Arguments) -> Mapping[str, Any]:
        found = await _found(session, noun, arguments)
        is_material = noun.name == "material"
        rows = Rows(await _materials(session, found.owner.id)) if is_material else None
        rows = rows or await noun.read_all(session.api, found.owner)
        return {
            "schema": schema_name(path),
            "items": [
                object_of(noun, item) if has_token else {**noun.as_object(item), "faults": faults_of(noun, item)}
                for item in rows.items
            ],
            "unreadable": [fault_object(fault) for fault in rows.unreadable],
            "shortfall": shortfall_object(rows.shortfall),
            **({"unlisted": []} if noun.name == "event" else {}),
        }

    owner = noun.arguments[:1] if noun.owner else ()
    text = f"List the {noun.noun}s{f' of a {noun.owner.lower()}' if noun.owner else ''}."
    return _tool(path, text, owner, work)


def _reading(noun: Noun) -> Tool:
    path = f"{noun.path} get"

    async def work(session: Session, arguments: Arguments) -> Mapping[str, Any]:
        found = await _found(session, noun, arguments)
        item = await noun.read(session.api, found.owner, found.item)
        return {"schema": schema_name(path), **object_of(noun, item)}

    return _tool(path, f"Read one {noun.noun} with every field, and its token for if_unchanged.", noun.arguments, work)


def _status() -> Tool:
    async def work(session: Session, _: Arguments) -> Mapping[str, Any]:
        async with open_watch(session.settings) as watch:
            snapshot = await watch.feed.wait_ready(TIMEOUT, PATIENCE)
            render_time = RenderTime.from_snapshot(snapshot, watch.feed.clock.now())
        if code_of_link(snapshot.link):
            raise click.ClickException(f"unknown: the platform cannot be watched: {snapshot.link.why}")
        changes, _unread = await recorded_changes(session.history)
        changes = changes if session.history else None
        return status_object(snapshot, render_time, changes, watch.unread)

    return _tool("status", "Tell what is on air and what is wrong now. Takes up to 15 s.", (), work)


def _preflight() -> Tool:
    async def work(session: Session, arguments: Arguments) -> Mapping[str, Any]:
        link, facts = await judge(session.settings, session.api, arguments["event"])
        if facts is None:
            raise click.ClickException(f"the platform cannot be watched: {link.why}")
        return preflight_object(facts, preflight(facts))

    return _tool("event preflight", "Tell GO or NO-GO for an event, with reasons.", ("EVENT",), work)


def _open_changes() -> Tool:
    async def work(session: Session, _: Arguments) -> Mapping[str, Any]:
        history = session.history
        if history is None:
            raise SettingsError(NOT_RECORDED)
        changes = await history.whole(history.open_changes())
        return {"schema": schema_name("change list"), "changes": [*map(open_change_object, changes)]}

    return _tool("change list", "List the changes of this machine with an unknown outcome.", (), work)


async def _found(session: Session, noun: Noun, arguments: Arguments) -> Found:
    words = [str(arguments[name.lower()]) for name in noun.arguments if name.lower() in arguments]
    return await find_named(noun, session.api, words, partial(_materials, session))


async def _materials(session: Session, video_id: str) -> Any:
    return await MaterialCache(session.history, SystemClock()).materials(video_id, None)


@dataclass(slots=True)
class AgentPort(CommandPort):
    """Confirmation by an agent, which must send back the word that a person would type.

    `confirmation`: question asked last. `lines`: preview that a person would have read.
    """

    confirmation: Confirmation | None = None
    lines: list[str] = field(default_factory=list)

    def preview(self, operation: Operation[Any], confirmation: Confirmation) -> None:
        self.confirmation = confirmation
        self.lines = [confirmation.title, *preview_lines(operation, confirmation)]

    def agrees(self, confirmation: Confirmation, reason: str = "") -> bool:
        if self.consent.confirm:
            return CommandPort.agrees(self, confirmation, reason)
        return self.refuse(f"read the preview, then call again with confirm {safe(confirmation.word, 80)!r}", USAGE)

    def refuse(self, reason: str, code: int) -> bool:
        return CommandPort.refuse(self, reason.replace("--confirm", "confirm"), code)


def _change(command: Command) -> Tool:
    operation, schema = command.operation, command.schema

    async def work(session: Session, arguments: Arguments) -> Mapping[str, Any]:
        given = dict(arguments)
        words = [str(given.pop(argument.lower())) for argument in command.arguments]
        order, token = tuple(map(str, given.pop("order", ()))), given.pop("if_unchanged", None)
        consent = Consent(
            yes=True, confirm=str(given.pop("confirm", "")), dry_run=bool(given.pop("dry_run", False)),
            if_unchanged=token is not None,
        )  # fmt: skip
        if "file" in given:
            given["file"] = str(_upload(session, str(given["file"])))
        ports = list[AgentPort]()

        def make_port(*values: Any) -> CommandPort:
            ports.append(AgentPort(*values))
            return ports[-1]

        wanted = Wanted(command, words, partial(_form, command, given), consent, order, token, make_port)
        wanted.check(session.settings)
        target, changes, outcome = await carry_out(session.settings, session.api, session.history, wanted)
        asked = ports[-1].confirmation if (ports and outcome.code != DONE) or (consent.dry_run and ports) else None
        return {
            **result_object(command, target, changes, outcome),
            "preview": ports[-1].lines if ports else [],
            "confirm": asked.word if asked else None,
        }

    fields = {} if schema is None else form_properties(schema)
    always = {field.name for field in schema.fields if field.name in command.always} if schema else set[str]()
    needed = [f.name for f in schema.fields if f.required and f.name not in always] if schema and command.is_new else []
    own: dict[str, Any] = {
        "confirm": {**_TEXT, "description": "the word that a call without `confirm` returned as `confirm`"},
        "dry_run": {"type": "boolean", "description": "true: send nothing"},
    }
    if command.names is Names.ITEM:
        own["if_unchanged"] = {**_TEXT, "description": "token of the object: refuse if it has changed since"}
    if command.names is Names.ORDER:
        own["order"] = {"type": "array", "items": _TEXT, "description": "ids in their new order"}
    result = command_schemas()[command.path]()
    output = _object(
        {**result["properties"], "preview": {"type": "array", "items": _TEXT}, "confirm": {"type": ["string", "null"]}},
        [*result["required"], "preview", "confirm"],
    )
    proof = operation.evidence or f"nothing: {operation.no_evidence}"
    return _tool(
        command.path,
        f"{operation.help}. Without `confirm` it only returns a preview. Proof if the reply is lost: {proof}.",
        command.arguments,
        work,
        fields={**fields, **own},
        required=[*needed, *(["order"] if command.names is Names.ORDER else [])],
        output=output,
        changes=True,
        is_dangerous=operation.level is ConfirmLevel.TYPE_NAME,
    )


def _form(command: Command, given: Mapping[str, Any], found: Found) -> ParsedForm[Any] | None:
    """Return the form filled with the `given` values; None if the object already has them. Raises UsageError."""
    if command.schema is None:
        return ParsedForm({}, None, {}, ())
    typed = dict(file_entries(command.schema, given, command.initial_values(found)))
    return changed_form(command, found, typed, lambda field: field.name)


def _upload(session: Session, name: str) -> Path:
    """Return the path of a file to upload. Raises UsageError for a file outside the folder of uploads."""
    if session.files is None:
        raise click.UsageError("uploads are not allowed: start `livedeck mcp` with --files FOLDER")
    path = (session.files / name).resolve()
    if not path.is_relative_to(session.files.resolve()):
        raise click.UsageError(f"{safe(name, 80)} is outside the folder of uploads")
    return path


_TYPES: Mapping[FieldKind, dict[str, Any]] = {
    FieldKind.NUMBER: {"type": "integer"},
    FieldKind.FLAG: {"type": "boolean"},
    FieldKind.HIDDEN: {**_TEXT, "writeOnly": True},
}


def form_properties(schema: FormSchema[Any]) -> dict[str, Any]:
    """Return the JSON Schema of each field of a form. A field `a.b` is the field `b` of an object `a`."""
    found: dict[str, Any] = {}
    for form_field in schema.fields:
        head, dot, tail = form_field.name.partition(".")
        if dot:
            found.setdefault(head, _object({}))["properties"][tail] = _property(form_field)
        else:
            found[head] = _property(form_field)
    return found


def _property(form_field: Field) -> dict[str, Any]:
    kind = form_field.kind
    if kind is FieldKind.ROWS:
        rows = schema_of_rows(form_field)
        properties = {"id": _TEXT, **form_properties(rows)}
        whole = "the whole list; other entries are removed"
        return {"type": "array", "items": _object(properties), "description": whole}
    if kind is FieldKind.MULTI_CHOICE:
        return {"type": "array", "items": {"enum": [*form_field.choices]}}
    schema = {"enum": [*form_field.choices]} if form_field.choices else _TYPES.get(kind, _TEXT)
    text = ": ".join(filter(None, (form_field.label, form_field.hint)))
    if form_field.nullable and "type" in schema:
        schema = {**schema, "type": [schema["type"], "null"]}
    return {**schema, "description": text}
