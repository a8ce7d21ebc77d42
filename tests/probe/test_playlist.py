"""Playlists as values: hostile input, the newest segment, and texts that are no playlist."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Source
from livedeck.probe.playlist import MAX_RUNGS, Master, Media, Part, Unusable, read_playlist

BASE = "https://cdn.example/live/gala/master.m3u8"
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def media(body: str, target: str = "2") -> Media:
    found = read_playlist(f"#EXTM3U\n#EXT-X-TARGETDURATION:{target}\n{body}".encode(), BASE)
    assert isinstance(found, Media)
    return found


def master(body: str) -> Master:
    found = read_playlist(f"#EXTM3U\n{body}".encode(), BASE)
    assert isinstance(found, Master)
    return found


ODD = {
    "a number that is none": "#EXTM3U\n#EXT-X-TARGETDURATION:two\n#EXTINF:2,\na.ts",
    "a date that is none": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PROGRAM-DATE-TIME:today\n#EXTINF:2,\na.ts",
    "a duration that is none": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:nan,\na.ts",
    "a negative duration": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:-4,\na.ts",
    "an endless duration": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1e300,\na.ts",
    "no target": "#EXTM3U\n#EXTINF:2,\na.ts",
    "a target of zero": "#EXTM3U\n#EXT-X-TARGETDURATION:0\n#EXTINF:2,\na.ts",
    "a sequence of 40 digits": f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:{'9' * 40}\n#EXTINF:2,\na.ts",
    "9,000 digits": f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:{'9' * 9000}\n#EXTINF:2,\na",
    "no bandwidth": "#EXTM3U\n#EXT-X-STREAM-INF:PROGRAM-ID=1\na.m3u8",
    "a height that is none": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=wide\na.m3u8",
    "a negative height": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=16x-9\na.m3u8",
    "a negative range": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n#EXT-X-BYTERANGE:-5@-9\na.ts",
    "an init without an address": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:BYTERANGE=1\n#EXTINF:2,\na.ts",
    "only its first line": "#EXTM3U",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_playlist_is_read_or_called_unusable_and_raises_nothing_else(text: str) -> None:
    with suppress(Unusable):
        assert isinstance(read_playlist(text.encode(), BASE), Media | Master)


LINES = st.sampled_from(
    ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXTINF:2,", "a.ts", "#EXT-X-KEY:METHOD=AES-128", "#EXT-X-ENDLIST",
     "#EXT-X-MAP:URI=\"i\"", "#EXT-X-STREAM-INF:BANDWIDTH=1", "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\"", "#EXT-X-PART:",
     "#EXT-X-BYTERANGE:1@2", "#EXT-X-GAP", "#EXT-X-PROGRAM-DATE-TIME:2026-11-29T12:00:00Z", "#EXT-X-DATERANGE:ID=1",
     "#EXT-X-SKIP:SKIPPED-SEGMENTS=3", "#EXT-X-DEFINE:NAME=\"a\"", "\x00", "file:///etc/passwd"]
)  # fmt: skip


@given(st.lists(st.one_of(LINES, st.text(max_size=30)), max_size=60))
def test_no_text_raises_anything_but_unusable(lines: list[str]) -> None:
    with suppress(Unusable):
        read_playlist("\n".join(["#EXTM3U", *lines]).encode(errors="replace"), BASE)


@pytest.mark.parametrize(
    ("body", "source"),
    [
        (b"<!DOCTYPE html><html><body>#EXTM3U</body>", Source.PLAYER_PAGE),
        (b'<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">', Source.DASH),
        (b"not found", Source.NONE),
        (b"", Source.NONE),
        (b"\x1f\x8b\x08\x00", Source.NONE),
    ],
)
def test_a_reply_that_is_no_playlist_is_named(body: bytes, source: Source) -> None:
    with pytest.raises(Unusable) as raised:
        read_playlist(body, BASE)
    assert raised.value.source is source


def test_a_playlist_after_a_byte_order_mark_and_blank_lines_is_one() -> None:
    assert isinstance(read_playlist(b"\xef\xbb\xbf\n#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts", BASE), Media)


def test_the_open_part_of_a_low_latency_playlist_and_a_gap_are_no_head() -> None:
    found = media('#EXTINF:2,\n1.ts\n#EXT-X-GAP\n#EXTINF:2,\n2.ts\n#EXT-X-PART:DURATION=0.5,URI="3.0.ts"\n')
    assert [(segment.number, segment.part.address[-4:]) for segment in found.segments] == [(0, "1.ts")]


def test_a_long_playlist_is_read_as_its_end_alone() -> None:
    """Numbers, times, ranges and initialization of the last segments are those of the whole playlist."""
    head = '#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-MAP:URI="init.mp4"\n#EXT-X-PROGRAM-DATE-TIME:2026-11-29T12:00:00Z\n'
    found = media(head + "\n".join(f"#EXTINF:2,\n{number}.m4s" for number in range(7200)))
    assert len(found.segments) == 30
    newest = found.segments[-1]
    assert newest.number == 7 + 7199
    assert newest.part.address == "https://cdn.example/live/gala/7199.m4s"
    assert newest.end == NOON + timedelta(seconds=14_400)
    assert newest.init == Part("https://cdn.example/live/gala/init.mp4")


def test_ranges_of_one_file_follow_each_other() -> None:
    found = media("#EXTINF:2,\n#EXT-X-BYTERANGE:100@720\na.mp4\n#EXTINF:2,\n#EXT-X-BYTERANGE:50\na.mp4")
    assert [(segment.part.first, segment.part.last) for segment in found.segments] == [(720, 819), (820, 869)]


@pytest.mark.parametrize(("line", "is_encrypted"), [("METHOD=NONE", False), ('METHOD=AES-128,URI="k"', True)])
def test_a_key_makes_a_playlist_encrypted(line: str, is_encrypted: bool) -> None:
    assert media(f"#EXT-X-KEY:{line}\n#EXTINF:2,\na.ts").is_encrypted is is_encrypted


def test_the_lowest_rung_has_a_picture_and_its_sound() -> None:
    found = master(
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",URI="sound.m3u8"\n'
        '#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"\nsound.m3u8\n'
        '#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.4d,mp4a.40.2",AUDIO="a"\nhigh.m3u8\n'
        '#EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=256x144,CODECS="avc1.4d,mp4a.40.2",AUDIO="a"\nlow.m3u8\n'
    )
    assert [rung.name for rung in found.rungs] == ["144p", "360p"]
    assert found.rungs[0].sound == "https://cdn.example/live/gala/sound.m3u8"


@pytest.mark.parametrize(
    ("tracks", "sound", "track"),
    [
        (['NAME="en",URI="en.m3u8"'], "en.m3u8", ""),
        (['NAME="en",URI="en.m3u8"', 'NAME="de",DEFAULT=YES,URI="de.m3u8"'], "de.m3u8", "de, 1 of 2 tracks"),
        (['NAME="en",URI="en.m3u8"', 'NAME="de",AUTOSELECT=YES,URI="de.m3u8"'], "de.m3u8", "de, 1 of 2 tracks"),
        (['NAME="en",URI="en.m3u8"', 'NAME="de",URI="de.m3u8"'], "en.m3u8", "en, 1 of 2 tracks"),
        (['NAME="en",DEFAULT=YES', 'NAME="de",URI="de.m3u8"'], "", "en, 1 of 2 tracks"),
        (['NAME="\x1b[31men",DEFAULT=YES', 'NAME="de",URI="de.m3u8"'], "", "[31men, 1 of 2 tracks"),
    ],
)
def test_the_sound_is_the_one_that_players_take_by_themselves(tracks: list[str], sound: str, track: str) -> None:
    rows = "".join(f'#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",{row}\n' for row in tracks)
    rung = master(f'{rows}#EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=256x144,AUDIO="a"\nlow.m3u8\n').rungs[0]
    assert (rung.sound.removeprefix("https://cdn.example/live/gala/"), rung.track) == (sound, track)


def test_renditions_beyond_the_limit_are_left() -> None:
    rows = "".join(f"#EXT-X-STREAM-INF:BANDWIDTH={number},RESOLUTION=2x2\n{number}.m3u8\n" for number in range(1, 500))
    assert len(master(rows).rungs) == MAX_RUNGS
