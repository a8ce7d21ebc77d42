"""RTMP session of a publisher: bytes in, events out. It has no socket and no clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from livedeck.simulator.ingest import amf, chunks
from livedeck.simulator.ingest.chunks import ChunkReader, Message, encode_message
from livedeck.simulator.ingest.errors import ProtocolError

APPLICATION = "live"
"""Application that an encoder must name: the path of the address before the stream key."""

ACKNOWLEDGE_BYTES = 2_500_000
"""Bytes after which the encoder expects an acknowledgement."""

_HANDSHAKE = 1536
_VERSION = b"\3"
_LARGE = 0xFFFF
"""Chunk size of the replies: a reply is one chunk."""


class Reply(NamedTuple):
    """Bytes for the peer."""

    data: bytes


class Publish(NamedTuple):
    """Request to publish with a stream key. Reply with `Session.accept` or `Session.refuse`."""

    key: str


class Media(NamedTuple):
    """Audio or video message. `size`: its bytes without the head of FLV; `timestamp`: milliseconds, modulo 2**32."""

    is_video: bool
    timestamp: int
    size: int
    is_key: bool = False


class Ended(NamedTuple):
    """The publisher ended its stream."""


Event: TypeAlias = Reply | Publish | Media | Ended


class Session:
    """Server's side of a connection. `feed` takes the peer's bytes; after a ProtocolError, close the connection.

    `is_greeted`: the handshake is over.
    """

    def __init__(self) -> None:
        self.is_greeted = False
        self._handshake = bytearray()
        self._has_greeted = self._is_connected = self._has_asked = self._is_publishing = False
        self._reader = ChunkReader()
        self._received = self._acknowledged = 0
        self._stream = 1

    @property
    def buffered(self) -> int:
        """Number of bytes that the session holds."""
        return self._reader.buffered + len(self._handshake)

    @property
    def is_within_message(self) -> bool:
        """Whether a message has arrived in part: the peer has sent it, and the line still holds the rest."""
        return self._reader.is_within_message

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield the events in `data`. Raises ProtocolError."""
        self._received += len(data)
        yield from self._messages(data) if self.is_greeted else self._greet(data)
        if self._received - self._acknowledged >= ACKNOWLEDGE_BYTES:
            self._acknowledged = self._received
            yield Reply(encode_message(chunks.ACKNOWLEDGEMENT, (self._received % 2**32).to_bytes(4, "big")))

    def _greet(self, data: bytes) -> Iterator[Event]:
        """Take the peer's two parts of the handshake; the bytes after them are messages."""
        held = self._handshake
        held += data
        if held and held[0] != _VERSION[0]:
            raise ProtocolError("not RTMP")
        if not self._has_greeted and len(held) > _HANDSHAKE:
            self._has_greeted = True
            yield Reply(_VERSION + bytes(_HANDSHAKE) + bytes(held[1 : 1 + _HANDSHAKE]))
        if len(held) > 2 * _HANDSHAKE:
            self.is_greeted, rest = True, bytes(held[1 + 2 * _HANDSHAKE :])
            held.clear()
            yield from self._messages(rest)

    def _messages(self, data: bytes) -> Iterator[Event]:
        for message in self._reader.feed(data):
            if message.kind in {chunks.AUDIO, chunks.VIDEO}:
                media = _media(message) if self._is_publishing else None
                if media is not None:
                    yield media
            elif message.kind in {chunks.COMMAND, chunks.COMMAND_AMF3}:
                yield from self._command(message)

    def _command(self, message: Message) -> Iterator[Event]:
        body = message.body[1:] if message.kind == chunks.COMMAND_AMF3 else message.body
        values: list[amf.Value] = [*amf.decode(body), None, None, None, None]
        name, number, *rest = values
        match name:
            case "connect":
                yield self._connect(number, rest[0])
            case "publish":
                yield self._publish(message.stream, rest)
            case "createStream":
                yield _reply("_result", number, None, self._stream)
            case "play" | "play2":
                raise ProtocolError("streams cannot be played from here, only published")
            case "releaseStream" | "FCPublish":
                yield _reply("_result", number, None)
            case "deleteStream" | "closeStream" | "FCUnpublish":
                if self._is_publishing:
                    self._is_publishing = False
                    yield Ended()
            case _:
                pass  # encoders ask for more than a server needs to answer

    def _connect(self, number: amf.Value, properties: amf.Value) -> Reply:
        application = properties.get("app") if isinstance(properties, dict) else None
        if not isinstance(application, str) or application.partition("?")[0].strip("/") != APPLICATION:
            raise ProtocolError(f"the address must have the path /{APPLICATION}/ before the stream key")
        self._is_connected = True
        size = ACKNOWLEDGE_BYTES.to_bytes(4, "big")
        status = {"level": "status", "code": "NetConnection.Connect.Success", "description": "connected"}
        return Reply(
            encode_message(chunks.WINDOW_SIZE, size)
            + encode_message(chunks.PEER_BANDWIDTH, size + b"\2")
            + encode_message(chunks.SET_CHUNK_SIZE, _LARGE.to_bytes(4, "big"))
            + _reply("_result", number, {"fmsVer": "FMS/3,0,1,123", "capabilities": 31}, status).data
        )

    def _publish(self, stream: int, arguments: Sequence[amf.Value]) -> Publish:
        if not self._is_connected or self._has_asked:
            raise ProtocolError("publish must come once, after connect")
        key = arguments[1]
        if not isinstance(key, str):
            raise ProtocolError("publish needs a stream key")
        self._has_asked, self._stream = True, stream
        return Publish(key.partition("?")[0])

    def accept(self) -> Reply:
        """Let the publisher send. Media that arrived before is ignored."""
        self._is_publishing = True
        return self._status("status", "NetStream.Publish.Start", "publishing")

    def refuse(self, reason: str) -> Reply:
        """Tell the publisher why it may not send. Close the connection after it."""
        return self._status("error", "NetStream.Publish.BadName", reason)

    def _status(self, level: str, code: str, description: str) -> Reply:
        status = {"level": level, "code": code, "description": description}
        return _reply("onStatus", 0, None, status, stream=self._stream)


def _reply(name: str, number: amf.Value, *values: object, stream: int = 0) -> Reply:
    body = amf.encode(name, number if isinstance(number, float | int) else 0, *values)
    return Reply(encode_message(chunks.COMMAND, body, chunk_stream=3, stream=stream, chunk_size=_LARGE))


def _media(message: Message) -> Media | None:
    """Return the audio or video of a message; None if the message has only codec settings or other metadata."""
    head = message.body
    if not head:
        return None
    size, is_key = _video(head, message.size) if message.kind == chunks.VIDEO else (_audio(head, message.size), False)
    return Media(message.kind == chunks.VIDEO, message.timestamp, size, is_key) if size > 0 else None


_AVC, _HEVC, _AAC, _EXTENDED_AUDIO = 7, 12, 10, 9
_CODED, _CODED_WITHOUT_OFFSET = 1, 3
_KEY_FRAME, _COMMAND_FRAME = 1, 5
_NOT_SETUP = b"\1"


def _audio(head: bytes, size: int) -> int:
    """Return the number of bytes after the head of FLV or enhanced RTMP; 0 for a message without sound."""
    codec, packet = head[0] >> 4, head[1:2]
    if codec == _AAC:
        return size - 2 if packet == _NOT_SETUP else 0
    if codec == _EXTENDED_AUDIO:
        return size - 5 if head[0] & 15 == _CODED else 0
    return size - 1


def _video(head: bytes, size: int) -> tuple[int, bool]:
    """Return the number of bytes after the head (0 for a message without a frame), and whether it has a key frame.

    In enhanced RTMP the first bit is set, and the name of the codec has four letters.
    """
    frame, packet = head[0] >> 4 & 7, head[0] & 15
    if frame == _COMMAND_FRAME:
        length = 0
    elif head[0] & 0x80:
        has_offset = packet == _CODED and head[1:5] in {b"avc1", b"hvc1"}
        length = size - (8 if has_offset else 5) if packet in {_CODED, _CODED_WITHOUT_OFFSET} else 0
    elif packet in {_AVC, _HEVC}:
        length = size - 5 if head[1:2] == _NOT_SETUP else 0
    else:
        length = size - 1
    return length, frame == _KEY_FRAME
