"""Which row of a table is selected: what is done is done to it, so that nothing but a choice moves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema

T = TypeVar("T")

SEEN_AFTER = 0.3
"""Seconds that a picture stands before a key can be meant for it: a person needs as long to see it and to press one."""


class RowSelection:
    """The key of the selected row; None: none is. It begins on the first row that there is.

    A row that leaves the table leaves nothing selected, though it should come back: only a choice selects another one
    (interface.md, "Selection"). `follows_first`: until the first choice it is the first row, whichever that becomes.
    `is_chosen`: whether a choice was ever made. `awaited`: the key of a row that a person has made, chosen once it is
    there, unless another one was chosen meanwhile.
    """

    def __init__(self, *, follows_first: bool = False) -> None:
        self.key: str | None = None
        self.is_chosen = False
        self.awaited: str | None = None
        self._name = ""  # of the selected row, as it was last shown
        self._left = ""  # the name of the row that left the table
        self._follows_first = follows_first

    def choose(self, key: str) -> None:
        """A person has selected that row."""
        self.key, self._left, self.is_chosen, self.awaited = key, "", True, None

    def aim(self, key: str) -> None:
        """Stand on that row, empty for none, until the table shows its rows again; only while no row was chosen."""
        if not self.is_chosen:
            self.key = key

    def follow(self, name: str | None, first: str | None) -> None:
        """The table shows the selected row under that name; None: it does not. `first`: the key of its first row."""
        if not self.is_chosen:
            self._begin(first)
        elif name is not None:
            self._name = name
        elif self.key is not None:
            self._left, self.key = self._name or self.key, None

    def _begin(self, first: str | None) -> None:
        if self._follows_first:
            self.key = first or ""  # the key of no row, though there are rows elsewhere
        elif first is not None:
            self.choose(first)

    def follow_rows(self, schema: TableSchema[T], rows: Sequence[T], render_time: RenderTime) -> T | None:
        """The table shows these rows. Returns the selected one."""
        row = find_row(schema, rows, self.key)
        self.follow(None if row is None else schema.row_name(row, render_time), schema.key(rows[0]) if rows else None)
        return row if row is not None else find_row(schema, rows, self.key)

    def missing_text(self, noun: str) -> str:
        """Why nothing is selected, and what to do: `nothing is selected: "X" left the list; choose a room`."""
        article = "an" if noun[0] in "aeiou" else "a"
        return f'nothing is selected: "{self._left}" left the list; choose {article} {noun}' if self._left else ""


def find_row(schema: TableSchema[T], rows: Sequence[T], key: str | None) -> T | None:
    """The row of that key."""
    return next((row for row in rows if schema.key(row) == key), None)
