"""The event that a person means by what was typed."""

from __future__ import annotations

from collections.abc import Iterable

import click

from livedeck.cli.naming import find_named
from livedeck.client import Api, Event
from livedeck.monitor import KnownMaterial
from livedeck.operations.nouns import NOUNS, NotMatched, is_id, match


async def lookup_event(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""

    async def no_materials(_: str) -> tuple[KnownMaterial, ...]:
        return ()

    event: Event = (await find_named(NOUNS["events"], api, (words,), no_materials)).item
    return event


async def find_known_event(api: Api | None, events: Iterable[Event], words: str) -> Event:
    """The one of these events that is meant, as `match_event` has it. Raises ApiError, too: for a whole id that none of
    them has the platform is asked, if there is a way to it, whose refusal says that there is none.
    """
    known = tuple(events)
    if api and is_id(words) and all(event.id != words.strip().casefold() for event in known):
        return await api.events.get(words.strip())
    return match_event(known, words)


def match_event(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best (commands.md, "Nouns"). Raises click.UsageError for none, and lists several."""
    try:
        event: Event = match(events, words, "event", lambda event: event.name or "")
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    return event
