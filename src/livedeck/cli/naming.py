"""What the line of a command names: its arguments, and the objects that are meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from livedeck.client import Api
from livedeck.operations.nouns import Found, Known, NotMatched, Noun, find

EVENT_HELP = "EVENT: an id, a name, or the beginning of either that fits one alone."


def argument_names(names: Iterable[str]) -> list[click.Parameter]:
    """An argument for each: `EVENT`, `ROOM`, `VIDEO`."""
    return [click.Argument([name.lower()], metavar=name) for name in names]


async def find_named(noun: Noun, api: Api, words: Sequence[str], known: Known) -> Found:
    """What these words name. Raises UsageError for none or several, and ApiError."""
    try:
        return await find(noun, api, words, known)
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
