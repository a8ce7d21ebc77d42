"""Published snapshots are stored whole and small, by name, and come back; secrets are never stored."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.client import Event, Room, Shortfall
from livedeck.monitor import (
    ROOM_LIST,
    ActionKind,
    AlarmAction,
    AlarmKey,
    AlarmRefused,
    BroadcastState,
    CachedList,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    History,
    PastError,
    Phase,
    Playback,
    QosState,
    Severity,
    Snapshot,
)
from livedeck.monitor.history.maintenance import verify
from livedeck.monitor.published.codec import UnreadableSnapshotError, decode, encode
from livedeck.monitor.published.difference import Values, apply, diff
from monitor.recordings import NOW, readings, snapshot, ticking
from virtual_clock import VirtualClock

NAMES = st.sampled_from(["a", "b", "set", "in", "gone", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_a_difference_makes_the_later_value_of_the_earlier(before: Values, after: Values) -> None:
    assert apply(diff(before, after), before) == after
    assert (diff(before, after) == {}) == (before == after)
    assert apply({"later": 1, **diff(before, after)}, before) == after, "what a later version adds is ignored"


def test_what_a_list_lacks_is_published_with_it_and_nothing_more_where_it_lacks_nothing() -> None:
    whole = replace(snapshot({}), lists={ROOM_LIST: CachedList((Room(id="r"),))})
    parts = replace(whole, shortfall=Shortfall(20, 300), lists={ROOM_LIST: CachedList(shortfall=Shortfall())})
    for published in (whole, parts):
        restored = decode(encode(published).values)
        assert restored.shortfall == published.shortfall
        assert restored.rooms.shortfall == published.rooms.shortfall
    assert "shortfall" not in str(encode(whole).values), "which programs of before need not know"


CANARY = "CANARY7"

EVENT: dict[str, Any] = {
    "id": "one",
    "name": "Show",
    "streamkey": f"{CANARY}-key",
    "rtmp_link": f"rtmp://ingest.example/live/{CANARY}-key",
    "play_link": f"https://play.example/{CANARY}",
    "restreams": [{"id": "r", "name": "Out", "url": f"rtmp://out.example/{CANARY}", "key": CANARY, "enabled": True}],
    "poster": {"id": "p", "md": f"https://cdn.example/p.jpg?sign={CANARY}", "active": True},
    "unheard_of": CANARY,
    "stream": {"id": "s", "status": "live", "token": CANARY},
}
ROOM: dict[str, Any] = {
    "id": "room",
    "name": "Council",
    "link": f"https://meet.example/{CANARY}",
    "code": CANARY,
    "restreams": [{"id": "x", "url": f"rtmp://out.example/{CANARY}", "stream_key": CANARY, "service": "custom"}],
}


def full_of_secrets() -> Snapshot:
    """Return a snapshot of an event and a room with secrets in every field that may have one, and in words."""
    event, room = Event.model_validate(EVENT), Room.model_validate(ROOM)
    state = EventState(
        event, NOW, Phase(BroadcastState.ON_AIR), QosState(error=f"refused {CANARY}-key"), HealthAssessment()
    )
    link = ConnectionStatus(ConnectionState.FAILING, NOW, reason=f"GET https://a.example/?token={CANARY} failed")
    lists: dict[Any, CachedList[Any]] = {ROOM_LIST: CachedList((room,), NOW)}
    return Snapshot(1, NOW, link, (state,), lists=lists)


def test_nothing_secret_is_among_the_values() -> None:
    values = encode(full_of_secrets()).values
    assert CANARY not in str(values)
    assert decode(values).events[0].event.name == "Show"
    assert decode(values).rooms.items[0].name == "Council"


def test_a_name_that_is_not_known_is_ignored_and_another_version_refused() -> None:
    values = encode(snapshot({"one": readings(ticking(3))})).values
    event = {**values["events"]["one"], "mood": "good"}
    assert decode({**values, "events": {"one": event}, "weather": 1}).events[0].id == "one"
    with pytest.raises(UnreadableSnapshotError, match="version 2"):
        decode({**values, "version": 2})


def test_what_is_the_same_object_is_not_made_into_values_again() -> None:
    before = encode(shown := snapshot({"one": readings(ticking(3)), "two": readings(ticking(3))}))
    two = replace(shown.events[1], is_stale=True)
    after = encode(replace(shown, events=(shown.events[0], two)), before)
    assert after.values["events"]["one"] is before.values["events"]["one"]
    assert after.values["events"]["two"]["is_stale"]


async def kept(path: Path, *snapshots: Snapshot, retention_days: float = 30) -> None:
    """Write a history in which these snapshots were published."""
    history = await History.open(path, snapshots[0].at, retention_days=retention_days)
    for one in snapshots:
        await history.append(one)
        await history.flush()
    for _ in range(9):  # a step of pruning each
        await history.mark("a", snapshots[-1].at)
    await history.close()


async def travelled(path: Path, seconds: float) -> Snapshot:
    """Return the snapshot of a moment as shown an hour later."""
    playback = await Playback.open(path, VirtualClock(NOW + timedelta(hours=1)), NOW + timedelta(seconds=seconds))
    try:
        return playback.snapshot
    finally:
        await playback.close()


async def test_a_sample_that_came_later_is_not_shown_though_it_is_older(tmp_path: Path) -> None:
    rows = ticking(10)
    known = [*rows[:4], *rows[5:8]]
    await kept(tmp_path / "h", snapshot({"one": readings(known)}), snapshot({"one": readings(rows[:9])}, at=10))
    before, after = await travelled(tmp_path / "h", 5), await travelled(tmp_path / "h", 10)
    assert list_of(before) == known
    assert list_of(after) == rows[:9]


def list_of(shown: Snapshot) -> list[Any]:
    """Return the samples of the snapshot's only event."""
    found = shown.events[0].qos.readings
    return [found[index] for index in range(len(found))]


async def test_what_has_rotted_is_as_if_it_had_not_been_published(tmp_path: Path) -> None:
    states = [snapshot({name: readings(ticking(3)) for name in "abc"[: index + 1]}, at=index) for index in range(3)]
    await kept(tmp_path / "h", *states)
    with closing(sqlite3.connect(tmp_path / "h")) as db:
        db.execute("UPDATE published SET body = x'00' WHERE part = 2")
        db.commit()
    assert len((await travelled(tmp_path / "h", 2)).events) == 2


async def test_parts_that_build_on_an_unreadable_one_are_counted_with_it(tmp_path: Path) -> None:
    states = [snapshot({name: readings(ticking(3)) for name in "abc"[: index + 1]}, at=index) for index in range(3)]
    await kept(tmp_path / "h", *states, snapshot({"a": readings(ticking(3))}, at=86_400))
    assert verify(tmp_path / "h").is_sound
    for part, count in ((2, 1), (1, 2), (0, 3)):
        with closing(sqlite3.connect(tmp_path / "h")) as db, db:
            first = "segment = (SELECT min(segment) FROM published)"
            db.execute(f"UPDATE published SET body = x'00' WHERE part = ? AND {first}", [part])
        assert verify(tmp_path / "h").rotten == {"published": count}


async def test_of_two_snapshots_of_one_moment_the_later_is_shown(tmp_path: Path) -> None:
    await kept(tmp_path / "h", *(snapshot({name: readings(ticking(3)) for name in names}) for names in ("a", "ab")))
    assert len((await travelled(tmp_path / "h", 0)).events) == 2


async def test_a_part_that_is_older_than_its_segment_is_not_shown(tmp_path: Path) -> None:
    states = [snapshot({name: readings(ticking(3)) for name in "abc"[: index + 1]}, at=index) for index in range(3)]
    await kept(tmp_path / "h", *states)
    with closing(sqlite3.connect(tmp_path / "h")) as db, db:
        db.execute("UPDATE published SET at = at - 3600000000 WHERE part = 2")
    shown = await travelled(tmp_path / "h", 2)
    assert (len(shown.events), shown.at) == (2, NOW + timedelta(seconds=1))


async def test_the_differences_of_a_segment_are_read_up_to_64_mebibytes_and_no_byte_more(tmp_path: Path) -> None:
    """Whatever its whole part takes."""
    each, count = 4 * 2**20, 16
    await kept(tmp_path / "h", snapshot({"a": readings(ticking(3))}), snapshot({"a": readings(ticking(4))}, at=1))
    with closing(sqlite3.connect(tmp_path / "h")) as db, db:
        ((segment, body),) = db.execute("SELECT segment, body FROM published WHERE part = 0").fetchall()
        dictionary = zlib.decompress(body)[-32_768:]
        for part in range(1, count + 2):
            text = (b'{"in":{"head":{"set":{"seq":%d}}}}' % part).ljust(each if part <= count else 0)
            packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=dictionary)
            row = (segment, part, int((NOW.timestamp() + part) * 1e6), 0, packer.compress(text) + packer.flush())
            db.execute(
                "INSERT OR REPLACE INTO published (segment, part, at, is_news, body) VALUES (?, ?, ?, ?, ?)", row
            )
    assert (await travelled(tmp_path / "h", count + 1)).seq == count
    assert verify(tmp_path / "h").rotten == {"published": 1}


async def test_what_would_unpack_without_end_is_not_unpacked(tmp_path: Path) -> None:
    await kept(tmp_path / "h", snapshot({"a": readings(ticking(3))}))
    bomb = zlib.compress(b'{"a":"' + b"x" * (65 * 2**20) + b'"}', 9)
    with closing(sqlite3.connect(tmp_path / "h")) as db:
        db.execute("UPDATE published SET body = ?", [bomb])
        db.commit()
    with pytest.raises(PastError, match="nothing recorded"):
        await travelled(tmp_path / "h", 1)


async def test_what_is_older_than_the_retention_goes_with_the_rest(tmp_path: Path) -> None:
    days = [snapshot({"a": readings(ticking(3))}, at=86_400 * day) for day in range(5)]
    await kept(tmp_path / "h", *days, retention_days=1.5)
    with closing(sqlite3.connect(tmp_path / "h")) as db:
        assert db.execute("SELECT count(*) FROM published").fetchall() == [(2,)]


async def test_the_past_takes_no_answer_and_says_what_it_has(tmp_path: Path) -> None:
    clock = VirtualClock(NOW + timedelta(hours=1))
    with pytest.raises(PastError, match="history"):
        await Playback.open(tmp_path / "nothing", clock)
    await kept(tmp_path / "h", snapshot({"a": readings(ticking(3))}))
    playback = await Playback.open(tmp_path / "h", clock)
    with pytest.raises(AlarmRefused, match="past"):
        await playback.acknowledge(AlarmKey("a", "BLACKOUT"))
    with pytest.raises(PastError, match="begins at 2026-03-01 12:00:00Z"):
        await playback.jump(NOW - timedelta(seconds=1))
    with pytest.raises(PastError, match="in the future"):
        await playback.jump(NOW + timedelta(hours=2))
    assert playback.moment == NOW
    await playback.close()


async def test_the_past_plays_at_its_own_pace_and_steps_to_what_happened(tmp_path: Path) -> None:
    clock = PassingClock(NOW + timedelta(hours=1))
    states = [snapshot({name: readings(ticking(3)) for name in "ab"[: 1 + index // 5]}, at=index) for index in range(9)]
    await kept(tmp_path / "h", *states)
    playback = await Playback.open(tmp_path / "h", clock, NOW)
    assert await playback.step(1)
    assert (playback.moment, len(playback.snapshot.events)) == (NOW + timedelta(seconds=5), 2)
    assert await playback.step(-1)
    assert playback.moment == NOW
    assert not await playback.step(-1)
    feed = playback.snapshots()
    assert (await anext(feed)).at == NOW
    playback.play(4)
    assert (await anext(feed)).at == NOW + timedelta(seconds=1)
    assert (playback.moment, clock.monotonic()) == (NOW + timedelta(seconds=1), 0.25)
    await feed.aclose()
    await playback.close()


class PassingClock(VirtualClock):
    """Clock whose sleeps end at once, because a thread reads the file and no turn of the loop shows that."""

    async def sleep(self, seconds: float) -> None:
        self._tick += seconds


async def test_a_history_is_asked_for_nothing_that_came_later(tmp_path: Path) -> None:
    await kept(
        tmp_path / "h", snapshot({"one": readings(ticking(100))}), snapshot({"one": readings(ticking(400))}, at=600)
    )
    late, key = NOW + timedelta(seconds=600), AlarmKey("one", "BLACKOUT")
    written = await History.open(tmp_path / "h", late)
    written.record_alarm_action(
        AlarmAction("1", key, NOW, ActionKind.NOTE, late, "ana@desk:1", Severity.WARNING, reason="x")
    )
    await written.close()
    playback = await Playback.open(tmp_path / "h", VirtualClock(NOW + timedelta(hours=1)), NOW + timedelta(seconds=200))
    history = playback.history
    assert (await history.markers("a"), await history.answer_log(NOW)) == ((), ())
    (stream,) = await history.streams("one")
    assert (stream.samples, stream.last) == (100, NOW + timedelta(seconds=198))
    for columns in (4, 800):  # gathered from minutes, and from samples
        buckets = await history.series("one", "stream-one", NOW.timestamp(), NOW.timestamp() + 800, columns)
        assert sum(buckets.count) == 100
    await playback.jump(NOW + timedelta(seconds=600))
    assert (await history.streams("one"))[0].samples == 400
    assert (len(await history.markers("a")), len(await history.answer_log(NOW))) == (9, 1)
    await playback.close()


async def test_the_retention_deletes_whole_segments_so_that_a_whole_file_has_no_unreadable_snapshot(
    tmp_path: Path,
) -> None:
    path = tmp_path / "deck.sqlite"
    history = await History.open(path, NOW, retention_days=1)
    for minute in range(25):
        await history.append(snapshot({"one": readings(ticking(2, start=60 * minute))}, 60 * minute))
    await history.close()
    later = NOW + timedelta(days=1, minutes=15)
    history = await History.open(path, later, retention_days=1)
    for step in range(20):  # a tick deletes a part
        await history.append(snapshot({}, (later - NOW).total_seconds() + step))
        await history.flush()
    await history.close()
    with closing(sqlite3.connect(path)) as db:
        first = [part for (part,) in db.execute("SELECT min(part) FROM published GROUP BY segment")]
        ((count,),) = db.execute("SELECT count(*) FROM published")
    assert (set(first), count < 45) == ({0}, True)
    assert verify(path).rotten == {}
