"""Offsets of the tables: `-00:22:05`, `+1d`, `-2d 03:00:00`."""

from __future__ import annotations

import re
from typing import Annotated

from livedeck.simulator.models import parsed

_OFFSET = re.compile(r"([+-])(?:(\d{1,3})d)? ?(?:(\d\d):(\d\d):(\d\d))?")


def seconds_of(offset: str) -> int:
    """Return the seconds of an offset in the form of the tables. Raises ValueError for anything else."""
    match = _OFFSET.fullmatch(offset)
    if match is None or (match[2] is None and match[3] is None):
        raise ValueError(f"not an offset: {offset!r}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return -total if match[1] == "-" else total


def offset_of(seconds: float) -> str:
    """Return the offset of so many seconds, rounded."""
    total = round(seconds)
    days, rest = divmod(abs(total), 86_400)
    time = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{'-' if total < 0 else '+'}{f'{days}d ' if days else ''}{time}"


Offset = Annotated[int, parsed('an offset such as "+00:01:30" or "-2d 03:00:00"', seconds_of, {})]
"""Offset in a table, as its seconds."""
