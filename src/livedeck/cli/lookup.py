"""The event that a person means by what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from livedeck.client import Api, Event
from livedeck.text.values import safe

MAX_LISTED = 10
"""So many events are listed where a name fits several."""


async def lookup_event(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""
    return match_event([event async for event in api.events.iterate()], words)


def match_event(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best: its id, else its name, else the beginning of either, whatever the case.

    Raises click.UsageError where none fits, and where several fit equally well: it lists them.
    """
    events, text = tuple(events), words.strip().casefold()
    fits: tuple[Callable[[Event], bool], ...] = (
        lambda event: event.id.casefold() == text,
        lambda event: _name(event) == text,
        lambda event: event.id.casefold().startswith(text) or _name(event).startswith(text),
    )
    for fit in fits if text else ():
        matches = [event for event in events if fit(event)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise click.UsageError(_list_matches(words, matches))
    raise click.UsageError(f"no event is called {safe(words, 80)!r}; `livedeck status` lists them all")


def _name(event: Event) -> str:
    return safe(event.name or "").casefold()


def _list_matches(words: str, matches: list[Event]) -> str:
    lines = [f"  {event.id}  {safe(event.name or '', 60)}" for event in matches[:MAX_LISTED]]
    if len(matches) > MAX_LISTED:
        lines.append(f"  and {len(matches) - MAX_LISTED} more")
    return "\n".join([f"{safe(words, 80)!r} fits {len(matches)} events; name one by its id:", *lines])
