"""Imports of a long-running screen."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
