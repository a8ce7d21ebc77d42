"""Evidence of a round: the state of viewers follows from the findings alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from livedeck.monitor import Delivery, Picture, Sound, Source
from livedeck.probe.playlist import Media, Part, Rung, Segment
from livedeck.probe.rounds import Found, Memory, begin, step
from livedeck.probe.sight import Sight

START = datetime(2026, 11, 29, 12, tzinfo=UTC)
RUNGS = (Rung("low", 280_000, height=144), Rung("high", 2_800_000, height=720))
GRAY = bytes([128]) * (64 * 36)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def playing(seconds: float, head: int, **more: object) -> Found:
    """Return a round that found this head; its segments take 2 s, and the encoder is 6 s ahead of the round."""
    segment = Segment(head, Part("a.ts"), 2.0, at(seconds - 8))
    media = Media(2.0, (segment,), bool(more.pop("is_ended", False)), bool(more.pop("is_encrypted", False)))
    return Found(at(seconds), media=media, rungs=RUNGS, has_read_master=True, **more)  # type: ignore[arg-type]


def gone(seconds: float, fault: str = "HTTP 404", **more: object) -> Found:
    return Found(at(seconds), fault=fault, source=more.pop("source", Source.NONE), **more)  # type: ignore[arg-type]


def after(*found: Found, is_sure: bool = True) -> Memory:
    memory = begin("cdn.example", is_sure=is_sure)
    for one in found:
        memory = step(memory, one)
    return memory


def test_an_event_plays_from_the_round_in_which_its_head_moved() -> None:
    first = after(playing(0, 10)).viewer
    second = after(playing(0, 10), playing(10, 15)).viewer
    assert (first.delivery, first.source, first.advances) == (Delivery.UNKNOWN, Source.PLAYLIST, 0)
    assert (second.delivery, second.advances, second.rounds) == (Delivery.PLAYS, 1, 2)
    assert (second.since, second.as_of, second.latency, second.rungs) == (at(10), at(10), 6.0, (144, 720))


def test_a_head_dated_in_the_future_says_nothing_about_the_delay() -> None:
    segment = Segment(11, Part("a.ts"), 2.0, at(3600))
    ahead = Found(at(10), media=Media(2.0, (segment,)), rungs=RUNGS, has_read_master=True)
    viewer = after(playing(0, 10), ahead).viewer
    assert (viewer.delivery, viewer.head_time, viewer.latency) == (Delivery.PLAYS, at(3602), None)


@pytest.mark.parametrize(("seconds", "delivery"), [(2.9, Delivery.PLAYS), (3.1, Delivery.STALLED)])
def test_a_head_that_stands_for_one_and_a_half_targets_is_stalled(seconds: float, delivery: Delivery) -> None:
    viewer = after(playing(0, 10), playing(10, 15), playing(10 + seconds, 15)).viewer
    assert (viewer.delivery, viewer.advances) == (delivery, 0)


def test_a_head_that_goes_on_ends_a_stall_also_after_a_restart_from_zero() -> None:
    assert after(playing(0, 10), playing(10, 10), playing(20, 15)).viewer.delivery is Delivery.PLAYS
    restarted = after(playing(0, 900), playing(10, 905), playing(20, 1), playing(30, 6))
    assert restarted.viewer.delivery is Delivery.PLAYS


def test_no_playlist_is_gone_and_the_next_one_plays() -> None:
    lost = after(playing(0, 10), playing(10, 15), gone(20), gone(30))
    assert (lost.viewer.delivery, lost.viewer.since, lost.viewer.error) == (Delivery.GONE, at(20), "HTTP 404")
    assert lost.master_at is None
    back = step(lost, playing(40, 30))
    assert (back.viewer.delivery, back.viewer.error) == (Delivery.PLAYS, "")


def test_a_page_is_a_fault_only_where_a_playlist_was() -> None:
    page = gone(0, "a player page", source=Source.PLAYER_PAGE)
    wrong = after(page).viewer
    assert (wrong.source, wrong.delivery) == (Source.PLAYER_PAGE, Delivery.UNKNOWN)
    fault = after(playing(0, 10), gone(10, "a player page", source=Source.PLAYER_PAGE)).viewer
    assert (fault.source, fault.delivery) == (Source.PLAYLIST, Delivery.GONE)
    assert fault.error == "a page in place of the playlist", "the address is right, so nobody must set another"
    assert after(gone(0)).viewer.delivery is Delivery.GONE
    assert after(gone(0), is_sure=False).viewer.delivery is Delivery.UNKNOWN


def test_a_refused_address_proves_nothing_about_viewers() -> None:
    viewer = after(playing(0, 10), playing(10, 15), gone(20, "not sent", is_refused=True)).viewer
    assert (viewer.delivery, viewer.error) == (Delivery.UNKNOWN, "not sent")


def test_a_round_that_the_host_put_off_changes_nothing() -> None:
    before = after(playing(0, 10), playing(10, 15))
    assert step(before, gone(20, is_held=True)) is before


@pytest.mark.parametrize(("ratio", "delivery"), [(0.8, Delivery.PLAYS), (0.81, Delivery.SLOW)])
def test_a_fetch_near_the_time_of_its_media_is_slow(ratio: float, delivery: Delivery) -> None:
    assert after(playing(0, 10), playing(10, 15, ratio=ratio)).viewer.delivery is delivery


def test_the_end_and_encryption_are_said() -> None:
    assert after(playing(0, 10), playing(10, 15, is_ended=True)).viewer.delivery is Delivery.ENDED
    hidden = after(playing(0, 10), playing(10, 15, is_encrypted=True)).viewer
    assert (hidden.source, hidden.delivery, hidden.picture) == (Source.ENCRYPTED, Delivery.PLAYS, Picture.UNKNOWN)


def test_missing_segments_count_and_are_those_of_the_last_round() -> None:
    memory = after(playing(0, 10, listed=1), playing(10, 15, listed=5, missing=("segment 15: HTTP 404",)))
    assert (memory.viewer.missing, memory.viewer.listed, memory.viewer.missed) == (("segment 15: HTTP 404",), 6, 1)
    assert step(memory, playing(20, 20, listed=5)).viewer.missing == ()


def test_a_rung_that_is_apart_stays_so_until_it_is_compared_again() -> None:
    memory = after(playing(0, 10), playing(10, 15, apart={"720p": "720p is 5 segments behind"}), playing(20, 20))
    assert memory.viewer.apart == ("720p is 5 segments behind",)
    assert step(memory, playing(30, 25, apart={"720p": ""})).viewer.apart == ()


def test_a_picture_is_compared_with_the_one_before() -> None:
    """One key frame alone cannot show whether the picture moves; noise of a camera and a small clock both move it."""
    clock = GRAY[:100] + bytes([200, 200]) + GRAY[102:]
    noise = bytes(128 + place % 2 for place in range(len(GRAY)))
    expected = {"the same": (GRAY, Picture.STILL), "clock": (clock, Picture.MOVES), "noise": (noise, Picture.MOVES)}
    for cells, picture in expected.values():
        memory = after(playing(0, 10, sight=Sight(cells=GRAY)), playing(10, 15, sight=Sight(cells=cells)))
        assert (memory.viewer.picture, memory.viewer.picture_since) == (picture, at(10))


def test_black_and_silence_last_from_their_first_round() -> None:
    dark = Sight(Picture.BLACK, Sound.SILENT, jpeg=b"dark")
    lit = Sight(Picture.MOVES, Sound.HEARD, jpeg=b"lit")
    viewer = after(*(playing(10 * place, 10 + place, sight=[lit, dark, dark][place]) for place in range(3))).viewer
    assert (viewer.picture, viewer.picture_since, viewer.sound, viewer.sound_since) == (
        Picture.BLACK, at(10), Sound.SILENT, at(10),
    )  # fmt: skip
    assert viewer.image_at == at(20)


def test_sound_apart_is_that_of_its_own_segment_alone() -> None:
    rungs = (Rung("low", 280_000, height=144, sound="sound"),)
    picture = Sight(Picture.MOVES, Sound.NONE)
    found = replace(playing(0, 10, sight=picture, sound_sight=Sight(sound=Sound.HEARD, loudness=-20.0)), rungs=rungs)
    viewer = after(found).viewer
    assert (viewer.picture, viewer.sound, viewer.loudness) == (Picture.MOVES, Sound.HEARD, -20.0)
    without_picture = Sight(sound=Sound.HEARD, error="picture unknown: the segment has no picture")
    assert after(replace(found, sound_sight=without_picture)).viewer.error == ""
    not_asked = replace(playing(10, 15, sight=picture), rungs=rungs)
    viewer = after(found, not_asked).viewer
    assert (viewer.sound, viewer.sound_since, viewer.loudness) == (Sound.HEARD, at(0), -20.0)
    gone = replace(playing(10, 15, sight=picture, sound_sight=Sight()), rungs=rungs)
    viewer = after(found, gone).viewer
    assert (viewer.picture, viewer.sound, viewer.loudness) == (Picture.MOVES, Sound.UNKNOWN, None)
