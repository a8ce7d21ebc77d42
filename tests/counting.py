"""Count calls: a cost that is the same on every machine, busy or not."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the calls of Python and C in this thread until the block ends, by the module of the caller."""
    calls, before = Counter[str](), sys.getprofile()

    def note(frame: FrameType, event: str, _value: object) -> None:
        if event in {"call", "c_call"}:
            calls[frame.f_globals.get("__name__", "")] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of calls that the work makes."""
    with counted() as calls:
        work()
    return calls.total()
