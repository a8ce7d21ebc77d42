"""Containers of segments, and signs of a cut-off segment that show without decoding. Pure."""

from __future__ import annotations

from typing import Literal

Container = Literal["mpegts", "mp4", "aac", ""]
"""Container of a segment, by FFmpeg's name; empty if unknown."""

_PACKET = 188
_BOXES = frozenset({b"ftyp", b"styp", b"moof", b"sidx", b"emsg", b"prft", b"moov", b"free", b"mdat"})


def container_of(body: bytes) -> Container:
    """Return the container of a segment by its first bytes."""
    if body[4:8] in _BOXES:
        return "mp4"
    if body[:1] == b"G" and (len(body) <= _PACKET or body[_PACKET : _PACKET + 1] == b"G"):
        return "mpegts"
    is_adts = len(body) > 1 and body[0] == 0xFF and body[1] & 0xF6 == 0xF0
    return "aac" if is_adts or body[:3] == b"ID3" else ""


def cut_off(body: bytes) -> str:
    """Return the reason why a segment is incomplete; empty if it is complete, or if that is unknown."""
    if not body:
        return "empty"
    match container_of(body):
        case "mpegts":
            return "cut off in mid-packet" if len(body) % _PACKET else ""
        case "mp4":
            return "" if _ends_with_a_box(body) else "cut off in mid-box"
    return ""


def _ends_with_a_box(body: bytes) -> bool:
    place = 0
    while place + 8 <= len(body):
        size = int.from_bytes(body[place : place + 4])
        if size == 1:
            size = int.from_bytes(body[place + 8 : place + 16])
        elif size == 0:  # to the end of the file
            return True
        if size < 8:
            return False
        place += size
    return place == len(body)
