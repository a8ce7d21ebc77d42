"""Detect RESTREAM_DOWN by folding over the event lists, one after another (monitoring.md, "Alarm kinds"). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from livedeck.client import Event, EventRestream
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.state import Episode
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.analysis import MAX_EPISODES, RestreamHistory, make_episode
from livedeck.monitor.signal.hysteresis import (
    Evidence,
    FaultInterval,
    Level,
    has_cleared,
    on_bad_sample,
    on_other_sample,
)
from livedeck.text.values import safe

CONNECTED, DISCONNECTED = "connected", "disconnected"
"""Statuses with a documented meaning (platform-api.md, "Event restream status"). Any other status proves nothing."""


def update(
    history: RestreamHistory, event: Event, as_of: float, on_air_since: float | None, thresholds: Thresholds
) -> RestreamHistory:
    """Return the history of an event's restreams after a list at `as_of` (epoch s, server clock).

    A restream counts as down from the platform's date of its last change. If a later list showed it connected, it
    counts as down from the first list that shows it down. It counts as connected from the date of a change since the
    last list, or from this list without such a change.

    Args:
        history: History up to the last list.
        event: The event with its restreams, as listed.
        as_of: Time of the list.
        on_air_since: Start of the event's own good signal; None without a signal, when no restream can be judged.
        thresholds: Limits of the event.
    """
    enabled = {restream.id: restream for restream in event.restreams or () if restream.id and restream.enabled}
    stepped = {
        restream_id: _step(history, restream, as_of, on_air_since, thresholds)
        for restream_id, restream in enabled.items()
    }
    off_seconds = thresholds.restream_hold.off
    intervals = {
        restream_id: interval
        for restream_id, interval in stepped.items()
        if interval and not has_cleared(interval, as_of, off_seconds)
    }
    if intervals and len(intervals) == len(enabled) and all(interval.is_raised for interval in intervals.values()):
        critical = RESTREAM_KIND.escalated_severity
        intervals = {key: interval._replace(severity=critical) for key, interval in intervals.items()}
    ended = _ended_episodes(history, intervals, as_of)
    return RestreamHistory(
        intervals=intervals,
        last_connected={
            restream_id: as_of if restream.status == CONNECTED else history.last_connected.get(restream_id, 0.0)
            for restream_id, restream in enabled.items()
        },
        names={restream_id: safe(restream.name or restream_id) for restream_id, restream in enabled.items()},
        past=(*history.past, *ended)[-MAX_EPISODES:] if ended else history.past,
        listed_at=as_of,
    )


def restream_episodes(history: RestreamHistory) -> Iterator[Episode]:
    """Yield the present and past faults of the event's restreams."""
    yield from history.past
    for restream_id, interval in history.intervals.items():
        if interval.is_raised:
            yield make_episode(RESTREAM_KIND.name, interval, None, restream_id)


def _step(
    history: RestreamHistory, restream: EventRestream, as_of: float, on_air_since: float | None, thresholds: Thresholds
) -> FaultInterval | None:
    restream_id = restream.id or ""
    interval, changed_at = history.intervals.get(restream_id), _changed(restream)
    level = _classify(restream, on_air_since)
    if level is not Level.BAD:
        good_since = changed_at if changed_at > history.listed_at else as_of
        return on_other_sample(interval, level, as_of, good_since) if interval else None
    evidence = Evidence(f"{safe(restream.name or '')} {safe(restream.status or '')}".strip(), CONNECTED)
    if interval is None:
        last_connected = history.last_connected.get(restream_id, 0.0)
        since = min(as_of, max(changed_at, on_air_since or 0.0)) if changed_at > last_connected else as_of
        interval = FaultInterval(since, since, RESTREAM_KIND.severity, evidence)
    return on_bad_sample(interval, as_of, evidence, thresholds.restream_hold)


def _classify(restream: EventRestream, on_air_since: float | None) -> Level:
    if restream.status == CONNECTED:
        return Level.GOOD
    is_down = restream.status == DISCONNECTED and on_air_since is not None
    return Level.BAD if is_down else Level.DEADBAND


def _changed(restream: EventRestream) -> float:
    """Return the time of the platform's last change of the restream (epoch s); 0 if unknown."""
    changed_at = restream.updated_at or restream.created_at
    return changed_at.timestamp() if changed_at else 0.0


def _ended_episodes(
    history: RestreamHistory, intervals: Mapping[str, FaultInterval], as_of: float
) -> tuple[Episode, ...]:
    """Return the faults that end with this list: the restream is connected, switched off or removed."""
    return tuple(
        make_episode(RESTREAM_KIND.name, interval, as_of if interval.good_since is None else interval.good_since, key)
        for key, interval in history.intervals.items()
        if interval.is_raised and key not in intervals
    )
