"""The cursor of the table that is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livedeck.ui.screens.base import DeckScreen
from livedeck.ui.widgets.table import Table

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def _table(deck: Deck) -> Table[Any]:
    return deck.screen_of(DeckScreen).table()


def up(deck: Deck, _: str) -> None:
    """The row above."""
    _table(deck).move(-1)


def down(deck: Deck, _: str) -> None:
    """The row below."""
    _table(deck).move(1)


def page_up(deck: Deck, _: str) -> None:
    """A screenful up."""
    _table(deck).page(-1)


def page_down(deck: Deck, _: str) -> None:
    """A screenful down."""
    _table(deck).page(1)


def first(deck: Deck, _: str) -> None:
    """The first row."""
    _table(deck).jump(0)


def last(deck: Deck, _: str) -> None:
    """The last row."""
    _table(deck).jump(-1)


def open_(deck: Deck, _: str) -> None:
    """The QoS of the event under the cursor."""
    _table(deck).open()
