"""Lookup of the objects that a command line names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from livedeck.cli.completion import remember_events
from livedeck.client import Api, Event, Unreadable
from livedeck.monitor import KnownMaterial, Snapshot
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.operations.nouns import NOUNS, Found, Known, NotMatched, Noun, find, is_id, match
from livedeck.presentation.connection import missing_text
from livedeck.text.values import safe


async def lookup_event(api: Api, words: str) -> Event:
    """Return the event that the words name. Raises ApiError, or click.UsageError if no event, or several, fit."""

    async def no_materials(_: str) -> tuple[KnownMaterial, ...]:
        return ()

    event: Event = (await find_named(NOUNS["event"], api, (words,), no_materials)).item
    return event


async def find_known_event(api: Api | None, snapshot: Snapshot, words: str) -> Event:
    """Return the event of a snapshot that the words name, as `match_event` does.

    With `api`, an event that is named by its whole id and is not in the snapshot is read from the platform. Raises
    click.UsageError, ApiError.
    """
    listed = tuple(state.event for state in snapshot.events)
    if api and is_id(words) and all(event.id != words.strip().casefold() for event in listed):
        return await api.events.get(words.strip())
    return match_event(listed, words, missing_text(snapshot))


def match_event(events: Iterable[Event], words: str, missing: str = "") -> Event:
    """Return the event that fits the words best (commands.md, "Names and ids").

    `missing`: note on rows that `events` lack; empty without any. Raises click.UsageError if no event, or several, fit,
    and Unreadable if a missing row may be the event.
    """
    try:
        event: Event = match(events, words, "event", lambda event: event.name or "")
    except NotMatched as error:
        if missing:
            raise Unreadable(f"{missing}; in the rest {error}") from None
        raise click.UsageError(str(error)) from None
    return event


EVENT_HELP = "EVENT: an id, a name, or the beginning of either, if unambiguous."


def argument_names(names: Iterable[str]) -> list[click.Parameter]:
    """Return an argument for each name: `EVENT`, `ROOM`, `VIDEO`."""
    return [click.Argument([name.lower()], metavar=name) for name in names]


async def find_named(noun: Noun, api: Api, words: Sequence[str], materials: Known) -> Found:
    """Return the objects that the words name. Raises ApiError, or UsageError if no object, or several, fit."""
    try:
        found = await find(noun, api, words, materials)
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    if noun.arguments == ("EVENT",):
        remember_names(found.siblings)
    return found


def remember_names(events: Iterable[Any]) -> None:
    """Store the names of events for shell completion."""
    remember_events((event.id, safe(event.name or "", 200)) for event in events)


def alarm_kind(text: str) -> str:
    """Return the kind of alarm in capitals. For an unknown kind, raise click.BadParameter that names similar kinds."""
    if text.upper() in ALARM_KINDS:
        return text.upper()
    from difflib import get_close_matches

    near = get_close_matches(text.upper(), ALARM_KINDS, 3)
    advice = f"did you mean {' or '.join(near)}?" if near else f"the kinds are {', '.join(sorted(ALARM_KINDS))}"
    raise click.BadParameter(f"{safe(text, 40)!r} is not a kind of alarm: {advice}")
