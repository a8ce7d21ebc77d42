"""The deck itself."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck import wording
from livedeck.ui.dialogs.confirm import Confirm, Question
from livedeck.ui.dialogs.dialog import Timer
from livedeck.ui.renderables.ink import Ink

if TYPE_CHECKING:
    from livedeck.ui.app import Deck
    from livedeck.ui.job import Job


class Leaving(Confirm):
    """Whether to leave although a chat is being exported."""

    def __init__(self, job: Job, timer: Timer) -> None:
        body = (
            (f"Its chat is being exported to {wording.safe(str(job.to), 200)}.", Ink.TEXT),
            ("Leaving stops that, and nothing of it is left.", Ink.TEXT),
        )
        super().__init__(Question(f"Leave before the export of {job.name} is done?", body, "Leave", keep="Stay"), timer)


def ask(deck: Deck, _: str) -> None:
    """Ask the platform now."""
    deck.library.expire()
    deck.monitor.poke()
    deck.news.publish(None)


def leave(deck: Deck, _: str) -> Awaitable[None] | None:
    """The terminal is left as it was found; an export that is under way is asked about."""
    running = deck.exports.running
    if running is not None:
        return _leave(deck, running)
    deck.exit(0)
    return None


async def _leave(deck: Deck, running: Job) -> None:
    if await deck.push_screen_wait(Leaving(running, deck.clock.monotonic)):
        await deck.exports.stop()
        deck.exit(0)


def interrupt(deck: Deck, _: str) -> Awaitable[None] | None:
    """Leave, whatever is open; where that is being asked already, this is the answer."""
    if isinstance(deck.screen, Leaving):
        deck.exit(0)
        return None
    return leave(deck, "")


def suspend(deck: Deck, _: str) -> None:
    """Hand the terminal back to the shell until `fg`."""
    deck.action_suspend_process()
