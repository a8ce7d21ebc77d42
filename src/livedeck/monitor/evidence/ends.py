"""Rules for an event that the event list no longer holds. Pure.

Such an event is in doubt, and livedeck requests it by id. It is gone only if both sources lack it: the list, and the
request by id. The proof takes longer if viewers still get the event. Times are monotonic seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from livedeck.monitor.evidence.witness import Witness

LISTS_APART = 5.0
"""Minimum seconds between the first and the last list without the event. A single list may come from a bad replica."""

DENIALS_APART = 4.0
"""Minimum seconds between the first and the last "not found" for the event's id."""

ASK_EACH = 5.0
"""Seconds between two requests by id, and between two lists, while a doubt is undecided."""

SERVED_EACH = 15.0
"""Seconds between two requests by id for an event that the platform still serves."""

SECOND_LOOK = 1.0
"""Seconds from the first list without an event to the next list."""

MOST_ASKED = 200
"""Maximum number of events on air that are requested by id. It limits the load after a lost list."""

DECIDED_AFTER = 3.0
"""Seconds from the start of the first doubt after which `Doubts.kept` no longer waits for undecided events."""

SAMPLED = 3
"""Number of events off air that are requested by id as a sample of all of them."""


class Standing(StrEnum):
    """Standing of an event. EXPECTED: on air according to the history, but not seen by this process yet."""

    SENDING = "on air with a sending encoder"
    ON_AIR = "on air without one"
    OFF_AIR = "off air"
    EXPECTED = "expected"


class Answer(StrEnum):
    """Result of a request by id. UNKNOWN: any failure other than "not found"; it proves nothing."""

    SERVED = "served"
    NOT_FOUND = "not found"
    UNKNOWN = "unknown"


_LASTING = (Standing.SENDING, Standing.ON_AIR)
"""Standings that need more than one "not found", because an audience depends on the event.

They are sorted, the stronger first. A doubt keeps the strongest standing that the event has had.
"""


class EventStanding(NamedTuple):
    """Standing of an event that this process has seen or expects.

    `quiet`: seconds after a sample until the next one is overdue.
    """

    standing: Standing
    quiet: float = 0.0


_EXPECTED = EventStanding(Standing.EXPECTED)


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Doubt about an event that the list lacks.

    `began`, `confirmed_at`: times at which the first and the second list without the event were read. `lists`: dates of
    the first and the last list without it since the last new sample; None without such a list. `denials`: dates of the
    first and the last "not found" since the event was last served or sent a sample. `answer`: last result by id that is
    not a failure; UNKNOWN if all requests failed, None before the first result. `news_at`: time of the last request
    that brought a new sample; None if no new sample came since the first list.
    """

    event: EventStanding
    began: float
    lists: tuple[float, float] | None
    confirmed_at: float | None = None
    denials: tuple[float, float] | None = None
    answer: Answer | None = None
    news_at: float | None = None

    @property
    def standing(self) -> Standing:
        return self.event.standing

    @property
    def is_confirmed(self) -> bool:
        """True if a second list lacks the event too."""
        return self.confirmed_at is not None

    @property
    def is_denied_for_long(self) -> bool:
        """True if the list and the request by id both lacked the event twice, far enough apart."""
        return _are_apart(self.lists, LISTS_APART) and _are_apart(self.denials, DENIALS_APART)

    def is_quiet(self, at: float) -> bool:
        """Return whether the next sample is overdue."""
        return at - (self.began if self.news_at is None else self.news_at) >= self.event.quiet

    def is_kept(self, at: float) -> bool:
        """Return whether the platform still serves the event by id, or still sends new samples of it.

        The samples must come after the second list. If the request by id ended in "not found", they must come at least
        `LISTS_APART` seconds after the first list.
        """
        if self.answer is Answer.SERVED:
            return True
        since = self.began + LISTS_APART if self.answer is Answer.NOT_FOUND else self.confirmed_at
        return since is not None and self.news_at is not None and self.news_at >= since and not self.is_quiet(at)


class Doubts:
    """Events in doubt: this process has seen or expects them, and the list lacks them."""

    def __init__(self) -> None:
        self._doubts: dict[str, _Doubt] = {}
        self._expected: set[str] = set()
        self._ends_requested: set[str] = set()  # events that this user asked to end
        self._sample: dict[str, Answer | None] = {}  # sampled events off air, with the last result by id
        self._witnesses: Mapping[str, Witness] = {}  # proofs of the probe
        self._patience = 0.0  # seconds that an event is kept after it is proven gone, if viewers still get it
        self._proven_at: dict[str, float] = {}  # events that are proven gone and kept for that long

    @property
    def count(self) -> int:
        """Number of events in doubt."""
        return len(self._doubts)

    @property
    def are_confirmed(self) -> bool:
        """True if a second list lacks every event in doubt."""
        return all(doubt.is_confirmed for doubt in self._doubts.values())

    @property
    def expected(self) -> frozenset[str]:
        """Expected events whose fate is open: no list has held them, and they are not proven to be gone."""
        in_doubt = {key for key, doubt in self._doubts.items() if doubt.standing is Standing.EXPECTED}
        return frozenset(self._expected | in_doubt)

    def doubted(self, event_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of `event_ids` whose events are in doubt."""
        return tuple(event_id for event_id in event_ids if event_id in self._doubts)

    def take_witnesses(self, found: Mapping[str, Witness], patience: float) -> None:
        """Take the probe's proofs about the events in doubt. `patience`: extra seconds of doubt for LIVE events."""
        self._witnesses, self._patience = found, patience

    def expect(self, event_ids: Iterable[str]) -> None:
        """Expect these events in the next list, because the history has them on air."""
        self._expected.update(event_ids)

    def expect_end(self, event_id: str) -> None:
        """Note that this user asked to end an event, so that one list and one "not found" prove that it is gone."""
        self._ends_requested.add(event_id)

    def missing(self, listed: Collection[str], event_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of `event_ids` that are not in `listed`."""
        return tuple(event_id for event_id in event_ids if event_id not in listed)

    def take_list(
        self, listed: Collection[str], events: Mapping[str, EventStanding], at: float, made: float | None
    ) -> None:
        """Record a complete list of events, read at `at`. An event missing from it is in doubt from then on.

        `events`: all events of this process, by id. `made`: earliest time at which the platform can have made the list;
        None if it was read at once.
        """
        before = self._doubts
        wanted = {**dict.fromkeys(self.expected, _EXPECTED), **events}
        self._doubts = {
            event_id: _listed_without(before.get(event_id), wanted[event_id], at, at if made is None else made)
            for event_id in self.missing(listed, wanted)
        }
        self._expected.clear()
        self._choose_sample()

    def take_part(self, listed: Collection[str]) -> None:
        """Take an incomplete list: end the doubts about its events, and raise no new doubt."""
        self._doubts = {key: doubt for key, doubt in self._doubts.items() if key not in listed}
        self._expected.difference_update(listed)
        self._choose_sample()

    def take_answer(self, event_id: str, answer: Answer, at: float) -> bool:
        """Take the result of a request by id, made at `at`. Returns whether the event is in doubt."""
        doubt = self._doubts.get(event_id)
        if doubt is None:
            return False
        if event_id in self._sample and answer is not Answer.UNKNOWN:
            self._sample[event_id] = answer
        if answer is Answer.SERVED:
            doubt = replace(doubt, denials=None)
        elif answer is Answer.NOT_FOUND:
            first, _ = doubt.denials or (at, at)
            doubt = replace(doubt, denials=(first, at))
        elif doubt.answer:
            answer = doubt.answer
        self._doubts[event_id] = replace(doubt, answer=answer)
        return True

    def take_sample(self, event_id: str, at: float) -> None:
        """Take a new sample of an event: earlier lists without the event, and "not found" results, no longer count.

        `at`: time of the request that brought it.
        """
        if doubt := self._doubts.get(event_id):
            self._doubts[event_id] = replace(doubt, news_at=at, lists=None, denials=None)

    def take_gone(self, at: float) -> dict[str, Standing]:
        """Remove the events that are proven to be gone, and return them with the standing that they had."""
        is_kept = any(doubt.is_kept(at) for doubt in self._doubts.values())
        are_denied = not is_kept and set(self._sample.values()) == {Answer.NOT_FOUND}
        gone = {
            key: doubt.standing
            for key, doubt in self._doubts.items()
            if self._is_gone(key, doubt, at, are_denied=are_denied)
        }
        self._doubts = {key: doubt for key, doubt in self._doubts.items() if key not in gone}
        if self._proven_at:
            self._proven_at = {key: proven for key, proven in self._proven_at.items() if key in self._doubts}
        return gone

    def _is_gone(self, event_id: str, doubt: _Doubt, at: float, *, are_denied: bool) -> bool:
        """Return whether an event is gone. `are_denied`: no sampled event was found, and no doubted event is served."""
        is_denied = doubt.denials is not None and doubt.lists is not None
        if event_id in self._ends_requested and is_denied:
            return True
        if not doubt.is_quiet(at):
            return False
        if doubt.standing in _LASTING:
            return self._is_lasting_gone(event_id, doubt, at, is_denied=is_denied)
        is_represented = doubt.standing is Standing.OFF_AIR and are_denied and _are_apart(doubt.lists, LISTS_APART)
        return is_denied or is_represented

    def _is_lasting_gone(self, event_id: str, doubt: _Doubt, at: float, *, is_denied: bool) -> bool:
        """Return whether an event that was on air is gone. `is_denied`: a list and a request by id lack it."""
        found = self._witnesses.get(event_id, Witness.NONE)
        if found is Witness.AGAINST and is_denied and doubt.is_confirmed:
            return True
        if not doubt.is_denied_for_long:
            self._proven_at.pop(event_id, None)
            return False
        return found is not Witness.LIVE or at - self._proven_at.setdefault(event_id, at) >= self._patience

    def kept(self, at: float) -> tuple[str, ...]:
        """Return the events that two lists lack, but that the platform still serves by id or sends samples of.

        In the first `DECIDED_AFTER` seconds of a doubt, returns nothing while the fate of another requested event is
        open. So the first number on the screen is usually right.
        """
        kept = tuple(key for key, doubt in self._doubts.items() if doubt.is_confirmed and doubt.is_kept(at))
        is_early = at - min((doubt.began for doubt in self._doubts.values()), default=at) < DECIDED_AFTER
        return () if is_early and not self.asks(at).keys() <= set(kept) else kept

    def asks(self, at: float) -> dict[str, float]:
        """Return the events to request by id, events on air first, each with the seconds between two requests."""
        on_air = (key for key, doubt in self._doubts.items() if doubt.standing is not Standing.OFF_AIR)
        asked = [*islice(on_air, MOST_ASKED), *(key for key in self._sample if key in self._doubts)]
        return {key: SERVED_EACH if self._doubts[key].is_kept(at) else ASK_EACH for key in asked}

    def is_answered(self, event_id: str) -> bool:
        """Return whether a request by id for this event has had a result; True for an event that is not in doubt."""
        return event_id not in self._doubts or self._doubts[event_id].answer is not None

    def seconds_to_list(self, at: float) -> float | None:
        """Return the seconds until the next event list while a doubt is undecided; None for the usual interval."""
        if not self._doubts:
            return None
        if not self.are_confirmed:
            return SECOND_LOOK
        asked = self.asks(at)
        is_decided = bool(asked) and all(self._doubts[key].is_kept(at) for key in asked)
        return None if is_decided else ASK_EACH

    def _choose_sample(self) -> None:
        """Choose the events off air that are requested by id.

        Events chosen earlier stay, unless a list holds them again.
        """
        off_air = [key for key, doubt in self._doubts.items() if doubt.standing is Standing.OFF_AIR]
        counted = {key: answer for key, answer in self._sample.items() if answer is Answer.NOT_FOUND or key in off_air}
        self._sample = counted if off_air else {}
        for event_id in off_air:
            if len(self._sample) < SAMPLED:
                self._sample.setdefault(event_id, None)


def _listed_without(before: _Doubt | None, event: EventStanding, at: float, made: float) -> _Doubt:
    """Return the doubt of an event after a list without it, made at `made` and read at `at`."""
    if before is None:
        return _Doubt(event, at, (made, made))
    standings = before.standing, event.standing
    standing = next((lasting for lasting in _LASTING if lasting in standings), event.standing)
    first, _ = before.lists or (made, made)
    confirmed_at = at if before.confirmed_at is None else before.confirmed_at
    return replace(before, event=event._replace(standing=standing), confirmed_at=confirmed_at, lists=(first, made))


def _are_apart(times: tuple[float, float] | None, seconds: float) -> bool:
    return times is not None and times[1] - times[0] >= seconds
