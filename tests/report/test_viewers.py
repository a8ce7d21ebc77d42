"""State of viewers in a report: one round counts until the next, and unseen time counts as nothing."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from livedeck.monitor import Delivery, Picture, Sound, ViewerRound
from livedeck.report.spans import Span, seconds_of
from livedeck.report.viewers import NO_VIEWERS, ViewerFacts, viewer_facts
from report.test_facts import SHOW, at


def rounds(*seconds: float, **fields: Any) -> list[ViewerRound]:
    return [ViewerRound(at(each), "e1", **{"delivery": Delivery.PLAYS, **fields}) for each in seconds]


def facts(*found: list[ViewerRound]) -> ViewerFacts:
    return viewer_facts(sorted(chain(*found), key=lambda each: each.at), (SHOW,))


def test_a_round_stands_for_the_time_to_the_next() -> None:
    found = facts(rounds(*range(0, 100, 10)), rounds(100, 110, delivery=Delivery.GONE), rounds(*range(120, 200, 10)))
    assert found.gone == (Span(at(100), at(120)),)
    assert (found.rounds, seconds_of(found.seen), found.played) == (20, 200.0, 90.0)


def test_a_stretch_without_rounds_counts_as_nothing() -> None:
    found = facts(rounds(0, 10, 20), rounds(600, 610, delivery=Delivery.STALLED), rounds(620))
    assert [(span.since, span.until) for span in found.seen] == [(at(0), at(30)), (at(600), at(630))]
    assert seconds_of(found.stalled) == 20.0
    assert found.played == pytest.approx(100 * 40 / 60)


def test_only_the_time_on_air_counts() -> None:
    found = viewer_facts(rounds(*range(-50, 50, 10), delivery=Delivery.GONE), (Span(at(0), at(25)),))
    assert (found.rounds, found.gone) == (3, (Span(at(0), at(25)),))


def test_picture_sound_latency_and_segments_are_summed() -> None:
    black = rounds(0, 10, picture=Picture.BLACK, latency=6.0, listed=5, missed=1)
    rest = rounds(20, 30, picture=Picture.STILL, sound=Sound.SILENT, latency=14.0, listed=5)
    none = rounds(40, sound=Sound.NONE)
    found = facts(black, rest, none)
    assert [seconds_of(each) for each in (found.black, found.still, found.silent)] == [20.0, 20.0, 30.0]
    assert (found.latency, found.worst_latency, found.missing, found.listed) == (10.0, 14.0, 2, 20)


def test_the_figures_say_from_where_and_how_much_was_seen() -> None:
    found = facts(rounds(*range(0, 600, 10), latency=8.0, listed=5), rounds(600, delivery=Delivery.GONE))
    texts = {name: text for name, text, _ in found.figures((SHOW,))}
    assert texts["seen from here"] == "61 rounds, 10:10 of 20:00 on air"
    assert texts["played"] == "98.36 % of the seen time"
    assert texts["gone"] == "00:10"
    assert texts["latency"] == "median about 8 s, worst 8 s"
    assert texts["missing segments"] == "0 of 300"


def test_without_a_probe_nothing_is_said() -> None:
    assert NO_VIEWERS.figures((SHOW,)) == []
    assert facts([]).figures((SHOW,)) == []
    assert facts([]).played is None
