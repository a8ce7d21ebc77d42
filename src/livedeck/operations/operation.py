"""A change of the platform as one frozen value: what it says, how it is sent, and how its effect is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from livedeck.client import Api, ApiError, Progress
from livedeck.monitor import Snapshot
from livedeck.operations.diff import Change, ParsedForm, change_lines, shown_values
from livedeck.operations.names import Named, id_end, namesakes, warnings, word_to_type
from livedeck.operations.schema import FieldValues, FormSchema
from livedeck.text import values
from livedeck.text.segments import Segment, StyleRole

T = TypeVar("T")


class Verdict(StrEnum):
    """What became of an operation (trust.md, "Verdicts").

    DONE: the platform said so. REFUSED: the platform said so, or it was provably not sent. APPLIED: the answer was
    lost, or the wait was stopped, and what it changes shows it. UNKNOWN: nothing proves either. CANCELLED: not
    confirmed.
    """

    DONE = "done"
    REFUSED = "refused"
    APPLIED = "applied"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class OperationResult:
    """The verdict with its words for a person, the error and the platform's answer, where there were any.

    `watched_until`: of UNKNOWN, until when it is looked at again; None: it is not. `differs`: of DONE, whether the
    platform showed something else than what was sent when it was read afterwards.
    """

    verdict: Verdict
    text: str = ""
    error: ApiError | None = None
    answer: object = None
    watched_until: datetime | None = None
    differs: bool = False

    @property
    def has_happened(self) -> bool:
        """Whether the platform was changed, as far as is known."""
        return self.verdict in {Verdict.DONE, Verdict.APPLIED}


class ConfirmLevel(StrEnum):
    """How an operation is confirmed, by how far a mistake would reach.

    NONE: its form was the confirmation. ASK: yes or no. TYPE_NAME: its name has to be typed.
    """

    NONE = "none"
    ASK = "ask"
    TYPE_NAME = "type name"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is said before an operation is sent. `lines`: paragraphs. `button`, `cancel`: the words of yes and no.

    `word`: what has to be typed where the level is TYPE_NAME: the name, or the end of the id. `named`: the object by
    its real name, which `word` and the id stand for; None where no object is named. `has_own_name`: whether it has a
    name that no other known object has, nor one that looks like it.
    `conflicts`: the differences that `lines` begin with.
    """

    title: str
    lines: tuple[Segment, ...]
    button: str
    level: ConfirmLevel = ConfirmLevel.ASK
    word: str = ""
    cancel: str = "Cancel"
    named: Named | None = None
    has_own_name: bool = False
    conflicts: tuple[str, ...] = ()

    @property
    def wants_name(self) -> bool:
        """Whether the whole name has to be typed, and not the end of the id."""
        return bool(self.named and self.word == self.named.name)

    def is_word(self, typed: str) -> bool:
        """Return whether that is what has to be typed: a name letter by letter, an id in whatever case."""
        typed = typed.strip()
        if not typed:
            return False
        return typed == self.word if self.wants_name else typed.casefold() == self.word.casefold()

    def is_name(self, typed: str) -> bool:
        """Return whether that is the real name, letter by letter, and of no other known object."""
        return self.has_own_name and self.named is not None and typed == self.named.name


@dataclass(frozen=True, slots=True)
class Target:
    """What an operation changes, frozen when it was asked for. `id` is empty for what is not made yet.

    `kind`: `event`, `room`, `relay profile`, ... `state`: as it was shown, in words. `seq`: of the snapshot shown.
    """

    kind: str
    id: str
    name: str
    state: str = ""
    seq: int = 0

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells it from others: its kind and id; its name while it has no id."""
        return self.kind, self.id, "" if self.id else self.name


@dataclass(frozen=True, slots=True)
class Platform:
    """Where operations read: the API, and the monitor's last snapshot; None where nothing is monitored.

    `siblings`: the objects of the target's kind that were read, where nothing is monitored.
    """

    api: Api
    snapshot: Callable[[], Snapshot | None] = lambda: None
    siblings: tuple[Any, ...] = ()

    def known(self, kind: str) -> tuple[Named, ...]:
        """Return the known objects of that kind of target by their real names; none of a kind that is not listed."""
        snapshot = self.snapshot()
        if snapshot is None:
            items: Iterable[Any] = self.siblings
        elif kind == "event":
            items = (state.event for state in snapshot.events)
        else:
            items = snapshot.rooms.items if kind == "room" else ()
        return tuple(Named(item.id or "", getattr(item, "name", None) or "") for item in items)


@dataclass(frozen=True, slots=True)
class SendContext(Generic[T]):
    """What an operation is sent with. `current`: the object as it was read right before."""

    api: Api
    current: T
    progress: Progress


Conflicts = tuple[str, ...]
"""What is otherwise than it was shown, in words: `its name was "A" and is "B" now`."""


class Operation(ABC, Generic[T]):
    """One change of one object, which is read as a T. Each kind of change is a frozen dataclass of its own.

    `name`: in the catalogue. `verb`: what is told of it, `past`: once it has happened. `kind`: of its
    target. `level`: the highest that it can ask for. `help`: a sentence without its full stop. `schema`: the form that
    it is made from. `button`: the word of yes, where that is not the verb. `lists_changes`: whether the confirmation
    does. `audit_name`: in the audit, where that is not its name. `shows_values`: whether a read shows the values that
    it sets (`other_values`). `evidence`: what shows, once its answer was lost, that it happened; `no_evidence`: why
    nothing does, or may not. `looks_like`: the names of others that may show the same.
    """

    __slots__ = ()

    name: ClassVar[str]
    verb: ClassVar[str]
    past: ClassVar[str]
    kind: ClassVar[str]
    level: ClassVar[ConfirmLevel]
    help: ClassVar[str]
    schema: ClassVar[FormSchema[Any] | None] = None
    button: ClassVar[str] = ""
    lists_changes: ClassVar[bool] = False
    audit_name: ClassVar[str] = ""
    shows_values: ClassVar[bool] = False
    evidence: ClassVar[str] = ""
    no_evidence: ClassVar[str] = ""
    looks_like: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def target(self) -> Target:
        """What is changed."""

    @property
    @abstractmethod
    def seen(self) -> T:
        """The object as it was shown."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The fields that change, for the audit."""
        return ()

    @property
    def may_have_arrived(self) -> bool:
        """Whether the platform may have all of what was sent; asked once an answer was lost."""
        return True

    @abstractmethod
    async def read(self, platform: Platform) -> T:
        """Read the object again. Raises ApiError, NotFound where it is gone."""

    def conflicts(self, before: T, now: T, /) -> Conflicts:  # noqa: ARG002  for objects that nobody else changes
        """What matters and is otherwise than before."""
        return ()

    def real_name(self, _current: T, /) -> str:
        """Return the name of the object as the platform has it; empty where it has none, or none that people use."""
        return ""

    def effect(self, _current: T, /) -> str:
        """What it does to the object, for its confirmation."""
        return ""

    def verdict_words(self, verdict: Verdict) -> str:
        """What became of it, in words: `event created`, `not known whether the event was created`."""
        if verdict is Verdict.UNKNOWN:
            return f"not known whether the {self.kind} was {self.past}"
        is_done = verdict in {Verdict.DONE, Verdict.APPLIED}
        return f"{self.kind} {self.past}" if is_done else f"{self.kind} not {self.past}"

    def confirm_level(self, _current: T, _conflicts: Conflicts, /) -> ConfirmLevel:
        """How it is asked now: its level, or a lower one."""
        return self.level

    def confirmation(self, current: T, conflicts: Conflicts, /) -> Confirmation:
        """What to say of the object and of those conflicts, and how to ask."""
        target, word, effect = self.target, (self.button or self.verb).capitalize(), self.effect(current)
        effects = ((effect, StyleRole.TEXT),) if effect else ()
        changes = change_lines(self.changes) if self.lists_changes else ()
        lines = (*conflict_lines(target, conflicts), *effects, *changes)
        level = self.confirm_level(current, conflicts)
        return Confirmation(f'{word} {target.kind} "{target.name}"?', lines, word, level)

    @abstractmethod
    async def send(self, context: SendContext[T], /) -> object:
        """Make the one call; its answer. Raises ApiError."""

    def can_show(self, _before: T, /) -> bool:
        """Whether reading again may ever prove that it happened to the object as it was right before."""
        return bool(self.evidence)

    def shows(self, before: T, after: T | None, /) -> bool:  # noqa: ARG002  for what nothing shows
        """Whether the object before and after (None: gone) proves that it happened; asked where it can show at all.

        Only what it changes counts: dates of changes, names that are alike and other people's edits prove nothing.
        False proves nothing either.
        """
        return False

    def shown_answer(self, _before: T, _after: T | None, /) -> object:
        """What stands in for the lost answer, where the object before and after shows it: what was made."""
        return None

    def other_values(self, _current: T, /) -> tuple[str, ...]:
        """Return in words what the fields that were sent are now, where that is not what was sent: `name "X"`.

        Empty where all is as it was sent, and where no read shows it.
        """
        return ()

    def read_of_answer(self, _answer: object, /) -> T | None:
        """Return the object as the platform's answer has it; None where the answer does not hold it."""
        return None


class FormOperation(Operation[T]):
    """Made of a form; what the form did not change is not sent."""

    __slots__ = ()

    lists_changes = True

    form: ParsedForm[Any]

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.form.changes


class FieldOperation(Operation[T]):
    """Gives fields of its object values that it knows."""

    __slots__ = ()

    no_evidence = "it changes nothing that was not so before"

    @abstractmethod
    def is_so(self, current: T, /) -> bool:
        """Whether the fields have exactly those values."""

    def can_show(self, before: T, /) -> bool:
        return not self.is_so(before)

    def shows(self, _before: T, after: T | None, /) -> bool:
        return after is not None and self.is_so(after)


class EditOperation(FormOperation[T], FieldOperation[T]):
    """Changes fields of its object, which are sent by the names that they are read by."""

    __slots__ = ()

    verb = "edit"
    past = "changed"
    level = ConfirmLevel.ASK
    button = "save"
    evidence = "its fields have the values that were sent, which they had not before"
    shows_values = True

    def effect(self, _current: T, /) -> str:
        return "This is sent and nothing else:"

    @abstractmethod
    def entries(self, current: T, /) -> FieldValues:
        """Return the object as its form shows it."""

    def unlike(self, current: T, /) -> tuple[str, ...]:
        """Return the names of the fields whose value is not the one that was sent."""
        return tuple(name for name, value in self.form.draft.body().items() if getattr(current, name) != value)

    def is_so(self, current: T, /) -> bool:
        return not self.unlike(current)

    def other_values(self, current: T, /) -> tuple[str, ...]:
        schema = self.schema
        return shown_values(schema, self.entries(current), self.unlike(current)) if schema else ()


class DeleteOperation(Operation[T]):
    """Deletes its object for good."""

    __slots__ = ()

    verb = "delete"
    past = "deleted"
    evidence = "the platform says that there is no such object"

    def shows(self, _before: T, after: T | None, /) -> bool:
        return after is None


class Identified(Protocol):
    """What has an id."""

    @property
    def id(self) -> str | None:
        """Its id."""


Item = TypeVar("Item", bound=Identified)


class CreateOperation(Operation[tuple[Item, ...]]):
    """Makes an object, read as those of its kind, all of them or the newest (`reads_newest`).

    That it was made shows by exactly one that was not there before and is exactly what was sent: of two, one is
    somebody else's.
    """

    __slots__ = ()

    level = ConfirmLevel.NONE
    lists_changes = True
    evidence = "just one came that is exactly what was sent"
    reads_newest: ClassVar[bool] = False

    @property
    def seen(self) -> tuple[Item, ...]:
        return ()

    @abstractmethod
    def is_like(self, item: Item, /) -> bool:
        """Whether that is exactly what was sent, as far as the platform shows it."""

    def candidates(self, before: tuple[Item, ...], after: tuple[Item, ...]) -> tuple[Item, ...]:
        """Those that came since and are exactly what was sent."""
        known = {item.id for item in before}
        came = (item for item in after if item.id not in known and self.is_like(item))
        return tuple(item for item in came if not self.reads_newest or _is_newer(item, before))

    def shows(self, before: tuple[Item, ...], after: tuple[Item, ...] | None, /) -> bool:
        return len(self.candidates(before, after or ())) == 1

    def shown_answer(self, before: tuple[Item, ...], after: tuple[Item, ...] | None, /) -> object:
        (made,) = self.candidates(before, after or ())
        return made


def _is_newer(item: Identified, others: Iterable[Identified]) -> bool:
    """Whether it was made after all of these: what is deleted lets an older object into a list of the newest."""
    made, before = (getattr(item, "created_at", None), [getattr(other, "created_at", None) for other in others])
    return made is not None and all(date is not None and date <= made for date in before)


class CreateFromForm(FormOperation[tuple[Item, ...]], CreateOperation[Item]):
    """Made of a form with a field, `name_field`, that the object is called by."""

    __slots__ = ()

    name_field: ClassVar[str] = "name"

    @property
    def target(self) -> Target:
        return Target(self.kind, "", values.safe(getattr(self.form.draft, self.name_field), 60))


def may_look_alike(first: Operation[Any], other: Operation[Any]) -> bool:
    """Whether what the other does may pass for the work of the first."""
    if other.name == first.name:
        return first.target.identity == other.target.identity
    return other.name in first.looks_like and (isinstance(first, CreateOperation) or first.target.id == other.target.id)


def conflict_lines(target: Target, conflicts: Conflicts) -> tuple[Segment, ...]:
    """What a confirmation begins with: what has changed since the object was shown, else its state."""
    if conflicts:
        return tuple((f"▲ Since you looked: {conflict}.", StyleRole.WARNING) for conflict in conflicts)
    return ((f"It is {target.state}.", StyleRole.TEXT),) if target.state else ()


def recognisable(confirmation: Confirmation, target: Target, name: str, others: Iterable[Named]) -> Confirmation:
    """Return the confirmation with what tells its object from others: the end of its id, what is deceptive about its
    name, and what has to be typed.

    Args:
        name: the real name of the target, empty if it has none.
        others: the known objects of its kind.
    """
    if not target.id:
        return replace(confirmation, word=target.name, named=Named("", target.name))
    named, others = Named(target.id, name), tuple(others)
    lines = tuple((f"▲ {text}", StyleRole.WARNING) for text in warnings(named, others, target.kind))
    title = f"{confirmation.title} (id …{values.safe(id_end(target.id), 6)})"
    return replace(
        confirmation,
        title=title,
        lines=(*lines, *confirmation.lines),
        word=word_to_type(named, others),
        named=named,
        has_own_name=bool(name) and not namesakes(named, others),
    )
