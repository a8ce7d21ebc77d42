"""Laws of the monitoring plugin `livedeck probe`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from livedeck.monitor import Delivery, Picture, Sound, Source, Thresholds, ViewerState
from livedeck.presentation.check import ServiceState
from livedeck.presentation.viewer_check import check_viewer, viewer_line

PLAYS = ViewerState(source=Source.PLAYLIST, delivery=Delivery.PLAYS, rounds=2, latency=20.0, ratio=0.5)


@pytest.mark.parametrize(("late", "state"), [(30.0, ServiceState.OK), (15.0, ServiceState.WARNING)])
def test_a_late_playlist_is_judged_by_the_limit_of_the_settings(late: float, state: ServiceState) -> None:
    limits = Thresholds(viewer_late=late, viewer_slow=0.7)
    assert check_viewer(PLAYS, limits, is_picture_asked=True) is state
    assert viewer_line(PLAYS, limits, state).endswith(f"| latency=20.0s;{late:g} ratio=0.50;0.7")


def test_a_stalled_playlist_tells_nothing_of_the_picture_that_stopped() -> None:
    stalled = replace(PLAYS, delivery=Delivery.STALLED, latency=54.0, picture=Picture.MOVES, sound=Sound.HEARD)
    line = viewer_line(stalled, Thresholds(), ServiceState.CRITICAL)
    assert line.startswith("VIEWER CRITICAL - stalled, 2 rounds: the newest segment is dated 54 s ago | latency=54.0s")


def test_a_sound_that_is_not_known_is_named() -> None:
    line = viewer_line(replace(PLAYS, picture=Picture.MOVES), Thresholds(), ServiceState.OK)
    assert "picture moves, sound ? |" in line


def test_an_encrypted_playlist_arrives_and_nothing_says_that_it_plays() -> None:
    line = viewer_line(replace(PLAYS, source=Source.ENCRYPTED), Thresholds(), ServiceState.UNKNOWN)
    assert line.startswith("VIEWER UNKNOWN - arrives, 2 rounds: ")
    assert "plays" not in line
