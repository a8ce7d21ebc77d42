"""From one screen to another, and what opens over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.ui.screens.command import CommandScreen, Picked
from livedeck.ui.screens.help import HelpScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def events(deck: Deck, _: str) -> None:
    """Screen 1."""
    deck.switch_mode("events")


def streams(deck: Deck, _: str) -> None:
    """Screen 2."""
    deck.switch_mode("streams")


def chat(deck: Deck, _: str) -> None:
    """Screen 4."""
    deck.switch_mode("chat")


def rooms(deck: Deck, _: str) -> None:
    """Screen 5."""
    deck.switch_mode("rooms")


def alarms(deck: Deck, _: str) -> None:
    """Screen 7."""
    deck.switch_mode("alarms")


def videos(deck: Deck, _: str) -> None:
    """Screen 6, at the part that was left."""
    deck.switch_mode(deck.library.part)


def qos(deck: Deck, _: str) -> None:
    """Screen 3."""
    deck.switch_mode("qos")


def help_(deck: Deck, _: str) -> None:
    """The keys and the signs."""
    deck.push_screen(HelpScreen(deck.keymap))


def command(deck: Deck, argument: str) -> None:
    """The command line."""
    _open(deck, argument, search=False)


def palette(deck: Deck, argument: str) -> None:
    """The same list, searched by what the actions do."""
    _open(deck, argument, search=True)


def _open(deck: Deck, typed: str, *, search: bool) -> None:
    def run(picked: Picked | None) -> None:
        if picked is not None:
            deck.do(*picked)

    screen = CommandScreen(deck.current_mode, keymap=deck.keymap, read_only=deck.read_only, typed=typed, search=search)
    deck.push_screen(screen, run)
