"""State of a stream's detection that a later process continues with (monitoring.md, "Restart"). Pure."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any

from msgspec import field
from pydantic import TypeAdapter, ValidationError

from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules, start_of
from livedeck.monitor.evidence.coverage import EVERYTHING, Coverage
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.signal import series
from livedeck.monitor.signal.analysis import Checkpoint, SignalAnalysis
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.order import Step
from livedeck.monitor.signal.usual import Usual
from livedeck.record import Record

_RESOLUTION = 0.001
"""Resolution of sample times in the history, in seconds."""

_FORMAT = 1
"""Version of the stored form. Change it if the same values get another meaning."""


_MEMORY, _FEATURES = Checkpoint._fields.index("memory"), Checkpoint._fields.index("features")
_STEP, _USUAL = SampleFeatures._fields.index("step"), SampleFeatures._fields.index("usual")
_FIRST_FEATURES, _FIRST_STEP = SampleFeatures._fields.index("covered"), Step._fields.index("unwatched")
_FIRST_USUAL = Usual._fields.index("sunk_from")
"""Positions of values in the stored rows. The `_FIRST_` numbers are the lengths of rows in the first version."""


class Learnt(Record):
    """State of a stream that survives a restart: the oldest checkpoint of its fold and its delivery delay.

    `checkpoint`: None for a young stream. `rules`: digest of the rules behind the checkpoint. `coverage`: coverage of
    the stream; empty in a row that an older version wrote.
    """

    checkpoint: Checkpoint | None = None
    rules: str = ""
    delivery: Delivery = field(default_factory=Delivery)
    coverage: Coverage = field(default_factory=Coverage)

    @classmethod
    def of(
        cls, analysis: SignalAnalysis, rules: StreamRules, delivery: Delivery, coverage: Coverage = EVERYTHING
    ) -> Learnt:
        """Return the learnt state of an analysis. `rules`: the rules of the analysis."""
        point = analysis.oldest_checkpoint
        return cls(point, _digest(rules, point) if point else "", delivery, coverage)

    def to_json(self) -> str:
        """Return the state as JSON for `parse_learnt`, with numbers in full precision.

        Versions without `coverage` can read this JSON. They ignore new names, but refuse longer rows. So rows are cut
        to their length in the first version.
        """
        values = _adapter().dump_python(self, mode="json")
        point = values["checkpoint"]
        if point:
            del point[_MEMORY]["levels"]["usual"]["usual"][_FIRST_USUAL:]
        if point and point[_FEATURES]:
            features = point[_FEATURES] = point[_FEATURES][:_FIRST_FEATURES]
            features[_STEP] = features[_STEP][:_FIRST_STEP]
            features[_USUAL] = features[_USUAL][:_FIRST_USUAL]
        return json.dumps([_FORMAT, values])

    def analysis(self, readings: Readings, rules: StreamRules) -> SignalAnalysis:
        """Return the analysis to resume the fold over the stream's samples.

        `readings`: stored samples of the stream. If they reach back to the stream's start and `rules` have changed, the
        fold starts from the first sample. If all of them are newer than the checkpoint, only its usual values are used.
        """
        point = self.checkpoint
        if point is None or not len(readings):
            return SignalAnalysis()
        whole = start_of(readings, point.memory.first_time)
        if self.rules != _digest(rules, point) and whole:
            return SignalAnalysis()
        judged = series.head(readings, bisect_right(readings.time, point.memory.last_time + _RESOLUTION))
        if not len(judged):
            resumed = Checkpoint(point.memory.resumed(), {}, {}, point.past, None, 0)
            return SignalAnalysis(checkpoints=(resumed,), coverage=self.coverage)
        memory = replace(point.memory.copy(), last_time=judged.time[-1])  # with the time as recorded
        checkpoints = (*whole, point._replace(memory=memory))
        return SignalAnalysis(judged, checkpoints=checkpoints, coverage=self.coverage)


def parse_learnt(text: str) -> Learnt | None:
    """Return the state that `Learnt.to_json` wrote; None if it is damaged or of another version."""
    try:
        version, values = json.loads(text)
        return _adapter().validate_python(values) if version == _FORMAT else None
    except (ValueError, TypeError, ValidationError):
        return None


def _digest(rules: StreamRules, point: Checkpoint) -> str:
    """Return a digest of the rules that influenced the checkpoint."""
    marks = tuple(mark for mark in rules.marks if mark <= point.memory.last_time)
    return sha256(repr((rules.thresholds, rules.floor, marks)).encode()).hexdigest()[:16]


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Learnt)
