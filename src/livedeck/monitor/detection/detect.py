"""The faults of a stream, found by folding over its samples in their order (monitoring.md, "Alarms").

The same samples give the same faults, whether they came one by one or a hundred at once. Samples that came late are
folded in where they belong: from the last checkpoint before them on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from livedeck.monitor.kinds.rules import RECONNECTING, RULES, Rule, is_normal
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode, Severity
from livedeck.monitor.model.thresholds import Hold, Thresholds
from livedeck.monitor.signal import series
from livedeck.monitor.signal import series as freshness
from livedeck.monitor.signal.features import Baseline, SampleFeatures, StreamMemory
from livedeck.monitor.signal.hysteresis import (
    BAD,
    GOOD,
    Evidence,
    FaultInterval,
    Level,
    has_cleared,
    on_bad_sample,
    on_other_sample,
)
from livedeck.text.values import age

MOST = 200

"""Episodes kept of a stream."""


_STEP, _MARKS = 64, 4

"""Samples between checkpoints, and how many of them are kept: some minutes of lateness are folded in at little cost."""


_STATUSES = {rule.kind: rule.status for rule in RULES if rule.status is not None}


class Checkpoint(NamedTuple):
    """All that the fold knew after so many samples. Never changed once made."""

    memory: StreamMemory
    spells: Mapping[str, FaultInterval]
    past: tuple[Episode, ...]
    seen: SampleFeatures | None
    samples: int


@dataclass(frozen=True, slots=True)
class SignalAnalysis:
    """What the samples tell. `spells`: by kind, those that stand; `past`: those that are over, in the order of their
    end; `seen`: the newest sample in its context; `first`: when the stream began to send (epoch s)."""

    readings: Readings = field(default_factory=Readings)
    spells: Mapping[str, FaultInterval] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    seen: SampleFeatures | None = None
    first: float | None = None
    marks: tuple[Checkpoint, ...] = (Checkpoint(StreamMemory(), {}, (), None, 0),)

    @property
    def usual(self) -> Baseline:
        """What is usual for the stream, as the newest sample was held against it."""
        return self.seen.usual if self.seen else Baseline()


def detect(
    known: SignalAnalysis, readings: Readings, thresholds: Thresholds, limit: int | None = None
) -> SignalAnalysis:
    """The analysis of `readings`, of which `known` covers a part; where they are the same, `known` itself.

    Costs some 30 us a new sample; where some came late, also those since the checkpoint before them. After `limit`
    samples it stops: the result then covers the first of the readings only, and another call goes on from there.
    """
    if readings is known.readings:
        return known
    changed = series.first_change(known.readings, readings)
    marks = [mark for mark in known.marks if mark.memory.last < changed] or [known.marks[0]]
    fold = _Fold(marks[-1], thresholds)
    start = bisect_right(readings.time, marks[-1].memory.last)
    if limit is not None:
        readings = series.head(readings, start + limit)
    for index in range(start, len(readings)):
        fold.take(readings, index)
        if fold.samples % _STEP == 0:
            marks.append(fold.mark())
    end = fold.mark()
    standing = {kind: spell for kind, spell in end.spells.items() if spell.raised}
    kept = _kept(marks, whole=len(readings) < series.KEPT)
    if kept[-1].samples != end.samples:
        kept = (*kept, end)
    return SignalAnalysis(readings, standing, end.past, end.seen, end.memory.first, kept)


def _kept(marks: list[Checkpoint], *, whole: bool) -> tuple[Checkpoint, ...]:
    """The newest checkpoints, and the very beginning while the samples still reach back to it."""
    steps = [mark for mark in marks if mark.samples % _STEP == 0]
    start = [mark for mark in steps if mark.samples == 0 and whole]
    return (*start, *[mark for mark in steps if mark.samples][-_MARKS:]) or (marks[-1],)


def episodes(known: SignalAnalysis) -> tuple[Episode, ...]:
    """Present and past faults, the oldest first."""
    present = [episode(kind, spell, None) for kind, spell in known.spells.items()]
    return tuple(sorted((*known.past, *present), key=lambda one: (one.since, one.kind))[-MOST:])


def episode(kind: str, spell: FaultInterval, until: float | None, target: str = "") -> Episode:
    """A fault as it is told; `until` None: it stands."""
    end = None if until is None else moment(until)
    return Episode(kind, spell.severity, target, moment(spell.since), end, *spell.words)


def moment(seconds: float) -> datetime:
    """Epoch seconds as a datetime."""
    return datetime.fromtimestamp(seconds, UTC)


class _Fold:
    """The fold at work: it starts as a copy of a checkpoint, and takes sample after sample."""

    def __init__(self, start: Checkpoint, thresholds: Thresholds) -> None:
        self.samples = start.samples
        self._thresholds = thresholds
        self._memory, self._spells = start.memory.copy(), dict(start.spells)
        self._past, self._seen = start.past, start.seen
        self._rules = [(rule, rule.hold(thresholds)) for rule in RULES]

    def mark(self) -> Checkpoint:
        """What is known now."""
        return Checkpoint(self._memory.copy(), self._spells.copy(), self._past, self._seen, self.samples)

    def take(self, readings: Readings, index: int) -> None:
        """Judge one sample, which is later than all before it."""
        memory, thresholds = self._memory, self._thresholds
        time, last = readings.time[index], memory.last
        pause = memory.first is None or _silence(readings, index, last, thresholds)
        if pause:
            self._spells = {kind: spell for kind, spell in self._spells.items() if spell.raised}
            memory.restart(time)
        seen = memory.see(readings, index, thresholds)
        if pause and last > -inf:
            self._interrupt(last, seen)
        self._silenced(time)
        spoilt = set() if not self._spells and is_normal(seen, thresholds) else set(self._spoilt(seen))
        memory.learn(seen, spoilt, thresholds)
        self._seen, self.samples = seen, self.samples + 1

    def _interrupt(self, last: float, seen: SampleFeatures) -> None:
        """The encoder was away, and is back with this sample."""
        known = self._spells.get(RECONNECTING)
        words = f"no samples for {age(seen.time - last)}", "the encoder's stream"
        spell = known or FaultInterval(last, last, Severity.CRITICAL, words, raised=True)
        self._spells[RECONNECTING] = spell._replace(good=seen.time, words=words)

    def _silenced(self, time: float) -> None:
        silence = self._spells.get(RECONNECTING)
        if silence and has_cleared(silence, time, self._thresholds.silence_off):
            self._end(RECONNECTING, silence)

    def _spoilt(self, seen: SampleFeatures) -> Iterator[str]:
        """Step every kind; tells which rates are not to be learnt."""
        warm = seen.time - self._memory.run >= self._thresholds.warm_up
        for rule, hold in self._rules:
            sign = rule.sign(seen, self._thresholds)
            spell = self._spells.get(rule.kind)
            if spell is None and sign != BAD:
                continue
            if spell is not None or warm:
                self._step(rule, hold, spell, sign, seen)
            if rule.spoils:
                yield rule.spoils

    def _step(self, rule: Rule, hold: Hold, spell: FaultInterval | None, sign: Level, seen: SampleFeatures) -> None:
        if sign != BAD:
            self._ease(rule, hold, spell, sign, seen.time)
            return
        words = rule.words(seen, self._thresholds)
        spell = on_bad_sample(spell or self._begun(rule, seen, words), seen.time, words, hold)
        if rule.louder and rule.louder(spell, seen, self._thresholds):
            spell = spell._replace(severity=rule.loud)
        self._spells[rule.kind] = spell

    def _begun(self, rule: Rule, seen: SampleFeatures, words: Evidence) -> FaultInterval:
        burst = self._memory.bursts.get(rule.status) if rule.status is not None else None
        return FaultInterval(burst.first if burst else seen.time, seen.time, rule.severity, words)

    def _ease(self, rule: Rule, hold: Hold, spell: FaultInterval | None, sign: Level, time: float) -> None:
        burst = self._memory.bursts.get(rule.status) if rule.status is not None else None
        eased = on_other_sample(spell, sign, time, burst.last if burst else time) if spell else None
        if eased is None:
            self._spells.pop(rule.kind, None)
        elif sign == GOOD and has_cleared(eased, time, hold.off):
            self._end(rule.kind, eased)
        else:
            self._spells[rule.kind] = eased

    def _end(self, kind: str, spell: FaultInterval) -> None:
        del self._spells[kind]
        if kind in _STATUSES:
            self._memory.bursts.pop(_STATUSES[kind], None)
        self._past = (*self._past, episode(kind, spell, spell.good))[-MOST:]


def _silence(readings: Readings, index: int, last: float, thresholds: Thresholds) -> bool:
    """Whether the encoder was away before this sample; of the second sample nobody can say."""
    gap = readings.time[index] - last
    if gap <= thresholds.late_after:
        return False
    cadence = series.cadence_before(readings, index)
    return cadence is not None and gap > freshness.late_limit(cadence, thresholds)
