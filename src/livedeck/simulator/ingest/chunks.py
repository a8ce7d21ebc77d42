"""RTMP chunks: join the chunks of a connection into messages, and cut replies into chunks.

A message travels in chunks of at most the size that its sender announced; chunks of several messages alternate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from livedeck.simulator.ingest.errors import ProtocolError

MAX_CHUNK_STREAMS = 32
"""Maximum number of chunk streams of a connection."""

MAX_MESSAGE = 8 * 1024 * 1024
"""Maximum size of a message in bytes."""

MAX_COMMANDS = 16 * 1024 * 1024
"""Maximum total of the bytes of commands that a connection sends. Bodies of media are dropped, so they do not count."""

MEDIA_HEAD = 16
"""Number of bytes that the reader keeps of an audio or video message: enough for its codec, kind and flags."""

SET_CHUNK_SIZE, ABORT, ACKNOWLEDGEMENT, USER_CONTROL, WINDOW_SIZE, PEER_BANDWIDTH = 1, 2, 3, 4, 5, 6
AUDIO, VIDEO = 8, 9
DATA_AMF3, COMMAND_AMF3, DATA, COMMAND = 15, 17, 18, 20

_EXTENDED = 0xFFFFFF
"""Mark in the time field of a head: the time is in four further bytes."""

_WHOLE, _SAME_STREAM, _SAME_SIZE, _CONTINUED = range(4)
"""Forms of a head: each omits more of the fields that are the same as in the last head of its chunk stream."""

_HEAD_SIZES = (11, 7, 3, 0)


class Message(NamedTuple):
    """Message of a connection. `timestamp` is in milliseconds, modulo 2**32; `size` is that of the whole body."""

    kind: int
    stream: int
    timestamp: int
    size: int
    body: bytes


@dataclass(slots=True)
class _ChunkStream:
    """Last head of a chunk stream, and the message in progress. `time_field`: time, or difference to the last time."""

    timestamp: int = 0
    time_field: int = 0
    is_extended: bool = False
    size: int = 0
    kind: int = 0
    stream: int = 0
    received: int = 0
    body: bytearray = field(default_factory=bytearray)


class ChunkReader:
    """Reader of the chunks that a peer sends. It carries out the peer's messages that set the chunk size or abort."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._chunk_size = 128
        self._streams: dict[int, _ChunkStream] = {}
        self._current: _ChunkStream | None = None
        self._left = 0
        self._commands = 0

    @property
    def buffered(self) -> int:
        """Number of bytes that wait for the rest of their chunk's head or of their message."""
        return len(self._buffer) + sum(len(stream.body) for stream in self._streams.values())

    @property
    def is_within_message(self) -> bool:
        """Whether a message has arrived in part."""
        is_within_chunk = bool(self._buffer) or self._current is not None
        return is_within_chunk or any(stream.received for stream in self._streams.values())

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that `data` completes. Raises ProtocolError."""
        self._buffer += data
        position = 0
        try:
            while True:
                if self._current is None:
                    size = self._read_head(position)
                    if not size:
                        return
                    position += size
                if self._left and position == len(self._buffer):
                    return
                position += self._take(position)
                if self._left == 0 and (message := self._finish_chunk()) is not None:
                    yield message
        finally:
            del self._buffer[:position]

    def _read_head(self, position: int) -> int:
        """Read the head of a chunk. Returns its size, or 0 if it is not complete."""
        buffer, start = self._buffer, position
        if start == len(buffer):
            return 0
        form, number = buffer[start] >> 6, buffer[start] & 63
        start += 2 if number == 0 else 3 if number == 1 else 1
        end = start + _HEAD_SIZES[form]
        if len(buffer) < end:
            return 0
        if number < 2:
            number = 64 + buffer[position + 1] + (buffer[position + 2] << 8 if number else 0)
        stream = self._stream(number, form)
        time = stream.time_field if form == _CONTINUED else int.from_bytes(buffer[start : start + 3], "big")
        is_extended = stream.is_extended if form == _CONTINUED else time == _EXTENDED
        if is_extended:
            end += 4
            time = int.from_bytes(buffer[end - 4 : end], "big")
        if len(buffer) < end:
            return 0
        stream.time_field, stream.is_extended = time, is_extended
        if form <= _SAME_STREAM:
            stream.size, stream.kind = int.from_bytes(buffer[start + 3 : start + 6], "big"), buffer[start + 6]
        if form == _WHOLE:
            stream.stream = int.from_bytes(buffer[start + 7 : start + 11], "little")
        if not stream.received:
            stream.timestamp = time if form == _WHOLE else (stream.timestamp + time) % 2**32
            self._check(stream)
        self._streams[number] = self._current = stream
        self._left = min(self._chunk_size, stream.size - stream.received)
        return end - position

    def _stream(self, number: int, form: int) -> _ChunkStream:
        """Return the chunk stream `number`, or a new one. Raises ProtocolError if no head of this `form` may follow."""
        stream = self._streams.get(number)
        if stream is None:
            if form != _WHOLE:
                raise ProtocolError("a chunk continues a message that did not begin")
            if len(self._streams) == MAX_CHUNK_STREAMS:
                raise ProtocolError(f"more than {MAX_CHUNK_STREAMS} chunk streams")
            return _ChunkStream()
        if form != _CONTINUED and stream.received:
            raise ProtocolError("a message begins inside another one")
        return stream

    def _check(self, stream: _ChunkStream) -> None:
        """Check the limits at the first chunk of a message."""
        if stream.size > MAX_MESSAGE:
            raise ProtocolError(f"a message of more than {MAX_MESSAGE} bytes")
        if stream.kind not in {AUDIO, VIDEO}:
            self._commands += stream.size
            if self._commands > MAX_COMMANDS:
                raise ProtocolError(f"more than {MAX_COMMANDS} bytes of commands")

    def _take(self, position: int) -> int:
        """Take the bytes of the current chunk that have arrived. Returns their number."""
        stream = self._current
        assert stream is not None
        size = min(self._left, len(self._buffer) - position)
        kept = size if stream.kind not in {AUDIO, VIDEO} else min(size, MEDIA_HEAD - len(stream.body))
        stream.body += self._buffer[position : position + kept]
        stream.received += size
        self._left -= size
        return size

    def _finish_chunk(self) -> Message | None:
        """Return the message if this chunk was its last and the caller has to see it."""
        stream, self._current = self._current, None
        assert stream is not None
        if stream.received < stream.size:
            return None
        message = Message(stream.kind, stream.stream, stream.timestamp, stream.size, bytes(stream.body))
        stream.received, stream.body = 0, bytearray()
        if message.kind == SET_CHUNK_SIZE:
            self._chunk_size = _number(message) & 0x7FFF_FFFF
            if not self._chunk_size:
                raise ProtocolError("a chunk size of 0")
        elif message.kind == ABORT and (aborted := self._streams.get(_number(message))) is not None:
            aborted.received, aborted.body = 0, bytearray()
        return message if message.kind not in {SET_CHUNK_SIZE, ABORT} else None


def _number(message: Message) -> int:
    if len(message.body) < 4:
        raise ProtocolError("a control message is too short")
    return int.from_bytes(message.body[:4], "big")


def encode_message(kind: int, body: bytes, *, chunk_stream: int = 2, stream: int = 0, chunk_size: int = 128) -> bytes:
    """Return a message at time 0, in chunks of `chunk_size`. `chunk_stream` is from 2 to 63."""
    head = bytes([chunk_stream, 0, 0, 0]) + len(body).to_bytes(3, "big") + bytes([kind]) + stream.to_bytes(4, "little")
    pieces = [body[start : start + chunk_size] for start in range(0, len(body), chunk_size)]
    return head + bytes([0xC0 | chunk_stream]).join(pieces)
