"""Committed loops of 8 s (contrib/make_media.sh), repeated as a stream: each segment gets its number and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from struct import pack_into

from livedeck.simulator.engine.reference import DATA

SECONDS = 2
"""Duration of a segment in seconds. A segment of sound is up to 16 ms shorter, because it has only whole frames."""

HEIGHTS = (72, 180)
"""Heights of the committed pictures, in pixels."""


@dataclass(frozen=True, slots=True)
class Track:
    """Clock of a medium: ticks a second, and the ticks of the four segments of a loop."""

    timescale: int
    ticks: tuple[int, ...]

    def start(self, number: int) -> int:
        """Return the number of ticks before segment `number` of a stream."""
        loops, place = divmod(number, len(self.ticks))
        return loops * sum(self.ticks) + [0, *accumulate(self.ticks)][place]

    def seconds(self, number: int) -> float:
        """Return the duration of segment `number` of a stream, in seconds."""
        return self.ticks[number % len(self.ticks)] / self.timescale


PICTURE = Track(12_800, (25_600,) * 4)
SOUND = Track(48_000, (94 * 1024, 94 * 1024, 94 * 1024, 93 * 1024))


@dataclass(frozen=True)
class Loop:
    """Loop of a picture or sound: its init segment and its segments. A still picture has one segment."""

    track: Track
    init: bytes
    segments: tuple[bytes, ...]

    @cached_property
    def peak(self) -> int:
        """Highest bit rate of a segment, in bit/s."""
        shortest = min(self.track.ticks) / self.track.timescale
        return round(max(map(len, self.segments)) * 8 / shortest)

    @cached_property
    def codec(self) -> str:
        """Codec in the form of a playlist (RFC 6381)."""
        if self.track is SOUND:
            return "mp4a.40.2"
        at = self.init.index(b"avcC") + 5
        return f"avc1.{self.init[at : at + 3].hex()}"

    def segment(self, number: int) -> bytes:
        """Return segment `number` of a stream that repeats the loop."""
        patched = bytearray(self.segments[number % len(self.segments)])
        pack_into(">I", patched, patched.index(b"mfhd") + 8, number + 1)
        pack_into(">Q", patched, patched.index(b"tfdt") + 8, self.track.start(number))
        return bytes(patched)


@cache
def loop(name: str, height: int = 0) -> Loop:
    """Return the loop of a picture or sound by its name. `height`: height of the picture (pixels); 0 for a sound."""
    file = DATA / "media" / (f"{name}-{height}.mp4" if height else f"{name}.mp4")
    init, segments = bytearray(), list[bytes]()
    for kind, box in _boxes(file.read_bytes()):
        if kind == b"moof":
            segments.append(box)
        elif kind == b"mdat":
            segments[-1] += box
        else:
            init += box
    return Loop(PICTURE if height else SOUND, bytes(init), tuple(segments))


def _boxes(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the bytes of each box of an MP4 file."""
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 4])
        yield content[at + 4 : at + 8], content[at : at + size]
        at += size
