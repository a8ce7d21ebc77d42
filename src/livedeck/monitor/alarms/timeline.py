"""Timeline of an alarm: its changes, people's actions, and events that joined or left an incident. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from livedeck.monitor.model.alarm import Alarm, AlarmChange, TimelineEntry

_KEPT = 40
"""Number of newest entries that an alarm keeps."""

_NAMED = 5
"""Maximum number of event names in an entry; further events are only counted."""


def extend(
    before: Alarm | None, after: Alarm, change: AlarmChange | None, names: Mapping[str, str], now: datetime
) -> Alarm:
    """Return the alarm with entries for its changes since `before`. `names`: event names by id."""
    entries = tuple(_entries(before.affects if before else (), after, change, names, now))
    return replace(after, timeline=(*after.timeline, *entries)[-_KEPT:]) if entries else after


def _entries(
    affected: Sequence[str], alarm: Alarm, change: AlarmChange | None, names: Mapping[str, str], now: datetime
) -> Iterator[TimelineEntry]:
    if change:
        yield TimelineEntry(now, change.transition.words, change.actor)
    if not alarm.is_ongoing:
        return
    for word, events, others in (("joined", alarm.affects, affected), ("left", affected, alarm.affects)):
        if moved := [names.get(event_id, event_id) for event_id in events if event_id not in others]:
            yield TimelineEntry(now, f"{word}: {_listed(moved)}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
