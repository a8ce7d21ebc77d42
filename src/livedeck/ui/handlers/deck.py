"""The deck itself."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from livedeck import wording
from livedeck.ui.dialogs.confirm import Confirm, Question
from livedeck.ui.dialogs.dialog import Timer
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span

if TYPE_CHECKING:
    from livedeck.ui.app import Deck
    from livedeck.ui.job import Job


class Leaving(Confirm):
    """Whether to leave although changes are undecided, or a chat is being exported, or both."""

    def __init__(self, undecided: Sequence[str], job: Job | None, timer: Timer) -> None:
        title, body = "", list[Span]()
        if job is not None:
            title = f"Leave before the export of {job.name} is done?"
            body += [
                (f"Its chat is being exported to {wording.safe(str(job.to), 200)}.", Ink.TEXT),
                ("Leaving stops that, and nothing of it is left.", Ink.TEXT),
            ]
        if undecided:
            title = f"Leave before it is known what became of {', '.join(undecided)}?"
            told = "It was sent, and its answer is not there. Left now, it may happen or not; the audit says UNKNOWN."
            body.insert(0, (told, Ink.WARNING))
        super().__init__(Question(title, tuple(body), "Leave", keep="Stay"), timer)


def ask(deck: Deck, _: str) -> None:
    """Ask the platform now."""
    deck.library.expire()
    deck.monitor.poke()
    deck.news.publish(None)


def leave(deck: Deck, _: str) -> Awaitable[None] | None:
    """The terminal is left as it was found; a change or an export that is under way is asked about."""
    undecided, running = deck.desk.undecided, deck.exports.running
    if undecided or running:
        return _leave(deck, Leaving(undecided, running, deck.clock.monotonic))
    deck.exit(0)
    return None


async def _leave(deck: Deck, leaving: Leaving) -> None:
    if await deck.push_screen_wait(leaving):
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
