"""What changes a meeting room. The target is frozen as the key is pressed, before anything is awaited."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from livedeck.client import RoomDraft
from livedeck.monitor import Severity
from livedeck.ui.acts import rooms as acts
from livedeck.ui.acts.act import Act
from livedeck.ui.dialogs import room_sheet
from livedeck.ui.dialogs.edits import edits
from livedeck.ui.dialogs.form import Blank, Filled
from livedeck.ui.filling import fill
from livedeck.ui.screens.rooms import RoomsScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def open_(deck: Deck, _: str) -> None:
    """From a room to its profiles, from a profile to its form."""
    deck.screen_of(RoomsScreen).table().open()


def pane(deck: Deck, _: str) -> None:
    """To the other table."""
    screen = deck.screen_of(RoomsScreen)
    screen.turn("relays" if screen.pane == "rooms" else "rooms")


def new(deck: Deck, _: str) -> Awaitable[None]:
    """A form of a room and all its profiles."""
    sheet, screen = room_sheet.room(deck.desk.api.service_of), deck.screen_of(RoomsScreen)
    initial = {**sheet.blank(), "type": room_sheet.TYPES[0], "owner_id": screen.owner}

    def act(filled: Filled) -> Act[acts.Newest]:
        screen.owner = str(filled.entries["owner_id"])
        names = {*filled.changed, "owner_id", "type"}
        draft = sheet.draft(sheet.values(filled.entries, names, deck.desk.present()))
        assert isinstance(draft, RoomDraft)
        return acts.create(
            deck.desk.api, draft, edits(sheet, sheet.blank(), filled.entries, names, deck.desk.present())
        )

    return _fill(deck, Blank("New room", sheet, initial, save="Create"), act)


async def _fill(deck: Deck, blank: Blank, act: Any) -> None:
    await fill(deck, blank, act)


def delete(deck: Deck, _: str) -> Awaitable[None] | None:
    """End it."""
    room, shown = deck.screen_of(RoomsScreen).room(), deck.shown()
    if room is None or shown is None:
        deck.tell("no room is selected", Severity.WARNING)
        return None
    snapshot = shown[0]
    return _perform(deck, acts.delete(acts.RoomSubject.of(deck.desk.api, room, snapshot.rooms.as_of, snapshot.seq)))


async def _perform(deck: Deck, act: Act[Any]) -> None:
    await deck.desk.perform(act)
