"""Filter language, and the operator's arrangement of a table: filter, order and columns. Pure."""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Generic, TypeVar

from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema, Value, sort_rows
from livedeck.record import Record
from livedeck.text.segments import Line, ShadedLine, StyleRole, linked
from livedeck.text.values import safe

T = TypeVar("T")
_TERM = re.compile(r"(?P<not>!?)(?P<field>[A-Za-z_]+)(?P<op><=|>=|[:<>=])(?P<text>.*)", re.DOTALL)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)([kKmMgG]?)")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_ORDER = frozenset({"<", ">", "<=", ">="})

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
}


class FilterError(Exception):
    """The filter is invalid. The message has the reason."""


class Term(Record):
    """Condition of a filter. `field`: empty for the text of the row. `number`: `text` as a number, or None."""

    field: str
    op: str
    text: str
    negated: bool = False
    number: float | None = None


def parse(text: str, fields: Mapping[str, object]) -> tuple[Term, ...]:
    """Return the conditions of a filter; empty for an empty filter. Raises FilterError."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise FilterError("a quote is not closed") from None
    return tuple(_term(word, fields) for word in words)


def _term(word: str, fields: Mapping[str, object]) -> Term:
    match = _TERM.fullmatch(word)
    if not match:
        return Term("", ":", word.removeprefix("!").casefold(), negated=word.startswith("!"))
    name, op, text = match["field"].lower(), match["op"], match["text"]
    if name not in fields:
        near = get_close_matches(name, fields, 2) or sorted(fields)
        raise FilterError(f"no field {name!r}; {'did you mean' if len(near) < 3 else 'fields'}: {', '.join(near)}")
    number = _number(text)
    if op in _ORDER and number is None:
        raise FilterError(f"{name}{op} needs a number" + (f", not {text!r}" if text else ""))
    if not text:
        raise FilterError(f"{name}{op} needs a word")
    return Term(name, op, text.casefold(), bool(match["not"]), number)


def _number(text: str) -> float | None:
    match = _NUMBER.fullmatch(text)
    return float(match[1]) * _FACTORS[match[2].lower()] if match else None


def filter_rows(
    rows: Sequence[T], terms: tuple[Term, ...], schema: TableSchema[T], render_time: RenderTime
) -> Sequence[T]:
    """Return the rows that meet all conditions."""
    if not terms:  # making the text of 10,000 rows takes longer than painting the screen
        return rows
    fields = schema.filter_fields()

    def holds(term: Term, row: T) -> bool:
        return _holds(term, fields[term.field](row, render_time) if term.field else schema.text(row))

    return [row for row in rows if all(holds(term, row) for term in terms)]


def _holds(term: Term, value: Value) -> bool:
    if isinstance(value, float | int) and term.number is not None and term.op in _COMPARISONS:
        return _COMPARISONS[term.op](float(value), term.number) is not term.negated
    if term.op in _ORDER:
        return False
    words = value if isinstance(value, tuple) else ("" if value is None else f"{value}",)
    exact = term.op == "="
    is_match = any(term.text == word.casefold() if exact else term.text in word.casefold() for word in words)
    return is_match is not term.negated


class TableView(Record):
    """Operator's arrangement of a table. `sort`: name of a column; empty for the normal order.

    `hidden`: names of hidden columns. `name`: name of the view; empty for an arrangement without a name. `group`: name
    of one of the table's `groups`; empty for rows without groups.
    """

    filter: str = ""
    sort: str = ""
    down: bool = False
    hidden: tuple[str, ...] = ()
    name: str = ""
    group: str = ""


NamedViews = Mapping[str, TableView]
"""Name -> arrangement of the Events table."""

PROJECTS = TableView(name="projects", group="project")
"""Named view that needs no settings."""

ALL = "all"
"""Name for a table without a view: all rows and columns, in normal order."""


def read_view(
    schema: TableSchema[T], name: str, *, rows: str, sort: str, columns: Sequence[str], group: str
) -> TableView:
    """Return a named view. `rows`: its filter. `sort`: a column, after `-` to sort in descending order.

    `columns`: columns that it shows besides the name of the row; empty for all. Raises FilterError for a filter or a
    column that the table lacks, and for the name `all`.
    """
    if name == ALL:
        raise FilterError(f"{ALL} shows every event and column; choose another name")
    parse(rows, schema.filter_fields())
    names, sortable = [column.name for column in schema.columns], schema.sortable_columns()
    sorted_by = sort.removeprefix("-")
    if sort and sorted_by not in sortable:
        raise FilterError(f"no column {sorted_by!r}; columns: {', '.join(sortable)}")
    if unknown := [column for column in columns if column not in names]:
        raise FilterError(f"no column {unknown[0]!r}; columns: {', '.join(names)}")
    shown = {*columns, *(column.name for column in schema.name_columns)}
    hidden = tuple(column for column in names if columns and column not in shown)
    return TableView(rows, sorted_by, sort.startswith("-"), hidden, name, group)


class FilteredRows(Record, Generic[T]):
    """Visible rows, number of all rows, and number of hidden rows with a critical fault.

    `first`: first row in the order without pins and groups; None without rows. `sections`: heads of groups, each with
    the index of the row below.
    """

    rows: tuple[T, ...]
    total: int
    hidden_critical: int = 0
    first: T | None = None
    sections: tuple[tuple[int, Line], ...] = ()


def apply_view(schema: TableSchema[T], rows: Sequence[T], view: TableView, render_time: RenderTime) -> FilteredRows[T]:
    """Return the rows that pass the view's filter, in the view's order. Pinned rows are first.

    A saved view of an earlier version may have fields or columns that this table lacks. They hide nothing.
    """
    fields = schema.filter_fields()
    try:
        terms = parse(view.filter, fields)
    except FilterError:
        terms = ()
    kept = filter_rows(rows, terms, schema, render_time)
    hidden_critical = sum(map(schema.is_critical, rows)) - sum(map(schema.is_critical, kept)) if terms else 0
    if view.sort in schema.sortable_columns():
        kept = sort_rows(kept, fields[view.sort], render_time, down=view.down, name=schema.text)
    first, groups = next(iter(kept), None), _grouped(schema, kept, view, render_time)
    heads, shown = list[tuple[int, Line]](), list[T]()
    for title, members in groups:
        words = schema.count(members, render_time) or f"{len(members)}"
        heads.append((len(shown), [(f" {title}", StyleRole.RAISED), (f"  {words}", StyleRole.OFF)]))
        shown += members
    arranged = tuple(shown) if groups else tuple(kept)
    return FilteredRows(arranged, len(rows), hidden_critical, first, tuple(heads) if view.group else ())


PINNED = "pinned"


def _grouped(
    schema: TableSchema[T], rows: Sequence[T], view: TableView, render_time: RenderTime
) -> list[tuple[str, list[T]]]:
    """Return the pinned rows under a head, then the groups under their heads, in the order of their first rows.

    Empty if the view has no group and no row is pinned.
    """
    title, pinned = schema.groups.get(view.group), render_time.pinned if schema.has_pins else frozenset[str]()
    if title is None and not pinned:
        return []
    groups: dict[tuple[bool, str], list[T]] = {(True, PINNED): []}  # a folder may be named PINNED, too
    for row in rows:
        if schema.key(row) in pinned:
            groups[True, PINNED].append(row)
        else:
            groups.setdefault((False, title(row, render_time) if title else ""), []).append(row)
    return [(head, members) for (_, head), members in groups.items() if members]


def filter_line(view: TableView, filtered: FilteredRows[T], clear_key: str) -> list[ShadedLine]:
    """Return the view, the active filter and the number of hidden rows; empty without view and filter.

    `clear_key` or a click clears the filter, and leaves the view. If the operator changes a named view, it loses its
    name but keeps its groups.
    """
    if not (view.filter or view.name or view.group):
        return []
    role = StyleRole.TEXT if filtered.rows else StyleRole.WARNING
    match: Line = [(f"   {len(filtered.rows)} of {filtered.total} match", role)]
    if filtered.hidden_critical:
        match.append((f"   ✖ {filtered.hidden_critical} with a critical fault hidden", StyleRole.CRITICAL))
    words: Line = [(safe(view.filter), StyleRole.STRONG)]
    if not view.name and not view.group:
        line = [(" / ", StyleRole.HEAD), *words, *match, (f"   {clear_key} clears it", StyleRole.DIM)]
    else:  # the name and the counts stay even if the filter is too long for the line
        name: Line = [(" view ", StyleRole.HEAD), (safe(view.name) or "changed by hand", StyleRole.STRONG)]
        line = [*name, *(match if view.filter else []), (f"   {clear_key} leaves it   ", StyleRole.DIM), *words]
    return [linked(line, "view.clear")]


def sort_line(schema: TableSchema[T], view: TableView, next_key: str) -> list[Line]:
    """Return a note if the operator has sorted a table whose normal order is worst first.

    `next_key`: key that changes the order.
    """
    if not schema.is_worst_first or view.sort not in schema.sortable_columns():
        return []
    return [
        [
            (" ↕ ", StyleRole.HEAD),
            (f"sorted by {view.sort}", StyleRole.STRONG),
            (", not worst first", StyleRole.WARNING),
            (f"   {next_key} changes the order, for this session", StyleRole.DIM),
        ]
    ]
