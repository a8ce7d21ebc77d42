"""Report as Markdown. Text of people and of the platform is escaped. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from livedeck.monitor import Severity
from livedeck.report.facts import EventFacts, Report, gaps_text
from livedeck.report.sections import (
    LIMITS_TITLE,
    NO_EVENTS_TEXT,
    OVERVIEW,
    SECTIONS,
    SPAN_COLUMNS,
    UNWATCHED_TEXT,
    WATCHED_TEXT,
    WATCHING_TITLE,
    Cell,
    Column,
    Name,
    cell_text,
    figures,
    table_rows,
)
from livedeck.report.text import stretch_text
from livedeck.text.markdown import literal, table_lines
from livedeck.text.segments import Line, StyleRole

T = TypeVar("T")


def markdown(report: Report) -> str:
    """Return the whole report as Markdown."""
    return "".join(f"{text}\n" for line in markdown_lines(report) for text, _ in line)


def markdown_lines(report: Report, draw: Callable[[EventFacts], Iterable[Line]] | None = None) -> Iterator[Line]:
    """Yield the lines of the report as Markdown. `draw`: makes the picture of an event, which becomes a code block."""
    yield from _unstyled(_head(report))
    for facts in report.events:
        yield from _unstyled([f"## {literal(facts.name)}", ""] if len(report.events) > 1 else [])
        yield from _unstyled(table_lines(["Figure", "Value"], figures(facts).items()))
        if draw:
            yield from (*_unstyled(["```text"]), *draw(facts), *_unstyled(["```", ""]))
        yield from _unstyled(_sections(facts))
    yield from _unstyled(_watching(report))


def _unstyled(lines: Iterable[str]) -> Iterator[Line]:
    return ([(line, StyleRole.TEXT)] for line in lines)


def _head(report: Report) -> Iterator[str]:
    yield from (f"# {literal(report.title)}", "")
    yield from (f"{stretch_text(report.span)} UTC. Written {report.made:%Y-%m-%d %H:%M:%S}Z by livedeck.", "")
    if not report.events:
        yield from (NO_EVENTS_TEXT, "")
    elif len(report.events) > 1:
        yield from _table(OVERVIEW, report.events)


def _sections(facts: EventFacts) -> Iterator[str]:
    for section in SECTIONS:
        table = _table(section.columns, section.items(facts)) if section.title else []
        if len(table) > _HEAD_LINES:
            yield from (f"### {section.title}", "", *table)
    yield from (f"### {LIMITS_TITLE}", "", *(f"- {sentence}" for sentence in gaps_text(facts)), "")


def _watching(report: Report) -> Iterator[str]:
    yield from (f"## {WATCHING_TITLE}", "")
    if report.unwatched:
        yield from (UNWATCHED_TEXT, "", *_table(SPAN_COLUMNS, report.unwatched)[:-1])
    else:
        yield WATCHED_TEXT


_HEAD_LINES = 3
"""Number of lines of a table without rows: head, rule and the blank line at the end."""


def _table(columns: Sequence[Column[T]], items: Iterable[T]) -> list[str]:
    rows = ([_cell(cell) for cell in row] for row in table_rows(columns, items))
    return table_lines([column.head for column in columns], rows)


def _cell(cell: Cell) -> str:
    match cell:
        case Name(kind, part):
            return f"{kind} {literal(part)}".strip()
        case str() if not isinstance(cell, Severity):
            return literal(cell)
    return cell_text(cell)
