"""RTMP receiver without a socket: values, chunks, sessions, recorded encoders, and invalid bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from livedeck.simulator.ingest import amf
from livedeck.simulator.ingest.chunks import AUDIO, COMMAND, MAX_CHUNK_STREAMS, VIDEO, ChunkReader, Message
from livedeck.simulator.ingest.errors import ProtocolError
from livedeck.simulator.ingest.session import Ended, Event, Media, Publish, Reply, Session
from simulator import rtmp

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.rtmp"))


def messages(data: bytes, piece: int | None = None) -> list[Message]:
    reader, step = ChunkReader(), piece or len(data)
    return [found for start in range(0, len(data), step) for found in reader.feed(data[start : start + step])]


def events(session: Session, data: bytes) -> Iterator[Event]:
    """Feed the session, and admit every publisher. Yields its events."""
    for event in session.feed(data):
        yield event
        if isinstance(event, Publish):
            yield session.accept()


def media_of(data: bytes) -> list[Media]:
    return [event for event in events(Session(), data) if isinstance(event, Media)]


def test_a_reader_says_whether_a_message_has_arrived_in_part() -> None:
    data = rtmp.frame(0, 200) + rtmp.sound(40)
    ends = {len(rtmp.frame(0, 200)), len(data)}
    reader = ChunkReader()
    for end in range(1, len(data) + 1):
        assert len([*reader.feed(data[end - 1 : end])]) == (end in ends)
        assert reader.is_within_message is (end not in ends)


@pytest.mark.parametrize("value", [0.0, -1.5, True, False, "", "живой", None, {}, {"a": {"b": "c"}, "d": 1.0}])
def test_a_value_survives(value: object) -> None:
    assert amf.decode(amf.encode(value)) == [value]


def test_every_kind_of_value_is_read() -> None:
    number = b"\0" + bytes(8)
    assert amf.decode(b"\x08\0\0\0\x09\0\1a" + number + b"\0\0\x09") == [{"a": 0.0}]
    assert amf.decode(b"\x0a\0\0\0\2" + number + b"\1\1") == [[0.0, True]]
    assert amf.decode(b"\x0b" + bytes(10) + b"\x0c\0\0\0\1x" + b"\x0d\6\5") == [0.0, "x", None, None, None]
    assert amf.decode(b"\x10\0\1c\0\0\x09") == [{}]


@pytest.mark.parametrize(
    "data",
    [
        b"\2\0\5abc",
        b"\0\0",
        b"\7",
        b"\3\0\1a",
        b"\x0a\0\0\x10\0",
        b"\x0a\0\0\0\1" * 10 + b"\5",
        b"\3" + b"\0\1a\5" * 1001 + b"\0\0\x09",
        b"\5" * 1001,
    ],
)
def test_broken_or_huge_values_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        amf.decode(data)


@pytest.mark.parametrize("chunk_size", [1, 127, 128, 4096, 65536])
@pytest.mark.parametrize("piece", [1, 7, None])
def test_messages_of_every_chunk_size_are_joined_however_they_arrive(chunk_size: int, piece: int | None) -> None:
    size = 300 if piece == 1 else 9_000 if chunk_size == 1 else 70_000
    data = rtmp.set_chunk_size(chunk_size)
    data += rtmp.media(VIDEO, 40, rtmp.KEY_FRAME + bytes(size), chunk_size) + rtmp.media(
        AUDIO, 41, b"\xaf\1x", chunk_size
    )
    video, audio = messages(data, piece)
    assert (video.kind, video.timestamp, video.size, video.body) == (VIDEO, 40, size + 5, rtmp.KEY_FRAME + bytes(11))
    assert (audio.kind, audio.timestamp, audio.size, audio.body) == (AUDIO, 41, 3, b"\xaf\1x")


def test_each_form_of_a_head_leaves_out_what_stays() -> None:
    whole = bytes([6]) + (1000).to_bytes(3, "big") + (2).to_bytes(3, "big") + bytes([VIDEO, 1, 0, 0, 0])
    same_stream = bytes([0x46]) + (40).to_bytes(3, "big") + (1).to_bytes(3, "big") + bytes([VIDEO])
    same_size = bytes([0x86]) + (33).to_bytes(3, "big")
    found = messages(whole + b"ab" + same_stream + b"c" + same_size + b"d" + bytes([0xC6]) + b"e")
    assert [(row.timestamp, row.size, row.stream, row.body) for row in found] == [
        (1000, 2, 1, b"ab"),
        (1040, 1, 1, b"c"),
        (1073, 1, 1, b"d"),
        (1106, 1, 1, b"e"),
    ]


@pytest.mark.parametrize("number", [2, 63, 64, 319, 320, 65599])
def test_every_number_of_a_chunk_stream_is_read(number: int) -> None:
    rest = number - 64
    basic = bytes([number]) if number < 64 else bytes([0, rest]) if rest < 256 else bytes([1, rest & 255, rest >> 8])
    head = basic + bytes(3) + (200).to_bytes(3, "big") + bytes([VIDEO, 0, 0, 0, 0])
    again = bytes([basic[0] | 0xC0]) + basic[1:]
    assert [found.size for found in messages(head + bytes(128) + again + bytes(72), 5)] == [200]


@pytest.mark.parametrize("timestamp", [0xFFFFFE, 0xFFFFFF, 0x1000000, 0xFFFFFFFF])
def test_an_extended_time_is_in_each_chunk(timestamp: int) -> None:
    data = rtmp.frame(timestamp, 400) + rtmp.frame(5)
    assert [found.timestamp for found in messages(data, 3)] == [timestamp, 5]


def test_chunks_of_several_messages_alternate() -> None:
    video, audio = rtmp.media(VIDEO, 0, bytes(200)), rtmp.media(AUDIO, 0, bytes(150))
    cut = 12 + 128
    found = messages(video[:cut] + audio[:cut] + video[cut:] + audio[cut:])
    assert [(row.kind, row.size) for row in found] == [(VIDEO, 200), (AUDIO, 150)]


def test_an_aborted_message_is_dropped() -> None:
    begun = rtmp.media(VIDEO, 0, bytes(200))[: 12 + 128]
    abort = bytes([2, 0, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0]) + (6).to_bytes(4, "big")
    assert [found.timestamp for found in messages(begun + abort + rtmp.frame(7, 10))] == [7]


@pytest.mark.parametrize(
    "data",
    [
        rtmp.set_chunk_size(0),
        bytes([6]) + bytes(3) + (9_000_000).to_bytes(3, "big") + bytes([VIDEO, 0, 0, 0, 0]),
        bytes([0xC6]),
        b"".join(bytes([number]) + bytes(11) for number in range(2, 3 + MAX_CHUNK_STREAMS)),
        rtmp.media(VIDEO, 0, bytes(200))[:140] + rtmp.frame(7),
        b"".join(
            bytes([number]) + bytes(3) + (8_000_000).to_bytes(3, "big") + bytes([COMMAND, 0, 0, 0, 0]) + bytes(128)
            for number in (3, 4, 5)
        ),
    ],
    ids=["chunk of 0", "huge message", "no beginning", "too many streams", "message in message", "too many commands"],
)
def test_chunks_over_a_limit_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        messages(data)


def test_media_counts_without_heads_and_setup() -> None:
    body = rtmp.media(VIDEO, 0, rtmp.SETUP + b"config") + rtmp.media(AUDIO, 0, rtmp.SOUND_SETUP + b"c")
    body += rtmp.frame(0, 900, is_key=True) + rtmp.frame(40, 80) + rtmp.sound(41, 30)
    assert media_of(rtmp.connect() + rtmp.publish("key") + body) == [
        Media(True, 0, 900, True),
        Media(True, 40, 80),
        Media(False, 41, 30),
    ]


@pytest.mark.parametrize(
    ("kind", "head", "size", "is_key"),
    [
        (VIDEO, b"\x91hvc1\0\0\0", 92, True),
        (VIDEO, b"\xa3av01", 95, False),
        (VIDEO, b"\x91vp09", 95, True),
        (VIDEO, b"\x90hvc1", 0, False),
        (VIDEO, b"\x1c\1\0\0\0", 95, True),
        (VIDEO, b"\x57\0", 0, False),
        (VIDEO, b"\x22", 99, False),
        (AUDIO, b"\x91Opus", 95, False),
        (AUDIO, b"\x90Opus", 0, False),
        (AUDIO, b"\x2f", 99, False),
    ],
)
def test_enhanced_and_old_codecs_are_known(kind: int, head: bytes, size: int, is_key: bool) -> None:
    found = media_of(rtmp.connect() + rtmp.publish("key") + rtmp.media(kind, 0, head.ljust(100, b"\0")))
    assert found == ([Media(kind == VIDEO, 0, size, is_key)] if size else [])


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\3\1",
        rtmp.HANDSHAKE + rtmp.publish("key"),
        rtmp.connect("vod"),
        rtmp.connect() + rtmp.publish("key") + rtmp.publish("key"),
        rtmp.connect() + rtmp.command("publish", 4, None, 5),
        rtmp.connect() + rtmp.command("play", 4, None, "key"),
    ],
)
def test_a_peer_that_is_no_publisher_is_refused_without_its_bytes(data: bytes) -> None:
    with pytest.raises(ProtocolError) as refused:
        [*events(Session(), data)]
    assert "key" not in str(refused.value).replace("stream key", "")


def test_a_refused_publisher_is_not_measured_and_an_end_is_seen() -> None:
    session = Session()
    assert Publish("key") in session.feed(rtmp.connect() + rtmp.publish("key?token=1"))
    assert b"unknown" in session.refuse("unknown").data
    assert [*session.feed(rtmp.frame(0))] == []
    assert Ended() in events(Session(), rtmp.connect() + rtmp.publish("key") + rtmp.command("deleteStream", 5, None, 1))


def test_the_server_acknowledges_what_it_received() -> None:
    session = Session()
    replies = [*events(session, rtmp.connect() + rtmp.publish("key"))]
    data = rtmp.frame(0, 100_000)
    assert len(replies) == 6
    assert [event for _ in range(26) for event in session.feed(data) if isinstance(event, Reply)] != []


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("piece", [1, 1000, 10_000])
def test_recorded_encoders_are_understood(path: Path, piece: int) -> None:
    data, session = path.read_bytes(), Session()
    found = [event for start in range(0, len(data), piece) for event in events(session, data[start : start + piece])]
    assert Publish("TESTKEY") in found
    video = [event for event in found if isinstance(event, Media) and event.is_video]
    assert [frame.is_key for frame in video] == [True] + [False] * (len(video) - 1)
    assert {later.timestamp - earlier.timestamp for earlier, later in pairwise(video)} == {40}


def mutated(data: bytes, random: Random) -> bytes:
    """Change, drop, repeat or insert some bytes."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 8)):
        at = random.randrange(len(changed)) if random.random() < 0.2 else random.randrange(3000, len(changed))
        match random.randrange(4):
            case 0:
                changed[at] = random.randrange(256)
            case 1:
                del changed[at : at + random.randint(1, 50)]
            case 2:
                changed[at:at] = changed[at : at + random.randint(1, 50)]
            case _:
                changed[at:at] = random.randbytes(random.randint(1, 8))
    return bytes(changed)


def feed_mutated(count: int, seed: int) -> tuple[int, int]:
    """Feed mutated sessions. Returns the number of refused ones, and the most bytes that a session held."""
    random, refused, held = Random(seed), 0, 0
    sources = [path.read_bytes() for path in RECORDINGS]
    sources.append(rtmp.connect() + rtmp.publish("key") + b"".join(rtmp.frame(40 * n) for n in range(20)))
    for number in range(count):
        data, session = mutated(sources[number % len(sources)], random), Session()
        try:
            for start in range(0, len(data), 2000):
                for _ in events(session, data[start : start + 2000]):
                    pass
                held = max(held, session.buffered)
        except ProtocolError:
            refused += 1
    return refused, held


def test_mutated_sessions_raise_nothing_but_the_protocol_error_and_hold_little() -> None:
    refused, held = feed_mutated(2000, seed=35)
    assert refused > 500
    assert held < 64 * 1024
