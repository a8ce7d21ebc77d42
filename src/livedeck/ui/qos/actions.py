"""The QoS screen."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import TYPE_CHECKING

from livedeck.monitor import EventState, History, Severity
from livedeck.presentation import events
from livedeck.ui.kit.dialogs.choice import PromptScreen
from livedeck.ui.qos.screen import QosScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def _screen(deck: Deck) -> QosScreen:
    return deck.screen_of(QosScreen)


def longer(deck: Deck, _: str) -> None:
    """A longer stretch of time."""
    _screen(deck).span(1)


def shorter(deck: Deck, _: str) -> None:
    """A shorter stretch of time."""
    _screen(deck).span(-1)


def previous(deck: Deck, _: str) -> None:
    """The previous event that should be sending."""
    _screen(deck).step(-1)


def next_(deck: Deck, _: str) -> None:
    """The next event that should be sending."""
    _screen(deck).step(1)


def left(deck: Deck, _: str) -> None:
    """The cursor a column to the left."""
    _screen(deck).point(-1)


def right(deck: Deck, _: str) -> None:
    """The cursor a column to the right."""
    _screen(deck).point(1)


def next_fault(deck: Deck, _: str) -> None:
    """Down the list of faults."""
    _screen(deck).walk(1)


def previous_fault(deck: Deck, _: str) -> None:
    """Up the list of faults."""
    _screen(deck).walk(-1)


def over(deck: Deck, argument: str) -> None:
    """A second event over the shown one: by its name, else the next one on air; behind the last one none."""
    screen, shown, chosen = _screen(deck), deck.shown(), deck.chosen()
    if shown is None or chosen is None:
        return
    others = [state for state in shown[0].events if state.id != chosen.id and state.phase.tally.expects_signal]
    if argument:
        others = [one for one in shown[0].events if one.id != chosen.id and _called(one, argument)]
        if len(others) != 1:
            found = f"{len(others)} other events are called so" if others else "no other event is called so"
            deck.tell(f":qos.over {argument}: {found}", Severity.WARNING)
            return
        screen.lay_over(others[0].id)
        return
    if not others:
        deck.tell("no other event is on air")
    ids: list[str | None] = [None, *(state.id for state in others), None]
    laid = screen.laid_over
    screen.lay_over(ids[(ids.index(laid) if laid in ids else 0) + 1])


def _called(state: EventState, text: str) -> bool:
    return text == state.id or text.casefold() in events.name(state).casefold()


def mark(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Mark the moment at which the key was pressed, by the platform's clock."""
    state, moment = deck.chosen(), deck.moment()
    if deck.history is None or state is None or moment is None:
        deck.tell("no history is kept, so nothing can be marked: see `history` in the settings", Severity.WARNING)
        return None
    return _mark(deck, deck.history, state, moment.server, argument)


async def _mark(deck: Deck, history: History, state: EventState, at: datetime, text: str) -> None:
    if not text:
        title = f"Mark {at:%H:%M:%S}Z of {events.name(state)}: a few words, or none"
        typed = await deck.push_screen_wait(PromptScreen(title, lambda _: ([], True)))
        if typed is None:
            return
        text = typed
    await history.mark(state.id, at, text)
    deck.tell(f"marked {at:%H:%M:%S}Z of {events.name(state)}" + (f": {text}" if text else ""))
    if isinstance(deck.screen, QosScreen):
        deck.screen.marked()


def back(deck: Deck, _: str) -> None:
    """Back to the events."""
    deck.switch_mode("events")
