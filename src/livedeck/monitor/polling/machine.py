"""Measurements of this process by the operating system: processor time, waits for the processor, sleep."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

_WITH_SLEEP = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
_WITHOUT_SLEEP = getattr(time, "CLOCK_UPTIME_RAW", getattr(time, "CLOCK_MONOTONIC", None))
"""Clock that goes on while the machine sleeps, and clock that stops.

Linux: BOOTTIME and MONOTONIC. macOS: MONOTONIC and UPTIME_RAW.
"""

_SCHEDULER = Path("/proc/thread-self/schedstat")
"""Linux file with three numbers: nanoseconds on the processor, nanoseconds of waits for the processor, turns."""


class Load(NamedTuple):
    """Totals of this process in seconds; None if the system does not measure them.

    `used`: processor time. `awaited`: time that this thread was ready but had no processor. `suspended`: time that the
    machine slept.
    """

    used: float | None = None
    awaited: float | None = None
    suspended: float | None = None


class Machine(Protocol):
    """Source of the `Load` totals of this process."""

    def load(self) -> Load:
        """Return the totals until now."""


class SystemMachine:
    """Source of the `Load` totals on the real machine, for the calling thread."""

    def load(self) -> Load:
        """Return the totals until now."""
        return Load(time.process_time(), _awaited(), _suspended())


def _awaited() -> float | None:
    with suppress(OSError, ValueError, IndexError):
        return int(_SCHEDULER.read_bytes().split()[1]) / 1e9
    return None


def _suspended() -> float | None:
    if _WITH_SLEEP is None or _WITHOUT_SLEEP is None or _WITH_SLEEP == _WITHOUT_SLEEP:
        return None
    return time.clock_gettime(_WITH_SLEEP) - time.clock_gettime(_WITHOUT_SLEEP)
