"""Order of names. Pure."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=16_384)
def name_order(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key for names that compares numbers by value: `semi-final 9` before `semi-final 10`."""
    return tuple(
        (int(part), "") if part.isdecimal() and part.isascii() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", name.casefold())
        if part
    )
