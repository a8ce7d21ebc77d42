"""How an operator has a table arranged, and what that makes of its rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from livedeck.ui import filtering
from livedeck.ui.renderables.columns import Sheet, ordered
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """A table as it is arranged. `sort`: a column, empty: the order of the monitor, worst first. `hidden`: columns."""

    filter: str = ""
    sort: str = ""
    down: bool = False
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arranged(Generic[T]):
    """The rows that are shown, of how many, and how many of the others have a critical fault."""

    rows: tuple[T, ...]
    total: int
    grave: int = 0


def arranged(sheet: Sheet[T], rows: Sequence[T], view: View, moment: Moment) -> Arranged[T]:
    """The rows that the filter lets through, in the order that was asked for.

    A filter or a column that this table does not know (one kept from a former version) lets everything through.
    """
    said, kept, grave = sheet.said(), rows, 0
    try:
        terms = filtering.parse(view.filter, said)
    except filtering.FilterError:
        terms = ()
    if terms:  # to ask ten thousand rows for their words takes longer than to paint the screen
        kept = [one for one in rows if filtering.matches(terms, one, moment, said, sheet.text(one))]
        grave = sum(map(sheet.grave, rows)) - sum(map(sheet.grave, kept))
    if view.sort in sheet.sortable():
        kept = ordered(kept, said[view.sort], moment, down=view.down)
    return Arranged(tuple(kept), len(rows), grave)


def line(view: View, known: Arranged[T], clear: str) -> list[Line]:
    """That a filter is in force, and what it hides: never silently. `clear`: the key that takes it off."""
    if not view.filter:
        return []
    said: Line = [
        (" / ", Ink.HEAD),
        (view.filter, Ink.STRONG),
        (f"   {len(known.rows)} of {known.total} match", Ink.TEXT if known.rows else Ink.WARNING),
    ]
    if known.grave:
        said.append((f"   ✖ {known.grave} with a critical fault hidden", Ink.CRITICAL))
    return [[*said, (f"   {clear} shows all", Ink.DIM)]]
