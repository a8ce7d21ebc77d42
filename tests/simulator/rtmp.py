"""Encoder as bytes: the messages of a publisher, in chunks of any size."""

from __future__ import annotations

from livedeck.simulator.ingest import amf
from livedeck.simulator.ingest.chunks import AUDIO, COMMAND, SET_CHUNK_SIZE, VIDEO, encode_message

HANDSHAKE = b"\3" + bytes(1536) + bytes(1536)
KEY_FRAME, FRAME, SETUP = b"\x17\1\0\0\0", b"\x27\1\0\0\0", b"\x17\0\0\0\0"
SOUND, SOUND_SETUP = b"\xaf\1", b"\xaf\0"


def command(name: str, number: int, *values: object, stream: int = 0) -> bytes:
    return encode_message(COMMAND, amf.encode(name, number, *values), chunk_stream=3, stream=stream)


def connect(application: str = "live") -> bytes:
    return HANDSHAKE + command("connect", 1, {"app": application})


def publish(key: str) -> bytes:
    return (
        command("releaseStream", 2, None, key)
        + command("createStream", 3, None)
        + command("publish", 4, None, key, "live", stream=1)
    )


def set_chunk_size(size: int) -> bytes:
    return encode_message(SET_CHUNK_SIZE, size.to_bytes(4, "big"))


def media(kind: int, timestamp: int, body: bytes, chunk_size: int = 128) -> bytes:
    """Return a message with a whole head. Its time is in the extended field if it needs that."""
    number = 4 if kind == AUDIO else 6
    extended = timestamp.to_bytes(4, "big") if timestamp >= 0xFFFFFF else b""
    head = bytes([number]) + min(timestamp, 0xFFFFFF).to_bytes(3, "big") + len(body).to_bytes(3, "big")
    head += bytes([kind]) + (1).to_bytes(4, "little") + extended
    pieces = [body[start : start + chunk_size] for start in range(0, len(body), chunk_size)]
    return head + (bytes([0xC0 | number]) + extended).join(pieces)


def frame(timestamp: int, size: int = 1000, *, is_key: bool = False) -> bytes:
    """Return a video frame of `size` bytes without its head."""
    return media(VIDEO, timestamp, (KEY_FRAME if is_key else FRAME) + bytes(size))


def sound(timestamp: int, size: int = 100) -> bytes:
    return media(AUDIO, timestamp, SOUND + bytes(size))
