"""Base classes of the operations on a video's extras (annotations, posters, subtitles), and of new row orders."""

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
FILE = Field("file", "File", hint="path on this machine", required=True, is_long=True)


def video_title(video: Video) -> str:
    """Return a video's title, cut to fit into a sentence."""
    return values.safe(video.title, 40)


@dataclass(frozen=True, slots=True)
class ExtraOperation(Operation[M]):
    """Change of an existing extra, such as a poster.

    Attributes:
        facts: field whose changes are conflicts -> name of the field in a sentence.
        extra: extra as the person saw it.
    """

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
    """Describe a changed field: `its title was "A" and is "B" now`, `it was shown; it no longer is`."""
    if isinstance(now, bool):
        return f"it was not {fact}; it is now" if now else f"it was {fact}; it no longer is"
    return f"its {fact} was {_quoted(before)} and is {_quoted(now)} now"


def _quoted(value: object) -> str:
    return f'"{values.safe(value, 60)}"' if isinstance(value, str) else values.safe(str(value), 20)


@dataclass(frozen=True, slots=True)
class EditExtra(EditOperation[M], ExtraOperation[M]):
    """Edit of an extra's fields."""

    form: ParsedForm[Any]

    def read_of_answer(self, answer: object, /) -> M | None:
        return answer if isinstance(answer, type(self.extra)) else None


Ids = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reorder(Operation[Ids]):
    """Operation that puts rows into another order. It sends the ids of all existing rows, and no other ids.

    Attributes:
        order: new order.
        shown: order that the person saw before.
        names: names of the rows by id.
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
        """Describe rows that are missing, new, or moved by another person."""
        old, new = set(before), set(now)
        missing = [self.names.get(row_id, row_id) for row_id in before if row_id not in new]
        added = len(new - old)
        is_moved = [row_id for row_id in before if row_id in new] != [row_id for row_id in now if row_id in old]
        texts = [f"not found: {values.safe(', '.join(missing), 120)}"] if missing else []
        texts += [f"{added} added; new rows will be last"] if added else []
        return (*texts, *(("somebody else moved rows",) if is_moved else ()))

    def confirmation(self, current: Ids, conflicts: Conflicts, /) -> Confirmation:
        """Build the question. It is needed only after conflicts, because the person has ordered the rows by hand."""
        effect = f"The order of all {len(self.complete_order(current))} rows is sent."
        level = ConfirmLevel.ASK if conflicts else ConfirmLevel.NONE
        lines = (*conflict_lines(self.target, conflicts), (effect, StyleRole.TEXT))
        title = "Send the order anyway?" if conflicts else "Send the order?"
        return Confirmation(title, lines, "Send", level)

    def complete_order(self, current: Ids) -> Ids:
        """Return the ids of the existing rows in the new order. Rows that were added meanwhile are last."""
        there, ordered = set(current), set(self.order)
        return (
            *(row_id for row_id in self.order if row_id in there),
            *(row_id for row_id in current if row_id not in ordered),
        )
