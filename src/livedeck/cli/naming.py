"""What the line of a command names: its arguments, and the objects that are meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from livedeck.cli.completion import remember_events
from livedeck.client import Api
from livedeck.operations.nouns import Found, Known, NotMatched, Noun, find
from livedeck.text.values import safe

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
