"""A listing and all later changes give the same state as a fresh listing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from collector.worlds import TURNS, World, rows_of
from livedeck.collector.protocol import wire
from livedeck.collector.protocol.wire import Columns, Held, Samples, UnknownSchemaError, appended
from livedeck.monitor import Reading, Readings, Snapshot
from livedeck.monitor.published.codec import Encoded, UnreadableSnapshotError, encode
from livedeck.monitor.published.difference import Values
from livedeck.monitor.signal.series import MAX_SAMPLES
from monitor.recordings import readings, snapshot, ticking

TURN = st.sampled_from(TURNS)


def sent(message: Any) -> Any:
    """Return a message after it was encoded and decoded."""
    return json.decode(json.encode(message))


def listing(encoded: Encoded, samples: int = 60) -> Any:
    """Return the listing for a reader that asks now."""
    rows = wire.newest(encoded.snapshot.events, samples)
    return sent(wire.Listing(schema=wire.SCHEMA, id="a-1", now=0, values=encoded.values, samples=rows, by="", may=""))


def without_samples(snapshot: Snapshot) -> Values:
    """Return the values of a snapshot without its samples."""
    events = (replace(state, qos=replace(state.qos, readings=Readings())) for state in snapshot.events)
    return encode(replace(snapshot, events=tuple(events))).values


def rounded(rows: Readings) -> list[Reading]:
    """Return samples with their times rounded to milliseconds, as on the wire."""
    return [row._replace(time=round(row.time * 1000) / 1000) for row in rows_of(rows)]


def assert_same(held: Held, encoded: Encoded, samples: int) -> None:
    """Check that both have the same snapshot, with at least `samples` of the newest samples, and no others."""
    assert held.last.values == sent(encoded.values)
    assert {*held.samples} <= {state.id for state in encoded.snapshot.events}, "nothing is held of what is gone"
    assert without_samples(held.snapshot) == without_samples(encoded.snapshot)
    for mine, its in zip(held.snapshot.events, encoded.snapshot.events, strict=True):
        known, true = rows_of(mine.qos.readings), rounded(its.qos.readings)
        assert len(known) >= min(samples, len(true))
        count = min(len(known), len(true))
        assert known[len(known) - count :] == true[len(true) - count :]


@given(st.integers(0, 99), st.sampled_from([2.0, 0.0007]), st.lists(st.lists(TURN, max_size=4), max_size=9))
def test_a_listing_and_what_came_after_it_are_a_fresh_listing(seed: int, step: float, history: list[list[str]]) -> None:
    world, samples = World(seed, step=step), seed % 7
    before = encode(world.snapshot())
    readers = [Held.listed(listing(before, samples))]
    for turns in history:
        for turn in turns:
            world.turn(turn)
        after = encode(world.snapshot(), before)
        delta = sent(wire.delta(before, after))
        readers = [held.changed({**delta, "weather": "what a later version adds"}) for held in readers]
        readers.append(Held.listed({**listing(after, samples), "weather": 1}))
        for held in readers:
            assert_same(held, after, samples)
        before = after


def test_only_what_is_new_crosses() -> None:
    rows = ticking(300)
    before = encode(snapshot({"one": readings(rows[:299]), "two": readings(rows)}))
    known = before.snapshot.events[1]
    now = snapshot({"one": readings(rows), "two": readings(rows)}, at=2)
    now = replace(now, events=(now.events[0], known))
    delta = wire.delta(before, encode(now, before))
    assert list(delta["samples"]) == ["one"]
    assert delta["samples"]["one"]["v"] == [rows[-1].video]
    assert delta["samples"]["one"]["after"] == rows[-2].time * 1000


def test_what_is_missing_is_null_and_zero_is_zero() -> None:
    rows = [Reading(10.0, None, 0.0, None, None), Reading(11.5, 0.0, None, 29.97, 0)]
    assert wire.columns("s", readings(rows)) == {
        "stream": "s",
        "after": None,
        "t0": 10_000,
        "dt": [1500],
        "v": [None, 0],
        "a": [0, None],
        "f": [None, 29.97],
        "s": [None, 0],
    }


def test_no_more_samples_are_held_than_the_monitor_keeps() -> None:
    held = appended(None, wire.columns("s", readings(ticking(MAX_SAMPLES))))
    news = wire.columns("s", readings(ticking(5, start=2.0 * MAX_SAMPLES)), after=10**15)
    held = appended(held, news)
    assert len(held.readings) == MAX_SAMPLES
    assert rows_of(held.readings)[-5:] == ticking(5, start=2.0 * MAX_SAMPLES)


def test_what_did_not_change_is_not_made_anew() -> None:
    rows = ticking(9)
    before = encode(snapshot({"one": readings(rows[:8]), "two": readings(rows)}))
    now = snapshot({"one": readings(rows), "two": readings(rows)}, at=2)
    after = encode(replace(now, events=(now.events[0], before.snapshot.events[1])), before)
    held = Held.listed(listing(before))
    later = held.changed(sent(wire.delta(before, after)))
    assert later.snapshot.events[1] is held.snapshot.events[1]
    assert later.snapshot.events[0].event is held.snapshot.events[0].event
    assert later.snapshot.events[0] is not held.snapshot.events[0]


def test_another_schema_is_refused_with_what_to_do() -> None:
    known = listing(encode(snapshot({"one": readings(ticking(3))})))
    with pytest.raises(UnknownSchemaError, match="COLLECTOR SPEAKS SCHEMA 2: upgrade this deck"):
        Held.listed({**known, "schema": 2})
    with pytest.raises(UnreadableSnapshotError, match="not a collector's listing"):
        Held.listed({"weather": "fine"})


ROWS: Columns = {"stream": "s", "after": None, "t0": 1, "dt": [], "v": [1], "a": [1], "f": [1], "s": [0]}


@pytest.mark.parametrize(
    "spoilt", [{"v": []}, {"v": ["fast"]}, {"s": [2**70]}, {"dt": ["soon"]}, {"after": "never"}, {"t0": None}], ids=str
)
def test_samples_that_are_none_are_refused_and_nothing_is_lost(spoilt: dict[str, Any]) -> None:
    held = Held.listed(listing(encode(snapshot({"one": readings(ticking(3))}))))
    rows = {**ROWS, "stream": "stream-one", **spoilt}
    with pytest.raises(UnreadableSnapshotError):
        held.changed({"values": {}, "samples": {"one": rows}})
    assert rows_of(held.snapshot.events[0].qos.readings) == ticking(3)


def test_another_stream_begins_with_nothing() -> None:
    held = Samples("before", readings(ticking(3)))
    assert len(appended(held, {**ROWS, "after": 10**15}).readings) == 1
