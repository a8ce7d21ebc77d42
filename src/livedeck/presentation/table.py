"""Tables of any rows as lines: layout of the columns, head, rows and order of the rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise, zip_longest
from math import inf
from typing import Generic, TypeVar

from msgspec import field

from livedeck.monitor import Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record
from livedeck.text.names import name_order
from livedeck.text.segments import Line, StyleRole, fit, plain

T = TypeVar("T")

Value = float | str | tuple[str, ...] | None
"""Value of a row for sorting and filters: a number, a word or several words. None means unknown."""

ValueGetter = Callable[[T, RenderTime], Value]

SORT, SELECT = "view.sort", "row.select"
"""Commands that run on a click on the title of a column, and on a click on a line about an event."""

GAP = 1
"""Number of cells between two columns."""


class Column(Record, Generic[T]):
    """Column: name in commands and filters, title, minimum width in cells, and renderer.

    `rank`: if not all columns fit, columns of the highest rank are dropped first; rank 0 is never dropped. `value`:
    returns the value for sorting. `grows`: the column takes free cells, up to `max_width` (0: no limit). `draw`:
    renderer for a given width, if the text depends on the width. `is_steady`: the text changes only with new data.
    `stretches`: the column takes the cells that are left once all columns have their maximum width. `spills`: the text
    also takes the next column, in rows in which that column is empty.
    """

    name: str
    title: str
    width: int
    rank: int
    render: Callable[[T, RenderTime], Line]
    value: ValueGetter[T] | None = None
    right: bool = False
    grows: bool = False
    max_width: int = 0
    draw: Callable[[T, RenderTime, int], Line] | None = None
    is_steady: bool = False
    stretches: bool = False
    spills: bool = False

    def cell(self, row: T, render_time: RenderTime, width: int) -> Line:
        """Return the cell of a row and the gap after it."""
        text = self.draw(row, render_time, width) if self.draw else self.render(row, render_time)
        return [*fit(text, width, right=self.right, ellipsis=True), (" " * GAP, StyleRole.TEXT)]


def text_column(
    name: str,
    title: str,
    width: int,
    rank: int,
    text: Callable[[T], str],
    *,
    value: Callable[[T], Value] | None = None,
    role: StyleRole = StyleRole.TEXT,
    right: bool = False,
    grows: bool = False,
    max_width: int = 0,
    stretches: bool = False,
) -> Column[T]:
    """Return a column of plain text, sorted by `value` or by the text. On stale data the role is STALE."""
    getter = value or text

    def render(row: T, render_time: RenderTime) -> Line:
        return [(text(row), StyleRole.STALE if render_time.stale else role)]

    return Column(
        name, title, width, rank, render, lambda row, _: getter(row), right, grows, max_width, stretches=stretches
    )


class TableSchema(Record, Generic[T]):
    """Kind of table. `key`: returns the key by which the cursor follows a row.

    `text`: returns the text of a row for filter words without a field. `is_critical`: returns whether a row has a
    critical fault; hidden critical rows are counted. `rows`: returns the rows of a snapshot. `fields`: filter fields
    besides the columns. `named_by`: columns that name a row; empty for the column that grows. `is_worst_first`:
    unsorted rows are in order of urgency. `sections`: returns the heads of unsorted rows, each with the index of the
    row below. `count`: returns a summary of the rows below the screen. `groups`: ways to group rows under heads, each
    with the function that returns the head of a row. `has_ground`: critical rows have a coloured background.
    `has_pins`: rows are events, pinned ones first.
    """

    columns: tuple[Column[T], ...]
    key: Callable[[T], str]
    text: Callable[[T], str]
    is_critical: Callable[[T], bool] = lambda _: False
    rows: Callable[[Snapshot], Sequence[T]] = lambda _: ()
    fields: Mapping[str, ValueGetter[T]] = field(default_factory=dict)
    named_by: tuple[str, ...] = ()
    is_worst_first: bool = False
    sections: Callable[[Sequence[T]], Sequence[tuple[int, Line]]] = lambda _: ()
    count: Callable[[Iterable[T], RenderTime], str] = lambda *_: ""
    groups: Mapping[str, Callable[[T, RenderTime], str]] = field(default_factory=dict)
    has_ground: bool = False
    has_pins: bool = False

    def row_name(self, row: T, render_time: RenderTime) -> str:
        """Return the name of a row for a sentence."""
        return " ".join(plain(column.render(row, render_time)).strip() for column in self.name_columns)

    @property
    def name_columns(self) -> Sequence[Column[T]]:
        """Columns that name a row."""
        named = [column for column in self.columns if column.name in self.named_by]
        return named or [column for column in self.columns if column.grows][:1]

    def filter_fields(self) -> dict[str, ValueGetter[T]]:
        """Return the getter of every filter field, by name."""
        return {**{column.name: column.value for column in self.columns if column.value}, **self.fields}

    def sortable_columns(self) -> list[str]:
        """Return the names of the sortable columns."""
        return [column.name for column in self.columns if column.value]


Layout = Sequence[tuple[Column[T], int]]
"""Visible columns and the width of each in cells."""


def layout(columns: Iterable[Column[T]], width: int, hidden: Collection[str] = ()) -> list[tuple[Column[T], int]]:
    """Return the columns that fit, each with its width. Columns that grow share the free cells."""
    visible = [column for column in columns if column.name not in hidden]
    while _total_width(visible) > width and any(column.rank for column in visible):
        visible.remove(max(visible, key=lambda column: column.rank))
    spare, extra = max(0, width - _total_width(visible)), dict[str, int]()
    growing = sorted((column for column in visible if column.grows), key=lambda column: column.max_width or inf)
    for index, column in enumerate(growing):
        share = spare // (len(growing) - index)
        extra[column.name] = max(0, min(share, column.max_width - column.width)) if column.max_width else share
        spare -= extra[column.name]
    for column in (column for column in growing if column.stretches):
        extra[column.name] += spare
        spare = 0
    return [(column, column.width + extra.get(column.name, 0)) for column in visible]


def _total_width(columns: Sequence[Column[T]]) -> int:
    return sum(column.width + GAP for column in columns)


def head_line(columns: Layout[T], sort: str = "", *, down: bool = False) -> Line:
    """Return the titles of the columns. An arrow marks the column that sorts the rows."""
    line: Line = []
    for column, width in columns:
        arrow = ("↓" if down else "↑") if column.name == sort else ""
        title = fit([(column.title, StyleRole.HEAD), (arrow, StyleRole.STRONG)], width, right=column.right)
        line += [*title, (" " * GAP, StyleRole.TEXT)]
    return line


def row_line(row: T, render_time: RenderTime, columns: Layout[T]) -> Line:
    """Return a row as a line."""
    cells = [column.cell(row, render_time, width) for column, width in columns]
    _spill(cells, row, render_time, columns)
    return list(chain.from_iterable(cells))


def _spill(cells: list[Line], row: T, render_time: RenderTime, columns: Layout[T]) -> None:
    """Let a column that spills take the next cell if that cell is empty."""
    for index, ((column, width), (_, more)) in enumerate(pairwise(columns)):
        if column.spills and not plain(cells[index + 1]).strip():
            cells[index : index + 2] = column.cell(row, render_time, width + GAP + more), []


class RowCells(Generic[T]):
    """Cells of a row. Each second, only cells that depend on the time are drawn again."""

    def __init__(self, row: T) -> None:
        self.row = row
        self._shown: tuple[RenderTime, Layout[T]] | None = None
        self._cells: list[Line] = []
        self._line: Line = []

    def line(self, render_time: RenderTime, columns: Layout[T]) -> Line:
        """Return the row as a line. An unchanged row returns the same object."""
        before = self._shown
        if before is not None and before[0] is render_time and before[1] is columns:
            return self._line
        keeps = before is not None and before[1] is columns and render_time.differs_in_time_only(before[0])
        cells = [
            old if keeps and column.is_steady else column.cell(self.row, render_time, width)
            for (column, width), old in zip_longest(columns, self._cells[: len(columns)])
        ]
        _spill(cells, self.row, render_time, columns)
        if cells != self._cells or not keeps:
            self._line = list(chain.from_iterable(cells))
        self._shown, self._cells = (render_time, columns), cells
        return self._line


def sort_rows(
    rows: Iterable[T], value: ValueGetter[T], render_time: RenderTime, *, down: bool, name: Callable[[T], str]
) -> list[T]:
    """Return the rows sorted by `value`, and rows of equal value by `name`. Rows without a value are last."""
    by_name = sorted(rows, key=lambda row: name_order(name(row)))
    pairs = [(value(row, render_time), row) for row in by_name]
    with_value = sorted(
        (pair for pair in pairs if pair[0] is not None), key=lambda pair: _sort_key(pair[0]), reverse=down
    )
    return [row for _, row in with_value] + [row for key, row in pairs if key is None]


def _sort_key(value: Value) -> tuple[float, str]:
    if isinstance(value, float | int):
        return float(value), ""
    return 0.0, " ".join(value).casefold() if isinstance(value, tuple) else (value or "").casefold()
