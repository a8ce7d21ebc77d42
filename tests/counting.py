"""Count calls: a cost that is the same on every machine, busy or not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class Count:
    """Calls of Python and C functions in this thread."""

    calls: int = 0


@contextmanager
def counted() -> Iterator[Count]:
    """Count the calls of this thread until the block ends."""
    count, before = Count(), sys.getprofile()

    def note(_frame: FrameType, event: str, _value: Any) -> None:
        if event in {"call", "c_call"}:
            count.calls += 1

    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)
