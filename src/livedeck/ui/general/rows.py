"""Moving in a table, and opening what stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livedeck.monitor import Severity
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.context import Action, ScreenKind, needs_event
from livedeck.ui.shell.screen import BaseScreen

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def _table(ctx: Context) -> Table[Any]:
    return ctx.screen_of(BaseScreen).table()


def move_up(ctx: Context, _: str) -> None:
    """To the row above."""
    _table(ctx).move(-1)


def move_down(ctx: Context, _: str) -> None:
    """To the row below."""
    _table(ctx).move(1)


def page_up(ctx: Context, _: str) -> None:
    """A screenful up."""
    _table(ctx).page(-1)


def page_down(ctx: Context, _: str) -> None:
    """A screenful down."""
    _table(ctx).page(1)


def first_row(ctx: Context, _: str) -> None:
    """To the first row."""
    _table(ctx).jump(0)


def last_row(ctx: Context, _: str) -> None:
    """To the last row."""
    _table(ctx).jump(-1)


def open_row(ctx: Context, _: str) -> None:
    """To the detail of the row under the cursor."""
    _table(ctx).open()


def select_row(ctx: Context, event_id: str) -> None:
    """Select that event; where one of its rows or alarms is clicked, that is the command."""
    if ctx.snapshot is None or ctx.snapshot.find(event_id) is None:
        ctx.announce(f"there is no event {event_id or 'without an id'} here", Severity.WARNING)
    else:
        ctx.select_event(event_id)


ROWS = (
    Action("row.up", ("up", "k"), "up", "The row above", move_up, kind=ScreenKind.ROWS),
    Action("row.down", ("down", "j"), "down", "The row below", move_down, kind=ScreenKind.ROWS),
    Action("row.page_up", ("pageup",), "page up", "A screenful up", page_up, kind=ScreenKind.ROWS),
    Action("row.page_down", ("pagedown",), "page down", "A screenful down", page_down, kind=ScreenKind.ROWS),
    Action("row.first", ("home",), "first", "The first row", first_row, kind=ScreenKind.ROWS),
    Action("row.last", ("end",), "last", "The last row", last_row, kind=ScreenKind.ROWS),
    Action("row.select", (), "select", "Select the event of that id", select_row, kind=ScreenKind.EVENTS, takes="ID"),
    Action(
        "row.open",
        ("enter",),
        "QoS",
        "From the table to the QoS of that event",
        open_row,
        kind=ScreenKind.EVENTS,
        blocked=needs_event,
        rank=10,
    ),
)
