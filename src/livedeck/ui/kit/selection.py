"""Selected row of a table. Actions apply to this row, so only a person's choice selects another one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema

T = TypeVar("T")

SEEN_AFTER = 0.3
"""Seconds that a person needs to see a new picture and press a key. An earlier key refers to the previous picture."""


class Absence(StrEnum):
    """Reason why a table lost its selected row: `"X" left the list`."""

    GONE = "left the list"
    FILTERED = "is hidden by the filter"
    UNLISTED = "is not in this list"


class RowSelection:
    """Selected row of a table. `key`: the row's key, None for no row.

    At first the first row is selected. If the selected row leaves the table, no row is selected until a person chooses
    one, even if the row returns (interface.md, "Selection"). `follows_first`: select the first row after each change of
    the rows until a person chooses a row. `is_chosen`: True once a person has chosen a row. `awaited`: key of a row
    that a person has created. The row is selected once it appears, unless another row is chosen before. `absence`:
    reason why the last selected row is not shown.
    """

    def __init__(self, *, follows_first: bool = False) -> None:
        self.key: str | None = None
        self.is_chosen = False
        self.awaited: str | None = None
        self._name = ""  # name of the selected row at its last paint
        self._left = ""  # name of the row that has left the table
        self.absence = Absence.GONE
        self._follows_first = follows_first

    def choose(self, key: str) -> None:
        """Select a row that a person has chosen."""
        self.key, self._left, self.is_chosen, self.awaited = key, "", True, None

    def aim(self, key: str) -> None:
        """Move the cursor to a row until the next update of the rows. Does nothing once a person has chosen a row.

        `key`: key of the row; empty for no row.
        """
        if not self.is_chosen:
            self.key = key

    def follow(self, name: str | None, first: str | None, absence: Absence = Absence.GONE) -> None:
        """Update the selection after a change of the table's rows.

        `name`: name of the selected row, None if that row is gone. `first`: key of the first row, None without rows.
        `absence`: why the selected row is not shown.
        """
        if not self.is_chosen:
            self._begin(first)
        elif name is not None:
            self._name = name
        elif self.key is not None:
            self._left, self.absence, self.key = self._name or self.key, absence, None

    def _begin(self, first: str | None) -> None:
        if self._follows_first:
            self.key = first or ""  # no row has an empty key, and rows elsewhere must not be selected
        elif first is not None:
            self.choose(first)

    def follow_rows(
        self, schema: TableSchema[T], rows: Sequence[T], everything: Sequence[T], render_time: RenderTime
    ) -> T | None:
        """Update the selection for the rows of the table, and return the selected row; None if there is none.

        `everything`: the rows without a filter.
        """
        row = find_row(schema, rows, self.key)
        self.follow(
            None if row is None else schema.row_name(row, render_time),
            schema.key(rows[0]) if rows else None,
            Absence.GONE if find_row(schema, everything, self.key) is None else Absence.FILTERED,
        )
        return row if row is not None else find_row(schema, rows, self.key)

    def missing_text(self, noun: str) -> str:
        """Return why no row is selected: `nothing is selected: "X" left the list; choose a room`.

        Empty if the selected row has not left the table.
        """
        if not self._left:
            return ""
        what = f'"{self._left}" {self.absence}'
        return f"nothing is selected: {what}; choose {'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def find_row(schema: TableSchema[T], rows: Sequence[T], key: str | None) -> T | None:
    """Return the row with a key; None if there is none."""
    return next((row for row in rows if schema.key(row) == key), None)
