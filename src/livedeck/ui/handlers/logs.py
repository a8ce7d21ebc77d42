"""The logs of the Alarms screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import Severity
from livedeck.ui.screens.alarms import TABS, AlarmsScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def next_(deck: Deck, argument: str) -> None:
    """The next log, or the one that is named."""
    if not deck.screen_of(AlarmsScreen).turn(1, argument):
        deck.tell(f"there is no log {argument}: {', '.join(TABS)}", Severity.WARNING)


def previous(deck: Deck, _: str) -> None:
    """The log before."""
    deck.screen_of(AlarmsScreen).turn(-1)
