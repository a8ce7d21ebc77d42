"""A change that somebody wants, whole, and what became of it. Frozen values; performing.py takes them down the road."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from livedeck.client import ApiError, Progress

if TYPE_CHECKING:
    from livedeck.operations.diff import Change
    from livedeck.ui.kit.dialogs.confirm import Confirmation


T = TypeVar("T")


class Verdict(StrEnum):
    """What became of a change. APPLIED, NOT_APPLIED and UNKNOWN: its answer was lost, or it was stopped, and it was
    read again.

    FAILED: sent, and not accepted. REFUSED: never sent. CANCELLED: by the person.
    """

    DONE = "done"
    APPLIED = "applied"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class OperationResult:
    """The verdict, in words, with the error and the answer that there were."""

    verdict: Verdict
    text: str = ""
    error: ApiError | None = None
    answer: object = None

    @property
    def done(self) -> bool:
        """Whether it happened."""
        return self.verdict in {Verdict.DONE, Verdict.APPLIED}


@dataclass(frozen=True, slots=True)
class Target:
    """What is acted on, frozen when the key was pressed. `kind`: `event`, `room`, ...; `id` empty: not made yet.

    `state`: as it was shown, in words. `seq`: of the snapshot that showed it.
    """

    kind: str
    id: str
    name: str
    state: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """A change that somebody wants.

    `name`: of the action in the registry. `verb`: `complete`. `seen`: the object as it was shown. `look`: reads it
    again; raises ApiError, NotFound where it is gone. `differences`: what is otherwise than it was seen, in words;
    empty where nothing that matters is. `question`: what to ask, of the object and those differences; None where a form
    was consent enough. `send`: the one call. `applied`: whether the object before, and the object read afterwards
    (None: gone), show that it happened; None where they do not tell. `edits`: for the record.
    """

    name: str
    verb: str
    target: Target
    seen: T
    look: Callable[[], Awaitable[T]]
    differences: Callable[[T, T], tuple[str, ...]]
    question: Callable[[T, tuple[str, ...]], Confirmation | None]
    send: Callable[[Progress], Awaitable[object]]
    applied: Callable[[T, T | None], bool | None]
    edits: tuple[Change, ...] = ()
