"""The kinds of alarm about samples that do not come: no ingest, an encoder that left, a late start, no answers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from livedeck.monitor.kinds.kind import (
    DROPOUTS,
    NO_INGEST,
    RECONNECTING,
    AlarmKind,
    EndDetector,
    EventCase,
    EventDetector,
    Observation,
)
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import BroadcastState, Component, EndedEvent, IngestState, Pattern
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.values import safe

QOS_STALE = "QOS_STALE"

_MAX_ERROR_CHARS = 200
"""Of an error in a finding: what was tried and what happened, not a whole page."""


def _observe_no_ingest(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """An encoder that never sent since the stream went live, until samples have come for a while."""
    phase = case.phase
    if not case.is_judged or phase.tally is not BroadcastState.ON_AIR or RECONNECTING in case.analysis.intervals:
        return
    if phase.ingest.state is IngestState.INTERRUPTED:
        return
    silent_at, live_since = _silent_at(case, thresholds), phase.reference_time
    if silent_at and (live_since is None or (silent_at - live_since).total_seconds() >= thresholds.warm_up):
        yield Observation("live without a sample", "samples", live_since)


def _silent_at(case: EventCase, thresholds: Thresholds) -> datetime | None:
    """When it was last seen that nothing came: now, or before the first samples while these are too young to count."""
    if case.phase.ingest.state is IngestState.NONE:
        return case.last_answer
    features, first_time = case.analysis.features, case.analysis.first_time
    if features is None or first_time is None or features.time - first_time >= thresholds.silence_off:
        return None
    return case.quality.last_empty_at


def _observe_reconnecting(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """An encoder that left, until samples have come for a while. One that comes and goes is away since it first left.

    It asks for attention anew as its reconnect window is used up.
    """
    phase, ingest = case.phase, case.phase.ingest
    if not case.is_judged:
        return
    interval = case.analysis.intervals.get(RECONNECTING)
    since = datetime.fromtimestamp(interval.since, UTC) if interval else ingest.since
    if ingest.state is IngestState.INTERRUPTED:
        actual = "no samples, the window is over" if phase.tally is BroadcastState.LOST else "no samples"
        used = _used_share(ingest.since, ingest.window_ends, case.last_answer)
        stage = sum(used >= share for share in thresholds.window_stages)
        yield Observation(actual, "the encoder's stream", since, stage)
    elif interval and phase.tally is BroadcastState.ON_AIR:
        yield Observation(*interval.evidence, since)
    elif case.quality.false_silence:
        actual = f"the metrics were late by {case.quality.late_by:.0f} s, the encoder was there"
        yield Observation(actual, "metrics as usual", case.quality.false_silence, is_withdrawn=True)


def _observe_late_metrics(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """The platform tells so late what happens that a person should know it."""
    lag = case.quality.lag
    if case.is_judged and lag is not None and lag > thresholds.metrics_late:
        actual = f"metrics come {lag:.0f} s late, as a rule"
        yield Observation(actual, f"metrics within {thresholds.metrics_late:.0f} s", None)


def _used_share(left: datetime | None, window_ends: datetime | None, as_of: datetime) -> float:
    """The share of the reconnect window that is used; a window of no length is used up."""
    if left is None or window_ends is None:
        return 0.0
    return (as_of - left) / (window_ends - left) if window_ends > left else 1.0


def _observe_late_start(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """A warning from T-5 min, critical from T+0, anew at T+60 s, until nobody can be waiting any more.

    An event that was not asked yet may well send.
    """
    start = case.phase.reference_time
    if start is None or case.phase.tally not in {BroadcastState.SCHEDULED, BroadcastState.LATE}:
        return
    if case.phase.ingest.state is IngestState.UNKNOWN and case.quality.since is None:
        return
    late_seconds = (case.now - start).total_seconds()
    if -thresholds.start_notice <= late_seconds <= thresholds.start_forgotten:
        stage = sum(late_seconds >= begin for begin in thresholds.start_stages)
        actual = "no ingest" if late_seconds >= 0 else f"no ingest yet, starts {start:%H:%M:%S}Z"
        yield Observation(actual, "a stream at the start time", start, stage, is_escalated=late_seconds >= 0)


def _observe_end(ended: EndedEvent) -> Observation:
    """Somebody, or the platform, took away a programme that was running."""
    by = f", by {ended.by}" if ended.by else ""
    return Observation(f"deleted, or not listed any more{by}", "a programme", is_withdrawn=bool(ended.by))


def _observe_stale(case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """The platform gives no answer or no news of this event, and why not the last time."""
    if case.is_stale:
        actual = safe(case.quality.error, _MAX_ERROR_CHARS) or "no new sample"
        yield Observation(actual, "an answer every few seconds", case.quality.since)


INGEST_KINDS = (
    AlarmKind(
        name=NO_INGEST,
        severity=Severity.CRITICAL,
        component=Component.NONE,  # without samples there is no score
        detector=EventDetector(observe=_observe_no_ingest),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.GONE,),
        diagnosis=Diagnosis(
            cause="The stream is live and no encoder has sent anything.",
            viewers="An empty player or a waiting picture.",
            advice="Check the address and the stream key in the encoder, and start it.",
        ),
    ),
    AlarmKind(
        name=RECONNECTING,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_reconnecting),
        hidden_by=(DROPOUTS,),
        shared=True,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The encoder was cut off: its line, its power, or somebody stopped it.",
            viewers="A frozen or waiting picture; the stream ends when the window is over.",
            advice="Telephone the encoder's operator; restart it before the window ends.",
        ),
    ),
    AlarmKind(
        name="LATE_START",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_late_start),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The encoder has not been started, or sends to a wrong address or key.",
            viewers="A waiting page.",
            advice="Telephone the encoder's operator; check address and stream key.",
        ),
    ),
    AlarmKind(
        name="ENDED_ON_AIR",
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=EndDetector(observe=_observe_end),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="Somebody deleted the event, here or elsewhere, or the platform did.",
            viewers="The end of the programme, though the encoder sends on.",
            advice="If nobody meant it, start a new stream now; ask who else works in this workspace.",
        ),
    ),
    AlarmKind(
        name="METRICS_LATE",
        severity=Severity.INFO,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_late_metrics),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform delivers its measurements late.",
            viewers="Nothing; but a fault is told later by as much.",
            advice="Watch the player too, if seconds count.",
        ),
    ),
    AlarmKind(
        name=QOS_STALE,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_stale),
        hidden_by=(),
        shared=True,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform gives no fresh measurements of this event.",
            viewers="Unknown: the stream may be well or gone.",
            advice="Watch the player itself until measurements are back.",
        ),
    ),
)
