"""The event that a person means by what was typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from livedeck.cli.completion import remember_events
from livedeck.client import Api, Event
from livedeck.monitor import KnownMaterial
from livedeck.operations.nouns import NOUNS, Found, Known, NotMatched, Noun, find, is_id, match
from livedeck.text.values import safe


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


EVENT_HELP = "EVENT: an id, a name, or the beginning of either that fits one alone."


def argument_names(names: Iterable[str]) -> list[click.Parameter]:
    """An argument for each: `EVENT`, `ROOM`, `VIDEO`."""
    return [click.Argument([name.lower()], metavar=name) for name in names]


async def find_named(noun: Noun, api: Api, words: Sequence[str], known: Known) -> Found:
    """What these words name. Raises UsageError for none or several, and ApiError."""
    try:
        found = await find(noun, api, words, known)
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    if noun.arguments == ("EVENT",):
        remember_names(found.siblings)
    return found


def remember_names(events: Iterable[Any]) -> None:
    """Keep what events are called, for whoever completes a line later."""
    remember_events((event.id, safe(event.name or "", 200)) for event in events)
