"""Find events, rooms, profiles and restreams by name or id. The error for an unknown name lists the existing names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError
from livedeck.simulator.models import is_uuid

MAX_NAMES = 20
"""Maximum number of names in an error."""


def find_document(world: World, kind: str, wanted: str) -> Document:
    """Return the event or room (`kind`) of the served workspace with this name, or of any workspace with this id.

    Raises the documented error: 404 with the existing names, or 409 with the ids of all objects of this name.
    """
    if is_uuid(wanted):
        document = world.store.get(kind, wanted.lower())
        if document is not None and not document.get("deleted_at"):
            return document
    served = world.workspaces()[0].workspace_id
    named = _present(world.store.find_all(kind, served, [("name", wanted)]))
    return _only(named, kind, wanted, lambda: _present(world.store.find_all(kind, served, order=[("name", "asc")])))


def find_part(parts: Sequence[Document], kind: str, wanted: str, of: str) -> Document:
    """Return the restream or profile (`kind`) with this name or id among the `parts` of the object called `of`."""
    named = [part for part in parts if part["id"] == wanted.lower()] or [
        part for part in parts if part["name"] == wanted
    ]
    return _only(named, "restream", wanted, lambda: parts, f'{kind} of "{of}"')


def _only(
    named: Sequence[Document], field: str, wanted: str, others: Callable[[], Iterable[Document]], kind: str = ""
) -> Document:
    if len(named) > 1:
        reason = f'{len(named)} have the name "{wanted}": give the id, {" or ".join(row["id"] for row in named)}'
        raise ApiError(409, 409409, reason, [(field, reason)])
    if not named:
        reason = f'no {kind or field} is called "{wanted}"; {there_are((row["name"] for row in others()), wanted)}'
        raise ApiError(404, 404404, reason, [(field, reason)])
    return dict(named[0])


def _present(documents: Iterable[Document]) -> list[Document]:
    return [document for document in documents if not document.get("deleted_at")]


def listed(names: Iterable[str]) -> str:
    """Return the names as a phrase, at most `MAX_NAMES` of them."""
    unique = [*dict.fromkeys(names)]
    shown = [*unique[:MAX_NAMES], *([f"{len(unique) - MAX_NAMES} more"] if len(unique) > MAX_NAMES else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def there_are(names: Iterable[str], wanted: str = "") -> str:
    """Return the end of an error that lists the existing names, first those that are close to `wanted`.

    A name that has all words of `wanted` is close, too: `update_event` to `event.update`.
    """
    names, words = [*dict.fromkeys(names)], _words(wanted)
    close = [
        *dict.fromkeys(
            (*(name for name in names if words and words <= _words(name)), *get_close_matches(wanted, names))
        )
    ]
    names = [*close, *(name for name in names if name not in close)]
    return f"there {'is' if len(names) == 1 else 'are'} {listed(names) or 'none'}"


def _words(name: str) -> set[str]:
    return {*re.findall(r"[^\W_]+", name.casefold())}
