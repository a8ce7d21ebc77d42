"""Posters that livedeck has set. The platform does not show the address of a poster."""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path

from livedeck.atomic_file import write_private
from livedeck.client import Event

MAX_EVENTS = 10_000


class SetPosters:
    """File with a hash for each event, made from the event's poster and the address of the picture.

    If the file is missing or unreadable, posters are set once more.
    """

    def __init__(self, path: Path, base_url: str) -> None:
        self._path, self._base_url = path, base_url
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        self._hashes: OrderedDict[str, str] = OrderedDict(found if isinstance(found, dict) else {})

    def has(self, event: Event, url: str) -> bool:
        """Return whether the event still has the poster that was set from this address."""
        return self._hashes.get(self._key(event)) == _hash(url, _poster_id(event))

    def remember(self, event: Event, url: str) -> None:
        """Store that the current poster of the event comes from this address. Raises OSError."""
        self._hashes[self._key(event)] = _hash(url, _poster_id(event))
        while len(self._hashes) > MAX_EVENTS:
            self._hashes.popitem(last=False)
        write_private(self._path, json.dumps(self._hashes), replace=True)

    def _key(self, event: Event) -> str:
        return _hash(self._base_url.rstrip("/"), event.id)


def _poster_id(event: Event) -> str:
    return (event.poster.id if event.poster else None) or ""


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:32]
