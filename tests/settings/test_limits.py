"""Limits for all events, for events by name or project, and for one event."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from livedeck.client import Event
from livedeck.monitor import Content, Thresholds
from livedeck.settings import SettingsError, load

LIMITS = """
[thresholds]
low_video = 0.6
low_hold = { seconds = 20 }

[[limits]]
events = ["Radio *"]
content = "radio"
thresholds = { low_video = 0.5, low_hold = { samples = 9 } }

[[limits]]
projects = ["p-halls", "p-yards"]
thresholds = { low_video = 0.4 }

[events."4d2c"]
thresholds = { low_video = 0.3 }
"""


@pytest.mark.parametrize(
    ("event", "low_video", "content", "samples"),
    [
        (Event(id="another"), 0.6, Content.SHOW, 3),
        (Event(id="another", name="radio north"), 0.5, Content.RADIO, 9),
        (Event(id="another", parent_id="p-yards"), 0.4, Content.SHOW, 3),
        (Event(id="another", name="Radio South", parent_id="p-halls"), 0.4, Content.RADIO, 9),
        (Event(id="4d2c", name="Radio West", parent_id="p-halls"), 0.3, Content.RADIO, 9),
        (Event(id="another", name="The Radio North", parent_id="p-hallsx"), 0.6, Content.SHOW, 3),
    ],
    ids=["all", "name", "project", "both: the later wins", "its own id wins", "none"],
)
def test_the_limits_of_an_event_are_those_of_all_of_its_names_and_projects_and_of_its_id_in_this_order(
    bare: Path, event: Event, low_video: float, content: Content, samples: int
) -> None:
    bare.write_text(LIMITS, "utf-8")
    thresholds, usual = load().limits_in_force().of(event), Thresholds()
    hold = replace(usual.low_hold, seconds=20, samples=samples)
    assert thresholds == replace(usual, low_video=low_video, content=content, low_hold=hold)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[thresholds]\ngood = 80\nlow_vidio = 0.6\n", "config.toml:3): low_vidio: there is no such threshold"),
        ('[thresholds]\nlow_video = "low"\n', "config.toml:2): low_video: a number"),
        ("[thresholds]\n[thresholds.low_hold]\nsecond = 1\n", "config.toml:3): low_hold.second: there is no such"),
        ("thresholds = 3\n", "config.toml:1)"),
        (
            '[thresholds.attention]\nbase_url = "https://a.example"\n',
            "thresholds.attention.base_url ({config}:2): not a setting of this section; move it above",
        ),
        (
            '[cadence]\ntoken_file = "token"\n',
            "cadence.token_file ({config}:2): not a setting of this section; move it",
        ),
        ("[events.a.thresholds]\nlow_fps = -1\n", "events.a.thresholds ({config}:2): low_fps: a number"),
        (
            '[[limits]]\nevents = ["a"]\nthresholds = { low_vidio = 1 }\n',
            "{config}:3): low_vidio: there is no such threshold",
        ),
        ('[[limits]]\nevents = ["a"]\n', "{config}:1): sets nothing; add content or thresholds, or remove it"),
        (
            '[[limits]]\ncontent = "radio"\n',
            "{config}:1): fits every event; name events or projects, or use [thresholds]",
        ),
        ('[[limits]]\nevent = ["a"]\n', "{config}:2): no such setting; did you mean events"),
        ("[events.a]\nthreshold = 1\n", "{config}:2): no such setting; did you mean thresholds"),
    ],
)
def test_a_limit_that_cannot_be_is_named_with_its_line(bare: Path, text: str, words: str) -> None:
    bare.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as fault:
        load()
    assert words.format(config=bare) in str(fault.value)
