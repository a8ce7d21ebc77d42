"""Explain the alarms of an event. Pure.

An explanation has the judged facts, the next possible alarms, the alarms that notify nobody, and the deciding limits.
This module runs the monitor's own rules and has no limits of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any, cast

from msgspec import field

from livedeck.monitor.detection.detect import SAMPLE_KINDS
from livedeck.monitor.detection.forecast import forecasts
from livedeck.monitor.detection.judged import Judged
from livedeck.monitor.evidence.claims import CLAIMS
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import NO_INGEST, RECONNECTING, EventDetector, SampleDetector
from livedeck.monitor.model.alarm import Alarm, AlarmKey, AlarmState
from livedeck.monitor.model.alarm_action import person
from livedeck.monitor.model.explanation import (
    Condition,
    DecidingLimit,
    DeliveryFacts,
    Explanation,
    Forecast,
    Gap,
    KindFacts,
    OpenAlarm,
    SignalFacts,
    SilentKind,
)
from livedeck.monitor.model.limits import Limits, limit_text
from livedeck.monitor.model.ruling import ProfileChoice
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import NO_SAMPLE, Component, ConnectionStatus, EventState
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.duty import MOST_QUIET
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import Level
from livedeck.record import Record

_CONTENT = "content"
_OF_SAMPLES = frozenset(kind.name for kind, _ in SAMPLE_KINDS)
_RATE_OF = {Component.VIDEO: "video", Component.AUDIO: "audio", Component.FPS: "fps"}


class ExplainCase(Record):
    """Input of `explain`.

    `at`: this machine's clock. `alarms`: alarms of the event, and of the deck. `judged`: input for judging the event;
    None if it was not recorded. `limits`: limits in force; None if they were not recorded. `waiting`: alarm -> latest
    time until which its onset waits for an incident (this machine's clock).
    """

    state: EventState
    connection: ConnectionStatus
    at: datetime
    alarms: tuple[Alarm, ...]
    judged: Judged | None = None
    limits: Limits | None = None
    waiting: Mapping[AlarmKey, datetime] = field(default_factory=dict)

    @property
    def skew(self) -> timedelta:
        """Lead of the server's clock over this machine's."""
        return timedelta(seconds=self.connection.skew)


def explain(case: ExplainCase, kind: str = "") -> Explanation:
    """Return the explanation of an event's alarms. `kind`: explain this kind of alarm only; empty for all."""
    state, judged = case.state, case.judged
    event, now = state.event, case.at + case.skew
    ahead = tuple(forecast for forecast in _forecasts(case, now, kind))
    opened = tuple(alarm for alarm in _of_event(case, kind) if alarm.active and alarm.key not in case.waiting)
    gaps = tuple(Gap(_moment(gap.since), _moment(gap.until)) for gap in state.qos.not_watched)
    coverage = judged.coverage.spans if judged else ()
    watched = coverage[-1] if coverage and coverage[-1].since > 0 else None
    claim = CLAIMS.get(kind)
    return Explanation(
        event.id,
        event.name or event.id,
        now,
        state.phase.tally,
        state.phase.reference_time,
        str(state.content),
        case.limits.template_of(event) if case.limits else None,
        _signal(state, judged),
        _delivery(state, judged, now),
        _moment(watched.since) if watched else None,
        _moment(watched.until) if watched else None,
        gaps,
        None if judged is None and not ahead else ahead,
        tuple(_open(alarm, judged, case.skew) for alarm in opened),
        (*_silent_alarms(case, kind), *_unjudged(case, kind, ahead)),
        tuple(_decides(case, kind, ahead)) if case.limits and judged else None,
        KindFacts(kind, claim.needs, claim.ends) if claim else None,
        (state.qos.as_of or state.as_of) + case.skew if state.is_stale else None,
        state.blame,
    )


def explain_snapshot(snapshot: Snapshot, event_id: str, kind: str = "") -> Explanation | None:
    """Return the explanation of an event as a snapshot shows it; None without such an event.

    A snapshot has neither the state of the judges nor the limits, so their parts of the explanation are None.
    """
    state = snapshot.find(event_id)
    if state is None:
        return None
    return explain(ExplainCase(state, snapshot.link, snapshot.at, (*snapshot.alarms, *snapshot.quiet)), kind)


def _moment(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)


def _of_event(case: ExplainCase, kind: str) -> Iterator[Alarm]:
    """Yield the event's alarms, and the deck's own alarms that concern it."""
    for alarm in case.alarms:
        is_of_event = alarm.event_id == case.state.id or case.state.id in alarm.affects
        if is_of_event and kind in {"", alarm.kind}:
            yield alarm


def _open(alarm: Alarm, judged: Judged | None, skew: timedelta) -> OpenAlarm:
    claim, kind = CLAIMS.get(alarm.kind), ALARM_KINDS.get(alarm.kind)
    ends = claim.ends if claim else ""
    if kind and isinstance(kind.detector, SampleDetector) and judged:
        ends = f"good samples for {kind.detector.hold_time(judged.thresholds).off:.0f} s"
        ends += f", up to {MOST_QUIET:.0f} s if the fault comes and goes" if kind.detector.duty else ""
    return OpenAlarm(alarm.key, alarm.severity, alarm.state, alarm.since + skew, alarm.actual, alarm.expected, ends)


def _signal(state: EventState, judged: Judged | None) -> SignalFacts:
    newest, features = state.qos.readings.last, judged.analysis.features if judged else None
    facts = SignalFacts(*(newest[1:4] if newest else (None, None, None)))
    if features is None:
        return replace(facts, usual_video=state.assessment.baseline_video, usual_fps=state.assessment.nominal_fps)
    usual = features.usual
    return replace(
        facts,
        usual_video=usual.video,
        usual_audio=usual.audio,
        usual_fps=usual.fps,
        noise=usual.noise / usual.video if usual.video else None,
        slots=judged.analysis.checkpoints[-1].memory.levels.usual.learnt if judged else None,
        is_constant=usual.is_constant if usual.video is not None else None,
        is_witness=usual.is_witness if usual.audio is not None else None,
        is_variable_fps=usual.is_variable_fps if usual.fps is not None else None,
        is_warm=features.is_warm,
    )


def _delivery(state: EventState, judged: Judged | None, now: datetime) -> DeliveryFacts:
    newest = state.qos.readings.last
    facts = DeliveryFacts(None if newest is None else now.timestamp() - newest.time, state.qos.lag)
    if judged is None or judged.delivery is None:
        return facts
    limits = judged.delivery.limits
    return replace(
        facts,
        deliveries=len(judged.delivery.delivery.peaks),
        lost=limits.lost,
        wait=limits.wait,
        answers=judged.delivery.least_answers,
    )


def _forecasts(case: ExplainCase, now: datetime, wanted: str) -> Iterator[Forecast]:
    """Yield the forecasts of kinds without an alarm, the nearest first."""
    raised = {alarm.kind for alarm in case.alarms if alarm.event_id == case.state.id and alarm.is_ongoing}
    found = [*forecasts(case.judged, now, wanted)] if case.judged else []
    evidence = case.state.evidence
    if evidence and evidence.decided_at:
        kind = NO_INGEST if evidence.claim == NO_SAMPLE else RECONNECTING
        if wanted in {"", kind} and all(forecast.kind != kind for forecast in found):
            seconds = max(0.0, (evidence.decided_at - now).total_seconds())
            found.append(Forecast(kind, Condition.SILENT, seconds, answers=1))
    yield from sorted((each for each in found if each.kind not in raised), key=_order)


def _order(forecast: Forecast) -> tuple[int, float, str]:
    first = (Condition.UNCHANGED, Condition.TIME, Condition.SILENT, Condition.BELOW, Condition.ABOVE, Condition.STATUS)
    return first.index(forecast.condition), forecast.seconds, forecast.kind


# Silent


_SHELVED = {AlarmState.SHELVED: "shelved", AlarmState.OUT_OF_SERVICE: "out of service"}


def _silent_alarms(case: ExplainCase, kind: str) -> Iterator[SilentKind]:
    """Yield the alarms that exist but notify nobody."""
    for alarm in _of_event(case, kind):
        by = person(alarm.answered_by)
        if alarm.silenced:
            end, author = alarm.silenced.until + case.skew, person(alarm.silenced.by)
            yield SilentKind(alarm.key, f"silenced: {alarm.silenced.comment}", end, author)
        if alarm.key in case.waiting:
            why = "waits for an incident that may explain it"
            yield SilentKind(alarm.key, why, case.waiting[alarm.key] + case.skew)
        elif alarm.state in _SHELVED:
            why = f"{_SHELVED[alarm.state]}: {alarm.reason}" if alarm.reason else _SHELVED[alarm.state]
            yield SilentKind(alarm.key, why, alarm.shelved_until and alarm.shelved_until + case.skew, by)
        elif alarm.state is AlarmState.SUPPRESSED:
            yield SilentKind(alarm.key, alarm.reason or f"hidden by {alarm.parent}")
        elif alarm.state is AlarmState.ACKNOWLEDGED:
            until = alarm.acknowledged_until and alarm.acknowledged_until + case.skew
            yield SilentKind(alarm.key, "acknowledged", until, by)


def _unjudged(case: ExplainCase, kind: str, ahead: Iterable[Forecast]) -> Iterator[SilentKind]:
    """Yield the kinds that are not judged now, with the reason."""
    judged, event_id = case.judged, case.state.id
    reason = _reason_for_all(case)
    if kind and kind not in _OF_SAMPLES and case.state.phase.is_silent:
        return
    if reason:
        yield SilentKind(AlarmKey(event_id, ""), reason)
        return
    if judged is None or judged.rules is None or judged.analysis.features is None:
        return
    features, rules = judged.analysis.features, judged.rules
    detectors = {rule.kind.name: rule.detector for rule in rules.kinds}
    foreseen = {forecast.kind for forecast in ahead} | {alarm.kind for alarm in case.alarms if alarm.present}
    for each, detector in SAMPLE_KINDS:
        if kind not in {"", each.name} or each.name in foreseen:
            continue
        if each.name not in detectors:
            why = f"content {case.state.content} expects no {detector.expects}" if detector.expects else ""
            yield SilentKind(
                AlarmKey(event_id, each.name), f"not judged: {why or 'the unit of the bit rates is unknown'}"
            )
        elif words := _reason_unjudged(each.component, detectors[each.name], features, judged.thresholds):
            yield SilentKind(AlarmKey(event_id, each.name), f"not judged: {words}")


def _reason_for_all(case: ExplainCase) -> str:
    """Return the reason why the event's samples are not judged for any kind; empty if they are judged."""
    state, judged = case.state, case.judged
    if state.is_stale:
        return f"not judged: {state.blame.text or 'the data are old'}"
    if judged and judged.case and judged.case.is_off_air:
        return "not judged: the event is not on air"
    if judged and judged.analysis.features is None:
        return "not judged: no sample yet"
    if state.phase.is_silent:
        return "not judged: no samples come"
    if judged and judged.analysis.features and not judged.analysis.features.is_warm:
        return f"not judged: the first {judged.thresholds.warm_up:.0f} s after a start or a gap"
    return ""


def _reason_unjudged(
    component: Component, detector: SampleDetector, features: SampleFeatures, thresholds: Thresholds
) -> str:
    """Return the reason why a sample proves nothing for this kind; empty if it is judged."""
    rate = _RATE_OF.get(component, "")
    level = detector.classify(features, thresholds)
    if rate and isnan(getattr(features, rate)):
        return f"the newest sample has no {rate} rate"
    if level is not Level.DEADBAND:
        return _reason_witness(component, detector, features, thresholds)
    if features.is_dark:
        return "there is no picture"
    if rate and getattr(features.usual, rate) is None:
        return f"the usual {rate} rate is not learnt yet"
    return ""


def _reason_witness(
    component: Component, detector: SampleDetector, features: SampleFeatures, thresholds: Thresholds
) -> str:
    """Return the reason why a low video rate alone proves nothing for this kind; empty for any other kind."""
    if component is not Component.VIDEO or features.usual.video is None or detector.duty is not None:
        return ""
    low = features._replace(video=1.0, window=features.window._replace(video=1.0), is_dark=False)
    is_alone = detector.classify(low, thresholds) is Level.BAD
    is_with = detector.classify(low._replace(witnesses=2), thresholds) is Level.BAD
    if is_alone or not is_with:
        return ""
    kind = "constant" if features.usual.is_constant else "variable"
    return f"a low video rate needs a second sign (loss, sound or frames), because the rate is normally {kind}"


# Limits


class _Noted:
    """Thresholds that note which limits are read."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.names: dict[str, None] = {}
        self._thresholds = thresholds

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._thresholds, name)
        self.names[name] = None
        return value


def limits_read(judged: Judged, kind: str) -> tuple[str, ...]:
    """Return the names of the limits that decide about a kind now.

    Runs its detector, and notes which limits it reads.
    """
    noted, features = _Noted(judged.thresholds), judged.analysis.features
    thresholds, found = cast("Thresholds", noted), ALARM_KINDS.get(kind)
    if found is None:
        return ()
    detector = found.detector
    if kind == RECONNECTING and judged.delivery:
        replace(judged.delivery, thresholds=thresholds).judge()
    elif isinstance(detector, SampleDetector):
        named = [detector.hold, detector.duty.limits if detector.duty else "", _CONTENT if detector.expects else ""]
        noted.names |= dict.fromkeys(name for name in named if name)
        if features is not None:
            detector.classify(features, thresholds)
    elif isinstance(detector, EventDetector) and judged.case:
        [*detector.observe(judged.case, thresholds)]
    names = {item.name for item in fields(judged.thresholds)}
    return tuple(name for name in noted.names if name in names)


def _decides(case: ExplainCase, kind: str, ahead: Iterable[Forecast]) -> Iterator[DecidingLimit]:
    """Yield the limits that a kind reads. For an empty `kind`, yield the changed limits that any kind reads."""
    judged, limits, state = case.judged, case.limits, case.state
    assert judged is not None
    assert limits is not None
    if kind:
        kinds = [kind]
    else:
        raised = (alarm.kind for alarm in _of_event(case, ""))
        kinds = [*dict.fromkeys((*raised, *(forecast.kind for forecast in ahead), *ALARM_KINDS))]
    readers: dict[str, list[str]] = {}
    for each in kinds:
        for name in limits_read(judged, each):
            readers.setdefault(name, []).append(each)
    by = next((ruling.actor for ruling in state.rulings if isinstance(ruling, ProfileChoice) and ruling.profile), "")
    for name, names in readers.items():
        is_ruled = name == _CONTENT and bool(by)
        setting = () if is_ruled else limits.setting_of(state.event, name)
        if kind or setting or is_ruled:
            value = limit_text(getattr(judged.thresholds, name))
            yield DecidingLimit(name, value, setting, person(by) if is_ruled else "", tuple(names))
