"""The event that a person means by what was typed."""

from __future__ import annotations

from collections.abc import Iterable

import click

from livedeck.cli.naming import remember_names
from livedeck.client import Api, Event
from livedeck.operations.nouns import NotMatched, match


async def lookup_event(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""
    events = [event async for event in api.events.iterate()]
    remember_names(events)
    return match_event(events, words)


def match_event(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best (commands.md, "Nouns"). Raises click.UsageError for none, and lists several."""
    try:
        event: Event = match(events, words, "event", lambda event: event.name or "")
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    return event
