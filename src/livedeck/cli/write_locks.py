"""Locks of objects during a change, shared by all processes of a user on one machine (trust.md, "Writers")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from livedeck.atomic_file import FileLock
from livedeck.record import Record

if TYPE_CHECKING:
    from livedeck.monitor import Clock
    from livedeck.operations.operation import Target

WAIT_SECONDS = 30.0
"""Seconds that a change waits while another process changes the same object."""

RETRY_SECONDS = 0.05


class WriteLocks(Record):
    """Locks of the objects of the platform at `base_url`, as files in `folder`.

    `warn`: called with the reason if an object cannot be locked; the change then continues without a lock.
    """

    folder: Path
    base_url: str
    clock: Clock
    warn: Callable[[str], None]

    @asynccontextmanager
    async def hold(self, target: Target) -> AsyncIterator[bool]:
        """Hold the lock of the target while the block runs. Yields False if another process held it for WAIT_SECONDS.

        A target without an id, which does not exist yet, needs no lock.
        """
        if not target.id:
            yield True
            return
        try:
            lock = await self._acquire(target)
        except OSError as error:
            self.warn(
                f"{self.folder} cannot be written ({error.strerror or error}): no lock, so another livedeck on this "
                f"machine may change {target.name} at the same time"
            )
            yield True
            return
        try:
            yield lock is not None
        finally:
            if lock is not None:
                await asyncio.shield(asyncio.to_thread(lock.release))

    async def _acquire(self, target: Target) -> FileLock | None:
        key = "\0".join((self.base_url.rstrip("/"), target.kind, target.id))
        path = self.folder / f"{sha256(key.encode()).hexdigest()[:32]}.lock"
        end = self.clock.monotonic() + WAIT_SECONDS
        while (lock := await self._try(path)) is None and self.clock.monotonic() < end:
            await self.clock.sleep(RETRY_SECONDS)
        return lock

    async def _try(self, path: Path) -> FileLock | None:
        """Try once to take the lock. Returns None if another process holds it.

        Runs in a thread, because the disk may be slow. If the caller is cancelled meanwhile, releases the lock.
        """
        attempt = asyncio.ensure_future(asyncio.to_thread(FileLock.acquire, path))
        try:
            return await asyncio.shield(attempt)
        except asyncio.CancelledError:
            attempt.add_done_callback(_release)
            raise


def _release(attempt: asyncio.Future[FileLock | None]) -> None:
    if not attempt.cancelled() and attempt.exception() is None and (lock := attempt.result()) is not None:
        lock.release()
