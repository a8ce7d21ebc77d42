"""What a form asks for, in values: fields, what was entered, and what is wrong with it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from livedeck.client import Draft, Invalid, Secret
from livedeck.text import times
from livedeck.text import values as wording
from livedeck.text.times import TimeReference

Entry = str | bool | Secret | None | tuple[Any, ...]

"""What stands in a field: text, a yes or no, words chosen, rows (each a mapping), a key that is kept as it is.

None: nobody knows what is there.
"""


FieldValues = Mapping[str, Entry]

"""By the name of the field."""


class Kind(StrEnum):
    """How a field is filled in."""

    TEXT = "text"
    NUMBER = "number"
    HIDDEN = "hidden"
    MOMENT = "moment"
    CHOICE = "choice"
    FLAG = "flag"
    WORDS = "words"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a form.

    `name`: its place in the draft, as `scheduled.time`. `hint`: unit or meaning. `choices`: of CHOICE and WORDS.
    `empties`: an empty text takes the value back (null); elsewhere it is sent as it is. `section`: the head it stands
    under. `of`: the form of each of the ROWS; `most`: how many there may be, 0 any. `means`: what a sound entry amounts
    to, said as one types.
    """

    name: str
    label: str
    kind: Kind = Kind.TEXT
    hint: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    empties: bool = False
    section: str = ""
    of: FormSchema | None = None
    most: int = 0
    means: Callable[[str], str] | None = None

    @property
    def blank(self) -> Entry:
        """What stands in it while nobody knows or typed anything."""
        return {Kind.FLAG: None, Kind.WORDS: (), Kind.ROWS: ()}.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class FormSchema:
    """What a form is made from. `draft`: makes the client's draft of dotted names; it raises Invalid.

    `noun`: of one row, where the sheet describes rows: `restream`. `title`: the field that a row is called by.
    `least`: sound values without which no draft can be made, to try a single field with. `codes`: the field that an
    error of that code is about, where the platform names none.
    """

    fields: tuple[Field, ...]
    draft: Callable[[Mapping[str, object]], object]
    noun: str = ""
    title: str = "name"
    least: Mapping[str, object] = field(default_factory=dict)
    codes: Mapping[int, str] = field(default_factory=dict)

    def field(self, name: str) -> Field:
        """The field of that name."""
        return next(one for one in self.fields if one.name == name)

    def blank(self) -> dict[str, Entry]:
        """The entries of an empty form."""
        return {one.name: one.blank for one in self.fields}

    def fault(self, one: Field, entry: Entry, present: TimeReference) -> str:
        """What is wrong with this entry, in the words of its limit; empty where nothing is."""
        if entry == one.blank or entry is None:
            return "is required" if one.required else ""
        try:
            self.draft({**self.least, one.name: value(one, entry, present)})
        except Invalid as error:
            return error.limit
        except ValueError as error:
            return str(error)
        return ""

    def faults(
        self, entries: FieldValues, present: TimeReference, names: Iterable[str] | None = None
    ) -> dict[str, str]:
        """What is wrong with these fields, or with all; the first in the order of the form comes first."""
        asked = [one for one in self.fields if names is None or one.name in set(names)]
        found = {one.name: self.fault(one, entries[one.name], present) for one in asked}
        return {name: fault for name, fault in found.items() if fault}

    def values(self, entries: FieldValues, names: Iterable[str], present: TimeReference) -> dict[str, object]:
        """What these fields mean. Raises ValueError and Invalid for what cannot be meant."""
        wanted = set(names)
        return {one.name: value(one, entries[one.name], present) for one in self.fields if one.name in wanted}


def changed(entries: FieldValues, initial: FieldValues) -> tuple[str, ...]:
    """The names of the fields in which something else stands now."""
    return tuple(name for name, entry in entries.items() if entry != initial.get(name))


def value(one: Field, entry: Entry, present: TimeReference) -> object:
    """What this entry means to the client. Raises ValueError, in words, for what means nothing."""
    if one.empties and entry in {"", ()}:
        return None
    match one.kind:
        case Kind.NUMBER:
            return _whole(str(entry))
        case Kind.HIDDEN:
            return entry if isinstance(entry, Secret) else Secret(str(entry))
        case Kind.MOMENT:
            return times.parse(str(entry), present)
        case Kind.ROWS:
            return tuple(_row(one, row, present) for row in _rows(entry))
    return entry


def _rows(entry: Entry) -> tuple[Mapping[str, Any], ...]:
    return entry if isinstance(entry, tuple) else ()


def _row(one: Field, row: Mapping[str, Any], present: TimeReference) -> object:
    """A row as its draft."""
    assert one.of is not None, f"{one.name} has rows of nothing"
    given = {inner.name: row[inner.name] for inner in one.of.fields if row[inner.name] not in {None, ""}}
    return one.of.draft({name: value(one.of.field(name), entry, present) for name, entry in given.items()})


def _whole(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("should be a whole number") from None


def shown(one: Field, entry: Any) -> str:
    """An entry in words for a person, as a list of changes shows it; secrets are masked."""
    if entry is None:
        return wording.UNKNOWN
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if one.kind is Kind.HIDDEN:
        return str(entry if isinstance(entry, Secret) else Secret(str(entry))) if entry else "none"
    if one.kind is Kind.ROWS:
        return ", ".join(row_title(one, row) for row in entry) or "none"
    if isinstance(entry, tuple):
        return " ".join(entry) or "left to the platform"
    return wording.safe(entry, 60) or "none"


def row_title(one: Field, row: Mapping[str, Any]) -> str:
    """What a row is called."""
    assert one.of is not None, f"{one.name} has rows of nothing"
    return wording.safe(str(row.get(one.of.title) or "unnamed"), 40)


@dataclass(frozen=True, slots=True)
class FieldErrors:
    """What the platform says of what was sent: by field, and what belongs to none.

    `by_row`: name of a field of ROWS -> number of the row, from 0 -> what is said of each of its own fields.
    """

    by_field: Mapping[str, str] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    by_row: Mapping[str, Mapping[int, Mapping[str, str]]] = field(default_factory=dict)


def field_errors(invalid: object, sheet: FormSchema) -> FieldErrors:
    """`invalid_params` at the fields that they name. The document leaves their shape open: any is taken."""
    found: dict[str, list[str]] = {}
    rows: dict[str, dict[int, dict[str, str]]] = {}
    rest: list[str] = []
    for name, reason in _named(invalid):
        place = next((one.name for one in sheet.fields if _within(name, one.name)), None)
        if place is None:
            rest.append(wording.safe(f"{name} {reason}".strip(), 120))
            continue
        found.setdefault(place, []).append(wording.safe(_numbered(name, place, reason), 120))
        if within := _ROW.fullmatch(name.removeprefix(place)):
            rows.setdefault(place, {}).setdefault(int(within[1]), {})[within[2]] = wording.safe(reason, 120)
    return FieldErrors({place: "; ".join(said) for place, said in found.items()}, tuple(rest), rows)


_ROW = re.compile(r"\[(\d{1,4})\]\.(\w+)")

"""What follows the name of a field of ROWS: `[3].url`."""


def _named(invalid: object) -> Iterable[tuple[str, str]]:
    if isinstance(invalid, Mapping):
        return [(str(name), str(reason)) for name, reason in invalid.items()]
    items = invalid if isinstance(invalid, list) else []
    pairs = [(item.get("name"), item.get("reason")) if isinstance(item, Mapping) else ("", item) for item in items]
    return [(_of_header(str(name or "")), str(reason or "is not accepted")) for name, reason in pairs]


def _of_header(name: str) -> str:
    """Uploads carry fields in headers: `X-Poster-URL` is the field `poster_url`."""
    bare = name.removeprefix("X-")
    return name if bare == name else bare.replace("-", "_").casefold()


def _within(name: str, place: str) -> bool:
    return name == place or name.startswith((f"{place}.", f"{place}["))


def _numbered(name: str, place: str, reason: str) -> str:
    """`restreams[1].url` of the field `restreams`: `2 url must be ...`."""
    inner = name.removeprefix(place).replace("[", "").replace("].", " ").replace("]", "").lstrip(".")
    number, _, rest = inner.partition(" ")
    if number.isdecimal():
        inner = f"{int(number) + 1} {rest}".strip()
    return f"{inner} {reason}".strip()


def draft_of(kind: type[Draft], parts: Mapping[str, type[Draft]]) -> Callable[[Mapping[str, object]], Draft]:
    """A maker of drafts from dotted names: `record.parent_id` is put into the draft that `parts` has for `record`."""

    def make(values: Mapping[str, object]) -> Draft:
        inner: dict[str, dict[str, object]] = {}
        plain: dict[str, object] = {}
        for name, one in values.items():
            head, dot, tail = name.partition(".")
            if dot:
                inner.setdefault(head, {})[tail] = one
            else:
                plain[name] = one
        return kind(**plain, **{head: parts[head](**fields) for head, fields in inner.items()})

    return make
