"""The event that a person means by what was typed."""

from __future__ import annotations

from collections.abc import Iterable

import click

from livedeck.cli.naming import find_named
from livedeck.client import Api, Event
from livedeck.monitor import KnownMaterial
from livedeck.operations.nouns import NOUNS, NotMatched, match


async def lookup_event(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""

    async def no_materials(_: str) -> tuple[KnownMaterial, ...]:
        return ()

    event: Event = (await find_named(NOUNS["events"], api, (words,), no_materials)).item
    return event


def match_event(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best (commands.md, "Nouns"). Raises click.UsageError for none, and lists several."""
    try:
        event: Event = match(events, words, "event", lambda event: event.name or "")
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    return event
