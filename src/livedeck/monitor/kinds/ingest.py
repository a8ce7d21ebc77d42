"""Alarm kinds for missing samples: no ingest, a lost encoder, a late start, no replies."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from livedeck.monitor.evidence.blame import diagnosed
from livedeck.monitor.evidence.witness import Witness, witness, witness_words
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
from livedeck.monitor.model.alarm import Alarm, Diagnosis, Severity
from livedeck.monitor.model.blame import Culprit
from livedeck.monitor.model.own import watched_seconds
from livedeck.monitor.model.state import BroadcastState, Component, EndedEvent, EndWay, IngestState, Pattern
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.values import age

QOS_STALE, ENDED_ON_AIR, LATE_START = "QOS_STALE", "ENDED_ON_AIR", "LATE_START"

_SAME_TIME = 0.01
"""Largest rounding difference, in seconds, between the same time as a number and as a datetime."""


def _observe_no_ingest(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """Report an encoder that has sent nothing since the stream went live.

    The alarm clears once samples have come for `silence_off` seconds.
    """
    phase = case.phase
    if not case.is_judged or phase.tally is not BroadcastState.ON_AIR or RECONNECTING in case.analysis.intervals:
        return
    if phase.ingest.state is IngestState.INTERRUPTED:
        return
    silent_at, live_since = _silent_at(case, thresholds), phase.reference_time
    if silent_at and (live_since is None or (silent_at - live_since).total_seconds() >= thresholds.warm_up):
        yield Observation("live without a sample", f"samples within {age(thresholds.warm_up)}", live_since)


def _silent_at(case: EventCase, thresholds: Thresholds) -> datetime | None:
    """Return the time of the last reply that proves that no sample ever came (server time).

    None once samples have come for `silence_off` seconds.
    """
    if case.phase.ingest.state is IngestState.NONE:
        return case.quality.empty_at
    features, first_time = case.analysis.features, case.analysis.first_time
    if features is None or first_time is None or features.time - first_time >= thresholds.silence_off:
        return None
    return case.quality.empty_at


def _observe_reconnecting(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """Report a lost encoder, or a silence that was only late metrics.

    The alarm clears once samples have come for `silence_off` seconds; before that, a new absence belongs to the same
    alarm. The stage rises as the reconnect window runs out.
    """
    phase, ingest = case.phase, case.phase.ingest
    if not case.is_judged:
        return
    interval = case.analysis.intervals.get(RECONNECTING)
    since = datetime.fromtimestamp(interval.since, UTC) if interval else ingest.since
    if ingest.state is IngestState.INTERRUPTED:
        actual = "no samples, reconnect window expired" if phase.tally is BroadcastState.LOST else "no samples"
        if _is_onset_unseen(case):
            actual = f"{actual}, at least since {ingest.since:%H:%M:%S}Z (not watched before)"
        used = _used_share(ingest.since, ingest.window_ends, case.last_answer)
        stage = sum(used >= share for share in thresholds.window_stages)
        yield _with_viewers(Observation(actual, "the encoder's stream", since, stage), case, thresholds)
    elif interval and phase.tally is BroadcastState.ON_AIR:
        yield Observation(*interval.evidence, since)
    elif case.quality.false_silence:
        actual = f"metrics were {case.quality.late_by:.0f} s late, but the encoder was connected"
        yield Observation(actual, "metrics on time", case.quality.false_silence, is_withdrawn=True)


def _is_onset_unseen(case: EventCase) -> bool:
    """Return whether the encoder stopped in unwatched time."""
    features, since = case.analysis.features, case.phase.ingest.since
    return features is not None and since is not None and since.timestamp() > features.time + _SAME_TIME


def _observe_late_metrics(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """Report metrics whose delay, less one cadence, is over the limit."""
    lag = case.quality.lag
    if case.is_judged and lag is not None and (late := lag - (case.analysis.cadence or 0.0)) > thresholds.metrics_late:
        actual = f"metrics usually come {late:.0f} s late"
        yield Observation(actual, f"metrics within {thresholds.metrics_late:.0f} s", None)


def _used_share(left: datetime | None, window_ends: datetime | None, as_of: datetime) -> float:
    """Return the elapsed share of the reconnect window (1 is all); 0 without a window, 1 for a window of length 0."""
    if left is None or window_ends is None:
        return 0.0
    return (as_of - left) / (window_ends - left) if window_ends > left else 1.0


def _observe_late_start(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """Report an event without samples around its planned start: a warning 5 min before, critical from the start on.

    The stage rises after some time. The report ends `start_forgotten` seconds after the start. An event that was not
    polled yet is not reported, because its encoder may be sending.
    """
    start = case.phase.reference_time
    if start is None or case.phase.tally not in {BroadcastState.SCHEDULED, BroadcastState.LATE}:
        return
    if case.phase.ingest.state is IngestState.UNKNOWN and case.quality.since is None:
        return
    late_seconds = (case.now - start).total_seconds()
    if -thresholds.start_notice <= late_seconds <= thresholds.start_forgotten:
        watched = watched_seconds(start, case.now, case.stops)
        stage = sum(watched >= begin for begin in thresholds.start_stages)
        actual = "no ingest" if late_seconds >= 0 else f"no ingest yet, starts {start:%H:%M:%S}Z"
        yield Observation(actual, "a stream at the start time", start, stage, is_escalated=late_seconds >= 0)


_ENDS = {
    EndWay.GONE: "deleted",
    EndWay.STREAM_REMOVED: "its stream was removed",
    EndWay.COMPLETED: "completed while its encoder was sending",
    EndWay.REPLACED: "its stream was replaced by another, which is not on air",
}


def is_of_gone_event(alarm: Alarm) -> bool:
    """Return whether an ENDED_ON_AIR alarm says that its event is gone.

    This is read from the alarm's text, because the history stores no other sign.
    """
    return alarm.actual.startswith(f"{_ENDS[EndWay.GONE]},")


def _observe_end(ended: EndedEvent, thresholds: Thresholds) -> Observation:
    """Report an event that ended while it was on air; an info if a person requested the end here."""
    by = "not by a deck or command of this history" if ended.by == "" else "by whom is unknown without a history"
    is_completed = ended.way in {EndWay.COMPLETED, EndWay.REPLACED}
    severity = thresholds.ended_by_another if is_completed else Severity.CRITICAL
    return Observation(
        f"{_ENDS[ended.way]}, {f'by {ended.by}' if ended.by else by}",
        "a programme",
        is_escalated=severity is Severity.CRITICAL,
        is_withdrawn=bool(ended.by) or severity is Severity.INFO,
    )


def _observe_stale(case: EventCase, thresholds: Thresholds) -> Iterable[Observation]:
    """Report missing replies or samples of this event, with the reason."""
    if case.is_stale:
        found = Observation(case.quality.blame.text, "a reply every few seconds", case.quality.since)
        yield _with_viewers(found, case, thresholds)


def _with_viewers(observation: Observation, case: EventCase, thresholds: Thresholds) -> Observation:
    """Return the observation with the probe's evidence. It is milder if viewers get pictures newer than the samples."""
    if case.viewer is None:
        return observation
    features = case.analysis.features
    found = witness(case.viewer, features.time if features else None, case.now, thresholds)
    if found is Witness.NONE:
        return observation
    actual = f"{observation.actual}; {witness_words(found, case.viewer)}"
    return observation._replace(actual=actual, is_milder=found is Witness.LIVE)


INGEST_KINDS = (
    AlarmKind(
        name=NO_INGEST,
        severity=Severity.CRITICAL,
        component=Component.NONE,  # no samples, no score
        detector=EventDetector(observe=_observe_no_ingest),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.GONE,),
        diagnosis=Diagnosis(
            cause="The stream is live, but no encoder has sent anything.",
            viewers="An empty player or a waiting screen.",
            advice="Check the address and the stream key in the encoder, then start it.",
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
            cause="The encoder was cut off: connection or power failed, or somebody stopped it.",
            viewers="A frozen or waiting screen; the stream ends with the reconnect window.",
            advice="Call the encoder's operator; restart it before the window ends.",
        ),
    ),
    AlarmKind(
        name=LATE_START,
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_late_start),
        hidden_by=(ENDED_ON_AIR,),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The encoder was not started, or uses a wrong address or key.",
            viewers="A waiting screen.",
            advice="Call the encoder's operator; check address and stream key.",
        ),
    ),
    AlarmKind(
        name=ENDED_ON_AIR,
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=EndDetector(observe=_observe_end),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="Somebody completed or deleted the event, here or elsewhere, or the platform did.",
            viewers="The programme has ended, although the encoder was sending.",
            advice="Ask who else works in this workspace. If it was a mistake, create a new event for the encoder.",
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
            viewers="No effect, but alarms are just as late.",
            advice="Watch the player too if seconds matter.",
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
        diagnosis=diagnosed(Culprit.STREAM, viewers="Unknown: the stream may be fine or gone."),
    ),
)
