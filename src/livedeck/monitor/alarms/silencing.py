"""Rules for silences: the alarms that they cover, and a person's actions on them (monitoring.md, "Silences"). Pure.

During a silence detection, board, history and reports go on. Only the bell and the notifications stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import API_BLIND, COLLECTOR_SILENT
from livedeck.monitor.model.alarm import Alarm, AlarmState, Severity, Silenced
from livedeck.monitor.model.matching import Case, CaseEvent, Matcher, MatchField, MatchOp, match
from livedeck.monitor.model.silence import Silence, SilenceDraft, Silences
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import EventState
from livedeck.text.values import safe

MOST_ON_AIR = timedelta(hours=4)
"""Maximum silence of an alarm of an event on air, from the time when a person added or extended the silence."""

LONGEST = timedelta(days=31)
"""Maximum length of a silence. Hours that repeat belong in a maintenance window of the settings."""

FARTHEST = timedelta(days=366)
"""Maximum time from now to the start of a silence."""

_MAX_MATCHERS = 20
"""Maximum number of matchers of a silence."""

ONLY_BY_KIND = frozenset({API_BLIND, "AUTH_FAILED", "RATE_LIMITED", "NOTIFY_FAILING", COLLECTOR_SILENT, "OWN_SLOW"})
"""Kinds that a silence covers only if it names the kind, because only these alarms show that livedeck itself fails."""


class SilenceGone(AlarmRefused):
    """The silence does not exist, or has ended."""

    code = "gone"


def case_event(state: EventState) -> CaseEvent:
    """Return the fields of an event that matchers compare."""
    event = state.event
    return CaseEvent(state.id, event.name or state.id, event.parent_id or "", state.content.value)


def case_of(alarm: Alarm, events: Mapping[str, CaseEvent]) -> Case:
    """Return the fields of an alarm that matchers compare.

    `events`: events by id. An affected event that is missing there has only its id and name.
    """
    names = {alarm.event_id: alarm.subject} if alarm.event_id else {}
    names |= {event_id: event_id for event_id in alarm.affects if event_id not in names}
    affected = [events.get(event_id, CaseEvent(event_id, name)) for event_id, name in names.items()]
    return Case(alarm.kind, alarm.severity, affected, tuple(filter(None, (alarm.target, alarm.target_name))))


def is_covered(silence: Silence, case: Case) -> bool:
    """Return whether a silence fits an alarm. The times of the silence do not matter.

    A silence covers an incident only if it fits every event of the incident.
    """
    if silence.passes is not None and case.severity.rank <= silence.passes.rank:
        return False
    if case.kind in ONLY_BY_KIND and not _names_kind(silence, case.kind):
        return False
    return all(match(silence.matchers, case, event) for event in case.events or (None,))


def _names_kind(silence: Silence, kind: str) -> bool:
    named = (matcher for matcher in silence.matchers if matcher.field is MatchField.KIND)
    return any(matcher.op is MatchOp.IS and matcher.value == kind for matcher in named)


def silence_of(
    silences: Iterable[Silence], case: Case, at: datetime, *, on_air: bool
) -> tuple[Silence, datetime] | None:
    """Return the silence that covers an alarm at a time, and its end for this alarm; None if no silence does.

    Of several silences, returns the one with the latest end. `on_air`: the alarm concerns a broadcast.
    """
    found = [
        (silence, end)
        for silence in silences
        if silence.covers(at) and at < (end := end_for(silence, on_air=on_air)) and is_covered(silence, case)
    ]
    return max(found, key=lambda pair: (pair[1], pair[0].id), default=None)


def end_for(silence: Silence, *, on_air: bool) -> datetime:
    """Return the end of a silence for an alarm.

    `on_air`: the alarm concerns a broadcast. The silence then ends at most `MOST_ON_AIR` after its start or the last
    action on it, whichever is later.
    """
    most = max(silence.starts_at, silence.at) + MOST_ON_AIR
    return min(silence.ends_at, most) if on_air else silence.ends_at


def end_of_silence(silences: Iterable[Silence], state: EventState, at: datetime) -> datetime | None:
    """Return the end of the last silence that may cover alarms of an event at a time; None without one."""
    event, on_air = case_event(state), state.phase.tally.expects_signal
    ends = (end_for(each, on_air=on_air) for each in silences if each.covers(at) and may_cover(each, event))
    return max((end for end in ends if end > at), default=None)


def silenced(alarm: Alarm, found: tuple[Silence, datetime] | None, now: datetime) -> Alarm:
    """Return the alarm with the silence that covers it now.

    An alarm that clears in a silence needs no acknowledgement, because nobody was notified of it. An alarm that cleared
    before the silence still needs an acknowledgement.
    """
    words, clears_now = None, alarm.silenced is not None or alarm.changed == now
    if found:
        silence, until = found
        words = Silenced(silence.id, until, silence.comment, silence.by)
    if alarm.silenced != words:
        alarm = replace(alarm, silenced=words)
    if words and clears_now and alarm.state is AlarmState.RETURNED:
        return replace(alarm, state=AlarmState.CLEARED, changed=now, needs_ack=False)
    return alarm


class Preview(NamedTuple):
    """Effect of a silence now: names of covered events, of those on air among them, and covered open alarms."""

    events: tuple[str, ...]
    on_air: tuple[str, ...]
    alarms: tuple[Alarm, ...]

    @property
    def text(self) -> str:
        parts = [_counted(len(self.events), "event"), f"{len(self.on_air)} on air", _counted(len(self.alarms), "alarm")]
        return "covers now: " + ", ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def preview_of(silence: Silence, snapshot: Snapshot) -> Preview:
    """Return the events and alarms that a silence would cover if it ran now."""
    events = {state.id: case_event(state) for state in snapshot.events}
    covered = tuple(
        alarm for alarm in snapshot.alarms if alarm.is_ongoing and is_covered(silence, case_of(alarm, events))
    )
    names = {id_: event.name for id_, event in events.items() if may_cover(silence, event)}
    on_air = tuple(event.name for event in _on_air(snapshot.events) if event.id in names)
    return Preview(tuple(names.values()), on_air, covered)


def covered_alarms(matchers: Iterable[Matcher], snapshot: Snapshot) -> tuple[Alarm, ...]:
    """Return the open alarms that a silence with these matchers would cover now."""
    at = snapshot.at
    meant = Silence("", "", tuple(matchers), at, at, "", "", at, "")
    return preview_of(meant, snapshot).alarms


def _on_air(states: Iterable[EventState]) -> list[CaseEvent]:
    return [case_event(state) for state in states if state.phase.tally.expects_signal]


def may_cover(silence: Silence, event: CaseEvent) -> bool:
    """Return whether a silence may cover an alarm of an event.

    Conditions on the severity, target or kind of the alarm are ignored. But a silence for kinds of the deck's own
    alarms covers no event.
    """
    if any(_is_of_deck(matcher) for matcher in silence.matchers):
        return False
    of_event = [
        matcher
        for matcher in silence.matchers
        if matcher.field not in {MatchField.KIND, MatchField.SEVERITY, MatchField.TARGET}
    ]
    return match(of_event, Case("", Severity.INFO), event)


def _is_of_deck(matcher: Matcher) -> bool:
    kind = ALARM_KINDS.get(matcher.value)
    return matcher.field is MatchField.KIND and matcher.op is MatchOp.IS and kind is not None and kind.is_of_deck


def silence_of_draft(draft: SilenceDraft, states: Iterable[EventState], now: datetime) -> Silence:
    """Return the new silence. `states`: all events. Raises AlarmRefused, which names the broken limit."""
    comment = safe(draft.comment.strip(), 200)
    if not comment:
        raise AlarmRefused("A comment is required: say why.")
    if len(draft.matchers) > _MAX_MATCHERS:
        raise AlarmRefused(f"A silence has at most {_MAX_MATCHERS} conditions.")
    seconds = draft.seconds
    if not 0 < seconds <= LONGEST.total_seconds():
        raise AlarmRefused(f"A silence lasts more than 0 s and at most {LONGEST.days} days.")
    starts_at = draft.starts_at or now
    if not now - LONGEST <= starts_at <= now + FARTHEST:
        raise AlarmRefused("The start is too far from now.")
    if starts_at + timedelta(seconds=seconds) <= now:
        raise AlarmRefused("This silence would be over already.")
    silence = Silence(
        draft.uid,
        id_of(draft.uid),
        draft.matchers,
        starts_at,
        starts_at + timedelta(seconds=seconds),
        draft.actor,
        comment,
        now,
        draft.actor,
        draft.passes,
        draft.until_end_of,
    )
    if silence.takes_everything and not draft.is_everything:
        raise AlarmRefused(
            "The silence would match everything: add a condition, or say that you mean everything (--everything)."
        )
    _refuse_long_on_air(silence, states, now)
    return silence


def id_of(uid: str) -> str:
    """Return the id of the silence whose first row has that uid."""
    return f"s-{sha256(uid.encode()).hexdigest()[:8]}"


class Extender(NamedTuple):
    """Person who extends a silence, and all events at that time."""

    now: datetime
    actor: str
    uid: str
    states: Iterable[EventState] = ()


def extend(silences: Silences, silence_id: str, seconds: float, by: Extender) -> Silence:
    """Return the silence with a later end. Raises AlarmRefused, SilenceGone."""
    silence = _running(silences, silence_id, by.now)
    if not seconds > 0:
        raise AlarmRefused("Extend by more than 0 s.")
    if seconds > LONGEST.total_seconds():
        raise AlarmRefused(f"Extend by at most {LONGEST.days} days.")
    ends_at = silence.ends_at + timedelta(seconds=seconds)
    after = replace(silence, uid=by.uid, ends_at=ends_at, at=silences.next_moment(silence.id, by.now), actor=by.actor)
    if after.ends_at - max(by.now, after.starts_at) > LONGEST:
        raise AlarmRefused(f"A silence lasts at most {LONGEST.days} days.")
    _refuse_long_on_air(after, by.states, by.now)
    return after


def end(silences: Silences, silence_id: str, now: datetime, actor: str, uid: str) -> Silence:
    """Return the silence, ended now. Raises SilenceGone."""
    silence = _running(silences, silence_id, now)
    return replace(silence, uid=uid, ends_at=now, at=silences.next_moment(silence.id, now), actor=actor)


def _running(silences: Silences, silence_id: str, now: datetime) -> Silence:
    """Return a silence that runs or is planned. `silence_id`: its id or the beginning of its id. Raises SilenceGone."""
    current = silences.current(now)
    found = [silence for silence in current if silence.id == silence_id] or [
        silence for silence in current if silence_id and silence.id.startswith(silence_id)
    ]
    if not found:
        raise SilenceGone(f"no silence {safe(silence_id, 60)} runs or is planned")
    if len(found) > 1:
        raise AlarmRefused(f"{safe(silence_id, 60)} is the beginning of {len(found)} silences: write more of the id")
    return found[0]


def _refuse_long_on_air(silence: Silence, states: Iterable[EventState], now: datetime) -> None:
    left = silence.ends_at - max(now, silence.starts_at)
    if left <= MOST_ON_AIR:
        return
    covered = [event.name for event in _on_air(states) if may_cover(silence, event)]
    if covered:
        events = "an event" if len(covered) == 1 else f"{len(covered)} events"
        raise AlarmRefused(
            f"The silence covers {events} on air ({_named(covered)}): make it at most "
            f"{MOST_ON_AIR.total_seconds() / 3600:.0f} h long, and extend it later."
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(safe(name, 40) for name in names[:2]) + more


def over_with_event(
    silences: Iterable[Silence], states: Mapping[str, EventState], may_exist: Callable[[str], bool]
) -> list[Silence]:
    """Return the silences whose `until_end_of` event has ended since the silence began, or is gone.

    `states`: listed events by id. `may_exist`: returns whether an event may still exist.
    """

    def is_over(silence: Silence) -> bool:
        state = states.get(silence.until_end_of)
        if state is None:
            return not may_exist(silence.until_end_of)
        stream = state.event.stream
        if stream is None or not (stream.finished_at or stream.status == "finished"):
            return False  # late, planned or not seen on air yet
        return stream.finished_at is None or stream.finished_at >= silence.starts_at

    return [silence for silence in silences if silence.until_end_of and is_over(silence)]
