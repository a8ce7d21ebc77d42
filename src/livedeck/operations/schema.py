"""Forms as values: fields, entries and their errors. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import field

from livedeck.client import Draft, Invalid, Secret
from livedeck.record import Record
from livedeck.text import addresses, times, values
from livedeck.text.outside import escaped
from livedeck.text.times import TimeReference

D_co = TypeVar("D_co", covariant=True)

Entry = str | bool | Secret | None | tuple[Any, ...]
"""Entry of a field: text, yes or no, chosen words, rows (mappings), or a stored key. None means unknown."""

FieldValues = Mapping[str, Entry]
"""Field name -> entry."""


class FieldKind(StrEnum):
    """Kind of input of a field."""

    TEXT = "text"
    NUMBER = "number"
    HIDDEN = "hidden"
    REFERENCE = "reference"
    DATETIME = "datetime"
    CHOICE = "choice"
    FLAG = "flag"
    MULTI_CHOICE = "multi choice"
    ROWS = "rows"


class Referent(StrEnum):
    """Kind of object that a REFERENCE points to."""

    FOLDER = "folder"
    USER = "user"
    VIDEO = "video"


class Suggestion(Record):
    """Suggested id for a REFERENCE. `name`: name of the object, or empty. `note`: text that distinguishes the object.

    >>> Suggestion("4d2c2f2e-6f53-4f0e-9a53-0c4f1e3b7a10", "Concerts").label
    'Concerts …7a10'
    """

    id: str
    name: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        """Name with the end of the id, because names may be equal; the whole id of an object without a name."""
        return f"{values.safe(self.name, 60)} …{self.id[-4:]}" if self.name else self.id

    def matches(self, text: str) -> bool:
        """Return whether the suggestion's name, note or id contains the text. Ignores upper and lower case."""
        return text.casefold() in f"{self.name} {self.note} {self.id}".casefold()


Suggestions = Mapping[str, tuple[Suggestion, ...]]
"""Field name -> suggestions, likeliest first."""


def suggested(text: str, suggestions: Iterable[Suggestion]) -> str:
    """Return the id of the suggestion with this label, or of the only suggestion with this name.

    Without such a suggestion, returns the text itself.

    >>> suggested("concerts ", [Suggestion("4d2c", "Concerts")])
    '4d2c'
    """
    typed = text.strip()
    wanted, offered = typed.casefold(), tuple(suggestions)
    labelled = [suggestion.id for suggestion in offered if suggestion.label.casefold() == wanted]
    named = [suggestion.id for suggestion in offered if suggestion.name and suggestion.name.casefold() == wanted]
    return labelled[0] if labelled else named[0] if len(named) == 1 else typed


class Field(Record):
    """Field of a form.

    Attributes:
        name: path in the draft, such as `scheduled.time`.
        hint: unit or meaning of the entry.
        nullable: an empty entry is sent as null.
        section: heading above the field.
        row_schema: form of each row of a ROWS field.
        max_rows: maximum number of rows of a ROWS field; 0 means no limit.
        describe: explains a valid entry, for example seconds as a duration.
        is_long: the field takes the whole width.
        referent: kind of object of a REFERENCE.
        only_for: name of a CHOICE field, and its choice for which this field is shown; None if it is always shown.
    """

    name: str
    label: str
    kind: FieldKind = FieldKind.TEXT
    hint: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    nullable: bool = False
    section: str = ""
    row_schema: FormSchema[Any] | None = None
    max_rows: int = 0
    describe: Callable[[str], str] | None = None
    is_long: bool = False
    referent: Referent | None = None
    only_for: tuple[str, str] | None = None

    @property
    def empty(self) -> Entry:
        """Entry of the field when it is empty."""
        return {FieldKind.FLAG: None, FieldKind.MULTI_CHOICE: (), FieldKind.ROWS: ()}.get(self.kind, "")


class FormSchema(Record, Generic[D_co]):
    """Fields of a form, and the function that makes a draft from them.

    Attributes:
        draft: makes a draft from values by dotted name; raises Invalid or ValueError.
        noun: name of a row, such as `restream`.
        title_field: name of the field with the title of a row.
        sample: valid values of the required fields; `check_field` makes a draft of them and of the field to check.
        field_by_code: error code of the platform -> faulty field, for codes without the name of a field.
    """

    fields: tuple[Field, ...]
    draft: Callable[[Mapping[str, Any]], D_co]
    noun: str = ""
    title_field: str = "name"
    sample: Mapping[str, object] = field(default_factory=dict)
    field_by_code: Mapping[int, str] = field(default_factory=dict)

    def field(self, name: str) -> Field:
        """Return the field named `name`."""
        return next(field for field in self.fields if field.name == name)

    def shown(self, entries: FieldValues) -> tuple[Field, ...]:
        """Return the fields that a form with these entries shows."""
        needs = {field.name: field.only_for for field in self.fields if field.only_for}
        hidden = {name for name, (other, choice) in needs.items() if entries[other] != choice}
        return tuple(field for field in self.fields if field.name not in hidden)

    def empty(self) -> dict[str, Entry]:
        """Return the entries of an empty form."""
        return {field.name: field.empty for field in self.fields}

    def check_field(self, field: Field, entry: Entry, reference: TimeReference) -> str:
        """Return the limit that an entry breaks; empty if the entry is valid."""
        if entry == field.empty or entry is None:
            return "is required" if field.required else ""
        try:
            self.draft({**self.sample, field.name: parse_entry(field, entry, reference)})
        except Invalid as error:
            return error.limit
        except ValueError as error:
            return str(error)
        return ""

    def check(
        self, entries: FieldValues, reference: TimeReference, names: Iterable[str] | None = None
    ) -> dict[str, str]:
        """Return name -> error for each faulty field among the shown `names` (None: all), in the form's order."""
        checked = [field for field in self.shown(entries) if names is None or field.name in set(names)]
        errors = {field.name: self.check_field(field, entries[field.name], reference) for field in checked}
        return {name: error for name, error in errors.items() if error}

    def parse(self, entries: FieldValues, names: Iterable[str], reference: TimeReference) -> dict[str, Any]:
        """Return the values of the fields `names` by name. Raises ValueError or Invalid."""
        parsed = set(names)
        return {
            field.name: parse_entry(field, entries[field.name], reference)
            for field in self.fields
            if field.name in parsed
        }


def changed_names(entries: FieldValues, initial: FieldValues) -> tuple[str, ...]:
    """Return the names of the fields with entries that differ from the initial entries."""
    return tuple(name for name, entry in entries.items() if entry != initial.get(name))


def parse_entry(field: Field, entry: Entry, reference: TimeReference) -> object:
    """Convert an entry into a value for the client. Raises ValueError with a text for people if it is invalid."""
    if field.nullable and entry in {"", ()}:
        return None
    match field.kind:
        case FieldKind.NUMBER:
            return _whole_number(str(entry))
        case FieldKind.HIDDEN:
            return entry if isinstance(entry, Secret) else Secret(str(entry))
        case FieldKind.DATETIME:
            return times.parse(str(entry), reference)
        case FieldKind.ROWS:
            return tuple(_row_draft(field, row, reference) for row in (entry if isinstance(entry, tuple) else ()))
    return entry


def _row_draft(field: Field, row: Mapping[str, Any], reference: TimeReference) -> object:
    schema = schema_of_rows(field)
    filled = [column for column in schema.fields if row[column.name] not in {None, ""}]
    return schema.draft({column.name: parse_entry(column, row[column.name], reference) for column in filled})


def _whole_number(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("should be a whole number") from None


def parse_path(text: object) -> Path:
    """Return the path of a typed text, with `~` replaced by the home folder."""
    typed = Path(str(text).strip())
    try:
        return typed.expanduser()
    except RuntimeError:  # the home folder does not exist; opening the file fails later with a clear error
        return typed


def format_entry(field: Field, entry: Any, suggestions: Iterable[Suggestion] = ()) -> str:
    """Return an entry as text for a list of changes, with masked secrets and with names in place of ids."""
    if entry is None:
        return values.UNKNOWN
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if field.kind is FieldKind.HIDDEN:
        return str(entry if isinstance(entry, Secret) else Secret(str(entry))) if entry else "none"
    if field.kind is FieldKind.ROWS:
        return ", ".join(row_title(field, row) for row in entry) or "none"
    if isinstance(entry, tuple):
        return " ".join(entry) or "left to the platform"
    entry = label_of(entry, suggestions) if field.kind is FieldKind.REFERENCE else entry
    return values.safe(addresses.show_text(escaped(entry)), 200 if "://" in entry else 60) or "none"


def label_of(reference: str, suggestions: Iterable[Suggestion]) -> str:
    """Return the label of the suggestion with an id; the id itself without such a suggestion."""
    return next((suggestion.label for suggestion in suggestions if suggestion.id == reference), reference)


def row_title(field: Field, row: Mapping[str, Any]) -> str:
    """Return the title of a row."""
    return values.safe(str(row.get(schema_of_rows(field).title_field) or "unnamed"), 40)


def schema_of_rows(field: Field) -> FormSchema[Any]:
    """Return the form of the rows of a ROWS field."""
    assert field.row_schema is not None, f"{field.name} has rows without a schema"
    return field.row_schema


class FieldErrors(Record):
    """Errors of a sent form. `by_field`: name of a field -> error. `rest`: errors without a field.

    `by_row`: name of a ROWS field -> index of a row, from 0 -> name of a field of the row -> error.
    """

    by_field: Mapping[str, str] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    by_row: Mapping[str, Mapping[int, Mapping[str, str]]] = field(default_factory=dict)


class FormState(Record):
    """State in which a form opens.

    Attributes:
        initial: current entries.
        entered: previously typed entries if the form opens again; otherwise None.
        errors: errors of the previously typed entries.
        note: message about the previously typed entries.
        button: label of the button that saves.
        allow_unchanged: the form may be saved without a change.
        suggestions: suggested ids for the form's REFERENCES.
    """

    title: str
    schema: FormSchema[Any]
    initial: FieldValues
    entered: FieldValues | None = None
    errors: FieldErrors = FieldErrors()
    button: str = "Save"
    note: str = ""
    allow_unchanged: bool = False
    suggestions: Suggestions = field(default_factory=dict)

    @property
    def saved(self) -> FieldValues:
        """Entries that are not lost if the person leaves the form. After a refusal, these are the initial entries."""
        is_refused = self.note or self.errors != FieldErrors()
        return self.initial if is_refused else self.entered or self.initial


class FormResult(Record):
    """Saved form: all entries, and the names of the changed fields."""

    entries: FieldValues
    changed: tuple[str, ...]


_ROW = re.compile(r"\[(\d{1,4})\]\.(\w+)")
"""Pattern of the suffix after the name of a ROWS field: `[3].url`."""


def field_errors(invalid_params: object, schema: FormSchema[Any]) -> FieldErrors:
    """Assign the platform's `invalid_params` to fields.

    Accepts any shape, because the API does not define the shape.
    """
    by_field: dict[str, list[str]] = {}
    by_row: dict[str, dict[int, dict[str, str]]] = {}
    rest: list[str] = []
    for name, reason in _named_reasons(invalid_params):
        owner = next((field.name for field in schema.fields if _is_within(name, field.name)), None)
        if owner is None:
            rest.append(values.safe(f"{name} {reason}".strip(), 120))
            continue
        by_field.setdefault(owner, []).append(values.safe(_with_row_number(name, owner, reason), 120))
        if within := _ROW.fullmatch(name.removeprefix(owner)):
            by_row.setdefault(owner, {}).setdefault(int(within[1]), {})[within[2]] = values.safe(reason, 120)
    return FieldErrors({owner: "; ".join(reasons) for owner, reasons in by_field.items()}, tuple(rest), by_row)


def _named_reasons(invalid_params: object) -> Iterable[tuple[str, str]]:
    if isinstance(invalid_params, Mapping):
        return [(str(name), str(reason)) for name, reason in invalid_params.items()]
    items = invalid_params if isinstance(invalid_params, list) else []
    pairs = [(item.get("name"), item.get("reason")) if isinstance(item, Mapping) else ("", item) for item in items]
    return [(_without_header_prefix(str(name or "")), str(reason or "is not accepted")) for name, reason in pairs]


def _without_header_prefix(name: str) -> str:
    """Return the name of the field of an upload header: `poster_url` for `X-Poster-URL`."""
    bare = name.removeprefix("X-")
    return name if bare == name else bare.replace("-", "_").casefold()


def _is_within(name: str, owner: str) -> bool:
    return name == owner or name.startswith((f"{owner}.", f"{owner}["))


def _with_row_number(name: str, owner: str, reason: str) -> str:
    """Return a reason with the number of its row: `2 url must be ...` for `restreams[1].url` of `restreams`."""
    inner = name.removeprefix(owner).replace("[", "").replace("].", " ").replace("]", "").lstrip(".")
    number, _, rest = inner.partition(" ")
    if number.isdecimal():
        inner = f"{int(number) + 1} {rest}".strip()
    return f"{inner} {reason}".strip()


DraftType = TypeVar("DraftType", bound=Draft)


def draft_maker(
    kind: type[DraftType], parts: Mapping[str, type[Draft]] | None = None
) -> Callable[[Mapping[str, Any]], DraftType]:
    """Return a function that makes a draft from values by dotted name.

    `parts`: prefix of names -> type of the inner draft: `record.parent_id` becomes a field of a `parts["record"]`.
    """
    nested = parts or {}

    def make(dotted: Mapping[str, Any]) -> DraftType:
        inner: dict[str, dict[str, object]] = {}
        plain: dict[str, object] = {}
        for name, value in dotted.items():
            head, dot, tail = name.partition(".")
            if dot:
                inner.setdefault(head, {})[tail] = value
            else:
                plain[name] = value
        return kind(**plain, **{head: nested[head](**fields) for head, fields in inner.items()})

    return make
