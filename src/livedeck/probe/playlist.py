"""HLS playlists as values.

Only this module imports m3u8. m3u8 checks no numbers and raises many kinds of errors for odd playlists. This module
raises `Unusable` for all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from math import isfinite
from typing import Any
from urllib.parse import urljoin

from livedeck.monitor import Source
from livedeck.record import Record
from livedeck.text.values import safe

MAX_RUNGS = 20
"""Maximum number of renditions; Apple's own examples have up to 18."""

MAX_SEGMENTS = 30
"""Maximum number of segments read at the end of a playlist. Playlists with time shift list thousands."""

_MAX_SECONDS = 3600.0
"""Maximum duration of a segment."""

BEGINNING = 64 * 2**10
"""Bytes at the start of a reply in which a playlist must begin."""

_PAGE = re.compile(r"<\s*(!doctype\s+html|html|head|body|script|title)\b", re.IGNORECASE)
_DASH = re.compile(r"<(\w+:)?MPD\b")
_VIDEO = ("avc", "hvc", "hev", "dvh", "av01", "vp0", "vp8", "vp9")
_STICKY = ("#EXT-X-KEY", "#EXT-X-MAP")
_OF_SEGMENT = (*_STICKY, "#EXTINF", "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY\n", "#EXT-X-PROGRAM-DATE-TIME",
    "#EXT-X-GAP", "#EXT-X-PART:", "#EXT-X-DATERANGE", "#EXT-X-BITRATE", "#EXT-X-CUE", "#EXT-OATCLS", "#EXT-X-ASSET",
    "#EXT-X-SCTE35")  # fmt: skip


class Unusable(Exception):  # noqa: N818  as the errors of the client
    """Raised if a reply cannot be judged as a playlist. `source`: kind of the playlist, if known."""

    def __init__(self, reason: str, source: Source = Source.NONE) -> None:
        super().__init__(reason)
        self.source = source


class Rung(Record):
    """Rendition of a master playlist.

    `bandwidth`, `usual`: highest and mean bit rate with the sound (bit/s); 0 if not stated. `height`: in pixels; 0 if
    unknown. `sound`: address of its separate sound playlist; empty without one. `track`: name of this sound, if there
    are several.
    """

    address: str
    bandwidth: int
    usual: int = 0
    height: int = 0
    sound: str = ""
    track: str = ""

    @property
    def name(self) -> str:
        """Name in words: `720p`, or its bit rate."""
        return f"{self.height}p" if self.height else f"{self.bandwidth // 1000} kbit/s"


class Master(Record):
    """Master playlist. `rungs`: its renditions, lowest bit rate first."""

    rungs: tuple[Rung, ...]


class Part(Record):
    """Address of a segment or of its initialization. `first`, `last`: range of bytes; None for the whole file."""

    address: str
    first: int | None = None
    last: int | None = None


class Segment(Record):
    """Complete segment. `time`: its start by the packager's clock; None without EXT-X-PROGRAM-DATE-TIME."""

    number: int
    part: Part
    seconds: float
    time: datetime | None = None
    init: Part | None = None

    @property
    def end(self) -> datetime | None:
        """End by the packager's clock."""
        return self.time + timedelta(seconds=self.seconds) if self.time else None


class Media(Record):
    """Media playlist. `segments`: the last `MAX_SEGMENTS` complete ones. `target`: target duration in seconds."""

    target: float
    segments: tuple[Segment, ...]
    is_ended: bool = False
    is_encrypted: bool = False

    @property
    def head(self) -> Segment | None:
        """Newest complete segment."""
        return self.segments[-1] if self.segments else None


def is_installed() -> bool:
    """Return whether the extra for playlists is installed."""
    return find_spec("m3u8") is not None


def read_playlist(body: bytes, address: str) -> Master | Media:
    """Return the playlist of a reply. `address`: base of the addresses in it. Raises Unusable."""
    text = body.decode("utf-8-sig", errors="replace")
    begin = text[:BEGINNING].lstrip()
    if not begin.startswith("#EXTM3U"):
        if not body:
            raise Unusable("an empty reply")
        if _DASH.search(begin):
            raise Unusable("DASH: not judged", Source.DASH)
        if _PAGE.search(begin):
            raise Unusable("a player page, not a playlist: set a playlist for this event", Source.PLAYER_PAGE)
        raise Unusable("not a playlist: it does not begin with #EXTM3U")
    try:
        import m3u8

        found = m3u8.loads(_shortened(begin + text[BEGINNING:]))
        return _master(found, address) if found.is_variant else _media(found, address)
    except Unusable:
        raise
    except Exception as error:  # noqa: BLE001  m3u8 raises ValueError, KeyError, IndexError, AttributeError ...
        raise Unusable(f"a broken playlist ({type(error).__name__})") from None


def _master(found: Any, address: str) -> Master:
    groups = defaultdict[str, list[Any]](list)
    for media in found.media:
        if media.type == "AUDIO":
            groups[media.group_id].append(media)
    sounds = {group: _sound(tracks, address) for group, tracks in groups.items()}
    rows = [row for row in found.playlists if row.uri]
    rows = [row for row in rows if _has_picture(row.stream_info)] or rows
    rungs = [_rung(row.stream_info, urljoin(address, row.uri), sounds) for row in rows]
    if not rungs:
        raise Unusable("a master playlist without renditions")
    return Master(tuple(sorted(rungs, key=lambda rung: (rung.bandwidth, rung.height))[:MAX_RUNGS]))


def _sound(tracks: Sequence[Any], address: str) -> tuple[str, str]:
    """Return address and name of the sound that players choose by default.

    The address is empty if this sound is in the segments of the picture. The name is empty if there is no other sound.
    """
    chosen = next(
        (track for wish in ("default", "autoselect") for track in tracks if getattr(track, wish) == "YES"), tracks[0]
    )
    sound = urljoin(address, chosen.uri) if chosen.uri else ""
    if len(tracks) == 1:
        return sound, ""
    return sound, f"{safe(chosen.name or chosen.language or 'unnamed', 40)}, 1 of {len(tracks)} tracks"


def _rung(info: Any, address: str, sounds: Mapping[str, tuple[str, str]]) -> Rung:
    height = int(info.resolution[1]) if info.resolution else 0
    bandwidth = int(info.bandwidth or 0)
    usual = int(info.average_bandwidth or 0)
    if not (0 <= height < 2**16 and 0 <= bandwidth < 2**40 and 0 <= usual < 2**40):
        raise Unusable("a broken playlist (a rendition with impossible numbers)")
    sound, track = sounds.get(info.audio, ("", ""))
    return Rung(address, bandwidth, usual, height, "" if sound == address else sound, track)


def _has_picture(info: Any) -> bool:
    codecs = [codec.strip() for codec in (info.codecs or "").split(",") if codec.strip()]
    return bool(info.resolution) or not codecs or any(codec.startswith(_VIDEO) for codec in codecs)


def _media(found: Any, address: str) -> Media:
    target = float(found.target_duration or 0)
    if not 0 < target <= _MAX_SECONDS:
        raise Unusable("a broken playlist (no target duration)")
    number = int(found.media_sequence or 0)
    if not 0 <= number < 2**53:
        raise Unusable("a broken playlist (an impossible media sequence)")
    is_encrypted = any(key is not None and key.method != "NONE" for key in found.keys)
    segments = tuple(_segments(found.segments, number, address))
    return Media(target, segments[-MAX_SEGMENTS:], bool(found.is_endlist), is_encrypted)


def _segments(rows: Sequence[Any], number: int, address: str) -> Iterator[Segment]:
    end: dict[str, int] = {}  # address -> byte after its last range
    for place, row in enumerate(rows):
        if not row.uri:  # the open part of a low-latency playlist
            continue
        seconds = float(row.duration or 0)
        if not (isfinite(seconds) and 0 <= seconds <= _MAX_SECONDS):
            raise Unusable("a broken playlist (an impossible duration)")
        own = urljoin(address, row.uri)
        part = _part(own, row.byterange, end.get(own, 0))
        end[own] = 0 if part.last is None else part.last + 1
        if not row.gap_tag:
            yield Segment(number + place, part, seconds, _utc(row.current_program_date_time), _init(row, address))


def _init(row: Any, address: str) -> Part | None:
    found = row.init_section
    return _part(urljoin(address, found.uri), found.byterange, 0) if found and found.uri else None


def _part(address: str, byterange: str | None, begin: int) -> Part:
    if not byterange:
        return Part(address)
    size, _, offset = byterange.partition("@")
    first, length = int(offset) if offset else begin, int(size)
    if first < 0 or length <= 0:
        raise Unusable("a broken playlist (an impossible range of bytes)")
    return Part(address, first, first + length - 1)


def _utc(time: datetime | None) -> datetime | None:
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _shortened(text: str) -> str:
    """Return the text with its last `MAX_SEGMENTS` segments only: m3u8 needs 95 ms for 7,200 of them."""
    lines = [line.strip() for line in text.splitlines()]
    places = [place for place, line in enumerate(lines) if line and not line.startswith("#")]
    if len(places) <= MAX_SEGMENTS or any(line.startswith("#EXT-X-STREAM-INF") for line in lines[: places[0]]):
        return text
    cut = places[-MAX_SEGMENTS - 1] + 1
    head: list[str] = []
    sticky: dict[str, str] = {}
    number, time, seconds = 0, None, 0.0
    for line in lines[:cut]:
        if line.startswith("#EXT-X-MEDIA-SEQUENCE:"):
            number = int(line.partition(":")[2])
        elif line.startswith(_STICKY):
            sticky[line.partition(":")[0]] = line
        elif line.startswith("#EXT-X-PROGRAM-DATE-TIME:"):
            time = datetime.fromisoformat(line.partition(":")[2])
        elif line.startswith("#EXTINF:"):
            seconds = float(line.partition(":")[2].partition(",")[0])
        elif line and not line.startswith("#"):
            time = time and time + timedelta(seconds=seconds)
        elif line.startswith("#") and not f"{line}\n".startswith(_OF_SEGMENT):
            head.append(line)
    dated = [] if time is None else [f"#EXT-X-PROGRAM-DATE-TIME:{time.isoformat()}"]
    numbered = f"#EXT-X-MEDIA-SEQUENCE:{number + len(places) - MAX_SEGMENTS}"
    return "\n".join([*head, numbered, *sticky.values(), *dated, *lines[cut:]])
