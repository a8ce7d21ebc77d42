"""Which page is up. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """`page` from 0, up since `since` (monotonic seconds); `held`: a person turned to it."""

    page: int = 0
    since: float = 0.0
    held: bool = False


def turned(turn: Turn, now: float, pages: int, pinned: Collection[int], seconds: float) -> Turn:
    """The turn at `now`. A page is up for `seconds`, then the next one; while pages are pinned none but those, and the
    first of them at once, unless a person has just turned to another.
    """
    wanted = sorted(page for page in pinned if page < pages) or list(range(pages))
    due = now - turn.since >= seconds
    if turn.page < pages and not due and (turn.held or turn.page in wanted):
        return turn
    page = next((each for each in wanted if each > turn.page), wanted[0]) if due else wanted[0]
    return Turn(page, now)


def leafed(turn: Turn, now: float, pages: int, step: int) -> Turn:
    """A person turns: that page stays for as long as any other."""
    return Turn((turn.page + step) % pages, now, held=True)
