"""Faults by alarm key: the findings on all events and on the deck, dated by this machine's clock. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from livedeck.monitor.detection.patterns import diagnose
from livedeck.monitor.evidence.playlists import Playlists, playlists_of
from livedeck.monitor.evidence.presence import may_have_ended
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.ingest import ENDED_ON_AIR, LATE_START, QOS_STALE, is_of_gone_event
from livedeck.monitor.kinds.kind import (
    API_BLIND,
    NO_INGEST,
    RECONNECTING,
    THE_PLATFORM,
    AlarmKind,
    DeckCase,
    DeckDetector,
    EndDetector,
    Incident,
)
from livedeck.monitor.kinds.viewer import VIEWER_RULES, VIEWER_SLOW
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, Diagnosis, Severity
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.blame import Sight
from livedeck.monitor.model.own import watched_seconds, whole_since
from livedeck.monitor.model.span import Span
from livedeck.monitor.model.state import (
    NO_SHARING_FAULT,
    BroadcastState,
    ConnectionStatus,
    EndedEvent,
    Episode,
    EventState,
    Finding,
    Freshness,
    Grade,
    IngestState,
    ListDoubt,
    NotifyFault,
    SharingFault,
)
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.model.viewer import Delivery
from livedeck.monitor.model.viewing import VIEWER_GONE
from livedeck.record import Record

_SAME_ROUND = timedelta(seconds=1)
"""Maximum time between two replies of one poll round. The order of such replies proves nothing."""

SAME_OCCURRENCE = timedelta(seconds=2)
"""Two faults whose starts are at most this far apart are one occurrence; a clock correction moves a start by less."""

_REFUSED_POLLS = 6
"""Poll intervals without a reply after which RATE_LIMITED is critical; fewer may be chance."""
_ABSENCES = frozenset({NO_INGEST, RECONNECTING, LATE_START})
"""Kinds that claim that samples are missing."""

_READ_LATE = frozenset({NO_INGEST, RECONNECTING})
"""Kinds of `_ABSENCES` that a reply may raise only because this machine read it late."""

_POLLED = frozenset({BroadcastState.ON_AIR, BroadcastState.UNKNOWN, BroadcastState.SCHEDULED, BroadcastState.LATE})
"""States of events whose samples are polled."""

_END_LASTS = 600.0
"""Seconds after which ENDED_ON_AIR clears by itself if the event still exists."""

_DECK_KINDS = tuple((kind, kind.detector) for kind in ALARM_KINDS.values() if isinstance(kind.detector, DeckDetector))
_END_KINDS = tuple((kind, kind.detector) for kind in ALARM_KINDS.values() if isinstance(kind.detector, EndDetector))


class MonitorState(Record, dict=True):
    """Input of an evaluation of the alarms, at `now` (this machine's clock).

    `history_error`: reason why nothing is recorded, or empty. `is_last`: no further polls follow, so failures count at
    once. `ended`: events that ended on air in the last minute. `notify_fault`: fault of the notifications. `silence`:
    silence of the collector; None if the collector responds, or if the process has none. `sharing`: fault among
    collectors that poll together. `list_doubt`: events that the list lacks without reason; None without any.
    `expected`: ids of events that only the history has, and that may still exist. `unit_question`: question about the
    unit of the bit rates, or empty. `failing_alike`: ids of events whose calls fail in the same way as those of several
    others. `is_probing`: this process probes playlists. `probe_fault`: fault of the probe itself, or empty.
    """

    events: tuple[EventState, ...]
    connection: ConnectionStatus
    now: datetime
    history_error: str = ""
    is_last: bool = False
    ended: tuple[EndedEvent, ...] = ()
    notify_fault: NotifyFault = NotifyFault()
    silence: Silence | None = None
    sharing: SharingFault = NO_SHARING_FAULT
    list_doubt: ListDoubt | None = None
    expected: frozenset[str] = frozenset()
    unit_question: str = ""
    failing_alike: frozenset[str] = frozenset()
    is_probing: bool = False
    probe_fault: str = ""

    @property
    def is_unlisted(self) -> bool:
        """True if the platform has not listed its events yet."""
        return self.connection.as_of is None

    @cached_property
    def by_id(self) -> Mapping[str, EventState]:
        """Events by id."""
        return {event.id: event for event in self.events}

    def may_exist(self, event_id: str) -> bool:
        """Return whether the id is DECK, or the id of an event that may still exist."""
        return self.is_unlisted or event_id == DECK or event_id in self.expected or event_id in self.by_id


class ActiveFault(NamedTuple):
    """Finding with its start (this machine's clock), subject, diagnosis and affected events."""

    finding: Finding
    since: datetime
    subject: str
    diagnosis: Diagnosis
    affects: tuple[str, ...] = ()


def active_faults(state: MonitorState, thresholds: Thresholds) -> dict[AlarmKey, ActiveFault]:
    """Return all current faults."""
    faults = {AlarmKey(DECK, fault.finding.kind): fault for fault in _deck_faults(state, thresholds)}
    faults |= _ended_on_air(state.ended, thresholds)
    for event in drop_unproven(state, thresholds):
        for finding in event.assessment.findings:
            faults[AlarmKey(event.id, finding.kind, finding.target)] = _event_fault(finding, event, state)
    return faults


def drop_unproven(state: MonitorState, thresholds: Thresholds) -> tuple[EventState, ...]:
    """Return the events with their proven findings only.

    While the connection or this machine is in trouble, silence of an event does not prove a fault of the event.
    """
    is_excused = _is_connection_to_blame(state, thresholds.recovery) or state.connection.own.reading_delay > 0

    def is_proven(finding: Finding, event: EventState) -> bool:
        if finding.kind == QOS_STALE:
            return not is_excused and not _is_unproven(event, state, thresholds)
        if finding.kind in _ABSENCES:
            is_unseen = _is_unasked(event, state) or _is_read_late(finding, event, state, thresholds)
            return not (is_unseen or may_have_ended(event, state.connection.skew, state.now))
        return finding.kind not in _BY_WAY or _is_proven_by_others(finding, event, state)

    def proven(event: EventState) -> EventState:
        if not event.assessment.findings:
            return event
        findings = tuple(finding for finding in event.assessment.findings if is_proven(finding, event))
        if len(findings) == len(event.assessment.findings):
            return event
        return replace(event, assessment=replace(event.assessment, findings=findings))

    return tuple(map(proven, state.events))


def ended_faults(
    alarms: Mapping[AlarmKey, Alarm],
    newest: Mapping[str, datetime],
    state: MonitorState,
    seen: Mapping[AlarmKey, datetime],
    unjudged: Container[str],
) -> dict[AlarmKey, list[ActiveFault]]:
    """Return the faults that have ended by now and that the alarms do not show yet, oldest first.

    Such a fault ended in the samples since the last evaluation, or is a later occurrence of a present alarm.

    Args:
        alarms: Alarms of the last evaluation.
        newest: Time of the newest sample of each event at the last evaluation (server clock).
        state: Present state.
        seen: Time up to which another process has judged the alarms that it handed over. A fault that ended before is
            left out.
        unjudged: Ids of events that cannot be judged now.
    """
    faults: dict[AlarmKey, list[ActiveFault]] = {}
    with_alarm = {alarm.event_id for alarm in alarms.values() if alarm.present}
    for event in state.events:
        newest_before = newest.get(event.id)
        if not event.episodes or newest_before is None or event.id in unjudged:
            continue
        for episode in event.episodes:
            if episode.until is None or not (episode.until > newest_before or event.id in with_alarm):
                continue
            key = AlarmKey(event.id, episode.kind, episode.target)
            if key in seen and episode.until <= seen[key] + timedelta(seconds=state.connection.skew):
                continue
            if _is_news(episode, newest_before, alarms.get(key), state.connection):
                faults.setdefault(key, []).append(_ended_fault(episode, event, state))
    return faults


def _is_news(episode: Episode, newest_before: datetime, alarm: Alarm | None, connection: ConnectionStatus) -> bool:
    if alarm and episode.since <= alarm.since + timedelta(seconds=connection.skew) - SAME_OCCURRENCE:
        return False
    return bool(alarm and alarm.present) or (episode.until is not None and episode.until > newest_before)


def newest_samples(
    state: MonitorState, before: Mapping[str, datetime], unjudged: Container[str]
) -> dict[str, datetime]:
    """Return the time of each event's newest sample.

    An event without samples, or one that cannot be judged, gets its time from `before`, if any.
    """
    newest = {}
    for event in state.events:
        times = event.qos.readings.time
        if times and event.id not in unjudged:
            newest[event.id] = datetime.fromtimestamp(times[-1], UTC)
        elif event.id in before:
            newest[event.id] = before[event.id]
    return newest


def incident_fault(kind: AlarmKind, incident: Incident, diagnosis: Diagnosis) -> ActiveFault:
    """Return an incident as a fault of the deck."""
    finding = kind.finding(incident.observation)
    return ActiveFault(finding, incident.since, THE_PLATFORM, diagnosis, incident.affects)


def unjudged_events(state: MonitorState) -> frozenset[str]:
    """Return the ids of events that cannot be judged now, and of events that are expected but not listed yet."""
    return state.expected | {event.id for event in state.events if _is_unjudged(event, state)}


def unjudged_keys(alarms: Iterable[Alarm], state: MonitorState, unjudged: Container[str]) -> Iterator[AlarmKey]:
    """Yield the keys of alarms that nothing can prove cleared: their event cannot be judged, or is not listed yet.

    Two kinds have rules of their own. ENDED_ON_AIR counts until `is_end_over`; as an info, it never counts. API_BLIND
    counts while the connection is checked after an outage, so that the alarm keeps the words of the outage.
    """
    for alarm in alarms:
        if not alarm.present:
            continue
        if alarm.kind == ENDED_ON_AIR:
            if alarm.severity is not Severity.INFO and not is_end_over(alarm, state):
                yield alarm.key
        elif alarm.kind == API_BLIND:
            if state.connection.is_checking:
                yield alarm.key
        elif alarm.event_id in unjudged or (state.is_unlisted and alarm.event_id != DECK) or _is_unseen(alarm, state):
            yield alarm.key


_BY_WAY = frozenset({VIEWER_GONE, VIEWER_SLOW})
"""Kinds that this machine's own connection may cause."""


def _is_proven_by_others(finding: Finding, event: EventState, state: MonitorState) -> bool:
    """Return whether this machine's connection is not the cause: the API or another host has replied since the onset.

    A slow playlist is proven if no other host is slow.
    """
    since, own = _local(finding.since, state), event.viewer.host if event.viewer else ""
    viewers = (other.viewer for other in state.events if other.viewer and other.viewer.is_known)
    others = [viewer for viewer in viewers if viewer.host != own and viewer.as_of and viewer.as_of > since]
    if finding.kind == VIEWER_SLOW:
        return all(viewer.delivery is not Delivery.SLOW for viewer in others)
    is_answering = state.connection.as_of is not None and state.connection.as_of > since
    return is_answering or any(viewer.is_playing for viewer in others)


_SETTLES = 70.0
"""Seconds of rounds after which a new probe can judge every kind."""


def _is_unseen(alarm: Alarm, state: MonitorState) -> bool:
    """Return whether an earlier alarm of viewers cannot clear yet, because a new probe has had too few rounds."""
    if alarm.kind not in VIEWER_RULES:
        return False
    event = state.by_id.get(alarm.event_id)
    if event is None or not (state.is_probing and event.phase.tally.expects_signal):
        return False
    viewer = event.viewer
    return viewer is None or (viewer.source.is_probed and viewer.rounds * viewer.interval <= _SETTLES)


def is_end_over(alarm: Alarm, state: MonitorState) -> bool:
    """Return whether the alarm of an event that ended on air is over.

    An acknowledged alarm is over. An unacknowledged alarm of a gone event is over when the event is served again. Any
    other unacknowledged alarm is over when its event is on air again, or after `_END_LASTS` seconds.
    """
    event = state.by_id.get(alarm.event_id)
    if alarm.acknowledged_at is not None or is_of_gone_event(alarm):
        return alarm.acknowledged_at is not None or event is not None
    is_read_since = event is not None and event.as_of > alarm.since
    if event and is_read_since and event.phase.tally is BroadcastState.ON_AIR:
        return True
    return watched_seconds(alarm.since, state.now, state.connection.own.stops) >= _END_LASTS


def with_own_cause(alarm: Alarm, state: MonitorState) -> Alarm:
    """Return the alarm of an event that cannot be judged. QOS_STALE then names a cause in this process, if any."""
    event = state.by_id.get(alarm.event_id) if alarm.kind == QOS_STALE else None
    return replace(alarm, actual=event.blame.text) if event and event.blame.is_own else alarm


def is_onset_unseen(since: datetime, event: EventState, skew: float, thresholds: Thresholds) -> bool:
    """Return whether a fault may have begun in unwatched time that is longer than an incident's window.

    The start of such a fault is only the end of the unwatched time, which many events share. `since`: start of the
    fault (this machine's clock).
    """
    qos, left, at = event.qos, event.phase.ingest.since, since.timestamp() + skew
    gaps, newest = qos.not_watched, qos.readings.last
    if newest and left and event.phase.ingest.state is IngestState.INTERRUPTED:
        gaps = (*gaps, Span(newest.time, left.timestamp()))
    settled = SAME_OCCURRENCE.total_seconds() + thresholds.warm_up + (qos.cadence or 0.0)
    return any(gap.seconds > thresholds.attention.shared_window and abs(at - gap.until) <= settled for gap in gaps)


def _is_unasked(event: EventState, state: MonitorState) -> bool:
    """Return whether this process was stopped after it read the last reply about an event."""
    stops, read_at = state.connection.own.stops, event.qos.as_of
    return bool(stops) and read_at is not None and whole_since(read_at, stops) > read_at


def _is_read_late(finding: Finding, event: EventState, state: MonitorState, thresholds: Thresholds) -> bool:
    """Return whether samples may seem absent only because this machine read the reply late."""
    delay, qos = state.connection.own.reading_delay, event.qos
    if not delay or finding.kind not in _READ_LATE or qos.as_of is None or finding.since is None:
        return False
    if finding.severity is Severity.INFO:  # late metrics: perhaps only this machine was late
        return True
    sent = qos.as_of + timedelta(seconds=state.connection.skew - delay)
    usual = thresholds.missed_after + (qos.lag or 0.0) + thresholds.missed_margin_intervals * (qos.cadence or 0.0)
    least = thresholds.warm_up if finding.kind == NO_INGEST else usual
    return sent - finding.since < timedelta(seconds=least)


def _is_unjudged(event: EventState, state: MonitorState) -> bool:
    """Return whether an event cannot be judged now.

    Two reasons: this process has not polled the event since it started or was stopped; or samples do not come, and
    nothing shows whether they are late or have stopped.
    """
    if _is_unasked(event, state) or (state.connection.own.reading_delay and event.phase.is_silent):
        return True
    is_receiving = event.phase.ingest.state is IngestState.RECEIVING
    is_undecided = is_receiving and event.qos.freshness is Freshness.STALE
    return is_unpolled(event) or is_undecided or event.assessment.health.grade is Grade.STALE


def is_unpolled(event: EventState) -> bool:
    """Return whether an event should be polled for samples and was not polled yet."""
    return event.phase.tally in _POLLED and event.phase.ingest.state is IngestState.UNKNOWN


def _ended_on_air(ended: Iterable[EndedEvent], thresholds: Thresholds) -> dict[AlarmKey, ActiveFault]:
    """Return the faults of events that ended on air."""
    return {
        AlarmKey(event.id, kind.name): ActiveFault(
            kind.finding(detector.observe(event, thresholds)), event.at, event.name, kind.diagnosis
        )
        for kind, detector in _END_KINDS
        for event in ended
    }


def _deck_faults(state: MonitorState, thresholds: Thresholds) -> Iterator[ActiveFault]:
    case = DeckCase(
        state.connection,
        state.history_error,
        state.notify_fault,
        state.silence,
        state.sharing,
        state.list_doubt,
        state.now,
        state.unit_question,
        unserved=sum(_is_refused_long(event, state, thresholds) for event in state.events),
        playlists=_playlists(state),
        probe_fault=state.probe_fault,
    )
    for kind, detector in _DECK_KINDS:
        if seen := detector.observe(case, thresholds):
            finding = kind.finding(seen)
            yield ActiveFault(finding, _local(finding.since, state), detector.subject, kind.diagnose(seen))


def _playlists(state: MonitorState) -> Playlists | None:
    """Return the playlists of the events on air; None without a probe.

    While the platform is silent, only playlists that were probed since its last reply count.
    """
    if not state.is_probing:
        return None
    return playlists_of(state.events, None if state.connection.state.is_answering else state.connection.as_of)


def _event_fault(finding: Finding, event: EventState, state: MonitorState) -> ActiveFault:
    subject = event.event.name or event.id
    return ActiveFault(finding, _local(finding.since, state), subject, diagnose(finding.kind, event))


def _ended_fault(episode: Episode, event: EventState, state: MonitorState) -> ActiveFault:
    finding = Finding(episode.kind, episode.severity, episode.actual, episode.expected, episode.since, episode.target)
    return _event_fault(finding, event, state)


def _local(at: datetime | None, state: MonitorState) -> datetime:
    """Convert a time of the server's clock to this machine's clock. Returns `now` for None or a time in the future."""
    return state.now if at is None else min(state.now, at - timedelta(seconds=state.connection.skew))


def _is_unproven(event: EventState, state: MonitorState, thresholds: Thresholds) -> bool:
    """Return whether the failed polls of an event do not prove QOS_STALE yet.

    Failed polls prove QOS_STALE after `unanswered` seconds if another call has had a good reply meanwhile. On a poor
    link, or if other events fail alike, this takes `unanswered_poor` seconds. Polls refused as too many (429) never
    prove it. Samples whose time stands still prove it at once.
    """
    failing_since, connection = event.qos.failing_since, state.connection
    if failing_since is None:  # no poll has failed since the last good reply
        return not event.qos.is_frozen
    if event.qos.failure.sight is Sight.PACE:
        return True
    if state.is_last:
        return connection.as_of is None
    is_common = bool(connection.lost_share) or event.id in state.failing_alike
    patience = thresholds.unanswered_poor if is_common else thresholds.unanswered
    stops = connection.own.stops
    if watched_seconds(whole_since(failing_since, stops), state.now, stops) < patience:
        return not event.qos.is_frozen
    return connection.as_of is None or connection.as_of < failing_since - _SAME_ROUND


def _is_refused_long(event: EventState, state: MonitorState, thresholds: Thresholds) -> bool:
    """Return whether the platform refuses polls of this event on air as too many, and has long given no good reply."""
    since = event.qos.as_of or event.qos.failing_since
    is_refused = event.qos.failure.sight is Sight.PACE and event.phase.tally.expects_signal
    patience = timedelta(seconds=max(thresholds.unanswered_poor, _REFUSED_POLLS * state.connection.slowed_to))
    return is_refused and since is not None and state.now - since >= patience


def _is_connection_to_blame(state: MonitorState, recovery_seconds: float) -> bool:
    """Return whether the connection explains missing replies: it is failing, silent, or has only just recovered."""
    connection = state.connection
    recovery = timedelta(seconds=recovery_seconds)
    is_just_back = connection.recovered_at is not None and state.now - connection.recovered_at < recovery
    is_silent = connection.as_of is not None and state.now - connection.as_of > recovery
    return not connection.state.is_answering or is_just_back or is_silent
