"""Thresholds, for all events and for one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from livedeck.monitor import Thresholds
from livedeck.settings import SettingsError, load

LIMITS = """
[thresholds]
low_video = 0.6
low_hold = { seconds = 20 }

[events."4d2c".thresholds]
low_video = 0.3
"""


def test_thresholds_are_set_for_all_and_for_one_event(bare: Path) -> None:
    bare.write_text(LIMITS, "utf-8")
    settings = load()
    usual = Thresholds()
    assert settings.thresholds_of().low_video == settings.thresholds_of("another").low_video == 0.6
    assert settings.thresholds_of().low_hold == replace(usual.low_hold, seconds=20)
    (own,) = settings.event_thresholds().items()
    assert own == ("4d2c", replace(settings.thresholds_of(), low_video=0.3))
    assert own[1] == settings.thresholds_of("4d2c")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[thresholds]\ngood = 80\nlow_vidio = 0.6\n", "config.toml:3): low_vidio: there is no such threshold"),
        ('[thresholds]\nlow_video = "low"\n', "config.toml:2): low_video: a number"),
        ("[thresholds]\n[thresholds.low_hold]\nsecond = 1\n", "config.toml:3): low_hold.second: there is no such"),
        ("thresholds = 3\n", "config.toml:1)"),
        ("[events.a.thresholds]\nlow_fps = -1\n", "events.a.thresholds ({config}:2): low_fps: a number"),
        ("[events.a]\nthreshold = 1\n", "{config}:2): no such setting; did you mean thresholds"),
    ],
)
def test_a_limit_that_cannot_be_is_named_with_its_line(bare: Path, text: str, words: str) -> None:
    bare.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as fault:
        load()
    assert words.format(config=bare) in str(fault.value)
