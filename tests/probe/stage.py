"""CDN without a socket: playlists and segments of two seconds that follow the test's clock, and their faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from livedeck.client import Misconfigured, Unreachable
from livedeck.monitor import Picture, Sound
from livedeck.probe.sight import Sight
from virtual_clock import VirtualClock

MASTER = """#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=280000,RESOLUTION=256x144
low.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=2800000,RESOLUTION=1280x720
high.m3u8
"""

MASTER_WITH_SOUND = b"""#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,URI="sound.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=280000,RESOLUTION=256x144,AUDIO="a"
low.m3u8
"""

SEGMENT = (b"G" + bytes(187)) * 372
"""Whole transport stream of 70 kB."""


@dataclass
class Reply:
    """A reply as the probe reads it."""

    status: int
    body: bytes
    address: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def retry_after(self) -> float | None:
        return float(self.headers["Retry-After"]) if "Retry-After" in self.headers else None

    async def packed_chunks(self) -> AsyncIterator[bytes]:
        for begin in range(0, len(self.body), 65_536):
            yield self.body[begin : begin + 65_536]


@dataclass
class Cdn:
    """Every path that ends with a playlist's name is a live event. `faults`: end of an address -> its reply.

    `asked`: time, address and range of each request. `head`: a number that stops the head there. `next_bodies`: next
    bodies of the lowest playlist, in place of its own.
    """

    clock: VirtualClock
    faults: dict[str, tuple[int, bytes] | str | Misconfigured] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[float, str, str]] = field(default_factory=list)
    head: int | None = None
    next_bodies: list[bytes] = field(default_factory=list)

    @asynccontextmanager
    async def open_public(self, address: str, headers: Mapping[str, str], *, home: str) -> AsyncIterator[Any]:
        assert home
        self.asked.append((self.clock.monotonic(), address, headers.get("Range", "")))
        fault = next((fault for end, fault in self.faults.items() if address.endswith(end)), None)
        if isinstance(fault, Misconfigured):
            raise fault
        if isinstance(fault, str):
            raise Unreachable(fault, "refused")
        status, body = fault or (200, self._body(urlsplit(address).path))
        yield Reply(status, body, address, self.headers)

    def _body(self, path: str) -> bytes:
        if path.endswith("master.m3u8"):
            return MASTER.encode()
        if path.endswith("low.m3u8") and self.next_bodies:
            return self.next_bodies.pop(0)
        if path.endswith(".m3u8"):
            return self.media().encode()
        return SEGMENT

    def media(self, head: int | None = None) -> str:
        head = head or self.head or int(self.clock.monotonic() / 2) + 100
        rows = [f"#EXTINF:2,\n{number}.ts" for number in range(head - 7, head + 1)]
        start = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:{head - 7}\n"
        return start + "\n".join(rows)

    @property
    def rounds(self) -> list[tuple[float, str]]:
        """Return time and address of each request for a master playlist or a lowest playlist."""
        return [(at, address) for at, address, _ in self.asked if address.endswith("low.m3u8")]


@dataclass
class Looks:
    """Decoder that always gives the same result."""

    sight: Sight = field(
        default_factory=lambda: Sight(
            Picture.MOVES, Sound.HEARD, loudness=-21.0, peaks=(-6.0,), jpeg=b"\xff\xd8 picture"
        )
    )
    seen: list[str] = field(default_factory=list)
    is_closed: bool = False
    blindness: str = ""
    deaths: int = 0

    async def look(self, kind: str, segment: bytes, init: bytes = b"") -> Sight:
        assert segment
        self.seen.append(f"{kind} {len(init)}")
        return self.sight

    async def close(self) -> None:
        self.is_closed = True
