"""Facts about keys and addresses for the past and for attached decks, which get neither keys nor addresses. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from livedeck.client import Event, EventRestream, RelayProfile
from livedeck.record import Record
from livedeck.text.values import safe


class Withheld(Record):
    """Facts about the keys and addresses of an event (past.md, "Stored data").

    `incomplete`: positions in `Event.restreams` of restreams without an address or a key. `shared`: ids of other events
    that have an enabled restream to the same address with the same key. `public_keys`: descriptions of keys that equal
    a name or an id, so that everyone can read them. `has_poster`: the event has a picture.
    """

    incomplete: tuple[int, ...] = ()
    shared: tuple[str, ...] = ()
    public_keys: tuple[str, ...] = ()
    has_poster: bool = False


def withheld(events: Sequence[Event]) -> dict[str, Withheld]:
    """Return event id -> facts. Events without a noteworthy fact are left out."""
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
    """Return the pairs of address and key of the enabled restreams that have both."""
    return frozenset(target for restream in enabled(event.restreams or ()) if (target := destination(restream)))


def enabled(restreams: Iterable[EventRestream]) -> list[EventRestream]:
    """Return the restreams that are not switched off."""
    return [restream for restream in restreams if is_enabled(restream)]


def is_enabled(restream: EventRestream) -> bool:
    """Return whether a restream is switched on. It counts as switched on if the platform does not say."""
    return restream.enabled is not False


def destination(target: EventRestream | RelayProfile) -> tuple[str, str] | None:
    """Return the address and the key of a restream or a relay profile; None if either is missing."""
    key = target.stream_key if isinstance(target, RelayProfile) else target.key
    if not target.url or not key or not key.reveal():
        return None
    return target.url.rstrip("/"), key.reveal()


def public_keys(event: Event) -> tuple[str, ...]:
    """Return descriptions of the event's keys that equal a name or an id."""
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
