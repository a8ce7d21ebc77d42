"""Differences between a filled form and its object, field by field. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from livedeck.operations.schema import (
    Field,
    FieldKind,
    FieldValues,
    FormResult,
    FormSchema,
    Suggestion,
    Suggestions,
    format_entry,
    row_title,
    schema_of_rows,
)
from livedeck.record import Record
from livedeck.text import addresses, times
from livedeck.text.segments import Segment, StyleRole
from livedeck.text.times import TimeReference

D_co = TypeVar("D_co", covariant=True)


class Change(Record):
    """Change of a field: values before and after, as text with secrets masked.

    `before`: empty without a value before. `after`: empty if the change removes the value.
    """

    name: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """Change in a line: `title: Rehearsal → Show`; `-` for no value."""
        return f"{self.name}: {self.before or '-'} → {self.after or '-'}"


class ParsedForm(Record, Generic[D_co]):
    """Parsed form. `draft`: draft to send. `values`: values of the draft by dotted name.

    `changes`: changed fields, as texts for a person.
    """

    entries: FieldValues
    draft: D_co
    values: Mapping[str, Any]
    changes: tuple[Change, ...]


def parse_form(
    schema: FormSchema[D_co],
    initial: FieldValues,
    result: FormResult,
    reference: TimeReference,
    *,
    always: Iterable[str] = (),
    suggestions: Suggestions | None = None,
) -> ParsedForm[D_co]:
    """Parse the changed fields of a form and the fields named in `always`. Raises Invalid or ValueError.

    `initial`: entries before the person's changes. `suggestions`: names for ids, used in the texts of the changes.
    """
    names = {*result.changed, *always}
    parsed = schema.parse(result.entries, names, reference)
    changes = tuple(
        change
        for field in schema.fields
        if field.name in names
        for change in _field_changes(
            field,
            initial.get(field.name),
            result.entries[field.name],
            reference,
            (suggestions or {}).get(field.name, ()),
        )
    )
    return ParsedForm(result.entries, schema.draft(parsed), parsed, changes)


def _field_changes(
    field: Field, before: Any, after: Any, reference: TimeReference, suggestions: tuple[Suggestion, ...]
) -> Iterator[Change]:
    if field.kind is FieldKind.ROWS:
        yield from _row_changes(field, before or (), after)
    elif field.kind is FieldKind.DATETIME:
        yield Change(field.label, _format_typed_time(before, reference), _format_typed_time(after, reference))
    else:
        yield Change(field.label, format_entry(field, before, suggestions), format_entry(field, after, suggestions))


def _format_typed_time(text: str, reference: TimeReference) -> str:
    """Return a typed time as a fixed time, so that nobody agrees to `in 20 min` an hour later."""
    return times.describe(times.parse(text, reference), reference) if text else "none"


def _row_changes(
    field: Field, before: tuple[Mapping[str, Any], ...], after: tuple[Mapping[str, Any], ...]
) -> Iterator[Change]:
    schema = schema_of_rows(field)
    left = {row["id"]: row for row in before if row.get("id")}
    for row in after:
        old = left.pop(row.get("id", ""), None)
        if old is None:
            secrets = " ".join(
                format_entry(column, row[column.name]) for column in schema.fields if column.kind is FieldKind.HIDDEN
            )
            text = f"{row_title(field, row)}  {addresses.show(str(row['url']))}  {secrets}"
            yield Change(f"new {schema.noun}", "", text)
            continue
        for column in schema.fields:
            was, will = old[column.name], row[column.name]
            if was != will:
                label = f"{row_title(field, row)}: {column.label}"
                yield Change(label, format_entry(column, was), format_entry(column, will))
    for row in left.values():
        yield Change(f"{schema.noun} removed", row_title(field, row), "")


def differences(
    schema: FormSchema[Any], before: FieldValues, now: FieldValues, names: Iterable[str]
) -> tuple[str, ...]:
    """Describe the differences of the fields `names` of an object: `its reconnect window was 600 and is 120 now`.

    `before`, `now`: the object as entries of its form. Secrets are masked.
    """
    wanted, reference = {*names}, TimeReference(datetime.now(UTC))
    return tuple(
        _difference(change if field.kind is FieldKind.ROWS else replace(change, name=f"its {_inside(field.label)}"))
        for field in schema.fields
        if field.name in wanted and before.get(field.name) != now.get(field.name)
        for change in _field_changes(field, before.get(field.name), now.get(field.name), reference, ())
    )


def _difference(change: Change) -> str:
    if not (change.before and change.after):  # a row was added or removed
        return f"{change.name}: {change.before or change.after}"
    if change.before == change.after:  # two secrets with the same mask
        return f"{change.name} is a different one now"
    return f"{change.name} was {change.before} and is {change.after} now"


def shown_values(schema: FormSchema[Any], now: FieldValues, names: Iterable[str]) -> tuple[str, ...]:
    """Describe the current values of the fields `names`: `reconnect window 120`. Secrets are masked."""
    wanted = {*names}
    return tuple(
        f"{_inside(field.label or field.section)} {_quoted(field, format_entry(field, now.get(field.name)))}"
        for field in schema.fields
        if field.name in wanted
    )


def _quoted(field: Field, text: str) -> str:
    return f'"{text}"' if field.kind is FieldKind.TEXT else text


def _inside(label: str) -> str:
    """Return a label for the middle of a sentence, with a small first letter."""
    return f"{label[:1].lower()}{label[1:]}"


def change_lines(changes: Iterable[Change]) -> tuple[Segment, ...]:
    """Return a line for each change: old value, arrow, new value."""
    return tuple((_change_line(change), StyleRole.TEXT) for change in changes)


def _change_line(change: Change) -> str:
    if change.before and change.after:
        return f"{change.name}:  {change.before}  →  {change.after}"
    return f"{change.name}:  {change.before or change.after}"
