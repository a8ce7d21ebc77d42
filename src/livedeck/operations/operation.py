"""Change of the platform as a frozen value: its words, its request, and the evidence that it happened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from livedeck.client import Api, ApiError, Page, PagedItems, Progress, collect
from livedeck.monitor import Snapshot
from livedeck.operations.diff import Change, ParsedForm, change_lines, shown_values
from livedeck.operations.names import Named, id_end, namesakes, warnings, word_to_type
from livedeck.operations.schema import FieldValues, FormSchema
from livedeck.record import Record
from livedeck.text import values
from livedeck.text.segments import Segment, StyleRole

T = TypeVar("T")


class Verdict(StrEnum):
    """Outcome of an operation (trust.md, "Verdicts").

    DONE: the platform confirmed the change. REFUSED: the platform refused it, or it was provably not sent. APPLIED: no
    response proves the outcome, or the person stopped waiting; but a later read shows the change. UNKNOWN: neither the
    change nor its absence is proved. CANCELLED: the person did not confirm the change.
    """

    DONE = "done"
    REFUSED = "refused"
    APPLIED = "applied"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


class OperationResult(Record):
    """Verdict with a text for a person, and with the error and the platform's response, if any.

    Attributes:
        watched_until: end of the reads that look for the effect of an UNKNOWN change; None without such reads.
        differs: for DONE, True if a later read showed values that differ from the sent values.
        is_gone: True if the last read showed that the object does not exist.
    """

    verdict: Verdict
    text: str = ""
    error: ApiError | None = None
    answer: object = None
    watched_until: datetime | None = None
    differs: bool = False
    is_gone: bool = False

    @property
    def has_happened(self) -> bool:
        """True if the change is proved."""
        return self.verdict in {Verdict.DONE, Verdict.APPLIED}


class ConfirmLevel(StrEnum):
    """Way to confirm an operation. The more a mistake could break, the more explicit it is.

    NONE: no question, because the form or the person's action says enough. ASK: yes or no. TYPE_NAME: the person types
    the target's name.
    """

    NONE = "none"
    ASK = "ask"
    TYPE_NAME = "type name"


class Confirmation(Record):
    """Question to a person before an operation is sent.

    Attributes:
        lines: paragraphs of the question.
        button: label of the button that agrees.
        word: text to type if the level is TYPE_NAME: the name, or the end of the id.
        cancel: label of the button that declines.
        named: object with its real name; None if the question names no object.
        has_own_name: no other listed object has the same name, or one that looks the same.
        conflicts: changes of the object since it was shown; `lines` begin with them.
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
        """True if the person types the whole name instead of the end of the id."""
        return bool(self.named and self.word == self.named.name)

    def is_word(self, typed: str) -> bool:
        """Return whether `typed` is the requested text. A name must be exact; the end of an id may differ in case."""
        typed = typed.strip()
        if not typed:
            return False
        return typed == self.word if self.wants_name else typed.casefold() == self.word.casefold()

    def is_name(self, typed: str) -> bool:
        """Return whether `typed` is exactly the real name, and no other listed object has this name."""
        return self.has_own_name and self.named is not None and typed == self.named.name


class Target(Record):
    """Object that an operation changes, as it was when the person requested the change.

    Attributes:
        kind: `event`, `room`, `relay profile`, ...
        id: empty for an object that does not exist yet.
        state: description of the object's state, as shown to the person.
        seq: number of the snapshot that was on the screen.
    """

    kind: str
    id: str
    name: str
    state: str = ""
    seq: int = 0

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind and id, to compare targets; kind and name while the object has no id."""
        return self.kind, self.id, "" if self.id else self.name


class Platform(Record):
    """Sources for the reads of operations.

    Attributes:
        snapshot: returns the monitor's last snapshot; None without a monitor.
        siblings: objects of the target's kind that a command has read; used without a monitor.
    """

    api: Api
    snapshot: Callable[[], Snapshot | None] = lambda: None
    siblings: tuple[Any, ...] = ()

    def known(self, kind: str) -> tuple[Named, ...]:
        """Return the listed objects of a kind, with their real names; empty for a kind without a list."""
        snapshot = self.snapshot()
        if snapshot is None:
            items: Iterable[Any] = self.siblings
        elif kind == "event":
            items = (state.event for state in snapshot.events)
        else:
            items = snapshot.rooms.items if kind == "room" else ()
        return tuple(Named(item.id or "", getattr(item, "name", None) or "") for item in items)


class SendContext(Record, Generic[T]):
    """Arguments of `Operation.send`. `current`: the object, read right before sending."""

    api: Api
    current: T
    progress: Progress


Conflicts = tuple[str, ...]
"""Descriptions of changes since the object was shown: `its name was "A" and is "B" now`."""


class Operation(ABC, Generic[T]):
    """Change of an object. `read` returns the object as a T. Each kind of change is a frozen dataclass.

    Attributes:
        name: name in the catalogue, `event.create`.
        verb: imperative for messages, `create`.
        past: participle for messages, `created`.
        kind: kind of the target.
        level: usual confirmation. `confirmation` may ask for another, and open changes ask for ASK at least.
        help: one sentence without its full stop.
        schema: form that supplies the values; None for an operation without a form.
        button: label of the button that agrees; if empty, the verb.
        lists_changes: the confirmation lists the changed fields.
        audit_name: name in the audit; `name` if empty.
        shows_values: a read shows the values that the operation sets (`other_values`).
        evidence: text about the proof of the change after a lost response.
        no_evidence: text about the reason why the change cannot be proved, always or sometimes.
        looks_like: names of operations with an effect that may look the same.
        may_conflict: the platform may refuse the operation with 409 because of the object's state. If not, a 409
            proves nothing.
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
    may_conflict: ClassVar[bool] = True

    @property
    @abstractmethod
    def target(self) -> Target:
        """Object that the operation changes."""

    @property
    @abstractmethod
    def seen(self) -> T:
        """Object as the person saw it."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changed fields, for the audit."""
        return ()

    @property
    def may_have_arrived(self) -> bool:
        """False if the platform cannot have received the whole request. Used after a lost response."""
        return True

    @abstractmethod
    async def read(self, platform: Platform) -> T:
        """Read the object again. Raises ApiError; NotFound if the object does not exist any more."""

    def conflicts(self, before: T, now: T, /) -> Conflicts:  # noqa: ARG002  for objects that nobody else changes
        """Describe the relevant differences between two reads of the object."""
        return ()

    def real_name(self, _current: T, /) -> str:
        """Return the object's exact name on the platform; empty if people use no name for such objects."""
        return ""

    def effect(self, _current: T, /) -> str:
        """Describe the effect of the operation on the object, for the confirmation."""
        return ""

    def verdict_words(self, verdict: Verdict) -> str:
        """Return the outcome in words: `event created`, `unknown whether the event was created`."""
        if verdict is Verdict.UNKNOWN:
            return f"unknown whether the {self.kind} was {self.past}"
        is_done = verdict in {Verdict.DONE, Verdict.APPLIED}
        return f"{self.kind} {self.past}" if is_done else f"{self.kind} not {self.past}"

    def confirm_level(self, _current: T, _conflicts: Conflicts, /) -> ConfirmLevel:
        """Return the level for `confirmation`."""
        return self.level

    def confirmation(self, current: T, conflicts: Conflicts, /) -> Confirmation:
        """Build the question from the current object and the conflicts."""
        target, word, effect = self.target, (self.button or self.verb).capitalize(), self.effect(current)
        effects = ((effect, StyleRole.TEXT),) if effect else ()
        changes = change_lines(self.changes) if self.lists_changes else ()
        lines = (*conflict_lines(target, conflicts), *effects, *changes)
        level = self.confirm_level(current, conflicts)
        return Confirmation(f'{word} {target.kind} "{target.name}"?', lines, word, level)

    @abstractmethod
    async def send(self, context: SendContext[T], /) -> object:
        """Send the change with a single call, and return the platform's response. Raises ApiError."""

    def refusal_text(self, error: ApiError, _current: T, /) -> str:
        """Describe the platform's refusal. `_current`: the object, read right before sending."""
        return cause_of(error)

    def can_show(self, _before: T, /) -> bool:
        """Return whether a later read can prove the change, given the object before the change."""
        return bool(self.evidence)

    def shows(self, before: T, after: T | None, /) -> bool:  # noqa: ARG002  for what nothing shows
        """Return whether the object before and after sending proves the change. Called only if `can_show` is true.

        Only fields that the operation changes count. Modification dates, similar names and edits of other people prove
        nothing. False does not prove that the change did not happen.

        Args:
            before: the object right before sending.
            after: the object now; None if it does not exist any more.
        """
        return False

    def shown_answer(self, _before: T, _after: T | None, /) -> object:
        """Return a substitute for the lost response, such as the new object, or None."""
        return None

    def other_values(self, _current: T, /) -> tuple[str, ...]:
        """Describe the sent fields with a current value that differs from the sent value: `name "X"`.

        Empty if no value differs, or if no read shows the values.
        """
        return ()

    def read_of_answer(self, _answer: object, /) -> T | None:
        """Return the object from the platform's response; None if the response does not contain it."""
        return None

    def is_of_another(self, answer: object, _before: T, /) -> bool:
        """Return whether the response is that of another change, because it contains another object.

        `_before`: the object right before sending.
        """
        return self.read_of_answer(answer) is not None and has_other_id(answer, self.target.id)


def cause_of(error: ApiError) -> str:
    """Return the text of an error without the failed call: `timed out` for `get event 7a10: timed out`."""
    call, _, cause = str(error).partition(": ")
    return cause if cause and "(" not in call else str(error)  # advice before the call, as for a refused token, stays


class FormOperation(Operation[T]):
    """Operation built from a form. It sends only the fields that were changed in the form."""

    __slots__ = ()

    lists_changes = True

    form: ParsedForm[Any]

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.form.changes


class FieldOperation(Operation[T]):
    """Operation that sets fields of its object to given values."""

    __slots__ = ()

    no_evidence = "the values were the same before"

    @abstractmethod
    def is_so(self, current: T, /) -> bool:
        """Return whether the object's fields have exactly the values that the operation sets."""

    def can_show(self, before: T, /) -> bool:
        return not self.is_so(before)

    def shows(self, _before: T, after: T | None, /) -> bool:
        return after is not None and self.is_so(after)


class EditOperation(FormOperation[T], FieldOperation[T]):
    """Operation that edits fields of its object. A field has the same name in the request and in a read."""

    __slots__ = ()

    verb = "edit"
    past = "changed"
    level = ConfirmLevel.ASK
    button = "save"
    evidence = "the fields have changed to the sent values"
    shows_values = True

    def effect(self, _current: T, /) -> str:
        return "Only this will change:"

    @abstractmethod
    def entries(self, current: T, /) -> FieldValues:
        """Return the object's fields as entries of its form."""

    def unlike(self, current: T, /) -> tuple[str, ...]:
        """Return the names of the sent fields with a current value that differs from the sent value."""
        return tuple(name for name, value in self.form.draft.body().items() if getattr(current, name) != value)

    def is_so(self, current: T, /) -> bool:
        return not self.unlike(current)

    def other_values(self, current: T, /) -> tuple[str, ...]:
        schema = self.schema
        return shown_values(schema, self.entries(current), self.unlike(current)) if schema else ()


class DeleteOperation(Operation[T]):
    """Operation that deletes its object for good."""

    __slots__ = ()

    verb = "delete"
    past = "deleted"
    evidence = "the platform says that the object does not exist"

    def shows(self, _before: T, after: T | None, /) -> bool:
        return after is None


class Identified(Protocol):
    """Object that may have an id."""

    @property
    def id(self) -> str | None:
        """Id of the object on the platform, or None."""


Item = TypeVar("Item", bound=Identified)


class PartialRows(tuple[Item, ...]):
    """Rows of an incomplete list. Neither a new row nor a missing row proves anything."""

    __slots__ = ()


async def all_rows(items: PagedItems[Item]) -> tuple[Item, ...]:
    """Return all rows of a list, as PartialRows if some were not received. Raises ApiError."""
    rows = await collect(items)
    return rows if items.is_complete else PartialRows(rows)


def newest_rows(page: Page[Item]) -> tuple[Item, ...]:
    """Return the rows of the first page, as PartialRows if the page is null or lacks announced rows."""
    total = page.total if page.total is not None else int(page.is_null)
    is_whole = len(page) + len(page.unreadable) >= min(total, page.per_page)
    return page.items if is_whole else PartialRows(page.items)


class CreateOperation(Operation[tuple[Item, ...]]):
    """Operation that creates an object. `read` returns all objects of its kind, or the newest (`reads_newest`).

    Exactly one new object that equals the sent object proves the change. If there are two, another person may have
    created one of them. An incomplete list proves nothing.
    """

    __slots__ = ()

    level = ConfirmLevel.NONE
    lists_changes = True
    evidence = "exactly one new object has appeared, with the sent values"
    reads_newest: ClassVar[bool] = False

    @property
    def seen(self) -> tuple[Item, ...]:
        return ()

    @abstractmethod
    def is_like(self, item: Item, /) -> bool:
        """Return whether the item equals the sent object in all fields that the platform shows."""

    def sent_names(self) -> Mapping[str, str]:
        """Return field -> sent text, for each text that identifies the new object.

        A platform may trim or shorten these texts.
        """
        return {}

    def is_of_another(self, answer: object, before: tuple[Item, ...], /) -> bool:
        """Return whether the response contains an object that existed before, or an object with other names."""
        old_ids, names = {item.id for item in before}, self.sent_names()
        items = answer if isinstance(answer, tuple) else (answer,)
        return any(getattr(item, "id", None) in old_ids or has_other_names(item, names) for item in items if item)

    def candidates(self, before: tuple[Item, ...], after: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return the items in `after` that are new and equal the sent object; empty if a list is incomplete."""
        if isinstance(before, PartialRows) or isinstance(after, PartialRows):
            return ()
        old_ids = {item.id for item in before}
        matches = (item for item in after if item.id not in old_ids and self.is_like(item))
        return tuple(item for item in matches if not self.reads_newest or _is_newer(item, before))

    def shows(self, before: tuple[Item, ...], after: tuple[Item, ...] | None, /) -> bool:
        return len(self.candidates(before, after or ())) == 1

    def shown_answer(self, before: tuple[Item, ...], after: tuple[Item, ...] | None, /) -> object:
        (made,) = self.candidates(before, after or ())
        return made


def has_other_id(answer: object, object_id: str) -> bool:
    """Return whether the response contains an object with another id. Upper and lower case are equal."""
    answered = getattr(answer, "id", None)
    return bool(answered) and str(answered).casefold() != object_id.casefold()


def has_other_names(answer: object, names: Mapping[str, str]) -> bool:
    """Return whether a text of the object in the response is neither the sent text nor its beginning.

    Ignores case and spaces. `names`: sent texts by field. A field that the response lacks proves nothing.
    """
    pairs = ((getattr(answer, name, None), sent) for name, sent in names.items())
    return any(isinstance(text, str) and text and not _plain(sent).startswith(_plain(text)) for text, sent in pairs)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_newer(item: Identified, others: Iterable[Identified]) -> bool:
    """Return whether the item was created after all the others.

    After a deletion, a list of the newest objects ends with an older object that it lacked before. So a new row alone
    proves nothing.
    """
    made, before = (getattr(item, "created_at", None), [getattr(other, "created_at", None) for other in others])
    return made is not None and all(date is not None and date <= made for date in before)


class CreateFromForm(FormOperation[tuple[Item, ...]], CreateOperation[Item]):
    """Operation that creates an object from a form. `name_field`: field with the object's name."""

    __slots__ = ()

    name_field: ClassVar[str] = "name"

    @property
    def target(self) -> Target:
        return Target(self.kind, "", values.safe(getattr(self.form.draft, self.name_field), 60))

    def sent_names(self) -> Mapping[str, str]:
        return {self.name_field: getattr(self.form.draft, self.name_field)}


def may_look_alike(first: Operation[Any], other: Operation[Any]) -> bool:
    """Return whether the effect of `other` may look like the effect of `first`."""
    if other.name == first.name:
        return first.target.identity == other.target.identity
    return other.name in first.looks_like and (isinstance(first, CreateOperation) or first.target.id == other.target.id)


def conflict_lines(target: Target, conflicts: Conflicts) -> tuple[Segment, ...]:
    """Return the first lines of a confirmation: changes since the object was shown, or else the object's state."""
    if conflicts:
        return tuple((f"▲ Since you looked: {conflict}.", StyleRole.WARNING) for conflict in conflicts)
    return ((f"{target.state[0].upper()}{target.state[1:]}.", StyleRole.TEXT),) if target.state else ()


def recognisable(confirmation: Confirmation, target: Target, name: str, others: Iterable[Named]) -> Confirmation:
    """Return the confirmation with the end of the target's id, warnings about a deceptive name, and the text to type.

    Args:
        name: real name of the target; empty without a name.
        others: other listed objects of the target's kind.
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
