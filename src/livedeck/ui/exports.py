"""The export of a chat that is under way, or was the last: the deck's own, whatever screen is in front."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from textual.worker import Worker, WorkerCancelled

from livedeck import wording
from livedeck.client import ApiError, ChatExport, Exported, ExportProgress
from livedeck.monitor import Severity
from livedeck.ui.acts.act import Target
from livedeck.ui.job import Job, JobState
from livedeck.ui.renderables import export_words

if TYPE_CHECKING:
    from livedeck.client import Api
    from livedeck.ui.app import Deck

log = structlog.get_logger()

Opener = Callable[[Path], Awaitable[str]]
"""Has a file shown by the program that this machine has for it; returns why it cannot, or nothing."""


class Exports:
    """One at a time. `job`: the last one, however it ended; None: there was none."""

    def __init__(self, deck: Deck) -> None:
        self._deck = deck
        self._worker: Worker[None] | None = None
        self.job: Job | None = None

    @property
    def running(self) -> Job | None:
        """The one that is under way."""
        return self.job if self.job and self.job.running else None

    def begin(self, api: Api, wanted: ChatExport, name: str, to: Path, *, replace_: bool) -> None:
        """Begin it; where one is under way already, say so instead."""
        if self.running:
            self._deck.tell(f"the chat of {self.running.name} is still being exported", Severity.WARNING)
            return
        self.job = Job(wanted, name, to, self._deck.clock.monotonic())
        work = self._run(api, self.job, replace_=replace_)
        self._worker = self._deck.run_worker(work, name="export", group="export", exit_on_error=False)
        self._deck.news.publish(None)

    async def stop(self) -> None:
        """End it, and wait until nothing of it is left."""
        if self._worker is not None and self.running:
            self._worker.cancel()
            with suppress(WorkerCancelled):
                await self._worker.wait()

    async def _run(self, api: Api, job: Job, *, replace_: bool) -> None:
        try:
            done = await api.chat.export(job.wanted, job.to, replace=replace_, progress=self._heard)
        except asyncio.CancelledError:
            self.job = replace(self.job or job, state=JobState.STOPPED, why="nothing of it is left")
            raise
        except ApiError as error:
            self._end(JobState.FAILED, Severity.WARNING, str(error))
        except Exception as error:
            log.exception("an export failed")
            self._end(JobState.FAILED, Severity.CRITICAL, f"a fault of the deck: {type(error).__name__}; see the log")
        else:
            said = "; ".join(export_words.outcome(job.wanted, done))
            self._end(JobState.DONE, Severity.INFO, f"{said}, to {wording.safe(str(job.to), 200)}", done)
            target = Target("event", job.wanted.event_id, job.name)
            await self._deck.desk.did("chat.export", target, f"stream {job.wanted.stream_id}: {said}, to {job.to}")

    def _heard(self, progress: ExportProgress) -> None:
        """Only kept: the screens are painted once a second."""
        if self.job is not None:
            self.job = replace(self.job, progress=progress, heard=self._deck.clock.monotonic())

    def _end(self, state: JobState, severity: Severity, why: str, done: Exported | None = None) -> None:
        if self.job is not None:
            self.job = replace(self.job, state=state, why=why, done=done)
            self._deck.tell(f"export chat of {self.job.name} {state}: {why}", severity)
