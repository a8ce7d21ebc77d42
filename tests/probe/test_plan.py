"""Sources of an address, and the cost of its rounds."""

from __future__ import annotations

import pytest

from livedeck.monitor import Viewed
from livedeck.probe.plan import Cost, Origin, Plan, gigabytes, phases, stretched

EVENT = Viewed("a b/c", "s-1", "https://platform.example/watch/1")
TEMPLATE = "https://cdn.example/live/{event_id}/{stream_id}.m3u8"


@pytest.mark.parametrize(
    ("plan", "text", "origin"),
    [
        (Plan(TEMPLATE, own={"a b/c": "https://own.example/x"}, secret={"a b/c": "https://s.example/y?k=1"}),
         "https://own.example/x", Origin.EVENT),
        (Plan(TEMPLATE, secret={"a b/c": "https://s.example/y?k=1"}), "https://s.example/y?k=1", Origin.FILE),
        (Plan(TEMPLATE, use_play_link=True), "https://cdn.example/live/a%20b%2Fc/s-1.m3u8", Origin.TEMPLATE),
        (Plan(use_play_link=True, platform="https://api.example"), EVENT.link, Origin.LINK),
        (Plan(), "", Origin.NONE),
        (Plan(TEMPLATE, own={"a b/c": "off"}), "", Origin.NONE),
        (Plan(secret={"a b/c": "http://cdn.example/x"}), "", Origin.FILE),
        (Plan(secret={"a b/c": "https://user:word@cdn.example/x"}), "", Origin.FILE),
    ],
)  # fmt: skip
def test_the_strongest_source_gives_the_address(plan: Plan, text: str, origin: Origin) -> None:
    address = plan.address(EVENT)
    assert (address.text, address.origin, bool(address.reason)) == (text, origin, not text)


def test_a_link_of_the_platform_is_judged_by_the_platforms_own_network() -> None:
    """Anyone who can edit an event could name this machine there."""
    plan = Plan(use_play_link=True, platform="https://api.example")
    assert plan.address(EVENT).home == "https://api.example"
    assert plan.address(EVENT._replace(link="http://127.0.0.1:22/")).text == ""


def test_an_event_without_a_stream_has_no_address_of_a_stream() -> None:
    address = Plan(TEMPLATE, use_play_link=True).address(EVENT._replace(stream_id="", link=""))
    assert (address.text, address.reason) == ("", "it has no stream yet")


def test_a_usual_event_costs_about_60_kbit() -> None:
    """A rung of 280 kbit/s, 2 s of each 10 s, is 56 kbit/s; playlists and requests add some."""
    rate = Cost(280_000, target=2.0, playlist_size=800).rate(10.0)
    assert 58_000 < rate < 65_000
    # a playlist, a segment, and 4 segments that are only asked for
    assert Cost(280_000, target=2.0).requests(10.0) == pytest.approx(0.6)
    assert gigabytes(59_000, 24) == pytest.approx(0.64, abs=0.01)


def test_rounds_become_rarer_as_far_as_the_budget_needs() -> None:
    assert stretched(10.0, 1e6, 2e6) == 10.0
    assert stretched(10.0, 5e6, 2e6) == 25.0


def test_rounds_are_spread_evenly_and_keep_their_order() -> None:
    names = [f"event {number}" for number in range(25)]
    found = phases(names)
    assert sorted(found.values()) == [place / 25 for place in range(25)]
    assert found == phases(names[::-1])
    fewer = phases(names[:-1])
    assert sorted(fewer, key=fewer.__getitem__) == [
        name for name in sorted(found, key=found.__getitem__) if name in fewer
    ]
    assert phases([]) == {}
