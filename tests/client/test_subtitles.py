"""Subtitle files that parse are sent unchanged, others are refused by their line; waiting for recognition."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import Recorder, api_of, saying
from client.test_retry import Time, answering
from livedeck.client import FileFault, Incomplete, Invalid
from livedeck.client.resources.cues import Cue, CueSyntaxError, cues_out_of_order, parse

SRT = "1\n00:00:01,000 --> 00:00:02,500\nHello\nall\n\n2\n00:00:03,000 --> 01:00:04,000\n- Bye\n"
VTT = """WEBVTT - a title
Kind: captions

STYLE
::cue { color: red }

NOTE a remark
over two lines

intro
00:01.000 --> 00:02.500 align:start position:0%
Hello
all

00:00:03.000 --> 01:00:04.000
- Bye
"""
CUES = (Cue(1, 2.5, "Hello\nall"), Cue(3, 3604, "- Bye"))


@pytest.mark.parametrize("text", [SRT, VTT])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_both_formats_parse_with_any_line_end_and_with_a_byte_order_mark(text: str, end: str, mark: str) -> None:
    assert parse((mark + text.replace("\n", end)).encode()) == CUES


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "no cue"),
        ("WEBVTT\n", 1, "no cue"),
        ("WEBVTTX\n\n00:01.000 --> 00:02.000\nHello\n", 1, "should be WEBVTT"),
        ("WEBVTT\n00:01.000 --> 00:02.000\nHello\n", 2, "blank line"),
        ("WEBVTT\n\n00:01.000 --> 00:02\nHello\n", 3, "times should look like"),
        ("WEBVTT\n\n00:01,000 --> 00:02,000\nHello\n", 3, "times should look like"),
        ("WEBVTT\n\n00:01.000-->00:02.000\nHello\n", 3, "times should look like"),
        ("WEBVTT\n\n00:99.000 --> 02:02.000\nHello\n", 3, "times should look like"),
        ("WEBVTT\n\n00:02.000 --> 00:01.000\nHello\n", 3, "ends before it begins"),
        ("WEBVTT\n\nHello\n", 3, "is not part of a cue"),
        ("WEBVTT\n\nname\nHello\n", 4, "times should look like"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n00:03.000 --> 00:04.000\nBye\n", 5, "blank line"),
        ("WEBVTT\n\nNOTE\nremark\n00:01.000 --> 00:02.000\nHello\n", 5, "blank line"),
        (SRT + "\nlost\n", 10, "is not part of a cue"),
        (SRT + "\n3\n", 10, "is not part of a cue"),
        ("1\n00:00:01 --> 00:00:02\nHello\n", 2, "times should look like"),
        ("1\n00:00:02,000 --> 00:00:02,000\nHello\n", 2, "ends before it begins"),
        (SRT.replace("Bye", "By\0e"), 8, "zero byte"),
    ],
)
def test_a_line_that_would_be_dropped_in_silence_is_named(text: str, line: int, why: str) -> None:
    with pytest.raises(CueSyntaxError, match=why) as caught:
        parse(text.encode())
    assert caught.value.line == line


def test_text_in_another_encoding_is_named_by_its_line() -> None:
    with pytest.raises(CueSyntaxError, match="line 3: is not UTF-8"):
        parse("1\n00:00:01,000 --> 00:00:02,500\nПривет\n".encode("cp1251"))


@given(st.text("WEBVTT\n\r0123456789:.,-> NOTE\ufeff"))
def test_any_text_is_cues_that_end_after_they_begin_or_a_bad_line(text: str) -> None:
    with suppress(CueSyntaxError):
        assert all(cue.start < cue.end for cue in parse(text.encode()))


async def test_a_file_that_parses_is_sent_as_it_is_in_a_form(tmp_path: Path) -> None:
    """platform-api.md, "Subtitles": the fields language, description and file."""
    file = tmp_path / "track.vtt"
    file.write_bytes(VTT.encode())
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        await api.subtitles.upload("v", "en", "Spoken ж", file)
    sent = platform.bodies[0]
    assert (platform.header("content-type") or "").startswith("multipart/form-data; boundary=")
    assert b'name="language"\r\n\r\nen\r\n' in sent
    assert 'name="description"\r\n\r\nSpoken ж\r\n'.encode() in sent
    assert b'name="file"; filename="track.vtt"' in sent
    assert VTT.encode() in sent


@pytest.mark.parametrize(
    ("content", "language", "field", "limit"),
    [
        (VTT.replace("-->", "->"), "en", "file", "line 11: times should look like"),
        (VTT, "xx", "language", "should be an ISO 639-1 code"),
    ],
)
async def test_a_file_that_does_not_parse_never_leaves(
    content: str, language: str, field: str, limit: str, tmp_path: Path
) -> None:
    file = tmp_path / "track.vtt"
    file.write_text(content)
    platform = saying({"data": {"id": "x"}})
    async with api_of(platform) as api:
        with pytest.raises(Invalid) as caught:
            await api.subtitles.upload("v", language, "", file)
    assert caught.value.field == field
    assert caught.value.limit.startswith(limit)
    assert not platform.requests


async def test_a_file_that_is_not_there_or_too_large_is_named(tmp_path: Path) -> None:
    large = tmp_path / "large.srt"
    large.write_bytes(b" " * (16 * 2**20 + 1))
    async with api_of(saying({})) as api:
        with pytest.raises(FileFault, match="No such file"):
            await api.subtitles.upload("v", "en", "", tmp_path / "none.srt")
        with pytest.raises(FileFault, match="larger than 16 MiB"):
            await api.subtitles.upload("v", "en", "", large)


def track(status: str) -> tuple[int, bytes, dict[str, str]]:
    return 200, f'{{"data": {{"id": "s", "status": "{status}"}}}}'.encode(), {}


async def test_recognition_is_asked_for_until_it_is_pending_no_more() -> None:
    time = Time()
    async with api_of(answering(track("pending"), track("pending"), track("done")), sleep=time.sleep) as api:
        assert (await api.subtitles.wait_done("v", "s", poll_interval=3.0)).status == "done"
    assert time.sleeps == [3.0, 3.0]


async def test_waiting_for_recognition_ends() -> None:
    time = Time()
    async with api_of(answering(track("pending")), sleep=time.sleep) as api:
        with pytest.raises(Incomplete, match="wait for subtitle s: still pending after 9 s"):
            await api.subtitles.wait_done("v", "s", poll_interval=3.0, max_wait=9.0)
    assert time.sleeps == [3.0, 3.0, 3.0]


async def test_a_file_whose_name_is_no_text_is_sent_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"caf\xe9.vtt")
    file.write_text(VTT)
    platform = Recorder({"data": {"id": "s"}})
    async with api_of(platform) as api:
        await api.subtitles.upload("v", "en", "", file)
    assert b'filename="caf?.vtt"' in platform.bodies[0]


def test_times_that_players_show_badly_are_told_by_their_first_line() -> None:
    cues = (Cue(5, 9, "A", 3), Cue(6, 7, "B", 6), Cue(1, 2, "C", 9))
    assert cues_out_of_order(cues) == (
        "the cue in line 9 begins before the previous cue",
        "the cue in line 6 begins before the previous cue ends",
    )
    assert cues_out_of_order(cues, 5)[2:] == ("2 cues begin after the end of the video, the first in line 3",)
    assert cues_out_of_order(cues[:1], 5.5) == ()
