"""Shared evening of all test decks: its samples are made and judged once in a process."""

from __future__ import annotations

from dataclasses import replace
from math import floor

import pytest

from livedeck.monitor import tracker
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.evidence.coverage import EVERYTHING, Coverage
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.simulator.engine.encoder import Encoders, EncoderStates

_encode_samples = Encoders.encode_samples
_measured: dict[tuple[float, int, EncoderStates, int], bytes] = {}
_judged: dict[tuple[bytes, bytes, bytes, bytes, bytes, StreamRules, Coverage], SignalAnalysis] = {}


@pytest.fixture
def one_evening(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every deck poll the same hour of the same four streams. Each sample is a function of its second."""
    monkeypatch.setattr(Encoders, "encode_samples", encode_once)
    monkeypatch.setattr(tracker, "detect", detect_once)


def encode_once(encoders: Encoders, stream: str, seed: int, states: EncoderStates, now: float) -> bytes:
    """Replace `Encoders.encode_samples`; make the samples of an encoder up to a second once in a process."""
    key = (encoders.cadence, seed, states, floor(now / encoders.cadence))
    if key not in _measured:
        _measured[key] = _encode_samples(encoders, stream, seed, states, now)
    return _measured[key]


def detect_once(
    analysis: SignalAnalysis,
    readings: Readings,
    rules: StreamRules,
    limit: int | None = None,
    coverage: Coverage = EVERYTHING,
) -> SignalAnalysis:
    """Replace `detect`; judge the first reply of a stream once in a process, and without a pause."""
    if len(analysis.readings) or analysis.checkpoints[-1].samples:
        return detect(analysis, readings, rules, limit, coverage)
    columns = (readings.time, readings.video, readings.audio, readings.fps, readings.status)
    time, video, audio, fps, status = (column.tobytes() for column in columns)
    key = (time, video, audio, fps, status, rules, coverage)
    if key not in _judged:
        _judged[key] = detect(analysis, readings, rules, coverage=coverage)
    return replace(_judged[key], readings=readings)
