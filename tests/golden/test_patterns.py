"""Each of the eight patterns of monitoring.md, "Fault patterns", is named on its scenario, in words for an operator."""

from __future__ import annotations

import pytest

from golden.player import play
from golden.plays import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "kind", "cause"),
    [
        ("starvation", "VIDEO_STARVED", "Network:"),
        ("sustained-loss", "PACKET_LOSS", "Network:"),
        ("encoder-overload", "FPS_COLLAPSE", "Encoder overload:"),
        ("fps-halving", "FPS_COLLAPSE", "Encoder overload:"),
        ("audio-lost", "AUDIO_LOST", "Audio path:"),
        ("camera-lost", "BLACKOUT", "Camera lost:"),
        ("bitrate-cliff", "PROFILE_CHANGE", "New encoder settings, a still picture, or an encoder that saves bits."),
        ("keyframe-drift", "KEYFRAME_DRIFT", "The key-frame interval is not constant."),
        ("keyframe-drift", "KEYFRAME_SEVERE", "The key-frame interval is not constant."),
        ("loss-bursts", "PACKET_LOSS", "Wireless burst loss:"),
        ("ghost-publisher", "BLACKOUT", "The encoder is disconnected, or connected without sending anything."),
        ("encoder-drop-inside-window", "RECONNECTING", "The encoder was cut off:"),
        ("api-dead", "API_BLIND", "The network works, but the platform does not answer properly."),
    ],
)
def test_the_cause_is_named_and_nothing_takes_it_back(name: str, kind: str, cause: str, seed: int) -> None:
    """A pattern may need several bursts to show; once it is named, an alarm on its way out keeps it."""
    spans = [span for span in play(name, seed).spans if span.kind == kind]
    causes = [diagnosis.cause for span in spans for diagnosis in span.diagnoses]
    assert causes
    assert causes[-1].startswith(cause)
    if name != "loss-bursts":
        assert all(text.startswith(cause) for text in causes)
