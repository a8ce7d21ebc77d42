"""Running or last export of a chat."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from textual.worker import Worker, WorkerCancelled

from livedeck.client import Api, ApiError, ChatExport, ExportProgress, ExportResult
from livedeck.log import Log
from livedeck.monitor import Severity
from livedeck.operations.operation import Target
from livedeck.presentation import chat_export
from livedeck.record import Record
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class JobState(StrEnum):
    """State of an export. STOPPED: the operator stopped it."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class ExportJob(Record):
    """Export of an event's chat to a file.

    `received_at`: time at which the last bytes arrived, in seconds on the deck's monotonic clock.
    """

    export: ChatExport
    event_name: str
    path: Path
    received_at: float
    state: JobState = JobState.RUNNING
    progress: ExportProgress | None = None
    result: ExportResult | None = None
    error: str = ""

    @property
    def is_running(self) -> bool:
        """True if the export is running."""
        return self.state is JobState.RUNNING


log = Log(__name__)


class Exports:
    """Runs one export at a time. `job`: running or last export; None before the first."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._worker: Worker[None] | None = None
        self.job: ExportJob | None = None

    @property
    def running(self) -> ExportJob | None:
        """Running export; None if no export runs."""
        return self.job if self.job and self.job.is_running else None

    def begin(self, api: Api, export: ChatExport, event_name: str, path: Path, *, overwrite: bool) -> None:
        """Begin an export. If another export runs, announce that no new one was started."""
        if self.running:
            self._ctx.announce(
                f"Not started: the chat of {self.running.event_name} is still being exported", Severity.WARNING
            )
            return
        self.job = ExportJob(export, event_name, path, self._ctx.clock.monotonic())
        self._worker = self._ctx.start(self._run(api, self.job, overwrite=overwrite), "export")
        self._ctx.snapshot_signal.publish(None)

    async def stop(self) -> None:
        """Stop the export, and wait until its incomplete file is removed."""
        if self._worker is not None and self.running:
            self._worker.cancel()
            with suppress(WorkerCancelled):
                await self._worker.wait()

    async def _run(self, api: Api, job: ExportJob, *, overwrite: bool) -> None:
        try:
            result = await api.chat.export(job.export, job.path, replace=overwrite, progress=self._on_progress)
        except asyncio.CancelledError:
            self.job = replace(self.job or job, state=JobState.STOPPED, error="no file is left")
            raise
        except ApiError as error:
            self._finish(JobState.FAILED, Severity.WARNING, str(error))
        except Exception as error:
            log.exception("an export failed")
            text = f"a fault in the deck: {type(error).__name__}; see the log"
            self._finish(JobState.FAILED, Severity.CRITICAL, text)
        else:
            text = "; ".join(chat_export.result_parts(job.export, result))
            self._finish(JobState.DONE, Severity.INFO, f"{text}, to {safe(str(job.path), 200)}", result)
            target = Target("event", job.export.event_id, job.event_name)
            await self._ctx.confirmer.audit_local(
                "chat.export", target, f"stream {job.export.stream_id}: {text}, to {job.path}"
            )

    def _on_progress(self, progress: ExportProgress) -> None:
        """Store the progress. Screens paint it within a second."""
        if self.job is not None:
            self.job = replace(self.job, progress=progress, received_at=self._ctx.clock.monotonic())

    def _finish(self, state: JobState, severity: Severity, text: str, result: ExportResult | None = None) -> None:
        if self.job is not None:
            self.job = replace(self.job, state=state, error=text, result=result)
            self._ctx.announce(f"export chat of {self.job.event_name} {state}: {text}", severity)


def exports_of(ctx: Context) -> Exports:
    """Return the Exports of this deck, which its screens share."""
    return ctx.state(Exports)
