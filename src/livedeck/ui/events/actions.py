"""What changes a live event or its stream. The target is frozen as the key is pressed, before anything is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import EventDraft
from livedeck.operations import events
from livedeck.operations import events as acts
from livedeck.operations.diff import edits
from livedeck.operations.events import EventView, Newest
from livedeck.operations.events import create as creation
from livedeck.operations.operation import Operation
from livedeck.operations.schema import Field, FormSchema, Kind, value
from livedeck.text import times
from livedeck.ui.kit.dialogs.form import FormResult, FormState
from livedeck.ui.shell.action import (
    Action,
    ConfirmLevel,
    Feature,
    FeatureScreen,
    HelpGroup,
    ScreenKind,
    Tab,
    needs_event,
)
from livedeck.ui.shell.confirmer import run_form

if TYPE_CHECKING:
    from livedeck.ui.events.screen import EventsScreen
    from livedeck.ui.shell.context import Context


BEGINS = Field("started_at", "Begins", Kind.MOMENT, hint="18:30, in 20 min", required=True)


def new(ctx: Context, _: str) -> Awaitable[None]:
    """A form, and a draft of an event."""

    def act(filled: FormResult) -> Operation[Newest]:
        names = {*filled.changed, "type"}
        values = events.NEW.values(filled.entries, names, ctx.desk.present())
        made = edits(events.NEW, events.NEW.blank(), filled.entries, names, ctx.desk.present())
        return creation(ctx.desk.api, _draft(events.NEW, values), made)

    return _fill(ctx, FormState("New event", events.NEW, events.DEFAULTS, save="Create"), act)


def edit(ctx: Context, _: str) -> Awaitable[None]:
    """A form of all its fields; what was changed is sent and nothing else."""
    one = ctx.desk.subject()
    zone = ctx.identity["zone"]
    initial = events.entries_of(one.seen.event, zone)

    def act(filled: FormResult) -> Operation[EventView]:
        values = events.CHANGE.values(filled.entries, filled.changed, ctx.desk.present())
        changes = edits(events.CHANGE, initial, filled.entries, filled.changed, ctx.desk.present())
        return acts.update(one, _draft(events.CHANGE, values), values, changes)

    return _fill(ctx, FormState(f"Edit {one.target.name}", events.CHANGE, initial), act)


def _draft(sheet: FormSchema, values: dict[str, object]) -> EventDraft:
    draft = sheet.draft(values)
    assert isinstance(draft, EventDraft)
    return draft


def enable(ctx: Context, _: str) -> Awaitable[None]:
    """Let streams in."""
    return _perform(ctx, acts.enable(ctx.desk.subject()))


def complete(ctx: Context, _: str) -> Awaitable[None]:
    """End it."""
    return _perform(ctx, acts.complete(ctx.desk.subject()))


def delete(ctx: Context, _: str) -> Awaitable[None]:
    """Delete it for good."""
    return _perform(ctx, acts.delete(ctx.desk.subject()))


def move(ctx: Context, argument: str) -> Awaitable[None]:
    """Put it into another project or folder."""
    one = ctx.desk.subject()
    field = Field("parent_id", "Project or folder", hint="its id", required=True)
    known = one.seen.event.parent_id or ""
    return _asked(ctx, f"Move {one.target.name}", field, partial(acts.move, one), known=known, typed=argument)


def poster(ctx: Context, argument: str) -> Awaitable[None]:
    """Give it the picture at an address."""
    one = ctx.desk.subject()
    field = Field("poster_url", "Picture", hint="https:// address of the image", required=True)
    return _asked(ctx, f"Poster of {one.target.name}", field, partial(acts.poster, one), typed=argument)


def schedule(ctx: Context, argument: str) -> Awaitable[None]:
    """Give it a stream that begins at a moment."""
    one = ctx.desk.subject()
    title = f"Schedule a stream of {one.target.name}"
    return _asked(ctx, title, BEGINS, partial(acts.schedule, one), typed=argument)


def reschedule(ctx: Context, argument: str) -> Awaitable[None]:
    """Move its stream to another moment."""
    one = ctx.desk.subject()
    stream = one.seen.event.stream
    begins = times.format_time(stream.started_at, ctx.identity["zone"]) if stream and stream.started_at else ""
    title = f"Reschedule the stream of {one.target.name}"
    return _asked(ctx, title, BEGINS, partial(acts.reschedule, one), known=begins, typed=argument)


async def _asked(
    ctx: Context, title: str, field: Field, act: Callable[[Any], Operation[EventView]], *, known: str = "", typed: str
) -> None:
    """A form of one field; `known`: what is so now, `typed`: what stood after the command."""
    sheet = FormSchema((field,), _address if field.name == "poster_url" else dict)

    def made(filled: FormResult) -> Operation[EventView]:
        return act(value(field, filled.entries[field.name], ctx.desk.present()))

    entered = {field.name: typed} if typed else None
    await run_form(ctx, FormState(title, sheet, {field.name: known}, entered, save="Go on"), made)


def _address(values: Mapping[str, object]) -> object:
    if not str(values["poster_url"]).startswith(("https://", "http://")):
        raise ValueError("should begin with https://")
    return values


async def _fill(ctx: Context, blank: FormState, act: Callable[[FormResult], Operation[Any]]) -> None:
    await run_form(ctx, blank, act)


async def _perform(ctx: Context, act: Operation[EventView]) -> None:
    await ctx.desk.perform(act)


def _screen_type() -> type[EventsScreen]:
    from livedeck.ui.events.screen import EventsScreen

    return EventsScreen


def open_screen(ctx: Context, _: str) -> None:
    """Show the screen."""
    ctx.go_to("events")


HERE = ("events", "streams", "qos")


_event = partial(Action, screens=HERE, blocked=needs_event)


EVENTS = (
    Action(
        "event.new",
        ("n",),
        "new",
        "Make an event, as a draft",
        new,
        HERE,
        confirm=ConfirmLevel.FORM,
        rank=29,
    ),
    _event(
        "event.edit",
        ("e",),
        "edit",
        "Change any field of the event, its restreams too",
        edit,
        confirm=ConfirmLevel.FORM,
        rank=31,
    ),
    _event(
        "event.enable",
        ("E",),
        "enable",
        "Let streams in, and viewers watch",
        enable,
        confirm=ConfirmLevel.CONFIRM,
        rank=33,
    ),
    _event(
        "event.complete",
        ("C",),
        "complete",
        "End the event: ingest stops, viewers are cut off",
        complete,
        confirm=ConfirmLevel.AIR,
        rank=34,
    ),
    _event(
        "event.move",
        ("V",),
        "move",
        "Put the event into another project or folder",
        move,
        confirm=ConfirmLevel.AIR,
        rank=35,
        takes="PROJECT OR FOLDER",
    ),
    _event("event.delete", ("D",), "delete", "Delete the event for good", delete, confirm=ConfirmLevel.AIR, rank=36),
    _event(
        "event.poster",
        ("i",),
        "picture",
        "Give the event the picture at an address",
        poster,
        confirm=ConfirmLevel.FORM,
        rank=37,
        takes="ADDRESS",
    ),
    _event(
        "stream.schedule",
        ("s",),
        "schedule",
        "Schedule a stream of the event",
        schedule,
        confirm=ConfirmLevel.FORM,
        rank=32,
        takes="MOMENT",
    ),
    _event(
        "stream.reschedule",
        ("S",),
        "reschedule",
        "Move the event's stream to another time",
        reschedule,
        confirm=ConfirmLevel.FORM,
        rank=38,
        takes="MOMENT",
    ),
)


FEATURE = Feature(
    tab=Tab(
        "Events",
        Action("screen.events", ("1",), "events", "Events: what is on air, what is wrong, since when", open_screen),
    ),
    screens={"events": FeatureScreen(_screen_type, ScreenKind.EVENTS)},
    actions=EVENTS,
    help=(HelpGroup("event", "Events", 10), HelpGroup("stream", "Streams", 20)),
)
