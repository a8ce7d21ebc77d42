"""Limits of what is counted: calls, copies, bytes and steps, none of which a busy machine changes.

A limit is about a tenth above the figure that it was set at. Change it with the reason in the commit.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Final

LIMITS: Final[Mapping[str, float]] = {
    "growth of work at ten times the size": 11,
    "wholeness: bytes held for each byte of a piece": 1.3,
    "detector: copies of an answer of two samples": 6,
    "detector: calls a sample, two in an answer": 190,
    "messages: calls for each": 18,
    "simulator: steps of a page of 2,000 events, against 200": 1.5,
    "export: calls in h11 at four times the length": 1.1,
}


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Count the calls of Python and C in the block, by the module of the caller; read the counter after the block."""
    calls = Counter[str]()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            calls[frame.f_globals.get("__name__", "")] += 1

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of calls of Python and C that the work makes."""
    with counted_calls() as calls:
        work()
    return calls.total()
