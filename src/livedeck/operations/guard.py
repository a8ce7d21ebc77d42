"""Why nothing may be changed now: nobody changes what they cannot see."""

from __future__ import annotations

from datetime import datetime

from livedeck.monitor import Snapshot, is_stale
from livedeck.operations.operation import Target
from livedeck.text import values

LISTED_WITH_ROOMS = frozenset({"room", "relay profile"})
"""The kinds of targets that the list of rooms shows."""


def blocked_reason(
    snapshot: Snapshot | None,
    now: datetime,
    target: Target | None = None,
    *,
    is_watched: bool = True,
    refresh_key: str = "",
) -> str:
    """Why nothing may be sent (to the target), in words; empty where it may.

    `now`: this machine's clock. `is_watched`: False where the monitor has stopped. `refresh_key`: what a person presses
    to have the platform asked again, where there is such a key.
    """
    if snapshot is None or snapshot.link.as_of is None:
        return "no data yet; wait for the platform's first answer"
    retry = f"; {refresh_key} asks the platform again" if refresh_key else ""
    if not is_watched or is_stale(snapshot.link, now):
        return f"what you see is STALE, {_age(snapshot.link.as_of, now)} old{retry}"
    if target and target.kind in LISTED_WITH_ROOMS and snapshot.rooms.as_of and snapshot.rooms.is_stale(now):
        return f"the rooms that you see are STALE, {_age(snapshot.rooms.as_of, now)} old{retry}"
    state = snapshot.find(target.id) if target and target.kind == "event" else None
    if state and state.is_stale:
        retry = f"; {refresh_key} asks again" if refresh_key else ""
        return f"what you see of it may be over: the platform gives no answer for it{retry}"
    return ""


def _age(then: datetime, now: datetime) -> str:
    return values.age((now - then).total_seconds())
