"""Every alarm says its cause, the effect on viewers and what to do; the samples name the eight patterns."""

from __future__ import annotations

from datetime import timedelta

import pytest

from livedeck.monitor import (
    BroadcastState,
    EventState,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Reading,
    Readings,
    Thresholds,
)
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.detection.health import assess
from livedeck.monitor.detection.patterns import PATTERN_DIAGNOSES, SignalSignature, classify, diagnose, pattern_of
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.model.state import Pattern
from livedeck.monitor.signal.analysis import DataQuality, SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.simulator.engine.encoder import SHAPES, qos
from monitor.stage import NOW, model, samples


def on_air(shape: str, *, calm: int = 300, faulty: int = 90, seed: int = 1) -> EventState:
    """Return a stream that was clean for ten minutes and then had a shape of the simulator for three."""
    rows, begin = [], NOW.timestamp() - 2.0 * (calm + faulty - 1)
    for index in range(calm + faulty):
        sample = qos(seed, 2.0 * index, SHAPES["clean" if index < calm else shape])
        assert sample is not None
        rows.append(Reading(begin + 2.0 * index, *sample))
    readings = merge(Readings(), samples(rows))
    phase = Phase(BroadcastState.ON_AIR, NOW - timedelta(hours=1), Ingest(IngestState.RECEIVING))
    analysis = detect(SignalAnalysis(), readings, StreamRules(Thresholds()))
    assessment = assess(EventCase(analysis, phase, DataQuality(), NOW), Thresholds())
    pattern = pattern_of(phase, readings, assessment)
    return EventState(model(), NOW, phase, QosState(readings), assessment, pattern=pattern)


@pytest.mark.parametrize(
    ("signature", "pattern"),
    [
        (SignalSignature(), Pattern.NONE),
        (SignalSignature(video=0.5, audio=0.7, fps=0.8, is_lossy=True), Pattern.NETWORK),
        (SignalSignature(video=0.4, audio=0.7, fps=0.8), Pattern.NETWORK),
        (SignalSignature(fps=0.75), Pattern.OVERLOAD),
        (SignalSignature(fps=0.75, is_lossy=True, bursts=1), Pattern.OVERLOAD),
        (SignalSignature(audio=0.0, is_mute=True), Pattern.AUDIO),
        (SignalSignature(video=0.0, fps=0.0, is_dark=True), Pattern.CAMERA),
        (SignalSignature(video=0.0, audio=0.0, fps=0.0, is_dark=True, is_mute=True), Pattern.GONE),
        (SignalSignature(video=0.6), Pattern.STEP),
        (SignalSignature(has_key_complaints=True), Pattern.KEYS),
        (SignalSignature(is_lossy=True, bursts=3), Pattern.BURSTS),
        (SignalSignature(is_lossy=True, bursts=2), Pattern.NETWORK),
    ],
)
def test_each_pattern_has_its_signs(signature: SignalSignature, pattern: Pattern) -> None:
    assert classify(signature) is pattern


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("shape", "pattern"),
    [
        ("clean", Pattern.NONE),
        ("sustained-loss", Pattern.NETWORK),
        ("starvation", Pattern.NETWORK),
        ("encoder-overload", Pattern.OVERLOAD),
        ("audio-lost", Pattern.AUDIO),
        ("camera-lost", Pattern.CAMERA),
        ("keyframe-drift", Pattern.KEYS),
        ("loss-bursts", Pattern.BURSTS),
        ("ghost", Pattern.GONE),
    ],
)
def test_the_pattern_of_each_simulated_fault_is_named(shape: str, pattern: Pattern, seed: int) -> None:
    state = on_air(shape, seed=seed)
    assert state.pattern is pattern
    for finding in state.assessment.findings:
        assert diagnose(finding.kind, state) == PATTERN_DIAGNOSES[pattern], "what a pattern's fault raises, it explains"


@pytest.mark.parametrize(
    ("ingest", "pattern"),
    [
        (IngestState.INTERRUPTED, Pattern.GONE),
        (IngestState.NONE, Pattern.GONE),
        (IngestState.UNKNOWN, Pattern.NONE),  # late or gone: nothing proves that the encoder is disconnected
    ],
)
def test_where_nothing_arrives_the_last_good_samples_explain_nothing(ingest: IngestState, pattern: Pattern) -> None:
    state = on_air("clean")
    gone = Phase(BroadcastState.RECONNECTING, ingest=Ingest(ingest))
    assert pattern_of(gone, state.qos.readings, state.assessment) is pattern


def test_the_pattern_and_not_the_kind_tells_the_cause_where_it_knows_better() -> None:
    overload, network = on_air("encoder-overload"), on_air("starvation")
    assert diagnose("PACKET_LOSS", overload).cause.startswith("Encoder overload")
    assert "line" not in diagnose("PACKET_LOSS", overload).cause, "status 5 says nothing good of the line"
    assert diagnose("VIDEO_STARVED", network).cause.startswith("Network")
    assert diagnose("RESTREAM_DOWN", network) == diagnose("RESTREAM_DOWN")
    assert (
        "key-frame interval to 2 s and turn scene-cut off"
        in diagnose("KEYFRAME_DRIFT", on_air("keyframe-drift")).advice
    )
