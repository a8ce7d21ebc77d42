"""Alarms from one evaluation to the next, and what a person does to them in between. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import inf

from livedeck.monitor.alarms import faults, lifecycle, operator
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.alarms.suppression import hidden_by, priority
from livedeck.monitor.history import History
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import IncidentDetector
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmChange, AlarmKey, AlarmState
from livedeck.monitor.model.state import Clock, EventState
from livedeck.monitor.model.thresholds import AlarmLimits, Thresholds

_DEFAULTS = Thresholds()

_SHARED = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.shared)

_INCIDENTS = tuple(
    (AlarmKey(DECK, kind.name), kind, kind.detector)
    for kind in ALARM_KINDS.values()
    if isinstance(kind.detector, IncidentDetector)
)


@dataclass(frozen=True, slots=True)
class AlarmStore:
    """Every alarm that is remembered, when the newest came, and each event's newest sample (server clock)."""

    alarms: Mapping[AlarmKey, Alarm] = field(default_factory=dict)
    came: tuple[datetime, ...] = ()
    seen: Mapping[str, datetime] = field(default_factory=dict)

    def flood(self, now: datetime, rules: AlarmLimits) -> bool:
        """Whether more came in the last 10 min than a person can follow."""
        window = timedelta(seconds=rules.flood_window)
        return sum(now - moment < window for moment in self.came) > rules.flood_count

    def quiet(self, now: datetime, rules: AlarmLimits) -> tuple[Alarm, ...]:
        """What needs nobody now, the newest change first: put away, hidden by a parent, or lately cleared."""
        listed = timedelta(seconds=rules.cleared_listed)
        alarms = [
            alarm
            for alarm in self.alarms.values()
            if not alarm.active and (alarm.state is not AlarmState.CLEARED or now - alarm.changed < listed)
        ]
        return tuple(sorted(alarms, key=lambda alarm: (now - alarm.changed, alarm.key)))


def step(
    board: AlarmStore, sight: MonitorState, thresholds: Thresholds = _DEFAULTS
) -> tuple[AlarmStore, tuple[AlarmChange, ...], int]:
    """The board after one look at everything, what changed, and how many bells that is worth.

    An event that cannot be judged keeps the alarms it had: nothing proves that they are over.
    """
    rules = thresholds.attention
    broadcasts = on_air(sight.states)
    followed = _followed(board, sight, thresholds)
    after = _with_incident(board, followed, sight, rules)
    for key in sorted(after, key=lambda key: priority(key.kind)):
        alarm, parent, airs = after[key], hidden_by(after[key], after), key.event_id in broadcasts
        after[key] = lifecycle.apply_suppression(
            board.alarms.get(key), alarm, parent, sight.now, on_air=airs, rules=rules
        )
    return _told(board, _bounded(after, sight, rules), sight, rules)


def restored(alarms: Iterable[Alarm], now: datetime, thresholds: Thresholds = _DEFAULTS) -> AlarmStore:
    """The board of a deck that starts again, from the alarms that it had. A shelf from the future is no shelf."""
    known = {alarm.key: _mended(alarm, now) for alarm in alarms}
    count = thresholds.attention.flood_count + 1
    return AlarmStore(known, tuple(sorted(moment for alarm in known.values() for moment in alarm.activations)[-count:]))


def on_air(states: Iterable[EventState]) -> frozenset[str]:
    """Whose alarms concern a broadcast: the events on air, and the deck itself while there are any."""
    events = frozenset(state.id for state in states if state.phase.tally.expects_signal)
    return events | {DECK} if events else events


def handled(board: AlarmStore, alarm: Alarm, now: datetime) -> tuple[AlarmStore, tuple[AlarmChange, ...]]:
    """The board after a person did something to an alarm, and what that changed."""
    change = lifecycle.changed(board.alarms.get(alarm.key), alarm, now)
    return replace(board, alarms={**board.alarms, alarm.key: alarm}), (change,) if change else ()


def _mended(alarm: Alarm, now: datetime) -> Alarm:
    if alarm.changed <= now or alarm.state is not AlarmState.SHELVED:
        return alarm
    return operator.unshelved(alarm, now)


def _followed(board: AlarmStore, sight: MonitorState, thresholds: Thresholds) -> dict[AlarmKey, Alarm]:
    """Every alarm with its fault, but for PLATFORM, which is drawn from them."""
    rules, now = thresholds.attention, sight.now
    wrong = faults.active_faults(sight, thresholds)
    past = faults.ended_faults(board.alarms, board.seen, sight)
    kept = set(faults.unjudged_keys(board.alarms.values(), sight)) - set(wrong)
    after = {}
    for key in {**board.alarms, **past, **wrong}:
        alarm = board.alarms.get(key)
        if key in kept:
            after[key] = lifecycle.expire(board.alarms[key], now, rules)
        elif not any(key == incident for incident, *_ in _INCIDENTS):
            after[key] = lifecycle.advance(key, alarm, past.get(key, []), wrong.get(key), now=now, rules=rules)
    return after


def _with_incident(
    board: AlarmStore, alarms: Mapping[AlarmKey, Alarm], sight: MonitorState, rules: AlarmLimits
) -> dict[AlarmKey, Alarm]:
    """The alarms, and the incident that they make together."""
    after = dict(alarms)
    broadcasts = on_air(sight.states) - {DECK}
    shared = [
        alarm
        for alarm in alarms.values()
        if alarm.is_ongoing and alarm.event_id in broadcasts and alarm.kind in _SHARED
    ]
    for key, kind, detector in _INCIDENTS:
        known = board.alarms.get(key)
        found = detector.observe(known.affects if known and known.is_ongoing else (), shared, broadcasts, rules)
        fault = faults.of_incident(kind, found) if found else None
        if known and sight.unlisted:
            after[key] = known
        elif known:
            after[key] = lifecycle.update(known, fault, sight.now, rules)
        elif fault:
            after[key] = lifecycle.raise_alarm(key, fault, sight.now, rules)
    return after


def _bounded(alarms: Mapping[AlarmKey, Alarm], sight: MonitorState, rules: AlarmLimits) -> dict[AlarmKey, Alarm]:
    """Without what is long over, and with no more that nobody answers than a list can hold."""
    kept = {key: alarm for key, alarm in alarms.items() if not _forgotten(alarm, sight, rules)}
    returned = sorted(
        (alarm for alarm in kept.values() if alarm.state is AlarmState.RETURNED),
        key=lambda alarm: (-lifecycle.SEVERITIES.index(alarm.severity), alarm.changed),
    )
    for alarm in returned[: max(0, len(kept) - rules.listed_most)]:
        kept[alarm.key] = replace(alarm, state=AlarmState.CLEARED, needs_ack=False, changed=sight.now)
    return kept


def _forgotten(alarm: Alarm, sight: MonitorState, rules: AlarmLimits) -> bool:
    """Cleared for long and not of late recurring; or put away, of an event that is no more."""
    if alarm.is_ongoing:
        return False
    if alarm.state is AlarmState.CLEARED:
        listed = sight.now - alarm.changed < timedelta(seconds=rules.cleared_listed)
        return not (listed or alarm.activations)
    return alarm.state is not AlarmState.RETURNED and not sight.knows(alarm.event_id)


def _told(
    board: AlarmStore, alarms: dict[AlarmKey, Alarm], sight: MonitorState, rules: AlarmLimits
) -> tuple[AlarmStore, tuple[AlarmChange, ...], int]:
    now = sight.now
    pairs = [(board.alarms.get(key), alarm) for key, alarm in alarms.items()]
    changes = [lifecycle.changed(before, alarm, now) for before, alarm in pairs]
    came = [now for before, alarm in pairs if alarm.active and _came(before, alarm)]
    newest = (*board.came, *came)[-rules.flood_count - 1 :]
    bells = sum(lifecycle.is_audible(before, alarm) for before, alarm in pairs)
    return (
        AlarmStore(alarms, newest, faults.newest_samples(sight, board.seen)),
        tuple(change for change in changes if change),
        bells,
    )


def _came(before: Alarm | None, alarm: Alarm) -> bool:
    return alarm.present and not (before and before.present)


_AGAIN = 10.0

"""Seconds until a history that could not be read is asked again: each time it may be waited for."""


class AlarmEngine:
    """Holds the board. `board`: as it is now."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.board = AlarmStore()
        self._thresholds = thresholds
        self._changes: list[AlarmChange] = []  # that a person made since the last look
        self._asked_for_from = -inf  # when the alarms of the deck before are asked for again (monotonic s)

    async def restore(self, history: History, clock: Clock) -> None:
        """Go on from the alarms of a deck that ran before: how they stood counts, not what was seen meanwhile.

        While they cannot be read, ask for them again now and then.
        """
        if clock.monotonic() < self._asked_for_from:
            return
        self._asked_for_from = clock.monotonic() + _AGAIN
        known = await history.restored()
        if known is not None:
            self._asked_for_from = inf
            before = restored(known, clock.now(), self._thresholds)
            self.board = replace(before, alarms={**self.board.alarms, **before.alarms}, seen=self.board.seen)

    def handle(self, key: AlarmKey, deed: Callable[[Alarm], Alarm | None], now: datetime) -> bool:
        """Do that to an alarm; False where it changes nothing. Raises AlarmRefused."""
        known = self.board.alarms.get(key)
        if known is None:
            raise AlarmRefused(f"{key.kind}: there is no such alarm any more")
        alarm = deed(known)
        if alarm is None:
            return False
        self.board, changes = handled(self.board, alarm, now)
        self._changes += changes
        return True

    def step(self, sight: MonitorState) -> tuple[tuple[AlarmChange, ...], int]:
        """Go on to what is seen now: what changed since the last look, and how many bells that is worth."""
        self.board, changes, bells = step(self.board, sight, self._thresholds)
        made, self._changes = self._changes, []
        return (*made, *changes), bells
