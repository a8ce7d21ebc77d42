"""Copies of an event for the clipboard: id, link, JSON or curl."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING

from livedeck.client import Event
from livedeck.monitor import Severity
from livedeck.presentation.events import name
from livedeck.text.addresses import may_let_in, show
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, needs_event

if TYPE_CHECKING:
    from livedeck.monitor import EventState
    from livedeck.ui.shell.context import Context


COPY_FORMATS = {"id": "id", "link": "link to watch", "json": "JSON", "curl": "curl"}
"""Argument of the copy command -> name of the format on the screen."""


def copy_texts(event: Event, address: str) -> Mapping[str, str]:
    """Return the event's text in each of COPY_FORMATS, by argument. A text may be empty.

    Secrets are masked, except in the link, because a player needs the whole link. The curl command takes the token from
    a variable.
    """
    return {
        "id": event.id,
        "link": event.play_link or "",
        "json": event.model_dump_json(indent=2, exclude_none=True),
        "curl": f"curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" '{address}'" if address else "",
    }


def copy_event(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Copy the selected event in the format `argument`. Without an argument, the person chooses a format."""
    state = ctx.selected_event()
    if state is None:
        return None
    if argument and argument not in COPY_FORMATS:
        ctx.announce(unknown_text("format", argument, COPY_FORMATS), Severity.WARNING)
        return None
    return _copy_event(ctx, state, argument)


async def _copy_event(ctx: Context, state: EventState, format_name: str) -> None:
    from livedeck.ui.kit.dialogs.choice import ChoiceScreen

    options = [(choice[0], choice, label) for choice, label in COPY_FORMATS.items()]
    choice: str | None = format_name or await ctx.ask(ChoiceScreen(f"Copy of {name(state)}", options))
    if choice is None:
        return
    text = copy_texts(state.event, ctx.api.events.address(state.id) if ctx.api else "")[choice]
    if not text:
        ctx.announce(f"{name(state)} has no {COPY_FORMATS[choice]}", Severity.WARNING)
    elif choice == "link":
        await _copy_link(ctx, state.event, text)
    else:
        ctx.copy(text, f"{COPY_FORMATS[choice]} of {name(state)}")


async def _copy_link(ctx: Context, event: Event, link: str) -> None:
    """Record that a link is copied, then copy it unmasked. Refuse a link that may grant access if no record is made."""
    from livedeck.operations.events import EventTarget

    target = EventTarget.of_event(event).target
    reason = await ctx.confirmer.audit_local("view.copy", target, show(link))
    if reason and may_let_in(link):
        doubt = f"the link of {target.name} may grant access, and the copy cannot be recorded"
        ctx.announce(f"not copied: {doubt}: {reason}", Severity.WARNING)
        return
    ctx.copy(link, f"{COPY_FORMATS['link']} of {target.name}", in_clear=True)


COPY = Action(
    "view.copy",
    ("y",),
    "copy",
    "Copy the selected event: id, link, JSON or curl",
    copy_event,
    ("events", "qos"),
    blocked=needs_event,
    takes="[id|link|json|curl]",
    rank=52,
)
