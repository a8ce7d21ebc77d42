"""The filter language, and a table as the operator has arranged it: filtered, sorted, its columns chosen. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Generic, TypeVar

from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Cells, TableSchema, Value, ordered
from livedeck.text.segments import Line, StyleRole

_TERM = re.compile(r"(?P<not>!?)(?P<field>[A-Za-z_]+)(?P<op><=|>=|[:<>=])(?P<wanted>.*)", re.DOTALL)

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)([kKmMgG]?)")

_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}

_ORDER = frozenset({"<", ">", "<=", ">="})

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
    "<=": lambda one, other: one <= other,
    ">=": lambda one, other: one >= other,
    "=": lambda one, other: one == other,
}


class FilterError(Exception):
    """What was typed is no filter: why."""


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. `field` empty: the text of the row. `number`: what a comparison is made with."""

    field: str
    op: str
    wanted: str
    negated: bool = False
    number: float | None = None


def parse(text: str, fields: Mapping[str, object]) -> tuple[Term, ...]:
    """The conditions of a filter, () for an empty one. Raises FilterError."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise FilterError("a quote is not closed") from None
    return tuple(_term(word, fields) for word in words)


def _term(word: str, fields: Mapping[str, object]) -> Term:
    found = _TERM.fullmatch(word)
    if not found:
        negated = word.startswith("!")
        return Term("", ":", word.removeprefix("!").casefold(), negated)
    name, op, wanted = found["field"].lower(), found["op"], found["wanted"]
    if name not in fields:
        near = get_close_matches(name, fields, 2) or sorted(fields)
        raise FilterError(f"no field {name!r}; {'near it' if len(near) < 3 else 'there are'}: {', '.join(near)}")
    number = _number(wanted)
    if op in _ORDER and number is None:
        raise FilterError(f"{name}{op} needs a number" + (f", {wanted!r} is none" if wanted else ""))
    if not wanted:
        raise FilterError(f"{name}{op} needs a word")
    return Term(name, op, wanted.casefold(), bool(found["not"]), number)


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text)
    return float(found[1]) * _SIZES[found[2].lower()] if found else None


def matches(terms: tuple[Term, ...], subject: T, moment: RenderTime, fields: Mapping[str, Cells[T]], text: str) -> bool:
    """Whether all conditions hold for that row."""
    return all(_holds(term, fields[term.field](subject, moment) if term.field else text) for term in terms)


def _holds(term: Term, value: Value) -> bool:
    if isinstance(value, float | int) and term.number is not None and term.op in _COMPARED:
        return _COMPARED[term.op](float(value), term.number) is not term.negated
    if term.op in _ORDER:
        return False
    words = value if isinstance(value, tuple) else ("" if value is None else f"{value}",)
    exact = term.op == "="
    hit = any(term.wanted == word.casefold() if exact else term.wanted in word.casefold() for word in words)
    return hit is not term.negated


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it is arranged. `sort`: a column, empty: the order of the monitor, worst first. `hidden`: columns."""

    filter: str = ""
    sort: str = ""
    down: bool = False
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilteredRows(Generic[T]):
    """The rows that are shown, of how many, and how many of the others have a critical fault."""

    rows: tuple[T, ...]
    total: int
    grave: int = 0


def apply_view(sheet: TableSchema[T], rows: Sequence[T], view: TableView, moment: RenderTime) -> FilteredRows[T]:
    """The rows that the filter lets through, in the order that was asked for.

    A filter or a column that this table does not know (one kept from a former version) lets everything through.
    """
    said, kept, grave = sheet.said(), rows, 0
    try:
        terms = parse(view.filter, said)
    except FilterError:
        terms = ()
    if terms:  # to ask ten thousand rows for their words takes longer than to paint the screen
        kept = [one for one in rows if matches(terms, one, moment, said, sheet.text(one))]
        grave = sum(map(sheet.grave, rows)) - sum(map(sheet.grave, kept))
    if view.sort in sheet.sortable():
        kept = ordered(kept, said[view.sort], moment, down=view.down)
    return FilteredRows(tuple(kept), len(rows), grave)


def filter_line(view: TableView, known: FilteredRows[T], clear: str) -> list[Line]:
    """That a filter is in force, and what it hides: never silently. `clear`: the key that takes it off."""
    if not view.filter:
        return []
    said: Line = [
        (" / ", StyleRole.HEAD),
        (view.filter, StyleRole.STRONG),
        (f"   {len(known.rows)} of {known.total} match", StyleRole.TEXT if known.rows else StyleRole.WARNING),
    ]
    if known.grave:
        said.append((f"   ✖ {known.grave} with a critical fault hidden", StyleRole.CRITICAL))
    return [[*said, (f"   {clear} shows all", StyleRole.DIM)]]
