"""Record of the levels that `livedeck notify test` has tried, in a file beside the spool."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from livedeck.atomic_file import read_regular, write_private
from livedeck.cli.collect.receivers import spool_file
from livedeck.notify import Plan
from livedeck.settings import Settings, SettingsError

OLD = timedelta(days=30)
"""Time after which a test of a level proves nothing any more."""

_MAX_BYTES = 1_000_000


class Place(NamedTuple):
    """Level of a route, and its target: level 0 is the target of the route itself."""

    route: str
    level: int
    target: str

    @property
    def words(self) -> str:
        """Place in words: `night, level 1 -> pager`."""
        return f"{self.route}{f', level {self.level}' if self.level else ''} -> {self.target}"


def places(plan: Plan) -> Iterator[Place]:
    """Yield every level of every route."""
    for route in plan.routes:
        for number, level in enumerate(route.all_levels):
            yield Place(route.name, number, level.to)


def note_tested(settings: Settings, taken: Iterable[Place], now: datetime) -> None:
    """Store `now` as the time of the last test of the levels in `taken`. Does nothing without a history."""
    with suppress(SettingsError, OSError):
        path = _file(settings)
        tested = {**_read(path), **{_key(place): now.astimezone(UTC).isoformat() for place in taken}}
        write_private(path, json.dumps(tested), replace=True)


def untested(settings: Settings, plan: Plan, now: datetime) -> list[tuple[Place, datetime | None]]:
    """Return the levels whose last test is older than `OLD` or missing, each with its time (None if missing)."""
    try:
        tested = _read(_file(settings))
    except SettingsError:
        return []
    times = {place: _moment(tested.get(_key(place), "")) for place in places(plan)}
    return [(place, at) for place, at in times.items() if at is None or now - at > OLD]


def _file(settings: Settings) -> Path:
    spool = spool_file(settings)
    return spool.with_name(f"{spool.name}.tested")


def _key(place: Place) -> str:
    return f"{place.route}\n{place.target}"


def _read(path: Path) -> Mapping[str, str]:
    """Return the times by route and target; empty if the file is missing or unreadable."""
    try:
        content, _ = read_regular(path, _MAX_BYTES)
        found = json.loads(content)
    except (OSError, ValueError):
        return {}
    return {str(key): str(at) for key, at in found.items()} if isinstance(found, dict) else {}


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None
