"""What is done with a relay profile: changed, its edit kept while it broadcasts, its key shown."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.client import Broadcasting, RelayDraft, RelayProfile
from livedeck.monitor import Severity
from livedeck.ui.actions.keymap import worded
from livedeck.ui.acts import rooms as acts
from livedeck.ui.acts.act import Act, Outcome
from livedeck.ui.acts.rooms import RelaySubject
from livedeck.ui.dialogs import room_sheet
from livedeck.ui.dialogs.confirm import Confirm, Question
from livedeck.ui.dialogs.edits import edits
from livedeck.ui.dialogs.fields import Entries
from livedeck.ui.dialogs.form import Blank, Filled
from livedeck.ui.filling import fill
from livedeck.ui.kept_edits import Waiting
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span
from livedeck.ui.renderables.room_rows import ACTIVE
from livedeck.ui.screens.rooms import REVEALED, RoomsScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

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
    deck: Deck, screen: RoomsScreen, one: RelaySubject, entered: Entries | None = None, note: str = ""
) -> None:
    sheet = room_sheet.relay(one.service_of)

    async def settle(filled: Filled, outcome: Outcome) -> bool:
        return isinstance(outcome.error, Broadcasting) and await _locked(deck, screen, one, filled)

    blank = Blank(f"Edit {one.target.name}", sheet, room_sheet.entries_of(one.profile), entered, note=note)
    outcome = await fill(deck, blank, lambda filled: _act(deck, one, filled), settle)
    if outcome and outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()


def _act(deck: Deck, one: RelaySubject, filled: Filled, why: tuple[Span, ...] = ()) -> Act[RelayProfile]:
    sheet = room_sheet.relay(one.service_of)
    present = deck.desk.present()
    draft = sheet.draft(sheet.values(filled.entries, filled.changed, present))
    assert isinstance(draft, RelayDraft)
    changes = edits(sheet, room_sheet.entries_of(one.profile), filled.entries, filled.changed, present)
    return acts.update(one, draft, changes, why)


async def _locked(deck: Deck, screen: RoomsScreen, one: RelaySubject, filled: Filled) -> bool:
    """Say what holds the profile, and let the edit wait where that is wanted."""
    body = tuple((worded(text, deck.keymap), Ink.TEXT) for text in LOCKED)
    question = Question(f'"{one.target.name}" is broadcasting', body, "Keep the edit", keep="Back to the form")
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


async def _apply(deck: Deck, screen: RoomsScreen, waiting: Waiting) -> None:
    """Send it after the question; where it is refused again it waits on, or goes back to its form."""
    one = waiting.one
    room = deck.snapshot.rooms.find(one.room.id) if deck.snapshot else None
    state = "may still be broadcasting" if room is None or room.status == ACTIVE else "is no longer active"
    why: tuple[Span, ...] = ((f"This edit waits since {waiting.since:%H:%M:%S}Z. Its room {state}.", Ink.WARNING),)
    outcome = await deck.desk.perform(_act(deck, one, waiting.filled, why))
    if outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()
    elif isinstance(outcome.error, Broadcasting):
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
