"""Share of the time with a bad condition; it shows intermittent faults (monitoring.md, "Duty cycles")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Duty
from livedeck.monitor.signal.hysteresis import Evidence
from livedeck.monitor.signal.order import copier

SHORT, LONG = 60.0, 600.0
"""Two periods over which bad time is counted, in seconds."""

_SLOT = 10.0
_SHORT_SLOTS, _LONG_SLOTS = round(SHORT / _SLOT), round(LONG / _SLOT)

_PERIODS, _LEAST_QUIET, MOST_QUIET = 3, 60.0, 300.0
"""Time without a spell, after which a duty cycle ends: mean distances between spells, minimum and maximum (s)."""


class _Slot(NamedTuple):
    number: int
    seconds: float
    spells: int


_SECONDS: Callable[[_Slot], float] = itemgetter(1)
_SPELLS: Callable[[_Slot], int] = itemgetter(2)


class Excess(NamedTuple):
    """Bad time that breaks a limit: `seconds` of the last `period` seconds, in `spells` spells. `limit`: in s."""

    period: float
    seconds: float
    spells: int
    limit: float


@dataclass(slots=True)
class DutyCycle:
    """Bad seconds and spells of one condition in the last ten minutes. Times are epoch seconds, server clock.

    A spell is an uninterrupted bad period. `since`: start of the first counted spell. `last`: time of the newest bad
    sample. `was_bad`: the newest sample was bad, so the spell goes on. `evidence`: evidence of the last bad time that
    broke a limit; None before.
    """

    slots: tuple[_Slot, ...] = ()
    is_raised: bool = False
    was_bad: bool = False
    since: float = -inf
    last: float = -inf
    evidence: Evidence | None = None

    def copy(self) -> DutyCycle:
        return _copy(self)

    @property
    def seconds(self) -> float:
        """Bad seconds in the last ten minutes."""
        return sum(map(_SECONDS, self.slots))

    @property
    def spells(self) -> int:
        """Number of spells in the last ten minutes."""
        return sum(map(_SPELLS, self.slots))

    @property
    def is_forgotten(self) -> bool:
        """True if the cycle has ended and has no bad time in the last ten minutes."""
        return not self.slots and not self.is_raised

    def add_bad(self, time: float, seconds: float, limits: Duty) -> None:
        """Add `seconds` of bad time that ended at `time`. They extend the last spell if no good sample came since."""
        number = self._forget(time)
        spells = 0 if self.was_bad else 1
        if not self.slots and not self.is_raised:
            self.since = time - seconds
        slot, before = _Slot(number, seconds, spells), self.slots
        if before and before[-1].number == number:
            slot, before = _Slot(number, before[-1].seconds + seconds, before[-1].spells + spells), before[:-1]
        self.slots = (*before, slot)
        self.was_bad, self.last = True, time
        self.is_raised = self.is_raised or self.excess(time, limits) is not None

    def add_good(self, time: float) -> None:
        """Add a good sample, which ends the spell. It also ends the cycle if the last spell was long enough ago."""
        if self.slots:
            self._forget(time)
        self.was_bad = False
        if self.is_raised and time - self.last >= self._quiet_seconds():
            self.is_raised, self.evidence = False, None

    def skip(self, seconds: float) -> None:
        """Skip unwatched seconds: they end the spell, but do not count as time without a spell."""
        self.was_bad = False
        self.last += seconds

    def _forget(self, time: float) -> int:
        number = int(time // _SLOT)
        while self.slots and self.slots[0].number <= number - _LONG_SLOTS:
            self.slots = self.slots[1:]
        return number

    def excess(self, time: float, limits: Duty) -> Excess | None:
        """Return the bad time that breaks a limit at `time`; None if no limit is broken.

        If the bad time breaks the limits of both periods, returns the bad time of the longer period.
        """
        seconds, spells = self.seconds, self.spells
        if seconds >= limits.long_seconds and spells >= limits.long_spells:
            is_critical = seconds >= limits.critical
            return Excess(LONG, seconds, spells, limits.critical if is_critical else limits.long_seconds)
        number = int(time // _SLOT)
        recent = [slot for slot in self.slots[-_SHORT_SLOTS:] if slot.number > number - _SHORT_SLOTS]
        seconds, spells = sum(map(_SECONDS, recent)), sum(map(_SPELLS, recent))
        if seconds >= limits.short_seconds and spells >= limits.short_spells:
            return Excess(SHORT, seconds, spells, limits.short_seconds)
        return None

    def _quiet_seconds(self) -> float:
        return max(_LEAST_QUIET, min(MOST_QUIET, _PERIODS * LONG / max(1, self.spells)))


_copy = copier(DutyCycle)
