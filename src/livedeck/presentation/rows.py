"""Objects of the platform as a table for people, and as JSON, NDJSON and CSV for programs. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from livedeck.text.segments import Line, StyleRole, fit, plain, width
from livedeck.text.values import safe

MIN_CELLS = 6
"""Minimum width of a column."""

MAX_TEXT = 400
"""Maximum number of characters of a cell in a table of unlimited width."""

SHORT_ID = 8
"""Number of characters of a shortened id. Commands accept the beginning of an id."""

GAP = "  "

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z")


def value_at(item: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path such as `scheduled.time`; None without a value."""
    value: Any = item
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def cell_text(value: Any) -> str:
    """Return a value as text: `-` for None, the length of a list of objects, a time without seconds."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return (" ".join(value) or "none") if all(isinstance(part, str) for part in value) else str(len(value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return _MOMENT.sub(r"\1 \2Z", str(value))


def table_lines(items: Iterable[Mapping[str, Any]], columns: Sequence[str], cells: int | None) -> list[str]:
    """Return a head and a line for each item. `cells`: maximum width; None for any width."""
    heads = [column.replace(".", " ").replace("_", " ").upper() for column in columns]
    rows: list[list[str]] = [
        [safe(cell_text(value_at(item, column)), MAX_TEXT) for column in columns] for item in items
    ]
    lines, widths = _measured([heads, *rows])
    if cells is not None and sum(widths) + len(GAP) * (len(widths) - 1) > cells:
        short = [
            [text[:SHORT_ID] if name == "id" else text for name, text in zip(columns, row, strict=True)] for row in rows
        ]
        lines, widths = _measured([heads, *short])
    widths = _fitting(widths, cells)
    return [
        GAP.join(plain(fit(cell, size, ellipsis=True)) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _measured(rows: list[list[str]]) -> tuple[list[list[Line]], list[int]]:
    """Return the cells of a table, and the width of each column."""
    lines: list[list[Line]] = [[[(text, StyleRole.TEXT)] for text in row] for row in rows]
    return lines, [max(width(line[index]) for line in lines) for index in range(len(rows[0]))]


def _fitting(widths: list[int], cells: int | None) -> list[int]:
    """Return the widths of the columns. The widest columns are reduced until all fit."""
    room = None if cells is None else cells - len(GAP) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > MIN_CELLS:
        widest = widths.index(max(widths))
        next_widest = max((size for size in widths if size < widths[widest]), default=MIN_CELLS)
        widths[widest] = max(MIN_CELLS, next_widest, widths[widest] - (sum(widths) - room))
    return widths


def detail_lines(item: Mapping[str, Any], columns: Sequence[str] = ()) -> list[str]:
    """Return a line for each field of an object."""
    names = columns or _paths(item)
    size = max(map(len, names), default=0)
    return [f"{name.ljust(size)}  {safe(cell_text(value_at(item, name)), MAX_TEXT)}" for name in names]


def _paths(item: Mapping[str, Any]) -> list[str]:
    return [
        path
        for name, value in item.items()
        for path in ([f"{name}.{inner}" for inner in value] if isinstance(value, Mapping) and value else [name])
    ]


def csv_text(items: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return a head and a row for each item. Lists and objects are JSON, null is an empty cell."""
    text = StringIO()
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a lone \r is not quoted otherwise
    for row in (columns, *([_csv_cell(value_at(item, column)) for column in columns] for item in items)):
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return text.getvalue()


def _csv_cell(value: Any) -> str:
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def picked(item: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return the fields `columns` of an item; all fields if `columns` is empty."""
    return {column: value_at(item, column) for column in columns} if columns else dict(item)
