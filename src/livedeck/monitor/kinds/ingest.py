"""What is wrong with an event now: the kinds of monitoring.md, "Alarms". Pure.

Each is told for itself: that one hides another is the business of `alarms`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from livedeck.monitor.detection.detect import SignalAnalysis, moment
from livedeck.monitor.kinds.rules import RECONNECTING, RULES
from livedeck.monitor.model.state import BroadcastState, Finding, HealthAssessment, IngestState, Phase, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.values import safe

_ERROR_SHOWN = 200

"""Characters of an error that stand in a finding: what was tried and what happened, not a whole page."""


QOS_STALE = "QOS_STALE"


_LOUDEST = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)


def is_worse(before: HealthAssessment, now: HealthAssessment) -> bool:
    """Whether something is wrong that was not, or less so."""
    known = {(one.kind, one.target): _LOUDEST.index(one.severity) for one in before.findings}
    return any(_LOUDEST.index(one.severity) < known.get((one.kind, one.target), len(_LOUDEST)) for one in now.findings)


def stale_finding(error: str, since: datetime | None) -> Finding:
    """QOS_STALE: the platform has not told of this event `since` then (server clock), and why not the last time."""
    actual = safe(error, _ERROR_SHOWN) or "no new sample"
    return Finding(QOS_STALE, Severity.CRITICAL, actual, "an answer every few seconds", since)


def of_future(ahead: int) -> tuple[Finding, ...]:
    """FUTURE_SAMPLES: so many samples of the last answer are dated where no sample can be yet."""
    if not ahead:
        return ()
    actual = f"samples dated in the future ignored: {ahead}"
    return (Finding("FUTURE_SAMPLES", Severity.INFO, actual, "samples dated until now"),)


def late_start_finding(phase: Phase, now: datetime, thresholds: Thresholds) -> tuple[Finding, ...]:
    """LATE_START: a warning from T-5 min, critical from T+0, anew at T+60 s, until nobody can be waiting any more."""
    if phase.reference_time is None or phase.tally not in {BroadcastState.SCHEDULED, BroadcastState.LATE}:
        return ()
    late = (now - phase.reference_time).total_seconds()
    if not -thresholds.start_notice <= late <= thresholds.start_forgotten:
        return ()
    severity = Severity.WARNING if late < 0 else Severity.CRITICAL
    since = phase.reference_time - timedelta(seconds=thresholds.start_notice)
    stage = sum(late >= begin for begin in thresholds.start_stages)
    return (Finding("LATE_START", severity, "no ingest", "a stream at the start time", since, stage=stage),)


def silence_finding(
    known: SignalAnalysis, phase: Phase, as_of: datetime, empty: datetime | None, thresholds: Thresholds
) -> tuple[Finding, ...]:
    """What is to say of an encoder from which nothing arrives, or did not until just now.

    RECONNECTING for one that left, NO_INGEST for one that never sent since the stream went live; both until samples
    have come for a while. `as_of`: the last good answer (server time): until then it is known that nothing came;
    `empty`: the last one without any sample.
    """
    if phase.ingest.state is IngestState.INTERRUPTED:
        return (_away(known, phase, as_of, thresholds),)
    if phase.tally is not BroadcastState.ON_AIR:
        return ()
    if back := known.spells.get(RECONNECTING):
        return (Finding(RECONNECTING, Severity.CRITICAL, *back.words, moment(back.since)),)
    looked = as_of if phase.ingest.state is IngestState.NONE else _just_began(known, empty, thresholds)
    if looked is None or (
        phase.reference_time and (looked - phase.reference_time).total_seconds() < thresholds.warm_up
    ):
        return ()
    return (Finding("NO_INGEST", Severity.CRITICAL, "live without a sample", "samples", phase.reference_time),)


def _just_began(known: SignalAnalysis, empty: datetime | None, thresholds: Thresholds) -> datetime | None:
    """When it was last seen that nothing came, where the first samples are too young to be believed."""
    if known.seen is None or known.first is None:
        return None
    return empty if known.seen.time - known.first < thresholds.silence_off else None


def _away(known: SignalAnalysis, phase: Phase, as_of: datetime, thresholds: Thresholds) -> Finding:
    """One that comes and goes within seconds is away since it first left."""
    back, ingest = known.spells.get(RECONNECTING), phase.ingest
    since = moment(back.since) if back else ingest.since
    actual = "no samples, the window is over" if phase.tally is BroadcastState.LOST else "no samples"
    used = _used(ingest.since, ingest.window_ends, as_of)
    stage = sum(used >= share for share in thresholds.window_stages)
    return Finding(RECONNECTING, Severity.CRITICAL, actual, "the encoder's stream", since, stage=stage)


def _used(left: datetime | None, ends: datetime | None, as_of: datetime) -> float:
    """The share of the reconnect window that is used; a window of no length is used up."""
    if left is None or ends is None:
        return 0.0
    return (as_of - left) / (ends - left) if ends > left else 1.0


def of_samples(known: SignalAnalysis) -> tuple[Finding, ...]:
    """The faults that the samples show, the loudest first. One that stood when the samples stopped stands."""
    standing = ((rule.kind, known.spells[rule.kind]) for rule in RULES if rule.kind in known.spells)
    found = [Finding(kind, spell.severity, *spell.words, moment(spell.since)) for kind, spell in standing]
    return tuple(sorted(found, key=lambda finding: _LOUDEST.index(finding.severity)))
