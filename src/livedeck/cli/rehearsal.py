"""End of a followed clock, for the commands that follow one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from livedeck.environment import SettingsError


class NoClockError(SettingsError):
    """Failure to find a clock to follow, or to keep following it."""


class WentBackError(NoClockError):
    """The followed clock is behind the data of this process, such as after a jump back. The process must begin anew."""


async def repeat_after_jump_back(work: Callable[[], Awaitable[int]], history: Path | None = None) -> int:
    """Return the result of `work`, which begins anew after each WentBackError.

    `history`: history file of the rehearsal. It is deleted before `work` begins anew, because its rows are now in the
    future.
    """
    while True:
        try:
            return await work()
        except WentBackError:
            if history is not None:
                for suffix in ("", "-wal", "-shm"):
                    history.with_name(f"{history.name}{suffix}").unlink(missing_ok=True)
