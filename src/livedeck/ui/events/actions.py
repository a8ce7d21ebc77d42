"""Actions that change an event or its stream.

Their target is fixed when the key is pressed, before anything is awaited.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.monitor import BroadcastState
from livedeck.operations.schema import FormSchema, FormState, Referent
from livedeck.text import times
from livedeck.ui.events.judging import JUDGING
from livedeck.ui.events.views import CHANGES, VIEWS
from livedeck.ui.shell.context import (
    Action,
    Feature,
    FeatureScreen,
    HelpGroup,
    ScreenKind,
    Tab,
    change,
    needs_chosen_event,
    needs_event,
)
from livedeck.ui.shell.keymap import key_of

if TYPE_CHECKING:
    from livedeck.operations.events import EventTarget
    from livedeck.ui.events.screen import EventsScreen
    from livedeck.ui.shell.context import Context


def _target(ctx: Context) -> EventTarget:
    """Return the selected event, as shown now, as the target of a change."""
    from livedeck.operations.events import EventTarget

    state, displayed = ctx.selected_event(), ctx.displayed()
    assert state is not None
    assert displayed is not None
    snapshot, render_time = displayed
    return EventTarget.of_state(state, render_time, snapshot.seq)


async def new(ctx: Context, _: str) -> None:
    """Create a draft of an event with a form, and select the event once the platform lists it."""
    from livedeck.client import Event
    from livedeck.operations.events import CREATE_DEFAULTS, CREATE_FORM, CreateEvent

    state = FormState("New event", CREATE_FORM, CREATE_DEFAULTS, button="Create")
    outcome = await ctx.confirmer.run_form(state, CreateEvent, before=CREATE_FORM.empty(), always=("type",))
    if outcome is not None and isinstance(outcome.answer, Event):
        ctx.select_new_event(outcome.answer.id)


def edit(ctx: Context, _: str) -> Awaitable[Any]:
    """Change the fields of the event with a form. Only changed fields are sent."""
    from livedeck.operations.events import EDIT_FORM, EditEvent, edit_entries

    event = _target(ctx)
    initial = edit_entries(event.view.event, ctx.identity["zone"])
    state = FormState(f"Edit {event.target.name}", EDIT_FORM, initial)
    return ctx.confirmer.run_form(state, partial(EditEvent, event))


def enable(ctx: Context, _: str) -> Awaitable[Any]:
    """Enable the event, so that it can receive streams."""
    from livedeck.operations.events import EnableEvent

    return ctx.confirmer.run(EnableEvent(_target(ctx)))


def complete(ctx: Context, _: str) -> Awaitable[Any]:
    """Complete the event, which ends it."""
    from livedeck.operations.events import CompleteEvent

    return ctx.confirmer.run(CompleteEvent(_target(ctx)))


def delete(ctx: Context, _: str) -> Awaitable[Any]:
    """Delete the event permanently."""
    from livedeck.operations.events import DeleteEvent

    return ctx.confirmer.run(DeleteEvent(_target(ctx)))


def move(ctx: Context, argument: str) -> Awaitable[Any]:
    """Move the event to another project or folder."""
    from livedeck.operations.events import MOVE_FORM, MoveEvent

    event = _target(ctx)
    state = _single_field_form(
        f"Move {event.target.name}", MOVE_FORM, event.view.event.parent_id or "", argument, "Continue"
    )
    folders = ctx.directory.of(Referent.FOLDER, ctx.snapshot)
    return ctx.confirmer.run_form(state, lambda form: MoveEvent(event, form.draft, folders))


def poster(ctx: Context, argument: str) -> Awaitable[Any]:
    """Set the event's poster from the picture at an address."""
    from livedeck.operations.events import SetEventPoster
    from livedeck.operations.posters import PICTURE_FORM

    event = _target(ctx)
    state = _single_field_form(f"Poster of {event.target.name}", PICTURE_FORM, "", argument, "Set poster")
    return ctx.confirmer.run_form(state, lambda form: SetEventPoster(event, form.draft))


def schedule(ctx: Context, argument: str) -> Awaitable[Any]:
    """Schedule a stream of the event."""
    from livedeck.operations.events import SCHEDULE_FORM, ScheduleStream

    event = _target(ctx)
    state = _single_field_form(f"Schedule a stream of {event.target.name}", SCHEDULE_FORM, "", argument, "Schedule")
    return ctx.confirmer.run_form(state, lambda form: ScheduleStream(event, form.draft))


def reschedule(ctx: Context, argument: str) -> Awaitable[Any]:
    """Move the event's stream to another time."""
    from livedeck.operations.events import SCHEDULE_FORM, RescheduleStream

    event = _target(ctx)
    stream = event.view.event.stream
    begins = times.format_time(stream.started_at, ctx.identity["zone"]) if stream and stream.started_at else ""
    state = _single_field_form(
        f"Reschedule the stream of {event.target.name}", SCHEDULE_FORM, begins, argument, "Reschedule"
    )
    return ctx.confirmer.run_form(state, lambda form: RescheduleStream(event, form.draft))


def _single_field_form(title: str, schema: FormSchema[Any], current: str, typed: str, button: str) -> FormState:
    """Return a form of one field.

    `current`: current value of the field. `typed`: argument of the command. `button`: label of the button that saves.
    """
    (field,) = schema.fields
    return FormState(title, schema, {field.name: current}, {field.name: typed} if typed else None, button=button)


def _is_completed(ctx: Context) -> bool:
    state = ctx.selected_event()
    return state is not None and state.phase.tally is BroadcastState.COMPLETED


def _needs_running_event(ctx: Context) -> str:
    """Return the reason why the event cannot be completed; empty if one is chosen and not completed."""
    return needs_chosen_event(ctx) or ("needs an event that is not completed" if _is_completed(ctx) else "")


def _needs_event_to_schedule(ctx: Context) -> str:
    """Return the reason why the event takes no stream, and what does; empty if a stream can be scheduled.

    The platform refuses a completed event, unless it is recurring (platform-api.md, "Event phase").
    """
    state = ctx.selected_event()
    if reason := needs_chosen_event(ctx):
        return reason
    if state is None or not _is_completed(ctx) or state.event.type != "one-time":
        return ""
    return f"needs an event that is not completed; create a new one: {key_of('event.create', ctx.actions)}"


def _needs_event_to_enable(ctx: Context) -> str:
    """Return the reason why the event cannot be enabled, and what helps; empty if it can.

    The platform refuses a completed event, a recurring one until its next stream is scheduled.
    """
    if (reason := _needs_event_to_schedule(ctx)) or not _is_completed(ctx):
        return reason
    return f"needs an event that is not completed; schedule its next stream: {key_of('event.schedule', ctx.actions)}"


def _screen_type() -> type[EventsScreen]:
    from livedeck.ui.events.screen import EventsScreen

    return EventsScreen


HERE = ("events", "streams", "qos")

_event = partial(change, screens=HERE, blocked=needs_chosen_event)

EVENTS = (
    change("event.create", ("n",), "new", new, HERE, rank=29),
    _event("event.edit", ("e",), "edit", edit, rank=31),
    _event("event.enable", ("E",), "enable", enable, blocked=_needs_event_to_enable, rank=33),
    _event("event.complete", ("C",), "complete", complete, blocked=_needs_running_event, rank=34),
    _event("event.move", ("V",), "move", move, rank=35, takes="PROJECT OR FOLDER"),
    _event("event.delete", ("D",), "delete", delete, rank=36),
    _event("event.poster", ("i",), "picture", poster, rank=37, takes="ADDRESS"),
    _event("event.schedule", ("s",), "schedule", schedule, blocked=_needs_event_to_schedule, rank=32, takes="MOMENT"),
    _event(
        "event.reschedule", ("S",), "reschedule", reschedule, blocked=_needs_event_to_schedule, rank=38, takes="MOMENT"
    ),
)


def open_preflight(ctx: Context, _: str) -> None:
    """Show every check of the selected event."""
    from livedeck.ui.events.preflight import PreflightScreen

    state = ctx.selected_event()
    assert state is not None
    ctx.open(PreflightScreen(ctx, state.id))


PREFLIGHT = Action(
    "event.preflight",
    ("P",),
    "preflight",
    "Check whether the event is ready to start: GO, or NO-GO and what to do",
    open_preflight,
    HERE,
    blocked=needs_event,
    rank=60,
    is_for_now=True,
)


def toggle_panes(ctx: Context, _: str) -> None:
    """Switch between the panes and the table alone."""
    ctx.screen_of(_screen_type()).toggle_panes()


PANES = Action(
    "event.panes",
    ("l",),
    "panes",
    "Switch between the table with panes, and the table with three lines about the selected event",
    toggle_panes,
    ("events",),
    rank=59,
)

FEATURE = Feature(
    tab=Tab("Events", "1", "events", "Show Events: what is on air, what is wrong, since when"),
    screens={"events": FeatureScreen(_screen_type, ScreenKind.EVENTS)},
    actions=(*EVENTS, PREFLIGHT, PANES, CHANGES, *VIEWS, *JUDGING),
    help=(HelpGroup("event", "Events and their streams", 10),),
)
