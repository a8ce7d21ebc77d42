"""Form fields as options and as a JSON or TOML file; conversion of these to entries of the form."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from livedeck.cli.formats import OWN_FIELDS
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock
from livedeck.client import Secret
from livedeck.operations.schema import Entry, Field, FieldKind, FieldValues, FormSchema, row_title, schema_of_rows
from livedeck.text.outside import shown
from livedeck.text.times import TimeReference
from livedeck.text.values import MASK

STDIN = "-"
"""File name that means standard input."""

_FLAGS = {"poster_url": "url"}
"""Field -> name of its option, where the two differ."""

MAX_FILE = 1_000_000
"""Maximum characters of a file with the fields of a form."""

_TEXTS = {
    "annotation_poster_id": "Id of the picture; empty for none",
    "auto_start": "Start the event when the encoder sends",
    "chat_active": "Let viewers chat",
    "chat_after_stream": "Keep the chat after the stream",
    "chat_preview": "Show the chat in the preview of the video",
    "description": "Text that viewers see beside the language",
    "end_time": "End of the annotation, a whole number in the unit of the platform",
    "file": "Path of a file on this machine, or - for standard input",
    "from_time": "Time of the frame: seconds, or H:MM:SS",
    "language": "ISO 639-1 code: en, de, uk",
    "languages": "ISO 639-1 codes, a track for each: en,de",
    "latency_mode": "Delay between encoder and viewers",
    "link": "Address that a click opens",
    "name": "Name that people see",
    "name: 1 to 128 characters": "Name of 1 to 128 characters",
    "owner_id": "Id of a user of the workspace",
    "parent_id": "Id of a project or folder",
    "parent_id: empty for none": "Id of a project or folder; empty for none",
    "poster_url": "Address of the picture: https://",
    "protected": "Encrypt the stream",
    "reconnect_window": "Seconds to wait for an encoder that reconnects",
    "record.parent_id": "Id of the folder for the recording; empty for the platform's choice",
    "restreams": "JSON or TOML file with the restreams, or - for standard input",
    "scheduled.time": "Planned start: 18:30, in 20 min, 2026-11-21 18:30Z",
    "show_members": "Show who is in the chat",
    "start_time": "Start of the annotation, a whole number in the unit of the platform",
    "started_at": "Planned start of the stream: 18:30, in 20 min",
    "time_shift": "Let viewers go back in time",
    "title": "Title that viewers see",
    "title: empty: the file name": "Title that viewers see; the name of the file if empty",
    "type": "Kind of object; it cannot be changed later",
    "url": "Address of the target: rtmp:// or rtmps://, without the key",
    "video.presets": "Qualities to offer; empty for the platform's choice",
}
"""Field, or field and hint -> help of its option. Other options have label and hint of the form as their help."""

_METAVARS = {FieldKind.NUMBER: "NUMBER", FieldKind.HIDDEN: "FILE", FieldKind.DATETIME: "TIME", FieldKind.ROWS: "FILE"}


def flag_name(field: Field) -> str:
    """Return the option of a field: `--scheduled-time` for `scheduled.time`; `--stream-key-file` for a secret field."""
    name = _FLAGS.get(field.name) or field.name.replace(".", "-").replace("_", "-")
    return f"--{name}-file" if field.kind is FieldKind.HIDDEN else f"--{name}"


def field_options(schema: FormSchema[Any], *, is_new: bool, always: Collection[str] = ()) -> list[click.Option]:
    """Return an option for each field. Secrets are read from a file, because other processes can read options.

    `is_new`: the form begins empty, so required fields must be typed, except those in `always`, which have a value.
    """
    needed = {field.name for field in schema.fields if is_new and field.required and field.name not in always}
    return [_option(field, is_needed=field.name in needed, is_new=is_new) for field in schema.fields]


def _option(field: Field, *, is_needed: bool, is_new: bool) -> click.Option:
    flag, parameter, text = flag_name(field), _parameter(field), _help(field, is_new=is_new)
    text += "  [required]" if is_needed else ""
    if field.kind is FieldKind.FLAG:
        return click.Option([f"{flag}/--no-{flag[2:]}", parameter], default=None, help=text)
    choices = click.Choice(field.choices) if field.kind is FieldKind.CHOICE else None
    metavar = ",".join((*field.choices[:2], "...")) if field.kind is FieldKind.MULTI_CHOICE else None
    metavar = metavar or _METAVARS.get(field.kind) or (None if choices else "FILE" if field.name == "file" else "TEXT")
    return click.Option([flag, parameter], type=choices, metavar=metavar, help=text)


def _parameter(field: Field) -> str:
    """Return the parameter name of the field's option. Its prefix keeps it apart from all other flags."""
    return f"field_{field.name.replace('.', '__')}"


def _help(field: Field, *, is_new: bool) -> str:
    plain = f"{field.label}: {field.hint}" if field.hint else field.label
    text = _TEXTS.get(f"{field.name}: {field.hint}") or _TEXTS.get(field.name, plain)
    if field.kind is FieldKind.HIDDEN:
        text = f"{field.label}, from a private file, or - for standard input"
    elif field.kind is FieldKind.ROWS and not is_new:
        text += "; replaces all"
    elif field.kind is FieldKind.MULTI_CHOICE:
        text += f": {' '.join(field.choices)}"
    return f"{text}."


def typed_entries(
    schema: FormSchema[Any],
    options: Mapping[str, Any],
    from_file: str | None,
    initial: FieldValues,
    current: Mapping[str, Any],
) -> dict[str, Entry]:
    """Return the typed values by field: options win over the file. Raises UsageError.

    `initial`: entries before the change. `current`: the object as JSON. The file may repeat fields of the object that
    the form lacks; they are ignored.
    """
    content = _without_repeated(schema, read_object(from_file), current) if from_file else {}
    typed = dict(file_entries(schema, content, initial))
    for field in schema.fields:
        value = options.get(_parameter(field))
        if value is not None:
            typed[field.name] = _option_entry(field, value, initial.get(field.name))
    return typed


def _option_entry(field: Field, value: Any, before: Entry) -> Entry:
    match field.kind:
        case FieldKind.HIDDEN:
            return _secret(read_text(value).strip())
        case FieldKind.ROWS:
            content = read_object(value, is_list=True)
            rows = content.get(field.name) if isinstance(content, dict) else content
            return _rows(field, rows, before)
        case FieldKind.MULTI_CHOICE:
            return _choices(field, [part for part in str(value).replace(",", " ").split() if part != "none"])
    return value if isinstance(value, bool) else str(value)


def _without_repeated(
    schema: FormSchema[Any], content: Mapping[str, Any], current: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of the file without read-only fields, so that the output of `get` is accepted.

    Raises UsageError if a field that cannot be changed differs.
    """
    heads = {field.name.partition(".")[0] for field in schema.fields}
    repeated = {*current, *(OWN_FIELDS if current else ())}
    kept = {name: value for name, value in content.items() if name not in repeated or name in heads}
    field_names = {field.name for field in schema.fields}
    for name, value in content.items():
        if name not in kept and name in _CHOSEN_ONCE and value != current[name]:
            raise click.UsageError(f"{name} cannot be changed: it is {shown(str(current[name]))}")
        if name in kept and isinstance(value, Mapping):
            kept[name] = {inner: part for inner, part in value.items() if f"{name}.{inner}" in field_names}
    other = [name for name in content if name in current and name not in kept and content[name] != current[name]]
    if other:
        echo(f"livedeck: fields ignored, because they cannot be sent: {', '.join(map(shown, other))}", err=True)
    return kept


_CHOSEN_ONCE = frozenset({"type", "annotation_type", "id"})
"""Fields whose value is chosen when the object is created and never changes."""


def file_entries(
    schema: FormSchema[Any], content: Mapping[str, Any], initial: FieldValues
) -> Iterator[tuple[str, Entry]]:
    """Yield field name and entry for each value of the file. The file may write `a.b` nested or with a dot.

    Raises UsageError for an unknown field or a value of another kind.
    """
    fields, by_name = dict(_dotted(content)), {field.name: field for field in schema.fields}
    unknown = [name for name in fields if name not in by_name]
    if unknown:
        raise click.UsageError(
            f"the file has unknown fields: {', '.join(map(shown, unknown))}; the fields are {', '.join(by_name)}"
        )
    for name, value in fields.items():
        yield name, _file_entry(by_name[name], value, initial.get(name))


def _dotted(content: Mapping[str, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{head}{name}.")
        else:
            yield f"{head}{name}", value


def _file_entry(field: Field, value: Any, before: Entry) -> Entry:
    """Return the entry of a value from a file. Raises UsageError for a value of another kind."""
    if value is None:
        return field.empty
    take, types = _TAKES[field.kind]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise click.UsageError(f"{field.name} in the file should be {_KINDS[field.kind]}")
    return take(field, value, before)


_KINDS = {
    FieldKind.TEXT: "a text",
    FieldKind.REFERENCE: "an id, as text",
    FieldKind.NUMBER: "a whole number",
    FieldKind.HIDDEN: "a text",
    FieldKind.DATETIME: "a time, as text",
    FieldKind.CHOICE: "one of the allowed words",
    FieldKind.FLAG: "true or false",
    FieldKind.MULTI_CHOICE: "a list of the allowed words",
    FieldKind.ROWS: "a list of objects",
}


def _choices(field: Field, words: list[Any]) -> tuple[str, ...]:
    wrong = [shown(str(word)) for word in words if word not in field.choices]
    if wrong:
        raise click.UsageError(
            f"{flag_name(field)}: {', '.join(wrong)} is not allowed; choose from {' '.join(field.choices)}"
        )
    return tuple(words)


def _rows(field: Field, rows: Any, before: Entry) -> tuple[Mapping[str, Entry], ...]:
    """Return the rows of a file. A row takes missing values from the old row with its id, or else with its name."""
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise click.UsageError(f"{flag_name(field)}: the file should hold {_KINDS[FieldKind.ROWS]}")
    schema = schema_of_rows(field)
    old_rows: tuple[Mapping[str, Any], ...] = before if isinstance(before, tuple) else ()
    return tuple(_row(field, schema, row, old_rows) for row in rows)


def _row(
    field: Field, schema: FormSchema[Any], row: Mapping[str, Any], old_rows: tuple[Mapping[str, Any], ...]
) -> Mapping[str, Entry]:
    names = {column.name: column for column in schema.fields}
    unknown = [shown(str(name)) for name in row if name not in {*names, *_READ_ONLY}]
    if unknown:
        raise click.UsageError(
            f"{flag_name(field)}: a row has unknown fields: {', '.join(unknown)}; the fields are {', '.join(names)}"
        )
    same = [old for old in old_rows if row.get("id") and old.get("id") == row["id"]]
    same += [
        old for old in old_rows if not row.get("id") and old.get(schema.title_field) == row.get(schema.title_field)
    ]
    old = same[0] if same else {}
    entries = {**schema.empty(), **old}
    for name, value in row.items():
        if name in names:
            entries[name] = _file_entry(names[name], value, old.get(name, ""))
    if row.get("id") and old:
        entries["id"] = row["id"]
    faults = schema.check(entries, TimeReference(SystemClock().now()))
    if faults:
        wrong = ", ".join(f"{name} {fault}" for name, fault in faults.items())
        raise click.UsageError(f'{flag_name(field)}: row "{row_title(field, entries)}": {wrong}')
    return entries


def _moment(_: Field, value: Any, __: Entry) -> str:
    return str(value).replace("T", " ").replace("+00:00", "Z")


Take = Callable[[Field, Any, Entry], Entry]

_TAKES: Mapping[FieldKind, tuple[Take, tuple[type, ...]]] = {
    FieldKind.TEXT: (lambda _, value, __: str(value), (str, int)),
    FieldKind.REFERENCE: (lambda _, value, __: str(value), (str, int)),
    FieldKind.NUMBER: (lambda _, value, __: str(value), (int,)),
    FieldKind.HIDDEN: (lambda _, value, before: _kept_secret(value, before), (str,)),
    FieldKind.DATETIME: (_moment, (str, datetime)),
    FieldKind.CHOICE: (lambda _, value, __: str(value), (str,)),
    FieldKind.FLAG: (lambda _, value, __: bool(value), (bool,)),
    FieldKind.MULTI_CHOICE: (lambda field, value, _: _choices(field, value), (list,)),
    FieldKind.ROWS: (_rows, (list,)),
}
"""Kind of field -> converter of a value of the file to an entry, and the types that the value may have."""

_READ_ONLY = frozenset({"id", "event_id", "room_id", "status", "service", "created_at", "updated_at"})
"""Fields of a row that can be read but not sent. They are ignored, so that printed rows can be sent back."""


def _kept_secret(value: str, before: Entry) -> Entry:
    """Return the secret from a file. For the mask of the current secret, returns the current secret.

    Raises UsageError if the mask is not that of the current secret.
    """
    if MASK not in value:
        return _secret(value)
    if isinstance(before, Secret) and str(before) == value:
        return before
    raise click.UsageError(
        f"the file has a masked key ({shown(value)}) that is not the current one: write the key in full"
    )


def _secret(value: str) -> Secret:
    secret = Secret(value)
    secret.register()
    return secret


def read_text(path: str) -> str:
    """Return the text of a file or of standard input. Raises UsageError if it is unreadable, not UTF-8 or too long."""
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise click.UsageError("standard input is closed")
            text = sys.stdin.buffer.read(MAX_FILE + 1).decode("utf-8-sig")
        else:
            with Path(path).expanduser().open(encoding="utf-8-sig") as file:
                text = file.read(MAX_FILE + 1)
    except (OSError, RuntimeError) as error:
        raise click.UsageError(f"{shown(path)}: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{shown(path)}: not UTF-8 text") from None
    if len(text) > MAX_FILE:
        raise click.UsageError(f"{shown(path)}: longer than {MAX_FILE:,} characters")
    return text


def read_object(path: str, *, is_list: bool = False) -> Any:
    """Return the JSON or TOML of a file or of standard input: an object, or a list if allowed. Raises UsageError."""
    text = read_text(path)
    name = "standard input" if path == STDIN else shown(path)
    try:
        value: Any = json.loads(text)
    except ValueError as json_error:
        try:
            value = tomllib.loads(text)
        except ValueError as toml_error:
            fault = toml_error if path.endswith(".toml") else json_error
            raise click.UsageError(f"{name}: neither JSON nor TOML: {shown(str(fault))}") from None
    except RecursionError:
        raise click.UsageError(f"{name}: nested too deeply") from None
    if isinstance(value, dict) or (is_list and isinstance(value, list)):
        return value
    raise click.UsageError(f"{name}: should hold an object{' or a list' if is_list else ''}")
