"""Exports of a chat that are under way or were the last, and the preview read before one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from textual.worker import Worker, WorkerCancelled

from livedeck.client import Api, ApiError, ChatExport, ExportProgress, ExportResult
from livedeck.monitor import Severity
from livedeck.operations.operation import Target
from livedeck.presentation import chat_export
from livedeck.text import values

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class JobState(StrEnum):
    """What became of an export. STOPPED: by the person."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ExportJob:
    """An export to a file. `name`: of the event. `heard`: when bytes came last, in seconds of the deck's clock."""

    wanted: ChatExport
    name: str
    to: Path
    heard: float
    state: JobState = JobState.RUNNING
    progress: ExportProgress | None = None
    done: ExportResult | None = None
    why: str = ""

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.state is JobState.RUNNING


log = structlog.get_logger()


class Exports:
    """One at a time. `job`: the last one, however it ended; None: there was none."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._worker: Worker[None] | None = None
        self.job: ExportJob | None = None

    @property
    def running(self) -> ExportJob | None:
        """The one that is under way."""
        return self.job if self.job and self.job.running else None

    def begin(self, api: Api, wanted: ChatExport, name: str, to: Path, *, replace_: bool) -> None:
        """Begin it; where one is under way already, say so instead."""
        if self.running:
            self._ctx.announce(f"the chat of {self.running.name} is still being exported", Severity.WARNING)
            return
        self.job = ExportJob(wanted, name, to, self._ctx.clock.monotonic())
        work = self._run(api, self.job, replace_=replace_)
        self._worker = self._ctx.start(work, "export")
        self._ctx.snapshot_signal.publish(None)

    async def stop(self) -> None:
        """End it, and wait until nothing of it is left."""
        if self._worker is not None and self.running:
            self._worker.cancel()
            with suppress(WorkerCancelled):
                await self._worker.wait()

    async def _run(self, api: Api, job: ExportJob, *, replace_: bool) -> None:
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
            said = "; ".join(chat_export.result_parts(job.wanted, done))
            self._end(JobState.DONE, Severity.INFO, f"{said}, to {values.safe(str(job.to), 200)}", done)
            target = Target("event", job.wanted.event_id, job.name)
            await self._ctx.confirmer.audit_local(
                "chat.export", target, f"stream {job.wanted.stream_id}: {said}, to {job.to}"
            )

    def _heard(self, progress: ExportProgress) -> None:
        """Only kept: the screens are painted once a second."""
        if self.job is not None:
            self.job = replace(self.job, progress=progress, heard=self._ctx.clock.monotonic())

    def _end(self, state: JobState, severity: Severity, why: str, done: ExportResult | None = None) -> None:
        if self.job is not None:
            self.job = replace(self.job, state=state, why=why, done=done)
            self._ctx.announce(f"export chat of {self.job.name} {state}: {why}", severity)


def exports_of(ctx: Context) -> Exports:
    """The one export of this deck."""
    return ctx.state(Exports)


MOST = 10_000

"""Messages that are shown at most: a log may exceed any memory."""


LONGEST = 2000

"""Characters that are kept of one message at most."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One message. `number`: its place in the preview. `at`: None where it cannot be read. `admin`: None: not said."""

    number: int
    at: datetime | None
    name: str
    admin: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What was read of a log. `at`: when (this machine's clock). `whole`: to its end. `why`: it ended by an error."""

    wanted: ChatExport
    at: datetime
    rows: tuple[PreviewRow, ...] = ()
    reading: bool = True
    whole: bool = False
    why: str = ""


async def read(api: Api, wanted: ChatExport, at: datetime) -> AsyncIterator[Preview]:
    """The preview as it grows; the last one is read no further."""
    known = Preview(wanted, at)
    yield known
    try:
        async with aclosing(api.chat.selected(replace(wanted, zone=UTC))) as batches:
            async for items in batches:
                room = MOST - len(known.rows)
                rows = [preview_row(number, item) for number, item in enumerate(items[:room], len(known.rows))]
                known = replace(known, rows=(*known.rows, *rows))
                if len(items) > room:
                    yield replace(known, reading=False)
                    return
                yield known
    except ApiError as error:
        yield replace(known, reading=False, why=str(error))
        return
    yield replace(known, reading=False, whole=True)


def preview_row(number: int, item: Mapping[str, Any]) -> PreviewRow:
    """A message of the log, of any shape; its text is data and stays as it came."""
    admin = {"true": True, "false": False}.get(str(item.get("is_admin")).lower())
    name, text = (str("" if item.get(field) is None else item[field])[:LONGEST] for field in ("username", "message"))
    return PreviewRow(number, _moment(item.get("created_at")), name, admin, text)


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None
