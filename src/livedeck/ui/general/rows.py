"""Actions that move the cursor in a table and open a row."""

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
    """Move to the row above."""
    _table(ctx).move(-1)


def move_down(ctx: Context, _: str) -> None:
    """Move to the row below."""
    _table(ctx).move(1)


def page_up(ctx: Context, _: str) -> None:
    """Move up by a screenful."""
    _table(ctx).page(-1)


def page_down(ctx: Context, _: str) -> None:
    """Move down by a screenful."""
    _table(ctx).page(1)


def first_row(ctx: Context, _: str) -> None:
    """Move to the first row."""
    _table(ctx).jump(0)


def last_row(ctx: Context, _: str) -> None:
    """Move to the last row."""
    _table(ctx).jump(-1)


def open_row(ctx: Context, _: str) -> None:
    """Open the row under the cursor, as the enter key does."""
    _table(ctx).open()


def select_row(ctx: Context, event_id: str) -> None:
    """Select an event by its id. A click on one of its rows or alarms runs this action."""
    if ctx.snapshot is None or ctx.snapshot.find(event_id) is None:
        text = f"no event {event_id} here" if event_id else "type the id of an event"
        ctx.announce(text, Severity.WARNING)
    else:
        ctx.select_event(event_id)


ROWS = (
    Action("row.up", ("up", "k"), "up", "Move to the row above", move_up, kind=ScreenKind.ROWS),
    Action("row.down", ("down", "j"), "down", "Move to the row below", move_down, kind=ScreenKind.ROWS),
    Action("row.page_up", ("pageup",), "page up", "Move up by a screenful", page_up, kind=ScreenKind.ROWS),
    Action("row.page_down", ("pagedown",), "page down", "Move down by a screenful", page_down, kind=ScreenKind.ROWS),
    Action("row.first", ("home",), "first", "Move to the first row", first_row, kind=ScreenKind.ROWS),
    Action("row.last", ("end",), "last", "Move to the last row", last_row, kind=ScreenKind.ROWS),
    Action("row.select", (), "select", "Select the event with this id", select_row, kind=ScreenKind.EVENTS, takes="ID"),
    Action(
        "row.open",
        ("enter",),
        "QoS",
        "Show the QoS of the selected event",
        open_row,
        kind=ScreenKind.EVENTS,
        blocked=needs_event,
        rank=10,
    ),
)
