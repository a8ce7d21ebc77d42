"""What is wrong now, by alarm: the findings of every event and of the deck, on this machine's clock. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from livedeck.monitor.detection.patterns import diagnose
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.ingest import QOS_STALE
from livedeck.monitor.kinds.kind import AlarmKind, DeckCase, DeckDetector, Incident
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, Diagnosis
from livedeck.monitor.model.state import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
    Finding,
    Grade,
    IngestState,
)
from livedeck.monitor.model.thresholds import Thresholds

_ROUND = timedelta(seconds=1)

"""Answers this close came together: the order in which they came tells nothing."""


TOGETHER = timedelta(seconds=2)

"""What began this close is one occurrence: more than a clock's correction moves."""


_MAY_SEND = frozenset({BroadcastState.ON_AIR, BroadcastState.UNKNOWN})


@dataclass(frozen=True, slots=True)
class MonitorState:
    """All that one look brought: `now` is this machine's clock, `history_fault` why nothing is recorded, or empty."""

    states: tuple[EventState, ...]
    link: ConnectionStatus
    now: datetime
    history_fault: str = ""

    @property
    def unlisted(self) -> bool:
        """Whether the platform has not yet told which events there are."""
        return self.link.as_of is None

    def knows(self, event_id: str) -> bool:
        """Whether that is the deck or an event that is not known to be gone."""
        return self.unlisted or event_id == DECK or any(state.id == event_id for state in self.states)


class ActiveFault(NamedTuple):
    """A finding, since when (this machine's clock), whose it is, and what to tell of it."""

    finding: Finding
    since: datetime
    subject: str
    diagnosis: Diagnosis
    affects: tuple[str, ...] = ()


def active_faults(sight: MonitorState, thresholds: Thresholds) -> dict[AlarmKey, ActiveFault]:
    """Every fault that is there now. While the link is in trouble, the silence of an event is no fault of its own."""
    case = DeckCase(sight.link, sight.history_fault)
    faults = {
        AlarmKey(DECK, finding.kind): _fault(finding, "platform", sight) for finding in _find_deck(case, thresholds)
    }
    blamed = _blamed(sight, thresholds.recovery)
    for state in sight.states:
        for finding in state.assessment.findings:
            if finding.kind != QOS_STALE or not (blamed or _unproven(state, sight.link)):
                key = AlarmKey(state.id, finding.kind, finding.target)
                faults[key] = _fault(finding, _subject(state), sight, state)
    return faults


def ended_faults(
    alarms: Mapping[AlarmKey, Alarm], seen: Mapping[str, datetime], sight: MonitorState
) -> dict[AlarmKey, list[ActiveFault]]:
    """Faults that the samples show to be over, the oldest first: those that ended since the last look, and of `alarms`.

    `seen`: the newest sample of each event at the last look (server clock). One from before its alarm began is no news.
    """
    faults: dict[AlarmKey, list[ActiveFault]] = {}
    loud = {alarm.event_id for alarm in alarms.values() if alarm.present}
    for state in sight.states:
        last = seen.get(state.id)
        if last is not None and not _unjudged(state):
            ended = (one for one in state.episodes if one.until and (one.until > last or state.id in loud))
            for episode in ended:
                key = AlarmKey(state.id, episode.kind, episode.target)
                if _news(episode, last, alarms.get(key), sight.link):
                    faults.setdefault(key, []).append(_ended(episode, sight, state))
    return faults


def _news(episode: Episode, last: datetime, alarm: Alarm | None, link: ConnectionStatus) -> bool:
    if alarm and episode.since <= alarm.since + timedelta(seconds=link.skew) - TOGETHER:
        return False
    return bool(alarm and alarm.present) or (episode.until is not None and episode.until > last)


def _ended(episode: Episode, sight: MonitorState, state: EventState) -> ActiveFault:
    words = episode.kind, episode.severity, episode.actual, episode.expected
    return _fault(Finding(*words, episode.since, episode.target), _subject(state), sight, state)


def newest_samples(sight: MonitorState, before: Mapping[str, datetime]) -> dict[str, datetime]:
    """The newest sample of each event that was judged; of the others what it was `before`."""
    newest = {}
    for state in sight.states:
        times = state.qos.readings.time
        if times and not _unjudged(state):
            newest[state.id] = datetime.fromtimestamp(times[-1], UTC)
        elif state.id in before:
            newest[state.id] = before[state.id]
    return newest


def of_incident(kind: AlarmKind, incident: Incident) -> ActiveFault:
    """The incident as a fault of the deck."""
    finding = kind.finding(incident.observation)
    return ActiveFault(finding, incident.since, "platform", kind.diagnosis, incident.affects)


def _find_deck(case: DeckCase, thresholds: Thresholds) -> Iterator[Finding]:
    for kind in ALARM_KINDS.values():
        if isinstance(kind.detector, DeckDetector) and (seen := kind.detector.observe(case, thresholds)):
            yield kind.finding(seen)


def unjudged_keys(alarms: Iterable[Alarm], sight: MonitorState) -> Iterator[AlarmKey]:
    """The alarms of which nothing proves that they are over: their event cannot be judged, or was not listed yet."""
    unjudged = {state.id for state in sight.states if _unjudged(state)}
    for alarm in alarms:
        if alarm.present and (alarm.event_id in unjudged or (sight.unlisted and alarm.event_id != DECK)):
            yield alarm.key


def _unjudged(state: EventState) -> bool:
    """We cannot ask, or have not been answered since the start."""
    unasked = state.phase.tally in _MAY_SEND and state.phase.ingest.state is IngestState.UNKNOWN
    return unasked or state.assessment.health.grade is Grade.STALE


def _subject(state: EventState) -> str:
    return state.event.name or state.id


def _fault(finding: Finding, subject: str, sight: MonitorState, state: EventState | None = None) -> ActiveFault:
    since = sight.now
    if finding.since is not None:
        since = min(sight.now, finding.since - timedelta(seconds=sight.link.skew))
    return ActiveFault(finding, since, subject, diagnose(finding.kind, state))


def _unproven(state: EventState, link: ConnectionStatus) -> bool:
    """Whether nothing at all was answered since asking for this event began to fail: it may be no fault of its own."""
    failed = state.qos.failing_since
    return failed is not None and (link.as_of is None or link.as_of < failed - _ROUND)


def _blamed(sight: MonitorState, recovery: float) -> bool:
    """After an outage every event is silent until it was asked again; and where nothing answers, none is to blame."""
    link = sight.link
    just_back = link.recovered_at is not None and (sight.now - link.recovered_at).total_seconds() < recovery
    mute = link.as_of is not None and (sight.now - link.as_of).total_seconds() > recovery
    return link.state is not ConnectionState.OK or just_back or mute
