"""What the garbage collector of a long-running process need not look through."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from livedeck.monitor import Clock

_LASTING, _ALL_EACH = 10.0, 3600.0
"""Seconds."""


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Whatever is imported by the end of the block lasts: the garbage collector does not look through it again.

    Collecting while modules are imported takes an eighth of a start. Afterwards a full collection over 200 events holds
    the event loop for 0.1 s where it looks through the modules, too, and less than half as long where it does not.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def keep_collections_short(clock: Clock) -> None:
    """What has lasted for ten seconds will last: a full collection looks through the rest alone. Until cancelled.

    With a thousand events one that looks through everything holds the event loop for a third of a second, many times a
    minute. What lasted and is garbage all the same is found once an hour.
    """
    while True:
        gc.unfreeze()
        for _ in range(round(_ALL_EACH / _LASTING)):
            gc.collect()
            gc.freeze()
            await clock.sleep(_LASTING)
