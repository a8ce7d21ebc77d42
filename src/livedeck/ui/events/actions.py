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
from livedeck.ui.shell.confirmer import run_form

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


BEGINS = Field("started_at", "Begins", Kind.MOMENT, hint="18:30, in 20 min", required=True)


def new(deck: Deck, _: str) -> Awaitable[None]:
    """A form, and a draft of an event."""

    def act(filled: FormResult) -> Operation[Newest]:
        names = {*filled.changed, "type"}
        values = events.NEW.values(filled.entries, names, deck.desk.present())
        made = edits(events.NEW, events.NEW.blank(), filled.entries, names, deck.desk.present())
        return creation(deck.desk.api, _draft(events.NEW, values), made)

    return _fill(deck, FormState("New event", events.NEW, events.DEFAULTS, save="Create"), act)


def edit(deck: Deck, _: str) -> Awaitable[None]:
    """A form of all its fields; what was changed is sent and nothing else."""
    one = deck.desk.subject()
    zone = deck.identity["zone"]
    initial = events.entries_of(one.seen.event, zone)

    def act(filled: FormResult) -> Operation[EventView]:
        values = events.CHANGE.values(filled.entries, filled.changed, deck.desk.present())
        changes = edits(events.CHANGE, initial, filled.entries, filled.changed, deck.desk.present())
        return acts.update(one, _draft(events.CHANGE, values), values, changes)

    return _fill(deck, FormState(f"Edit {one.target.name}", events.CHANGE, initial), act)


def _draft(sheet: FormSchema, values: dict[str, object]) -> EventDraft:
    draft = sheet.draft(values)
    assert isinstance(draft, EventDraft)
    return draft


def enable(deck: Deck, _: str) -> Awaitable[None]:
    """Let streams in."""
    return _perform(deck, acts.enable(deck.desk.subject()))


def complete(deck: Deck, _: str) -> Awaitable[None]:
    """End it."""
    return _perform(deck, acts.complete(deck.desk.subject()))


def delete(deck: Deck, _: str) -> Awaitable[None]:
    """Delete it for good."""
    return _perform(deck, acts.delete(deck.desk.subject()))


def move(deck: Deck, argument: str) -> Awaitable[None]:
    """Put it into another project or folder."""
    one = deck.desk.subject()
    field = Field("parent_id", "Project or folder", hint="its id", required=True)
    known = one.seen.event.parent_id or ""
    return _asked(deck, f"Move {one.target.name}", field, partial(acts.move, one), known=known, typed=argument)


def poster(deck: Deck, argument: str) -> Awaitable[None]:
    """Give it the picture at an address."""
    one = deck.desk.subject()
    field = Field("poster_url", "Picture", hint="https:// address of the image", required=True)
    return _asked(deck, f"Poster of {one.target.name}", field, partial(acts.poster, one), typed=argument)


def schedule(deck: Deck, argument: str) -> Awaitable[None]:
    """Give it a stream that begins at a moment."""
    one = deck.desk.subject()
    title = f"Schedule a stream of {one.target.name}"
    return _asked(deck, title, BEGINS, partial(acts.schedule, one), typed=argument)


def reschedule(deck: Deck, argument: str) -> Awaitable[None]:
    """Move its stream to another moment."""
    one = deck.desk.subject()
    stream = one.seen.event.stream
    begins = times.format_time(stream.started_at, deck.identity["zone"]) if stream and stream.started_at else ""
    title = f"Reschedule the stream of {one.target.name}"
    return _asked(deck, title, BEGINS, partial(acts.reschedule, one), known=begins, typed=argument)


async def _asked(
    deck: Deck, title: str, field: Field, act: Callable[[Any], Operation[EventView]], *, known: str = "", typed: str
) -> None:
    """A form of one field; `known`: what is so now, `typed`: what stood after the command."""
    sheet = FormSchema((field,), _address if field.name == "poster_url" else dict)

    def made(filled: FormResult) -> Operation[EventView]:
        return act(value(field, filled.entries[field.name], deck.desk.present()))

    entered = {field.name: typed} if typed else None
    await run_form(deck, FormState(title, sheet, {field.name: known}, entered, save="Go on"), made)


def _address(values: Mapping[str, object]) -> object:
    if not str(values["poster_url"]).startswith(("https://", "http://")):
        raise ValueError("should begin with https://")
    return values


async def _fill(deck: Deck, blank: FormState, act: Callable[[FormResult], Operation[Any]]) -> None:
    await run_form(deck, blank, act)


async def _perform(deck: Deck, act: Operation[EventView]) -> None:
    await deck.desk.perform(act)
