"""A spell of one kind of fault: pending, raised, over. A state machine in stream time. Pure.

It is stepped once for each sample, so it is a function of the samples and not of how often they were asked for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from livedeck.monitor.model.state import Severity
from livedeck.monitor.model.thresholds import Hold

GOOD: Final = 0

DEADBAND: Final = 1

BAD: Final = 2


Evidence = tuple[str, str]

"""The actual and the expected."""


Level = int

"""What a sample says of a kind: BAD past the level that raises it, CLEAR past the one that clears it, BETWEEN neither,
or nothing. A run of bad samples that is not raised yet ends with whatever is not BAD, one of good ones that has not
cleared yet with whatever is not CLEAR."""


class FaultInterval(NamedTuple):
    """A run of bad samples, and what came of it. Times in epoch s, server clock.

    `since`: when the fault began; `held`: the first sample of the run, `samples` of it so far; `good`: since when it
    is good again though not yet over; `words`: of the last bad sample.
    """

    since: float
    held: float
    severity: Severity
    words: Evidence
    samples: int = 0
    raised: bool = False
    good: float | None = None


def on_bad_sample(spell: FaultInterval, time: float, words: Evidence, hold: Hold) -> FaultInterval:
    """The spell after one more bad sample: raised once it has held for its samples and its seconds, the longer."""
    samples = spell.samples + 1
    raised = spell.raised or (samples >= hold.samples and time - spell.held >= hold.seconds)
    return spell._replace(samples=samples, raised=raised, good=None, words=words)


def on_other_sample(spell: FaultInterval, sign: Level, time: float, since: float) -> FaultInterval | None:
    """The spell after a sample that is not bad; None where it was not raised. `since`: when a good run would begin."""
    if not spell.raised:
        return None
    if sign == DEADBAND:
        return spell if spell.good is None else spell._replace(good=None)
    return spell if spell.good is not None else spell._replace(good=min(time, since))


def has_cleared(spell: FaultInterval, time: float, off: float) -> bool:
    """Whether it has been good for `off` seconds."""
    return spell.good is not None and time - spell.good >= off
