"""What a form would change, field by field, before it is sent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from livedeck.operations.schema import Field, FieldValues, FormSchema, Kind, row_title, shown
from livedeck.text import times, values
from livedeck.text.segments import Segment, StyleRole
from livedeck.text.times import TimeReference


@dataclass(frozen=True, slots=True)
class Change:
    """One field, before and after, in words; secrets masked. Empty: it was not there, or will not be."""

    name: str
    before: str
    after: str


def edits(
    sheet: FormSchema, initial: FieldValues, entries: FieldValues, names: Iterable[str], present: TimeReference
) -> tuple[Change, ...]:
    """Each change by the label of its field, before and after; secrets masked."""
    wanted = set(names)
    return tuple(
        edit
        for one in sheet.fields
        if one.name in wanted
        for edit in _edits(one, initial.get(one.name), entries[one.name], present)
    )


def _edits(one: Field, before: Any, after: Any, present: TimeReference) -> Iterator[Change]:
    if one.kind is Kind.ROWS:
        yield from _row_edits(one, before or (), after)
    elif one.kind is Kind.MOMENT:
        yield Change(one.label, _moment(before, present), _moment(after, present))
    else:
        yield Change(one.label, shown(one, before), shown(one, after))


def _moment(text: str, present: TimeReference) -> str:
    """What a typed moment means, so that nobody agrees to `in 20 min` an hour later."""
    return times.describe(times.parse(text, present), present) if text else "none"


def _row_edits(
    one: Field, before: tuple[Mapping[str, Any], ...], after: tuple[Mapping[str, Any], ...]
) -> Iterator[Change]:
    assert one.of is not None, f"{one.name} has rows of nothing"
    known = {row["id"]: row for row in before if row.get("id")}
    for row in after:
        old = known.pop(row.get("id", ""), None)
        if old is None:
            yield Change(
                f"new {one.of.noun}",
                "",
                f"{row_title(one, row)}  {values.safe(str(row['url']), 60)}  {_keys(one.of, row)}",
            )
        else:
            for field in one.of.fields:
                if row[field.name] != old[field.name]:
                    yield Change(
                        f"{row_title(one, row)}: {field.label}",
                        shown(field, old[field.name]),
                        shown(field, row[field.name]),
                    )
    for gone in known.values():
        yield Change(f"{one.of.noun} removed", row_title(one, gone), "")


def _keys(sheet: FormSchema, row: Mapping[str, Any]) -> str:
    return " ".join(shown(field, row[field.name]) for field in sheet.fields if field.kind is Kind.HIDDEN)


def lines(changes: Iterable[Change]) -> tuple[Segment, ...]:
    """One line a change: what was, an arrow, what will be."""
    return tuple((_line(edit), StyleRole.TEXT) for edit in changes)


def _line(edit: Change) -> str:
    if edit.before and edit.after:
        return f"{edit.name}:  {edit.before}  →  {edit.after}"
    return f"{edit.name}:  {edit.before or edit.after}"
