"""An export of a chat as a value: what, whereto, how far, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from livedeck.client import ChatExport, Exported, ExportProgress


class JobState(StrEnum):
    """What became of an export. STOPPED: by the person."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Job:
    """An export to a file. `name`: of the event. `heard`: when bytes came last, in seconds of the deck's clock."""

    wanted: ChatExport
    name: str
    to: Path
    heard: float
    state: JobState = JobState.RUNNING
    progress: ExportProgress | None = None
    done: Exported | None = None
    why: str = ""

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.state is JobState.RUNNING
