"""Limits that a setting changes: in part, by name, and with an error that names the place and the allowed values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from livedeck.monitor import Hold, Share, Thresholds, with_overrides
from livedeck.monitor.model.thresholds import Content

T = Thresholds()


def test_what_is_not_named_stays() -> None:
    assert with_overrides(T, {}) == T
    assert with_overrides(T, {"low_video": 0.6}) == replace(T, low_video=0.6)
    assert with_overrides(T, {"low_hold": {"off": 60}}) == replace(T, low_hold=Hold(3, 15.0, 60.0))
    assert with_overrides(T, {"loss_share": {"hits": 2, "window": 5}}) == replace(T, loss_share=Share(2, 5))
    assert with_overrides(T, {"set_fps": [25, 50]}) == replace(T, set_fps=(25.0, 50.0))
    assert with_overrides(T, {"mute_duty": {"long_spells": 2}}).mute_duty == replace(T.mute_duty, long_spells=2)
    assert with_overrides(T, {"content": "radio"}) == replace(T, content=Content.RADIO)
    assert with_overrides(T, {"fps_curve": [[0, 0], [1, 100]]}) == replace(T, fps_curve=((0.0, 0.0), (1.0, 100.0)))


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"low_vidoe": 1}, "low_vidoe: there is no such threshold; did you mean low_video?"),
        ({"low_hold": {"x": 1}}, "low_hold.x: there is no such threshold; allowed: samples, seconds, off"),
        ({"low_hold": 3}, "low_hold: a table of samples, seconds, off is allowed here, not 3"),
        ({"low_hold": {"samples": 0}}, "low_hold.samples: a whole number from 1 is allowed here, not 0"),
        ({"low_hold": {"samples": 1.5}}, "low_hold.samples: a whole number from 1 is allowed here, not 1.5"),
        ({"low_video": True}, "low_video: a number from 0 to 1e9 is allowed here, not True"),
        ({"low_video": -1}, "low_video: a number from 0 to 1e9 is allowed here, not -1"),
        ({"low_video": float("nan")}, "low_video: a number from 0 to 1e9 is allowed here, not nan"),
        ({"low_video": "70 %"}, "low_video: a number from 0 to 1e9 is allowed here, not '70 %'"),
        ({"start_notice": 1e12}, "start_notice: a number from 0 to 1e9 is allowed here, not 1000000000000.0"),
        ({"set_fps": 25}, "set_fps: a list is allowed here, not 25"),
        ({"set_fps": [25, "50"]}, "set_fps[1]: a number from 0 to 1e9 is allowed here, not '50'"),
        ({"content": "tv"}, "content: one of show, radio, silent, slides, share, camera is allowed here, not 'tv'"),
        ({"mute_duty": {"short_spells": 0}}, "mute_duty.short_spells: a whole number from 1 is allowed here, not 0"),
        ({"fps_curve": [[1, 0], [0, 1]]}, "fps_curve: a list of [ratio, score], the ratios ascending is allowed here"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named_with_what_is_allowed(mapping: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        with_overrides(T, mapping)
