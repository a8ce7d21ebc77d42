"""Golden pictures are SVG files, one a test: to be looked at in any browser."""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.types import SerializedData

from livedeck.monitor import tracker
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.ui.kit.dialogs import modal
from pictures import as_seen
from ui.deck_stage import PATIENCE

_judged: dict[tuple[bytes, bytes, bytes, bytes, bytes, StreamRules], SignalAnalysis] = {}


def detect_once(
    analysis: SignalAnalysis, readings: Readings, rules: StreamRules, limit: int | None = None
) -> SignalAnalysis:
    """`detect`; the first answer of a stream is judged once in a process, and without a pause."""
    if len(analysis.readings) or analysis.checkpoints[-1].samples:
        return detect(analysis, readings, rules, limit)
    columns = (readings.time, readings.video, readings.audio, readings.fps, readings.status)
    time, video, audio, fps, status = (column.tobytes() for column in columns)
    key = (time, video, audio, fps, status, rules)
    if key not in _judged:
        _judged[key] = detect(analysis, readings, rules)
    return replace(_judged[key], readings=readings)


@pytest.fixture(autouse=True)
def judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stage has the same twelve thousand samples of the evening, and the same samples give the same faults."""
    monkeypatch.setattr(tracker, "detect", detect_once)


@pytest.fixture(autouse=True)
def keys_wait_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a key waits for the one before it is real time: nothing that a test says may depend on that."""
    monkeypatch.setattr(modal, "MAX_HOLD", PATIENCE)


class Picture(SingleFileSnapshotExtension):
    """One file a picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT

    def matches(self, *, serialized_data: SerializedData, snapshot_data: SerializedData) -> bool:
        """Whether they look alike."""
        return as_seen(str(serialized_data)) == as_seen(str(snapshot_data))


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equal to the picture that was kept under this test's name."""
    return snapshot.use_extension(Picture)
