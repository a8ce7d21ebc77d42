"""Derive the tally of an event, because the platform has no field for it (monitoring.md, "Tally"). Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from livedeck.client import Event, Stream
from livedeck.monitor.model.state import BroadcastState, Ingest, IngestState, Phase
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.record import Record

_DEFAULTS = Thresholds()

_MAX_WINDOW_SECONDS = 366 * 86_400
"""Maximum length of a reconnect window, so that adding the platform's number never leaves the calendar."""


class IngestEvidence(Record):
    """State of the encoder as the QoS replies prove it, in server time.

    `as_of`: time of the last good reply. `newest`: time of the newest sample; None without a sample. `run_started_at`:
    start of the present run of samples; None if the run is older than the samples in memory. `is_silent`: the encoder
    is proven gone. `is_undecided`: the samples are late, and this process saw no sample arrive, so nothing shows
    whether the encoder sends. `is_frozen`: samples arrive, but their time stands still. `silent_since`: start of the
    watched time without a sample; None if it begins at `newest`.
    """

    as_of: datetime
    newest: datetime | None = None
    run_started_at: datetime | None = None
    is_silent: bool = False
    is_undecided: bool = False
    is_frozen: bool = False
    silent_since: datetime | None = None

    @property
    def left_at(self) -> datetime | None:
        """Start of the time without samples, as far as it was watched; None without a sample."""
        return self.silent_since or self.newest


def derive(event: Event, evidence: IngestEvidence | None, now: datetime, thresholds: Thresholds = _DEFAULTS) -> Phase:
    """Return the phase of `event` at `now` (server time). `evidence`: None before the first QoS reply.

    The first matching row gives the tally:

    | stream                        | evidence            | tally                                                    |
    |-------------------------------|---------------------|----------------------------------------------------------|
    | none                          | any                 | DRAFT; SCHEDULED or LATE if `scheduled.time` is set      |
    | finished, of a recurring      | any                 | SCHEDULED or LATE                                        |
    | event whose `scheduled.time`  |                     |                                                          |
    | lies after the end            |                     |                                                          |
    | finished (status or time)     | any                 | COMPLETED                                                |
    | pending                       | fresh samples       | ON AIR                                                   |
    |                               | anything else       | SCHEDULED or LATE, by `planned_start`                    |
    | live, or an unknown status    | fresh samples       | ON AIR                                                   |
    |                               | gap within window   | RECONNECTING                                             |
    |                               | gap beyond window   | LOST                                                     |
    | live                          | no samples, no      | ON AIR                                                   |
    |                               | reply, or undecided |                                                          |
    | an unknown status             | the same            | UNKNOWN                                                  |

    The gap is the watched time from the newest sample to the last good reply. The window is the event's
    `reconnect_window` (platform-api.md, "Live event"). A missing reply does not prove that the encoder left. New
    samples that repeat the same time do not prove it either.
    """
    stream = event.stream
    if stream is None:
        start = _scheduled(event)
        return _waiting(start, now) if start else Phase(BroadcastState.DRAFT, ingest=Ingest(IngestState.NONE))
    if stream.status == "finished" or stream.finished_at:
        return _finished(event, stream, now)
    window = _window_seconds(event, thresholds)
    ingest = _ingest(evidence, window, thresholds)
    if stream.status == "pending" and not _arrives(ingest):
        return _waiting(planned_start(event, now), now, ingest)
    started_at, since = stream.started_at, ingest.since
    began = (since or started_at) if stream.status == "pending" else (started_at or since)  # pending: only planned
    return Phase(_broadcast_state(stream, evidence, window, ingest), began, ingest)


def planned_start(event: Event, now: datetime) -> datetime | None:
    """Return the planned start of the event, from its pending stream and from `scheduled.time`; None without either.

    The stream's start counts while it is in the future, because a reschedule changes only the stream's start. Otherwise
    the later time counts.
    """
    stream, of_event = event.stream, _scheduled(event)
    of_stream = stream.started_at if stream and stream.status == "pending" else None
    if of_event is None or of_stream is None:
        return of_event or of_stream
    return of_stream if of_stream >= now else max(of_event, of_stream)


def _scheduled(event: Event) -> datetime | None:
    return event.scheduled.time if event.scheduled else None


def _window_seconds(event: Event, thresholds: Thresholds) -> float:
    if event.reconnect_window is None:
        return thresholds.reconnect_window
    return float(min(max(0, event.reconnect_window), _MAX_WINDOW_SECONDS))


def _waiting(start: datetime | None, now: datetime, ingest: Ingest | None = None) -> Phase:
    is_late = start is not None and start < now
    tally = BroadcastState.LATE if is_late else BroadcastState.SCHEDULED
    return Phase(tally, start, ingest or Ingest(IngestState.NONE))


def _finished(event: Event, stream: Stream, now: datetime) -> Phase:
    start, end, next_start = stream.started_at, stream.finished_at, _scheduled(event)
    if end and next_start and next_start > end and event.type != "one-time":
        return _waiting(next_start, now)
    elapsed = max(0.0, (end - start).total_seconds()) if start and end else None
    return Phase(BroadcastState.COMPLETED, end, Ingest(IngestState.ENDED, since=end), elapsed)


def _ingest(evidence: IngestEvidence | None, window: float, thresholds: Thresholds) -> Ingest:
    if evidence is None:
        return Ingest(IngestState.UNKNOWN)
    newest, run_started_at, left_at = evidence.newest, evidence.run_started_at, evidence.left_at
    if newest is None or left_at is None:
        return Ingest(IngestState.NONE)
    if not evidence.is_frozen and evidence.is_silent:
        return Ingest(IngestState.INTERRUPTED, since=left_at, window_ends=left_at + timedelta(seconds=window))
    if evidence.is_undecided:
        return Ingest(IngestState.UNKNOWN)
    is_warming_up = run_started_at is not None and (newest - run_started_at).total_seconds() < thresholds.warm_up
    return Ingest(IngestState.WARMING_UP if is_warming_up else IngestState.RECEIVING, since=run_started_at)


def _gap(evidence: IngestEvidence, left_at: datetime) -> float:
    return (evidence.as_of - left_at).total_seconds()


def _arrives(ingest: Ingest) -> bool:
    return ingest.state in {IngestState.WARMING_UP, IngestState.RECEIVING}


def _broadcast_state(stream: Stream, evidence: IngestEvidence | None, window: float, ingest: Ingest) -> BroadcastState:
    if _arrives(ingest):
        return BroadcastState.ON_AIR
    if evidence and evidence.left_at and ingest.state is IngestState.INTERRUPTED:
        return BroadcastState.RECONNECTING if _gap(evidence, evidence.left_at) <= window else BroadcastState.LOST
    return BroadcastState.ON_AIR if stream.status == "live" else BroadcastState.UNKNOWN
