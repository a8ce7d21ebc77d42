"""What an event is to its audience, derived: the platform has no such field (decisions.md, "States"). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.client import Event, Stream
from livedeck.monitor.model.state import BroadcastState, Ingest, IngestState, Phase
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.series import late_limit

_DEFAULTS = Thresholds()


_LONGEST = 366 * 86_400

"""Seconds of a reconnect window that count at most: the platform's number must not lead out of the calendar."""


@dataclass(frozen=True, slots=True)
class IngestEvidence:
    """What the QoS answers prove, in server time.

    `as_of`: the last good answer. `newest`: the newest sample, None where the answer was empty. `first`: where the
    present run of samples began, None where that is older than what is kept. `cadence`: seconds between samples.
    `frozen`: samples come, but their time stands still.
    """

    as_of: datetime
    newest: datetime | None = None
    first: datetime | None = None
    cadence: float | None = None
    frozen: bool = False


def derive(event: Event, evidence: IngestEvidence | None, now: datetime, thresholds: Thresholds = _DEFAULTS) -> Phase:
    """The phase of `event` at `now` (server time); `evidence` is None where QoS never answered. The first row to fit:

    | stream                        | evidence           | tally                                                     |
    |-------------------------------|--------------------|-----------------------------------------------------------|
    | none                          | any                | DRAFT; SCHEDULED or LATE where there is `scheduled.time`  |
    | finished (status or time)     | any                | COMPLETED; SCHEDULED or LATE where a recurring event's    |
    |                               |                    | `scheduled.time` lies after the end                       |
    | pending                       | fresh samples      | ON AIR                                                    |
    |                               | anything else      | SCHEDULED or LATE, by `scheduled.time` or `started_at`    |
    | live, or a status not known   | fresh samples      | ON AIR                                                    |
    |                               | gap in the window  | RECONNECTING                                              |
    |                               | gap past it        | LOST                                                      |
    | live                          | empty, or none yet | ON AIR                                                    |
    | a status not known            | empty, or none yet | UNKNOWN                                                   |

    The gap is measured at the last good answer, never at `now`: an answer that did not come is no proof that the
    encoder left, and nor is a time that stands still while samples come. The window is the event's
    `reconnect_window` (platform-api.md, 2).
    """
    stream = event.stream
    if stream is None:
        return _waiting(_scheduled(event), now) if _scheduled(event) else Phase(BroadcastState.DRAFT, ingest=_nothing())
    if stream.status == "finished" or stream.finished_at:
        return _ended(event, stream, now)
    told = event.reconnect_window
    window = thresholds.reconnect_window if told is None else float(min(max(0, told), _LONGEST))
    ingest = _ingest(evidence, window, thresholds)
    if stream.status == "pending" and not _arrives(ingest):
        ingest = _nothing() if ingest.state is IngestState.UNKNOWN else ingest
        return _waiting(_scheduled(event) or stream.started_at, now, ingest)
    start, seen = stream.started_at, ingest.since
    begun = seen or start if stream.status == "pending" else start or seen  # of a pending one only the plan is told
    return Phase(_broadcast(stream, evidence, window, ingest), begun, ingest)


def _scheduled(event: Event) -> datetime | None:
    return event.scheduled.time if event.scheduled else None


def _nothing() -> Ingest:
    return Ingest(IngestState.NONE)


def _waiting(start: datetime | None, now: datetime, ingest: Ingest | None = None) -> Phase:
    late = start is not None and start < now
    return Phase(BroadcastState.LATE if late else BroadcastState.SCHEDULED, start, ingest or _nothing())


def _ended(event: Event, stream: Stream, now: datetime) -> Phase:
    start, end, again = stream.started_at, stream.finished_at, _scheduled(event)
    if end and again and again > end and event.type != "one-time":
        return _waiting(again, now)
    length = max(0.0, (end - start).total_seconds()) if start and end else None
    return Phase(BroadcastState.COMPLETED, end, Ingest(IngestState.ENDED, since=end), length)


def _ingest(evidence: IngestEvidence | None, window: float, thresholds: Thresholds) -> Ingest:
    if evidence is None:
        return Ingest(IngestState.UNKNOWN)
    newest = evidence.newest
    if newest is None:
        return _nothing()
    if not evidence.frozen and _gap(evidence, newest) > late_limit(evidence.cadence, thresholds):
        return Ingest(IngestState.INTERRUPTED, since=newest, window_ends=newest + timedelta(seconds=window))
    warming = evidence.first is not None and (newest - evidence.first).total_seconds() < thresholds.warm_up
    return Ingest(IngestState.WARMING_UP if warming else IngestState.RECEIVING, since=evidence.first)


def _gap(evidence: IngestEvidence, newest: datetime) -> float:
    return (evidence.as_of - newest).total_seconds()


def _arrives(ingest: Ingest) -> bool:
    return ingest.state in {IngestState.WARMING_UP, IngestState.RECEIVING}


def _broadcast(stream: Stream, evidence: IngestEvidence | None, window: float, ingest: Ingest) -> BroadcastState:
    if _arrives(ingest):
        return BroadcastState.ON_AIR
    if evidence and evidence.newest:
        return BroadcastState.RECONNECTING if _gap(evidence, evidence.newest) <= window else BroadcastState.LOST
    return BroadcastState.ON_AIR if stream.status == "live" else BroadcastState.UNKNOWN
