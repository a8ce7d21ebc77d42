"""Reasons to refuse a change now. Nobody may change an object that they cannot see."""

from __future__ import annotations

from datetime import datetime

from livedeck.monitor import Snapshot, is_stale
from livedeck.operations.operation import Target
from livedeck.text import values

LISTED_WITH_ROOMS = frozenset({"room", "relay profile"})
"""Kinds of targets that the list of rooms contains."""


def blocked_reason(
    snapshot: Snapshot | None,
    now: datetime,
    target: Target | None = None,
    *,
    is_watched: bool = True,
    refresh_key: str = "",
) -> str:
    """Return the reason why no change may be sent now; empty if a change may be sent.

    Args:
        now: time on this machine's clock.
        target: object of the change; None for changes in general.
        is_watched: False if the monitor has stopped.
        refresh_key: key that polls the platform again; empty without such a key.
    """
    retry = f"; press {refresh_key} to refresh" if refresh_key else ""
    if snapshot is None or snapshot.link.as_of is None:
        return "no data yet; wait for the platform's first response"
    if not is_watched or is_stale(snapshot.link, now):
        return f"the screen is STALE, {_age(snapshot.link.as_of, now)} old{retry}"
    if target and target.kind in LISTED_WITH_ROOMS and snapshot.rooms.as_of and snapshot.rooms.is_stale(now):
        return f"the list of rooms is STALE, {_age(snapshot.rooms.as_of, now)} old{retry}"
    state = snapshot.find(target.id) if target and target.kind == "event" else None
    if state and state.is_stale:
        return f"this event's data may be outdated: the platform does not respond for it{retry}"
    return ""


def _age(then: datetime, now: datetime) -> str:
    return values.age((now - then).total_seconds())
