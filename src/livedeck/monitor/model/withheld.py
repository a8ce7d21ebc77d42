"""Facts about keys and addresses, for readers that get neither: the past, and decks attached to a collector. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from livedeck.client import Event, EventRestream
from livedeck.record import Record
from livedeck.text.values import safe


class Withheld(Record):
    """Facts about the keys and addresses of an event (past.md, "Stored data").

    `incomplete`: places in `Event.restreams` of those without an address or a key. `shared`: ids of the other events
    that have an enabled restream to the same address with the same key. `public_keys`: descriptions of keys that are
    also a name or an id, so that everyone can read them. `has_poster`: True if the event has a picture.
    """

    incomplete: tuple[int, ...] = ()
    shared: tuple[str, ...] = ()
    public_keys: tuple[str, ...] = ()
    has_poster: bool = False


def withheld(events: Sequence[Event]) -> dict[str, Withheld]:
    """Return the facts of the events, by id, without events that have nothing to tell."""
    users = defaultdict[tuple[str, str], list[str]](list)
    for event in events:
        for destination in destinations(event):
            users[destination].append(event.id)
    found = {event.id: _facts(event, users) for event in events if event.restreams or event.poster or event.streamkey}
    return {event_id: facts for event_id, facts in found.items() if facts != _NOTHING}


_NOTHING = Withheld()


def _facts(event: Event, users: dict[tuple[str, str], list[str]]) -> Withheld:
    incomplete = tuple(place for place, restream in enumerate(event.restreams or ()) if destination(restream) is None)
    sharers = (user for target in destinations(event) for user in users[target] if user != event.id)
    return Withheld(incomplete, tuple(dict.fromkeys(sharers)), public_keys(event), has_poster(event))


def destinations(event: Event) -> frozenset[tuple[str, str]]:
    """Return address and key of every enabled restream that has both."""
    return frozenset(target for restream in enabled(event.restreams or ()) if (target := destination(restream)))


def enabled(restreams: Iterable[EventRestream]) -> list[EventRestream]:
    """Return the restreams that are not switched off."""
    return [restream for restream in restreams if restream.enabled is not False]


def destination(restream: EventRestream) -> tuple[str, str] | None:
    """Return address and key of a restream; None if either is missing."""
    if not restream.url or not restream.key or not restream.key.reveal():
        return None
    return restream.url.rstrip("/"), restream.key.reveal()


def public_keys(event: Event) -> tuple[str, ...]:
    """Return the keys of an event that are also a name or an id, in words."""
    return tuple(_public_keys(event))


def _public_keys(event: Event) -> Iterator[str]:
    if event.streamkey is not None and event.streamkey.is_public:
        yield "the stream key"
    for restream in event.restreams or ():
        if restream.key is not None and restream.key.is_public:
            yield f"the key of restream {safe(restream.name or 'unnamed', 30)}"


def has_poster(event: Event) -> bool:
    """Return whether the event has a picture."""
    return event.poster is not None and bool(event.poster.original)
