"""What is done with a meeting room and its relay profiles. The target is frozen as the key is pressed."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from livedeck.client import RelayDraft, RelayProfile, RelayRunning, RoomDraft
from livedeck.monitor import Severity
from livedeck.operations import rooms
from livedeck.operations import rooms as acts
from livedeck.operations.diff import edits
from livedeck.operations.operation import Operation, OperationResult
from livedeck.operations.rooms import DeferredEdit, RelaySubject
from livedeck.operations.schema import FieldValues
from livedeck.presentation.rooms import ACTIVE
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation
from livedeck.ui.kit.dialogs.form import FormResult, FormState
from livedeck.ui.rooms.screen import REVEALED, RoomsScreen
from livedeck.ui.shell.confirmer import run_form
from livedeck.ui.shell.keymap import worded

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
    sheet, screen = rooms.room(deck.desk.api.service_of), deck.screen_of(RoomsScreen)
    initial = {**sheet.blank(), "type": rooms.TYPES[0], "owner_id": screen.owner}

    def act(filled: FormResult) -> Operation[acts.Newest]:
        screen.owner = str(filled.entries["owner_id"])
        names = {*filled.changed, "owner_id", "type"}
        draft = sheet.draft(sheet.values(filled.entries, names, deck.desk.present()))
        assert isinstance(draft, RoomDraft)
        return acts.create(
            deck.desk.api, draft, edits(sheet, sheet.blank(), filled.entries, names, deck.desk.present())
        )

    return _fill(deck, FormState("New room", sheet, initial, save="Create"), act)


async def _fill(deck: Deck, blank: FormState, act: Any) -> None:
    await run_form(deck, blank, act)


def delete(deck: Deck, _: str) -> Awaitable[None] | None:
    """End it."""
    room, shown = deck.screen_of(RoomsScreen).room(), deck.shown()
    if room is None or shown is None:
        deck.tell("no room is selected", Severity.WARNING)
        return None
    snapshot = shown[0]
    return _perform(deck, acts.delete(acts.RoomSubject.of(deck.desk.api, room, snapshot.rooms.as_of, snapshot.seq)))


async def _perform(deck: Deck, act: Operation[Any]) -> None:
    await deck.desk.perform(act)


LOCKED = (
    "The platform locks a profile while its relay runs (409298). Nothing was changed.",
    "A participant stops the relay inside the room. The platform does not tell when that happened.",
    "Kept, the edit waits in this deck: you are asked again when the room is seen not to be active any more.",
    "{relay.apply} asks at any time. Nothing is sent before you agree.",
)


def edit(deck: Deck, _: str) -> Awaitable[None] | None:
    """A form of its fields, or of the edit that waits; what was changed is sent and nothing else."""
    one = _subject(deck)
    if one is None:
        return None
    screen = deck.screen_of(RoomsScreen)
    waiting = screen.edits.waiting.get(one.profile.id)
    return _edit(deck, screen, one, waiting.filled.entries if waiting else None)


async def _edit(
    deck: Deck, screen: RoomsScreen, one: RelaySubject, entered: FieldValues | None = None, note: str = ""
) -> None:
    sheet = rooms.relay(one.service_of)

    async def settle(filled: FormResult, outcome: OperationResult) -> bool:
        return isinstance(outcome.error, RelayRunning) and await _locked(deck, screen, one, filled)

    blank = FormState(f"Edit {one.target.name}", sheet, rooms.entries_of(one.profile), entered, note=note)
    outcome = await run_form(deck, blank, lambda filled: _act(deck, one, filled), settle)
    if outcome and outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()


def _act(deck: Deck, one: RelaySubject, filled: FormResult, why: tuple[Segment, ...] = ()) -> Operation[RelayProfile]:
    sheet = rooms.relay(one.service_of)
    present = deck.desk.present()
    draft = sheet.draft(sheet.values(filled.entries, filled.changed, present))
    assert isinstance(draft, RelayDraft)
    changes = edits(sheet, rooms.entries_of(one.profile), filled.entries, filled.changed, present)
    return acts.update(one, draft, changes, why)


async def _locked(deck: Deck, screen: RoomsScreen, one: RelaySubject, filled: FormResult) -> bool:
    """Say what holds the profile, and let the edit wait where that is wanted."""
    body = tuple((worded(text, deck.keymap), StyleRole.TEXT) for text in LOCKED)
    question = Confirmation(f'"{one.target.name}" is broadcasting', body, "Keep the edit", keep="Back to the form")
    wanted = await deck.desk.ask(Confirm(question, deck.clock.monotonic))
    if wanted:
        screen.edits.keep(one, filled, deck.clock.now())
        screen.refresh_all()
        deck.tell(f"the edit of {one.target.name} waits for its relay to end", Severity.INFO)
    return wanted


def apply(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Ask whether to send an edit that waits: of the profile that is named, or selected, or of the only one."""
    screen = deck.screen_of(RoomsScreen)
    selected = screen.relay()
    wanted = argument or (selected.id if selected else "")
    waiting = screen.edits.waiting.get(wanted) or (
        None if argument else next(iter(screen.edits.waiting.values()), None)
    )
    if waiting is None:
        deck.tell("no edit waits for a relay to end", Severity.INFO)
        return None
    return _apply(deck, screen, waiting)


async def _apply(deck: Deck, screen: RoomsScreen, waiting: DeferredEdit) -> None:
    """Send it after the question; where it is refused again it waits on, or goes back to its form."""
    one = waiting.one
    room = deck.snapshot.rooms.find(one.room.id) if deck.snapshot else None
    state = "may still be broadcasting" if room is None or room.status == ACTIVE else "is no longer active"
    why: tuple[Segment, ...] = (
        (f"This edit waits since {waiting.since:%H:%M:%S}Z. Its room {state}.", StyleRole.WARNING),
    )
    outcome = await deck.desk.perform(_act(deck, one, waiting.filled, why))
    if outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()
    elif isinstance(outcome.error, RelayRunning):
        if not await _locked(deck, screen, one, waiting.filled):
            await _edit(deck, screen, one, waiting.filled.entries)
    elif outcome.error is not None:
        await _edit(deck, screen, one, waiting.filled.entries, outcome.text)


def reveal(deck: Deck, _: str) -> Awaitable[None] | None:
    """Its stream key, for ten seconds; never where that cannot be recorded (trust.md, "Secrets")."""
    one = _subject(deck)
    if one is None:
        return None
    if one.profile.stream_key is None:
        deck.tell(f"the platform did not say the stream key of {one.target.name}", Severity.WARNING)
        return None
    if deck.history is None:
        deck.tell("no key is shown: that is recorded, and this deck keeps no history", Severity.WARNING)
        return None
    return _reveal(deck, deck.screen_of(RoomsScreen), one)


async def _reveal(deck: Deck, screen: RoomsScreen, one: RelaySubject) -> None:
    """Recorded before it is shown."""
    await deck.desk.did("relay.reveal", one.target, f"shown for {REVEALED:g} s")
    deck.tell(f"stream key of {one.target.name} shown for {REVEALED:g} s")
    screen.reveal(one.profile)


def _subject(deck: Deck) -> RelaySubject | None:
    """The selected profile as it is shown now, frozen; None, and said, where there is none."""
    screen, shown = deck.screen_of(RoomsScreen), deck.shown()
    room, profile = screen.room(), screen.relay()
    if room is None or profile is None or shown is None:
        deck.tell("no relay profile is selected", Severity.WARNING)
        return None
    assert deck.api is not None
    snapshot = shown[0]
    return RelaySubject.of(deck.api, room, profile, snapshot.rooms.as_of, snapshot.seq)
