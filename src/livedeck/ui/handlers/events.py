"""What changes a live event or its stream. The target is frozen as the key is pressed, before anything is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import EventDraft
from livedeck.ui.acts import events as acts
from livedeck.ui.acts.act import Act
from livedeck.ui.acts.creation import Newest
from livedeck.ui.acts.creation import create as creation
from livedeck.ui.acts.sight import Sight
from livedeck.ui.dialogs import event_sheet, when
from livedeck.ui.dialogs.edits import edits
from livedeck.ui.dialogs.fields import Field, Kind, Sheet, value
from livedeck.ui.dialogs.form import Blank, Filled
from livedeck.ui.filling import fill

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

BEGINS = Field("started_at", "Begins", Kind.MOMENT, hint="18:30, in 20 min", required=True)


def new(deck: Deck, _: str) -> Awaitable[None]:
    """A form, and a draft of an event."""

    def act(filled: Filled) -> Act[Newest]:
        names = {*filled.changed, "type"}
        values = event_sheet.NEW.values(filled.entries, names, deck.desk.present())
        made = edits(event_sheet.NEW, event_sheet.NEW.blank(), filled.entries, names, deck.desk.present())
        return creation(deck.desk.api, _draft(event_sheet.NEW, values), made)

    return _fill(deck, Blank("New event", event_sheet.NEW, event_sheet.DEFAULTS, save="Create"), act)


def edit(deck: Deck, _: str) -> Awaitable[None]:
    """A form of all its fields; what was changed is sent and nothing else."""
    one = deck.desk.subject()
    zone = deck.identity["zone"]
    initial = event_sheet.entries_of(one.seen.event, zone)

    def act(filled: Filled) -> Act[Sight]:
        values = event_sheet.CHANGE.values(filled.entries, filled.changed, deck.desk.present())
        changes = edits(event_sheet.CHANGE, initial, filled.entries, filled.changed, deck.desk.present())
        return acts.update(one, _draft(event_sheet.CHANGE, values), values, changes)

    return _fill(deck, Blank(f"Edit {one.target.name}", event_sheet.CHANGE, initial), act)


def _draft(sheet: Sheet, values: dict[str, object]) -> EventDraft:
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
    begins = when.shown(stream.started_at, deck.identity["zone"]) if stream and stream.started_at else ""
    title = f"Reschedule the stream of {one.target.name}"
    return _asked(deck, title, BEGINS, partial(acts.reschedule, one), known=begins, typed=argument)


async def _asked(
    deck: Deck, title: str, field: Field, act: Callable[[Any], Act[Sight]], *, known: str = "", typed: str
) -> None:
    """A form of one field; `known`: what is so now, `typed`: what stood after the command."""
    sheet = Sheet((field,), _address if field.name == "poster_url" else dict)

    def made(filled: Filled) -> Act[Sight]:
        return act(value(field, filled.entries[field.name], deck.desk.present()))

    entered = {field.name: typed} if typed else None
    await fill(deck, Blank(title, sheet, {field.name: known}, entered, save="Go on"), made)


def _address(values: Mapping[str, object]) -> object:
    if not str(values["poster_url"]).startswith(("https://", "http://")):
        raise ValueError("should begin with https://")
    return values


async def _fill(deck: Deck, blank: Blank, act: Callable[[Filled], Act[Any]]) -> None:
    await fill(deck, blank, act)


async def _perform(deck: Deck, act: Act[Sight]) -> None:
    await deck.desk.perform(act)
