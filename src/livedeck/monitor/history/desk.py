"""Between the event loop and the two threads of a history: what waits, what is under way, and what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.recorder import Batch, Reader, Recorder

T = TypeVar("T")

_LEAVE = 2.0
"""Seconds that closing may take."""

_WRITTEN, _READ, _CLOSED = "written", "read", "closed"
_MENDS = {_WRITTEN: {_WRITTEN, _READ}, _READ: {_READ}, _CLOSED: set[str]()}
"""What works again once that was done: what can be written can be read."""

log = structlog.get_logger("livedeck.history")


class Desk:
    """Takes batches and questions on the event loop and has them done on the threads: one writes, another reads.

    What cannot be written waits here, bounded, and is tried again with the next batch.
    """

    def __init__(self, recorder: Recorder, path: Path | None, now: datetime) -> None:
        self.now = now
        self._recorder, self._reader = recorder, Reader(path, recorder)
        self._writer = ThreadPoolExecutor(1, "livedeck-history-writer")
        self._asker = ThreadPoolExecutor(1, "livedeck-history-reader") if path else self._writer
        self._waiting = Batch()
        self._writing: asyncio.Task[None] | None = None
        self._faults: dict[str, str] = {}
        self._closed = False

    @property
    def fault(self) -> str:
        """What is wrong, with which file, and what to do; empty while all is kept."""
        return next(iter(self._faults.values()), self._recorder.notice)

    async def open(self) -> None:
        """Open the file, or learn why not."""
        await self._try(_WRITTEN, self._writer, self._recorder.open)

    def give(self, batch: Batch) -> None:
        """Have it written, as soon as what is being written is. Once closed, nothing is."""
        if self._closed:
            return
        self._waiting = self._waiting.then(batch)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="history")

    async def keep(self, entry: Entry) -> None:
        """Have that written, and return once it was tried."""
        self.give(Batch(entries=(entry,)))
        await self.flush()

    async def flush(self) -> None:
        """Return once all that was given has been tried."""
        self.give(Batch())
        if self._writing:
            await asyncio.shield(self._writing)

    async def ask(self, question: Callable[[Database], T], otherwise: T) -> T:
        """What the file answers; `otherwise` where it cannot be read, and then `fault` says why."""
        if self._closed:
            return otherwise
        answer = await self._try(_READ, self._asker, partial(self._reader.ask, question))
        return answer[0] if answer else otherwise

    async def close(self) -> None:
        """Write what waits and let go of the file, in a bounded time: a file that hangs must not keep the terminal."""
        if self._closed:
            return
        self._reader.interrupt()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE):
                await self.flush()
                await self._try(_CLOSED, self._asker, self._reader.close)
                await self._try(_CLOSED, self._writer, self._recorder.close)
        self._closed = True
        for thread in (self._asker, self._writer):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _write(self) -> None:
        """Until nothing waits, or the file fails. What we ourselves got wrong is logged and not tried again."""
        while self._waiting:
            batch, self._waiting = self._waiting, Batch()
            try:
                done = await self._try(_WRITTEN, self._writer, partial(self._recorder.write, batch, self.now))
            except Exception as error:
                log.exception("history: a write failed")
                self._faults[_WRITTEN] = f"history: {type(error).__name__}, a fault of livedeck itself; see the log"
                return
            if not done:
                self._waiting = batch.then(self._waiting)
                return

    async def _try(self, what: str, thread: ThreadPoolExecutor, work: Callable[[], T]) -> tuple[T] | None:
        """The result of `work` on that thread; None where it failed, which is logged as it begins and as it ends."""
        try:
            result = await asyncio.get_running_loop().run_in_executor(thread, work)
        except StorageError as error:
            if what not in self._faults:
                log.warning("history fails", what=what, why=str(error))
            self._faults[what] = str(error)
            return None
        for mended in self._faults.keys() & _MENDS[what]:
            del self._faults[mended]
            log.warning("history works again", what=mended)
        return (result,)
