"""Viewers screen as a feature of the deck, with its actions and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import Severity
from livedeck.ui.shell.context import Action, Feature, FeatureScreen, HelpGroup, Tab, needs_event

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context
    from livedeck.ui.viewers.screen import ViewersScreen


def _screen_type() -> type[ViewersScreen]:
    from livedeck.ui.viewers.screen import ViewersScreen

    return ViewersScreen


def _screen(ctx: Context) -> ViewersScreen:
    return ctx.screen_of(_screen_type())


def wrong(ctx: Context, _: str) -> None:
    """Show only the events with a fault for viewers, or all again."""
    _screen(ctx).toggle_wrong()


def rank(ctx: Context, _: str) -> None:
    """Put the worst event first at once."""
    _screen(ctx).rank_again()


def left(ctx: Context, _: str) -> None:
    """Select the event to the left."""
    _screen(ctx).move(-1)


def right(ctx: Context, _: str) -> None:
    """Select the event to the right."""
    _screen(ctx).move(1)


def up(ctx: Context, _: str) -> None:
    """Select the event above."""
    _screen(ctx).move_down(-1)


def down(ctx: Context, _: str) -> None:
    """Select the event below."""
    _screen(ctx).move_down(1)


def previous_page(ctx: Context, _: str) -> None:
    """Show the previous page."""
    _screen(ctx).turn_page(-1)


def next_page(ctx: Context, _: str) -> None:
    """Show the next page."""
    _screen(ctx).turn_page(1)


def open_event(ctx: Context, _: str) -> None:
    """Show the QoS of the selected event."""
    _screen(ctx).open()


def select(ctx: Context, event_id: str) -> None:
    """Select an event by its id. A click on its tile runs this action."""
    if ctx.snapshot is not None and ctx.snapshot.find(event_id):
        ctx.select_event(event_id)
    else:
        ctx.announce(f"no event {event_id} here" if event_id else "type the id of an event", Severity.WARNING)


def back(ctx: Context, _: str) -> None:
    """Return to the Events screen."""
    _screen(ctx).back()


HERE = ("viewers",)

VIEWERS = (
    Action(
        "viewers.open",
        ("enter",),
        "QoS",
        "Show the QoS of the selected event",
        open_event,
        HERE,
        blocked=needs_event,
        rank=10,
    ),
    Action(
        "viewers.wrong",
        ("o",),
        "only wrong",
        "Show only the events with a fault for viewers, or all again",
        wrong,
        HERE,
        rank=11,
    ),
    Action(
        "viewers.rank", ("greater_than_sign",), "worst first", "Put the worst event first at once", rank, HERE, rank=12
    ),
    Action("viewers.left", ("left", "h"), "left", "Select the event to the left", left, HERE),
    Action("viewers.right", ("right",), "right", "Select the event to the right", right, HERE),
    Action("viewers.up", ("up", "k"), "up", "Select the event above", up, HERE),
    Action("viewers.down", ("down", "j"), "down", "Select the event below", down, HERE),
    Action("viewers.previous_page", ("pageup",), "previous page", "Show the previous page", previous_page, HERE),
    Action("viewers.next_page", ("pagedown",), "next page", "Show the next page", next_page, HERE, rank=13),
    Action("viewers.select", (), "select", "Select the event with this id", select, HERE, takes="ID"),
    Action("viewers.back", ("escape",), "back", "Return to Events", back, HERE, rank=14),
)

FEATURE = Feature(
    tab=Tab("Viewers", "8", "Viewers", "Show Viewers: the picture and sound that viewers get", is_of_probe=True),
    screens={"viewers": FeatureScreen(_screen_type)},
    actions=VIEWERS,
    help=(HelpGroup("viewers", "Viewers", 95),),
)
