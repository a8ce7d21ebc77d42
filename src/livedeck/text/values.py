"""Values as text: durations, rates, sizes, masked secrets, safe text from outside. Pure."""

from __future__ import annotations

from math import isfinite

from livedeck.text.outside import BLANK_LETTER, Shown, shown

UNKNOWN = "?"
"""The field is missing, or has a value that the platform's documentation does not name."""

NO_DATA = "--"
"""A value is due, and no fresh one arrived."""

NOT_ASKED = "·"
"""The platform was not asked for it yet."""

NOT_APPLICABLE = "-"
"""Nothing can be measured here."""


def duration(seconds: float) -> str:
    """`HH:MM:SS`; from 24 h on days, hours and minutes: `3d 04:05`. A negative duration is shown as zero."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}"
    return f"{days}d {clock}" if days else f"{clock}:{rest % 60:02}"


def position(seconds: float | None) -> str:
    """A place in a video: `00:30:04.5`."""
    if seconds is None:
        return UNKNOWN
    fraction = f"{seconds % 1:.3f}"[1:].rstrip("0").rstrip(".")
    return duration(seconds) + fraction


def short_duration(seconds: float) -> str:
    """`MM:SS` under an hour, `HH:MM:SS` from there on."""
    whole = max(0, int(seconds))
    return f"{whole // 60:02}:{whole % 60:02}" if whole < 3600 else duration(whole)


def compact_duration(seconds: float) -> str:
    """A duration in at most six cells: `01:19`, `1h05m`, `3d 04h`."""
    whole = max(0, int(seconds))
    if whole < 3600:
        return short_duration(whole)
    if whole < 86_400:
        return f"{whole // 3600}h{whole // 60 % 60:02}m"
    return f"{whole // 86_400}d {whole // 3600 % 24:02}h"


def age(seconds: float) -> str:
    """How old a value is, or how long it has been missing: `3 s`, `01:19`, `02:10:33`."""
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 60 else short_duration(whole)


def bits(rate: float | None) -> str:
    """A bit rate (bit/s): `4.48M`, `128k`, `0`; `?` where it is missing."""
    if rate is None or not isfinite(rate):
        return UNKNOWN
    if rate >= 999_500:
        return f"{rate / 1e6:.2f}M"
    if rate >= 1000:
        return f"{rate / 1e3:.0f}k"
    return f"{rate:.0f}"


def size(count: float) -> str:
    """A number of bytes: `512 B`, `4.5 kB`, `250.7 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def frames(rate: float | None) -> str:
    """A frame rate (frames/s): `30.0`; `?` where it is missing."""
    return UNKNOWN if rate is None or not isfinite(rate) else f"{rate:.1f}"


MASK = "••••"
"""Stands for what is not shown."""


def mask(secret: str) -> str:
    """A secret by its last four characters: `••••3f9a`; of a secret under 12 characters none is shown."""
    return f"{MASK}{secret[-4:]}" if len(secret) >= 12 else MASK


def safe(text: str, limit: int = 1000) -> Shown:
    """Text from outside as one line of at most `limit` characters, as `shown` makes it.

    What is hidden (bidi overrides, joiners between no letters, tags) is dropped, so that two names that look the same
    are the same; the blank of the braille patterns is no letter in a name.
    """
    kept = shown(text[: limit * 2].replace("\u2800", BLANK_LETTER))
    return kept if len(kept) <= limit else Shown(f"{kept[: limit - 1]}…")
