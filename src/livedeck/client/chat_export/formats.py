"""Messages of a chat log made into the lines of a file. Pure but for what each writer counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Protocol

from livedeck.client.chat_export.filter import ChatMessageDict, text

FIELDS = ("id", "username", "external_id", "is_admin", "message", "created_at", "cteated_at_local")

"""What the document names, in its order (platform-api.md, "Chat message")."""


_RISKY = (*"=+-@\t\r\n", *"＝＋－＠")

"""Cells that begin so are computed by one spreadsheet or another (OWASP, "CSV injection")."""


_QUOTES = 2 * (len(FIELDS) - 1)

"""Quotation marks between the cells of a row: where there are more, they stand in the cells."""


_cells: Callable[[ChatMessageDict], tuple[str, ...]] = itemgetter(*FIELDS)

_between = '"\r\n"'.join

_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class RowFormatter(Protocol):
    """A text format: what stands before the messages, the messages, what stands after them."""

    head: str
    tail: str
    neutralised: int

    def rows(self, items: Sequence[ChatMessageDict]) -> str:
        """These messages, the next ones of the file. Raises ValueError for what the format cannot hold."""
        ...


class JsonLines:
    """One object of JSON a line, every field kept."""

    head, tail, neutralised = "", "", 0

    def rows(self, items: Sequence[ChatMessageDict]) -> str:
        """A line each."""
        return "".join(f"{_json(item)}\n" for item in items)


class JsonDocument:
    """`{"data": [...]}`, as the platform has it, every field kept."""

    head, tail, neutralised = '{"data":[', "]}", 0

    def __init__(self) -> None:
        self._between = ""

    def rows(self, items: Sequence[ChatMessageDict]) -> str:
        """Objects, with a comma before every one but the first."""
        if not items:
            return ""
        before, self._between = self._between, ","
        return before + ",".join(map(_json, items))


class Csv:
    """RFC 4180, every cell in quotes; the header is the field names (decisions.md, "Responses not shown").

    `safe`: a cell that a spreadsheet would compute gets a `'` before it. `neutralised`: how many did.
    """

    tail = ""

    def __init__(self, *, safe: bool) -> None:
        self._safe = safe
        self.head = _row(FIELDS)
        self.neutralised = 0

    def rows(self, items: Sequence[ChatMessageDict]) -> str:
        """A row each."""
        if self._safe:
            return "".join(_row([self._disarmed(cell) for cell in as_cells(item)]) for item in items)
        try:
            rows = [*map('","'.join, map(_cells, items))]
        except (KeyError, TypeError):  # a field is missing, or no text
            return "".join(_row(as_cells(item)) for item in items)
        if (
            _between(rows).count('"') > (_QUOTES + 2) * len(rows) - 2
        ):  # rarely; asked of all rows at once it costs little
            rows = [
                _escaped(_cells(item)) if row.count('"') > _QUOTES else row
                for item, row in zip(items, rows, strict=True)
            ]
        return f'"{_between(rows)}"\r\n' if rows else ""

    def _disarmed(self, cell: str) -> str:
        if not cell.startswith(_RISKY):
            return cell
        self.neutralised += 1
        return f"'{cell}"


class Text:
    """`[created_at] username: message` a line (decisions.md, "Responses not shown").

    What a message has on further lines is indented, so that a line that begins with `[` is a message of its own.
    """

    head, tail, neutralised = "", "", 0

    def rows(self, items: Sequence[ChatMessageDict]) -> str:
        """A line each, and more where a message has more."""
        return "".join(map(self._entry, items))

    @staticmethod
    def _entry(item: ChatMessageDict) -> str:
        at, name, said = (text(item.get(field)) for field in ("created_at", "username", "message"))
        return "\n    ".join(f"[{at}] {name}: {said}".splitlines()) + "\n"


def as_cells(item: ChatMessageDict) -> list[str]:
    """The documented fields as text, in their order; what is missing is empty, and what is no text is JSON."""
    values = [item.get(field) for field in FIELDS]
    return [_json(value) if isinstance(value, dict | list) else text(value) for value in values]


def _row(cells: Iterable[str]) -> str:
    return f'"{_escaped(cells)}"\r\n'


def _escaped(cells: Iterable[str]) -> str:
    """A row but for its first and last quotation mark."""
    return '","'.join(cell.replace('"', '""') for cell in cells)
