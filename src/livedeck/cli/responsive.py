"""What a process with a screen does to load quickly, and then to let keys and alarms wait for nothing.

performance.md, 1, 5 and 10.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SWITCH = 0.0005
"""Seconds after which a thread that waits gets its turn. The one that writes to the terminal needs several a picture:
at Python's own 5 ms each an alarm came 40 ms late while the answers of a round were read.
"""

_COLLECT = 700, 10, 100
"""As Python has it, but for the last: looking through all that two hundred events hold takes 25 ms, and by Python's own
10 it did so every ten seconds. What is garbage in circles is a few hundred objects by then.
"""


@contextmanager
def importing() -> Iterator[None]:
    """What is imported in the block stays: to look through it for garbage as it grows takes a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def responsive() -> None:
    """Call it when all is imported: what is loaded by then stays, and is not looked through again and again."""
    gc.freeze()
    gc.set_threshold(*_COLLECT)
    sys.setswitchinterval(_SWITCH)
