"""Values formatted as text: durations, rates, sizes, masked secrets, text from outside. Pure."""

from __future__ import annotations

from math import isfinite
from typing import Protocol

from livedeck.text.outside import BLANK_LETTER, Shown, shown

UNKNOWN = "?"
"""Sign for a missing field, and for a value that the platform does not document."""

NO_DATA = "--"
"""Sign for a value that did not arrive in time."""

NOT_ASKED = "·"
"""Sign for a value that has not been polled yet."""

NOT_APPLICABLE = "-"
"""Sign for a value that cannot be measured."""


def duration(seconds: float) -> str:
    """Format a duration in seconds as `HH:MM:SS`, from 24 h on as `3d 04:05` (days, hours, minutes).

    A negative duration counts as zero.
    """
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}"
    return f"{days}d {clock}" if days else f"{clock}:{rest % 60:02}"


def position(seconds: float | None) -> str:
    """Format a position in a video, given in seconds: `00:30:04.5`; `?` for None."""
    if seconds is None:
        return UNKNOWN
    fraction = f"{seconds % 1:.3f}"[1:].rstrip("0").rstrip(".")
    return duration(seconds) + fraction


def short_duration(seconds: float) -> str:
    """Format a duration in seconds as `MM:SS`, from an hour on as `duration` does."""
    whole = max(0, int(seconds))
    return f"{whole // 60:02}:{whole % 60:02}" if whole < 3600 else duration(whole)


def compact_duration(seconds: float) -> str:
    """Format a duration in seconds, of under 100 days, in at most seven characters: `01:19`, `1h05m`, `3d 04h`."""
    whole = max(0, int(seconds))
    if whole < 3600:
        return short_duration(whole)
    if whole < 86_400:
        return f"{whole // 3600}h{whole // 60 % 60:02}m"
    return f"{whole // 86_400}d {whole // 3600 % 24:02}h"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Format a number of things: `1 event`, `1,200 events`. `plural`: the plural if it is not `noun` with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def age(seconds: float) -> str:
    """Format an age in seconds: `3 s`, `01:19`, `02:10:33`."""
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 60 else short_duration(whole)


def bits(rate: float | None) -> str:
    """Format a bit rate, given in bit/s: `4.48M`, `128k`, `0`; `?` for None."""
    if rate is None or not isfinite(rate):
        return UNKNOWN
    if rate >= 999_500:
        return f"{rate / 1e6:.2f}M"
    if rate >= 1000:
        return f"{rate / 1e3:.0f}k"
    return f"{rate:.0f}"


def size(count: float) -> str:
    """Format a number of bytes: `512 B`, `4.5 kB`, `250.7 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def frames(rate: float | None) -> str:
    """Format a frame rate, given in frames/s: `30.0`; `?` for None."""
    return UNKNOWN if rate is None or not isfinite(rate) else f"{rate:.1f}"


class Evidence(Protocol):
    """Measured value of a fault, and the expected value with its limit."""

    @property
    def actual(self) -> str: ...
    @property
    def expected(self) -> str: ...


def evidence_text(fault: Evidence, limit: int = 1000) -> Shown:
    """Return the measured value of a fault and its limit: `fps 15.0, expected over 20.0 as mean of 10 s, usual 25`.

    `limit`: maximum number of characters.
    """
    return safe(f"{fault.actual}, expected {fault.expected}" if fault.expected else fault.actual, limit)


MASK = "••••"
"""Replacement for the hidden part of a secret."""


def mask(secret: str) -> str:
    """Mask a secret except its last four characters: `••••3f9a`. A secret of under 12 characters is masked entirely."""
    return f"{MASK}{secret[-4:]}" if len(secret) >= 12 else MASK


def safe(text: str, limit: int = 1000) -> Shown:
    """Return text from outside as `shown`, in at most `limit` characters.

    Hidden characters (bidi overrides, stray joiners, tags) are dropped, so that different names look different. The
    blank braille pattern becomes `␣`.
    """
    kept = shown(text[: limit * 2].replace("\u2800", BLANK_LETTER))
    return kept if len(kept) <= limit else Shown(f"{kept[: limit - 1]}…")
