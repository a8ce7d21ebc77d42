"""Which event a person means: by id, by name, or by the beginning of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from livedeck import wording
from livedeck.client import Api, Event

_SHOWN = 10


async def chosen(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""
    return choose([event async for event in api.events.iterate()], words)


def choose(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best: its id, else its name, else the beginning of either, whatever the case.

    Raises click.UsageError where none fits, and where several fit equally well: it lists them.
    """
    events, wanted = tuple(events), words.strip().casefold()
    fits: tuple[Callable[[Event], bool], ...] = (
        lambda event: event.id.casefold() == wanted,
        lambda event: _name(event) == wanted,
        lambda event: event.id.casefold().startswith(wanted) or _name(event).startswith(wanted),
    )
    for fit in fits if wanted else ():
        found = [event for event in events if fit(event)]
        if len(found) == 1:
            return found[0]
        if found:
            raise click.UsageError(_several(words, found))
    raise click.UsageError(f"no event is called {wording.safe(words, 80)!r}; `livedeck status` lists them all")


def _name(event: Event) -> str:
    return wording.safe(event.name or "").casefold()


def _several(words: str, found: list[Event]) -> str:
    lines = [f"  {event.id}  {wording.safe(event.name or '', 60)}" for event in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more")
    return "\n".join([f"{wording.safe(words, 80)!r} fits {len(found)} events; name one by its id:", *lines])
