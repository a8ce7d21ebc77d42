"""Long work in slices, so that the event loop goes on between two of them. A leaf: it imports nothing of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")


Slices: TypeAlias = Generator[None, None, T]

"""Work that pauses wherever it yields, and returns its result in the end."""


def at_once(work: Slices[T]) -> T:
    """The result of `work`, its slices one after the other."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result


async def in_turns(work: Slices[T]) -> T:
    """The result of `work`; at each pause others have their turn."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        await asyncio.sleep(0)
