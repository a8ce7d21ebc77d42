"""What the operations on the extras of a video share, and the order of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from livedeck.client import Model
from livedeck.monitor import Video
from livedeck.operations.diff import Change, ParsedForm
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    EditOperation,
    Operation,
    Target,
    conflict_lines,
)
from livedeck.operations.schema import Field
from livedeck.text import values
from livedeck.text.segments import StyleRole

M = TypeVar("M", bound=Model)
FILE = Field("file", "File", hint="its path on this machine", required=True, is_long=True)


def video_title(video: Video) -> str:
    """Its title, short enough for a sentence."""
    return values.safe(video.title, 40)


@dataclass(frozen=True, slots=True)
class ExtraOperation(Operation[M]):
    """A change of an extra that is there. `extra`: as it was shown. `facts`: the fields that matter, in words."""

    level = ConfirmLevel.ASK
    facts: ClassVar[Mapping[str, str]] = {}

    video: Video
    extra: M

    @property
    def seen(self) -> M:
        return self.extra

    def conflicts(self, before: M, now: M, /) -> Conflicts:
        reported = before.model_fields_set & now.model_fields_set
        names = (name for name in self.facts if name in reported and getattr(before, name) != getattr(now, name))
        return tuple(_conflict(self.facts[name], getattr(before, name), getattr(now, name)) for name in names)


def _conflict(fact: str, before: object, now: object) -> str:
    """`its title was "A" and is "B" now`, `it was shown and is not any more`."""
    if isinstance(now, bool):
        return f"it was not {fact} and is now" if now else f"it was {fact} and is not any more"
    return f"its {fact} was {_quoted(before)} and is {_quoted(now)} now"


def _quoted(value: object) -> str:
    return f'"{values.safe(value, 60)}"' if isinstance(value, str) else values.safe(str(value), 20)


@dataclass(frozen=True, slots=True)
class EditExtra(EditOperation[M], ExtraOperation[M]):
    """Changes fields of an extra."""

    form: ParsedForm[Any]

    def read_of_answer(self, answer: object, /) -> M | None:
        return answer if isinstance(answer, type(self.extra)) else None


Ids = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reorder(Operation[Ids]):
    """Puts rows into another order. What is sent names every row that is there and no other.

    `order`: as wanted. `shown`: the rows as they were shown. `names`: of the rows, by their id.
    """

    verb = "order"
    past = "put in order"
    level = ConfirmLevel.ASK
    audit_name = "order.send"

    video: Video
    order: Ids
    shown: Ids
    names: Mapping[str, str]

    @property
    def target(self) -> Target:
        name = f"{len(self.order)} rows of {video_title(self.video)}"
        return Target(self.kind, f"order of {self.video.id}", name)

    @property
    def seen(self) -> Ids:
        return self.shown

    @property
    def changes(self) -> tuple[Change, ...]:
        order = ", ".join(self.names.get(row_id, row_id) for row_id in self.order)
        return (Change("Order", "", values.safe(order, 400)),)

    def conflicts(self, before: Ids, now: Ids, /) -> Conflicts:
        """Rows that went, came, or were moved by somebody else."""
        old, new = set(before), set(now)
        gone = [self.names.get(row_id, row_id) for row_id in before if row_id not in new]
        come = len(new - old)
        is_moved = [row_id for row_id in before if row_id in new] != [row_id for row_id in now if row_id in old]
        texts = [f"gone: {values.safe(', '.join(gone), 120)}"] if gone else []
        texts += [f"{come} came, and will be last"] if come else []
        return (*texts, *(("somebody else moved rows",) if is_moved else ()))

    def confirmation(self, current: Ids, conflicts: Conflicts, /) -> Confirmation:
        """Asked only where something has changed: the rows were put in order by hand."""
        effect = f"{len(self.complete_order(current))} rows are sent in your order, whole."
        level = ConfirmLevel.ASK if conflicts else ConfirmLevel.NONE
        lines = (*conflict_lines(self.target, conflicts), (effect, StyleRole.TEXT))
        return Confirmation("Send the order all the same?", lines, "Send", level)

    def complete_order(self, current: Ids) -> Ids:
        """The rows that are there now, in the order that is wanted; those that came meanwhile are last."""
        there, ordered = set(current), set(self.order)
        return (
            *(row_id for row_id in self.order if row_id in there),
            *(row_id for row_id in current if row_id not in ordered),
        )
