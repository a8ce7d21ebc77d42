"""What detection has learnt of a stream, for a process that goes on from it (monitoring.md, "Restart"). Pure."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter, ValidationError

from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules, start_of
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.signal import series
from livedeck.monitor.signal.analysis import Checkpoint, SignalAnalysis

_RESOLUTION = 0.001
"""Seconds: the history keeps the time of a sample no finer."""

_FORMAT = 1
"""Another one where the same values come to mean something else."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """The oldest checkpoint of the fold, None of a young stream, and a digest of the `rules` it rests on; and how late
    samples come."""

    checkpoint: Checkpoint | None = None
    rules: str = ""
    delivery: Delivery = field(default_factory=Delivery)

    @classmethod
    def of(cls, analysis: SignalAnalysis, rules: StreamRules, delivery: Delivery) -> Learnt:
        """What that analysis by those rules has come to."""
        point = analysis.oldest_checkpoint
        return cls(point, _digest(rules, point) if point else "", delivery)

    def to_json(self) -> str:
        """As `parse_learnt` reads it; numbers lose nothing."""
        return json.dumps([_FORMAT, _adapter().dump_python(self, mode="json")])

    def analysis(self, readings: Readings, rules: StreamRules) -> SignalAnalysis:
        """Where the fold over these samples, of the stream's newest, goes on: as if it had never stopped.

        By other rules it goes on from the stream's first sample, where that is still known. Where samples are missing
        between, only what is usual counts.
        """
        point = self.checkpoint
        if point is None or not len(readings):
            return SignalAnalysis()
        whole = start_of(readings, point.memory.first_time)
        if self.rules != _digest(rules, point) and whole:
            return SignalAnalysis()
        known = series.head(readings, bisect_right(readings.time, point.memory.last_time + _RESOLUTION))
        if not len(known):
            return SignalAnalysis(checkpoints=(Checkpoint(point.memory.resumed(), {}, {}, point.past, None, 0),))
        memory = replace(point.memory.copy(), last_time=known.time[-1])  # as it was recorded
        return SignalAnalysis(known, checkpoints=(*whole, point._replace(memory=memory)))


def parse_learnt(text: str) -> Learnt | None:
    """What `Learnt.to_json` wrote; None for what another version wrote, or has rotted."""
    try:
        version, values = json.loads(text)
        return _adapter().validate_python(values) if version == _FORMAT else None
    except (ValueError, TypeError, ValidationError):
        return None


def _digest(rules: StreamRules, point: Checkpoint) -> str:
    """Of all that can have made the checkpoint what it is."""
    marks = tuple(mark for mark in rules.marks if mark <= point.memory.last_time)
    return sha256(repr((rules.thresholds, rules.floor, marks)).encode()).hexdigest()[:16]


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Learnt)
