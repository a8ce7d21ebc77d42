"""Alarms: from what is wrong now and the alarms of the last look to those of this one (monitoring.md, "Alarms"). Pure.

An alarm follows its fault; what a person owes it follows ISA-18.2 (`board.AlarmState`). `since` is when the fault began
as far as the data tell; severity and words are its latest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from livedeck.monitor import faults, handling, incident, life, recurrence
from livedeck.monitor.attention import Attention
from livedeck.monitor.board import DECK, Alarm, AlarmKey, AlarmState, Change
from livedeck.monitor.facts import EventState
from livedeck.monitor.faults import Sight
from livedeck.monitor.parents import parent, rank
from livedeck.monitor.thresholds import Thresholds
from livedeck.slices import Slices

_DEFAULTS = Thresholds()
_PLATFORM = AlarmKey(DECK, incident.PLATFORM)

_SLICE = 128
"""Alarms that are stepped at once."""


@dataclass(frozen=True, slots=True)
class Board:
    """Every alarm that is remembered, when the newest came, and each event's newest sample (server clock)."""

    alarms: Mapping[AlarmKey, Alarm] = field(default_factory=dict)
    came: tuple[datetime, ...] = ()
    seen: Mapping[str, datetime] = field(default_factory=dict)

    def flood(self, now: datetime, rules: Attention) -> bool:
        """Whether more came in the last 10 min than a person can follow."""
        window = timedelta(seconds=rules.flood_window)
        return sum(now - moment < window for moment in self.came) > rules.flood_count

    def quiet(self, now: datetime, rules: Attention) -> tuple[Alarm, ...]:
        """What needs nobody now, the newest change first: put away, hidden by a parent, or lately cleared."""
        listed = timedelta(seconds=rules.cleared_listed)
        alarms = [
            alarm
            for alarm in self.alarms.values()
            if not alarm.active and (alarm.state is not AlarmState.CLEARED or now - alarm.changed < listed)
        ]
        return tuple(sorted(alarms, key=lambda alarm: (now - alarm.changed, alarm.key)))


def step(
    board: Board, sight: Sight, thresholds: Thresholds = _DEFAULTS
) -> Slices[tuple[Board, tuple[Change, ...], int]]:
    """The board after one look at everything, what changed, and how many bells that is worth.

    An event that cannot be judged keeps the alarms it had: nothing proves that they are over. In slices: when a
    platform fails there are hundreds of alarms.
    """
    rules = thresholds.attention
    broadcasts = on_air(sight.states)
    followed = yield from _followed(board, sight, thresholds)
    after = _with_incident(board, followed, sight, rules)
    for place, key in enumerate(sorted(after, key=lambda key: rank(key.kind)), 1):
        if place % _SLICE == 0:
            yield
        alarm, hidden_by, airs = after[key], parent(after[key], after), key.event_id in broadcasts
        after[key] = life.stand(board.alarms.get(key), alarm, hidden_by, sight.now, on_air=airs, rules=rules)
    yield
    return _told(board, _bounded(after, sight, rules), sight, rules)


def restored(alarms: Iterable[Alarm], now: datetime, thresholds: Thresholds = _DEFAULTS) -> Board:
    """The board of a deck that starts again, from the alarms that it had. A shelf from the future is no shelf."""
    known = {alarm.key: _mended(alarm, now) for alarm in alarms}
    count = thresholds.attention.flood_count + 1
    return Board(known, tuple(sorted(moment for alarm in known.values() for moment in alarm.activations)[-count:]))


def on_air(states: Iterable[EventState]) -> frozenset[str]:
    """Whose alarms concern a broadcast: the events on air, and the deck itself while there are any."""
    events = frozenset(state.id for state in states if state.phase.tally.owes_bits)
    return events | {DECK} if events else events


def handled(board: Board, alarm: Alarm, now: datetime) -> tuple[Board, tuple[Change, ...]]:
    """The board after a person did something to an alarm, and what that changed."""
    change = life.changed(board.alarms.get(alarm.key), alarm, now)
    return replace(board, alarms={**board.alarms, alarm.key: alarm}), (change,) if change else ()


def _mended(alarm: Alarm, now: datetime) -> Alarm:
    if alarm.changed <= now or alarm.state is not AlarmState.SHELVED:
        return alarm
    return handling.brought_back(alarm, now)


def _followed(board: Board, sight: Sight, thresholds: Thresholds) -> Slices[dict[AlarmKey, Alarm]]:
    """Every alarm with its fault, but for PLATFORM, which is drawn from them."""
    rules, now = thresholds.attention, sight.now
    wrong = yield from faults.present(sight, thresholds)
    past = yield from faults.past(board.alarms, board.seen, sight)
    kept = set(faults.kept(board.alarms.values(), sight)) - set(wrong)
    after = {}
    for place, key in enumerate({**board.alarms, **past, **wrong}, 1):
        if place % _SLICE == 0:
            yield
        alarm = board.alarms.get(key)
        if key in kept:
            after[key] = recurrence.aged(board.alarms[key], now, rules)
        elif key != _PLATFORM:
            after[key] = life.live(key, alarm, past.get(key, []), wrong.get(key), now=now, rules=rules)
    return after


def _with_incident(
    board: Board, alarms: Mapping[AlarmKey, Alarm], sight: Sight, rules: Attention
) -> dict[AlarmKey, Alarm]:
    """The alarms, and the PLATFORM incident that they make together."""
    known = board.alarms.get(_PLATFORM)
    broadcasts = on_air(sight.states) - {DECK}
    found = incident.find(known if known and known.lasting else None, alarms.values(), broadcasts, rules)
    fault = faults.of_incident(found) if found else None
    if known and sight.unlisted:
        return {**alarms, _PLATFORM: known}
    if known:
        return {**alarms, _PLATFORM: life.follow(known, fault, sight.now, rules)}
    return {**alarms, _PLATFORM: life.begin(_PLATFORM, fault, sight.now, rules)} if fault else dict(alarms)


def _bounded(alarms: Mapping[AlarmKey, Alarm], sight: Sight, rules: Attention) -> dict[AlarmKey, Alarm]:
    """Without what is long over, and with no more that nobody answers than a list can hold."""
    kept = {key: alarm for key, alarm in alarms.items() if not _forgotten(alarm, sight, rules)}
    returned = sorted(
        (alarm for alarm in kept.values() if alarm.state is AlarmState.RETURNED),
        key=lambda alarm: (-life.SEVERITIES.index(alarm.severity), alarm.changed),
    )
    for alarm in returned[: max(0, len(kept) - rules.listed_most)]:
        kept[alarm.key] = replace(alarm, state=AlarmState.CLEARED, owed=False, changed=sight.now)
    return kept


def _forgotten(alarm: Alarm, sight: Sight, rules: Attention) -> bool:
    """Cleared for long and not of late recurring; or put away, of an event that is no more."""
    if alarm.lasting:
        return False
    if alarm.state is AlarmState.CLEARED:
        listed = sight.now - alarm.changed < timedelta(seconds=rules.cleared_listed)
        return not (listed or alarm.activations)
    return alarm.state is not AlarmState.RETURNED and not sight.knows(alarm.event_id)


def _told(
    board: Board, alarms: dict[AlarmKey, Alarm], sight: Sight, rules: Attention
) -> tuple[Board, tuple[Change, ...], int]:
    now = sight.now
    pairs = [(board.alarms.get(key), alarm) for key, alarm in alarms.items()]
    changes = [life.changed(before, alarm, now) for before, alarm in pairs]
    came = [now for before, alarm in pairs if alarm.active and _came(before, alarm)]
    newest = (*board.came, *came)[-rules.flood_count - 1 :]
    bells = sum(life.rings(before, alarm) for before, alarm in pairs)
    return Board(alarms, newest, faults.seen(sight, board.seen)), tuple(change for change in changes if change), bells


def _came(before: Alarm | None, alarm: Alarm) -> bool:
    return alarm.present and not (before and before.present)
