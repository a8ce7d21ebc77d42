"""Actions to choose a view of the Events table, to pin an event, and to show the last changes."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.monitor import Severity
from livedeck.presentation import events
from livedeck.presentation.filtering import ALL, TableView
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, needs_event
from livedeck.ui.shell.preferences import MAX_PINNED

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

RECENT_MINUTES = 5
"""Maximum age in minutes of the changes in the first part of the dialog of changes."""

TABLE = "events"
"""Name of the Events table in the operator's preferences."""


def open_view(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Arrange the Events table by the view `argument`, or by one chosen from a list."""
    named = ctx.preferences.named
    if not argument:
        return _choose_view(ctx)
    if argument == ALL or argument in named:
        _use_view(ctx, argument)
    else:
        ctx.announce(unknown_text("view", argument, (ALL, *named)), Severity.WARNING)
    return None


async def _choose_view(ctx: Context) -> None:
    from livedeck.ui.kit.dialogs.choice import ChoiceScreen

    options = [("0", ALL, f"{ALL}: every event and column, worst first")]
    options += [
        (str(number) if number < 10 else "", name, _label(view))
        for number, (name, view) in enumerate(ctx.preferences.named.items(), 1)
    ]
    chosen = await ctx.ask(ChoiceScreen("View of the events", options))
    if chosen is not None:
        _use_view(ctx, chosen)


def _label(view: TableView) -> str:
    sort = f"sorted by {view.sort}{', descending' * view.down}" if view.sort else ""
    parts = (view.filter, sort, f"by {view.group}" if view.group else "", "some columns" if view.hidden else "")
    return f"{view.name}: {'; '.join(filter(None, parts)) or 'every event and column'}"


def _use_view(ctx: Context, name: str) -> None:
    ctx.preferences.use_view(TABLE, ctx.preferences.named.get(name, TableView()))
    ctx.forget_sights()  # the person's change has put another row under the cursor
    ctx.snapshot_signal.publish(None)


def toggle_pin(ctx: Context, _: str) -> None:
    """Pin the selected event above the others, or unpin it."""
    state = ctx.selected_event()
    assert state is not None
    listed = {other.id for other in ctx.snapshot.events} if ctx.snapshot else set[str]()
    is_pinned = ctx.preferences.toggle_pin(state.id, listed)
    if is_pinned is None:
        text = f"{events.name(state)}: not pinned, because {MAX_PINNED} events are pinned already. Unpin one first"
        ctx.announce(text, Severity.WARNING)
        return
    ctx.select_event(state.id)
    ctx.forget_sights()
    ctx.announce(f"{events.name(state)}: {'pinned above the others' if is_pinned else 'unpinned'}")


VIEWS = (
    Action(
        "event.view",
        ("F",),
        "views",
        "Choose a view of the events (filter, order, columns, groups): from the settings, by project, or all events",
        open_view,
        ("events",),
        takes="[NAME]",
        rank=57,
    ),
    Action(
        "event.pin",
        ("full_stop",),
        "pin",
        "Pin the selected event above the others, or unpin it; a pin lasts until you remove it",
        toggle_pin,
        ("events", "streams"),
        blocked=needs_event,
        rank=58,
    ),
)


def open_changes(ctx: Context, _: str) -> None:
    """Show the changes of the last minutes."""
    from livedeck.ui.events.changes import ChangesDialog

    ctx.open(ChangesDialog(ctx, RECENT_MINUTES))


CHANGES = Action(
    "app.changes",
    ("L",),
    "changes",
    f"Show what changed in the last {RECENT_MINUTES} min: on air, faults and their ends, what people did about alarms",
    open_changes,
)
