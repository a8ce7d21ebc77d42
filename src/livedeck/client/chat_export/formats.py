"""Text formats of an export, which write messages as lines of a file. Pure, except for the counts of each writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Protocol

from livedeck.client.chat_export.filter import ChatMessageDict, text
from livedeck.text.spreadsheet import safe_cell

FIELDS = ("id", "username", "external_id", "is_admin", "message", "created_at", "cteated_at_local")
"""Documented fields of a message, in the order of the document (platform-api.md, "Chat message")."""

_QUOTES = 2 * (len(FIELDS) - 1)
"""Number of quotation marks between the cells of a row; any further ones are inside the cells."""

_cells: Callable[[ChatMessageDict], tuple[str, ...]] = itemgetter(*FIELDS)
_join_rows = '"\r\n"'.join
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class RowFormatter(Protocol):
    """Text format of messages. `head`: text before the messages. `tail`: text after them."""

    head: str
    tail: str
    escaped_formulas: int

    def rows(self, messages: Sequence[ChatMessageDict]) -> str:
        """Return the next messages as text. Raises ValueError if the format cannot hold a message."""
        ...


class JsonLines:
    """Format with one JSON object in each line, with every field."""

    head, tail, escaped_formulas = "", "", 0

    def rows(self, messages: Sequence[ChatMessageDict]) -> str:
        """Return a line for each message."""
        return "".join(f"{_json(message)}\n" for message in messages)


class JsonDocument:
    """Format `{"data": [...]}`, the platform's own, with every field."""

    head, tail, escaped_formulas = '{"data":[', "]}", 0

    def __init__(self) -> None:
        self._separator = ""

    def rows(self, messages: Sequence[ChatMessageDict]) -> str:
        """Return the objects, separated by commas across calls."""
        if not messages:
            return ""
        separator, self._separator = self._separator, ","
        return separator + ",".join(map(_json, messages))


class Csv:
    """CSV by RFC 4180, with a header of field names and every cell in quotes (platform-api.md, "Chat log").

    `safe`: put a `'` before cells that a spreadsheet would evaluate. `escaped_formulas`: number of such cells.
    """

    tail = ""

    def __init__(self, *, safe: bool) -> None:
        self._safe = safe
        self.head = _row(FIELDS)
        self.escaped_formulas = 0

    def rows(self, messages: Sequence[ChatMessageDict]) -> str:
        """Return a row for each message."""
        if self._safe:
            return "".join(_row([self._escape_formula(cell) for cell in as_cells(message)]) for message in messages)
        try:
            rows = [*map('","'.join, map(_cells, messages))]
        except (KeyError, TypeError):  # a field is missing, or is not text
            return "".join(_row(as_cells(message)) for message in messages)
        joined = _join_rows(rows)
        if joined.count('"') > (_QUOTES + 2) * len(rows) - 2:  # rarely; a check of all rows at once is fast
            joined = _join_rows(
                _escape_quotes(_cells(message)) if row.count('"') > _QUOTES else row
                for message, row in zip(messages, rows, strict=True)
            )
        return f'"{joined}"\r\n' if rows else ""

    def _escape_formula(self, cell: str) -> str:
        escaped = safe_cell(cell)
        self.escaped_formulas += escaped is not cell
        return escaped


class Text:
    """Format `[created_at] username: message`, one line for each message (platform-api.md, "Chat log").

    A line break becomes a space, so that one message cannot look like two.
    """

    head, tail, escaped_formulas = "", "", 0

    def rows(self, messages: Sequence[ChatMessageDict]) -> str:
        """Return a line for each message."""
        return "".join(map(self._line, messages))

    @staticmethod
    def _line(message: ChatMessageDict) -> str:
        created_at, username, content = (text(message.get(name)) for name in ("created_at", "username", "message"))
        return _LINE_BREAK.sub(" ", f"[{created_at}] {username}: {content}") + "\n"


_LINE_BREAK = re.compile(r"\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Pattern of every line break that `str.splitlines` recognises."""


def as_cells(message: ChatMessageDict) -> list[str]:
    """Return the documented fields as text, in order: empty if missing, JSON for lists and objects."""
    values = [message.get(name) for name in FIELDS]
    return [_json(value) if isinstance(value, dict | list) else text(value) for value in values]


def _row(cells: Iterable[str]) -> str:
    return f'"{_escape_quotes(cells)}"\r\n'


def _escape_quotes(cells: Iterable[str]) -> str:
    """Return cells as a row of CSV with every cell in quotes, but without the first and the last quotation mark."""
    return '","'.join(cell.replace('"', '""') for cell in cells)
