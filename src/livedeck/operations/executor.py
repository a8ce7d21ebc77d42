"""Executor of every change. It acts on the state that the person saw, sends once, and ends in a verdict.

Steps: refuse if no change may be sent; ask for confirmation; read the object again, and ask again if it differs; record
the intent; send; if no response proves the outcome, look for the effect, first for seconds and then for minutes in the
background; record the outcome, notify the person, and poll the platform.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pwd import getpwuid
from socket import gethostname
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from livedeck.client import OF_ANOTHER, ApiError, Conflict, NotFound, Progress, Rejected, Unknown, Validation
from livedeck.log import Log
from livedeck.monitor import ActionRecord, AuditOutcome, Clock, FieldChange, IntentRecord, OpenChange
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    DeleteOperation,
    Operation,
    OperationResult,
    Platform,
    SendContext,
    Target,
    Verdict,
    cause_of,
    may_look_alike,
    recognisable,
)
from livedeck.presentation.open_changes import open_change_text
from livedeck.text.segments import StyleRole

log = Log(__name__)
T = TypeVar("T")
R = TypeVar("R")

RECONCILE_DELAYS = (0.0, 1.0, 2.0, 4.0)
"""Seconds before each read after a lost response, while the person waits. The change may still take effect."""

WATCH_SECONDS = 600.0
"""Seconds of the search in the background for a change that is not visible yet.

Gateways give up after seconds, but platforms may work on a request for minutes.
"""

WATCH_DELAYS = (*((8.0,) * 15), *((30.0,) * 16))
"""Seconds before each read in the background: every 8 s for two minutes, then every 30 s."""

LOOKED = "closed by a person after checking the platform"
"""Text in the audit about an open change that a person has closed."""

CLOSE = "change.close"
"""Name in the audit of the action that closes an open change."""

LEFT = "livedeck was closed before the response arrived"
NOT_SEEN_YET = "the change is not visible yet"
STILL_THERE = "it still exists"
AS_BEFORE = "the response shows the values from before"
NOT_READ = "the object could not be read again, so the change may have been made"
NOT_SEEN = f"the change did not become visible within {WATCH_SECONDS / 60:.0f} min"
SENT_AGAIN = "a similar change was sent afterwards, and both have the same effect"
"""Second part of the reason why a change has no verdict. The first part: why no response proves the outcome."""

NOT_WAITED_FOR = "nobody waited for the response"

LANDS_AFTER = "The earlier change may still take effect, even after this one. Check the platform's own page first."
SENT_TWICE = f"If you send it again, it may happen twice. {LANDS_AFTER}"
"""Advice before a change is sent while an earlier change has no verdict."""

HELD_ELSEWHERE = "not sent: another livedeck of yours is changing the same object; try again when that is done"
"""Refusal if the lock of an object does not become free in time."""

NOT_SENT = "livedeck was closed before the change was sent"

_OUTCOMES = {
    Verdict.DONE: AuditOutcome.DONE,
    Verdict.REFUSED: AuditOutcome.REFUSED,
    Verdict.APPLIED: AuditOutcome.APPLIED,
    Verdict.UNKNOWN: AuditOutcome.UNKNOWN,
}


class Cancelled(Exception):  # noqa: N818  read after `except`
    """The person has stopped waiting for the work."""


class ConfirmationPort(Protocol):
    """Source of the decision about sending a change: a dialog, a prompt or a policy."""

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """Return whether to send the operation. Called at every level; at NONE no question is needed."""


class ProgressPort(Protocol):
    """Display of the progress of slow work."""

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """Return the result of the work. If the person stops waiting, cancel the work and raise Cancelled."""


class LockPort(Protocol):
    """Locks that keep this user's other processes from changing the same object at the same time."""

    def hold(self, target: Target, /) -> AbstractAsyncContextManager[bool]:
        """Hold the object's lock during the block. Yields False if another process holds the lock too long."""


class AuditPort(Protocol):
    """Storage of the audit."""

    async def record_intent(self, record: IntentRecord) -> None:
        """Store the intent to send a change. Returns once it is stored."""

    async def record_action(self, record: ActionRecord) -> bool:
        """Store the record of an action. Returns whether it is stored."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """Search in the background for the effect of a change. `reason`: reason why the change has no verdict yet."""

    operation: Operation[Any]
    intent: IntentRecord
    reason: str
    task: asyncio.Task[None]


class _State(StrEnum):
    """State of an object after a change, by the last successful read."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Sight:
    """Result of the reads after a change.

    `is_shown`: a read proves that the change happened. `answer`: substitute for the lost response.
    """

    state: _State
    is_shown: bool = False
    answer: object = None


@dataclass(slots=True)
class Executor:
    """Runs operations, one on each target at a time.

    Attributes:
        clock: clock of the delays and of the audit.
        blocked_reason: returns why no change of a target may be sent now; empty if it may.
        notify: shows a person every verdict except CANCELLED, and the later verdict of an open change.
        announce: takes each intent right before its change is sent.
        refresh: polls the platform now.
        open_changes: changes without a verdict; the confirmation of a new change of the same target lists them.
        locks: a change holds its target's lock from the last read before sending until its verdict.
        recheck: returns further differences, in words, between the object as last read and as shown to the person.
        reads_back: whether to read the object again after a change is done, to compare its values with those sent.
        busy: verbs of the running operations, by kind and id of the target.
        in_doubt: descriptions of changes that were sent and have no verdict yet, by kind and id of the target.
    """

    platform: Platform
    clock: Clock
    confirmations: ConfirmationPort
    progress: ProgressPort
    audit: AuditPort | None = None
    blocked_reason: Callable[[Target], str] = lambda _: ""
    notify: Callable[[Operation[Any], OperationResult], None] = lambda *_: None
    announce: Callable[[IntentRecord], None] = lambda _: None
    refresh: Callable[[], None] = lambda: None
    open_changes: OpenChanges = field(default_factory=OpenChanges)
    locks: LockPort | None = None
    recheck: Callable[[Any], Conflicts] = lambda _: ()
    reads_back: bool = False
    busy: dict[tuple[str, str], str] = field(default_factory=dict)
    in_doubt: dict[tuple[str, str], str] = field(default_factory=dict)
    _watches: dict[str, _Watch] = field(default_factory=dict)

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """Run an operation and return its outcome. Each change is recorded in the audit before and after it is sent."""
        result, was_sent = await self._run(operation)
        if result.verdict is not Verdict.CANCELLED:
            self.notify(operation, result)
        if was_sent:
            self.refresh()
        return result

    async def wait_watches(self) -> None:
        """Wait until all background searches have ended."""
        while self._watches:
            await asyncio.wait([watch.task for watch in self._watches.values()])

    async def stop_watches(self) -> None:
        """Cancel all background searches. Their changes stay open, without a verdict."""
        for watch in self._watches.values():
            watch.task.cancel()
        await self.wait_watches()

    async def close_change(self, change: OpenChange) -> None:
        """Close a change that a person has checked. Record this, and stop the search for the effect of the change."""
        if watch := self._watches.get(change.intent.id):
            watch.task.cancel()
        await self._record(change.intent, AuditOutcome.DONE, LOOKED, action=CLOSE)
        self.open_changes.end(change.intent)

    async def _run(self, operation: Operation[Any]) -> tuple[OperationResult, bool]:
        """Run an operation. Return its outcome and whether a request was sent."""
        key = operation.target.kind, operation.target.id
        if key in self.busy:
            text = f"{self.busy[key]} is still running; wait until it ends"
            return OperationResult(Verdict.REFUSED, text), False
        self.busy[key] = operation.verb
        try:
            async with AsyncExitStack() as lock:
                confirmed = await self._confirm(operation, lock)
                if isinstance(confirmed, OperationResult):
                    return confirmed, False
                return await self._send(operation, confirmed), True
        finally:
            del self.busy[key]
            self.in_doubt.pop(key, None)

    async def _confirm(self, operation: Operation[T], lock: AsyncExitStack) -> T | OperationResult:
        """Return the current object once the person has seen it in this state and has confirmed its change.

        If the change must not be sent, returns the outcome instead. `lock`: holds the object's lock afterwards, but
        never during the question to the person.
        """
        current, conflicts = operation.seen, tuple[str, ...]()
        while True:
            await lock.aclose()
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"not sent: {reason}")
            action = _action(operation)
            unresolved = self.open_changes.of_target(action, operation.target)
            confirmation = replace(self._recognisable(operation, current, conflicts), conflicts=conflicts)
            confirmation = with_open_changes(confirmation, action, unresolved, self.clock.now())
            if not await self.confirmations.confirm(operation, confirmation):
                return OperationResult(Verdict.CANCELLED)
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"not sent: {reason}")
            now = await self._lock_and_read(operation, lock)
            if isinstance(now, OperationResult):
                return now
            conflicts = operation.conflicts(current, now) or self.recheck(now)
            if not conflicts:
                return now
            current = now

    def _recognisable(self, operation: Operation[T], current: T, conflicts: tuple[str, ...]) -> Confirmation:
        target = operation.target
        name, others = operation.real_name(current), self.platform.known(target.kind)
        return recognisable(operation.confirmation(current, conflicts), target, name, others)

    async def _lock_and_read(self, operation: Operation[T], lock: AsyncExitStack) -> T | OperationResult:
        """Put the object's lock into the stack and read the object. Return the object, or the outcome of a failure."""
        try:
            if self.locks is not None:
                hold = self.locks.hold(operation.target)
                title = f"waiting for another change of {operation.target.name}"
                if not await self.progress.watch(title, lambda _: lock.enter_async_context(hold)):
                    return OperationResult(Verdict.REFUSED, HELD_ELSEWHERE)
            return await operation.read(self.platform)
        except Cancelled:
            return OperationResult(Verdict.CANCELLED)
        except ApiError as error:
            if isinstance(error, NotFound) and not _is_of_proxy(error) and operation.target.id:
                text = "not sent: the platform says that the object does not exist"
                return OperationResult(Verdict.REFUSED, text, error, is_gone=True)
            text = f"not sent: could not re-check {operation.target.name} ({cause_of(error)})"
            return OperationResult(Verdict.REFUSED, text, error)

    async def _send(self, operation: Operation[T], current: T) -> OperationResult:
        """Record the intent, send the change with a single call, and return the outcome."""
        intent = new_intent(operation, self.clock.now())
        self.open_changes.begin(intent)
        self.announce(intent)
        left = AuditOutcome.REFUSED, NOT_SENT
        try:
            if self.audit is not None:
                await self.audit.record_intent(intent)
            await self._end_older_watches(operation)
            self.in_doubt[operation.target.kind, operation.target.id] = f"{operation.verb} {operation.target.name}"
            left = AuditOutcome.UNKNOWN, LEFT
            result = await self._call(operation, current)
        except asyncio.CancelledError:
            self.open_changes.end(intent)
            await self._record(intent, *left)
            raise
        if result.has_happened:
            self.open_changes.confirm(intent, self.clock.now())
        elif result.verdict is Verdict.REFUSED:
            self.open_changes.end(intent)
        if result.verdict is Verdict.UNKNOWN:
            self.open_changes.put(OpenChange(intent, result.text, result.watched_until))
            if result.watched_until:
                self._begin_watch(operation, current, intent, _reason(result.error))
        await self._record(intent, _OUTCOMES[result.verdict], result.text, result.watched_until)
        return result

    async def _call(self, operation: Operation[T], current: T) -> OperationResult:
        error: ApiError | None = None
        try:
            answer = await self.progress.watch(
                f"{operation.verb} {operation.target.name}",
                lambda progress: operation.send(SendContext(self.platform.api, current, progress)),
            )
        except Cancelled:
            pass
        except (Unknown, NotFound) as lost:  # a DELETE that a network delivers twice ends in "not found"
            error = lost
        except ApiError as refusal:
            return await self._check_refusal(operation, current, refusal)
        else:
            doubt = self._doubt(operation, current, answer)
            if not doubt:
                return await self._read_back(operation, current, answer)
            error = Unknown(f"{operation.verb} {operation.target.name}: {doubt}", doubt)
        if not operation.may_have_arrived:
            text = "the connection ended before the whole request was sent, so the platform does not have it"
            return OperationResult(Verdict.REFUSED, text, error)
        return await self._reconcile(operation, current, error)

    def _doubt(self, operation: Operation[T], before: T, answer: object) -> str:
        """Return the reason why a successful response does not prove the change; empty if it does.

        A response with the old values may be outdated. If the executor reads the object back, that read decides.
        """
        if operation.is_of_another(answer, before):
            return OF_ANOTHER
        answered = operation.read_of_answer(answer)
        if self.reads_back or answered is None:
            return ""
        has = operation.other_values(answered)
        return AS_BEFORE if has and has == operation.other_values(before) else ""

    async def _check_refusal(self, operation: Operation[T], before: T, refusal: ApiError) -> OperationResult:
        """Return REFUSED; APPLIED if a read shows the change; UNKNOWN for a conflict that is not documented.

        A network may deliver a change twice. Then the first copy succeeds, and because of it the second may be refused.
        """
        if isinstance(refusal, Conflict | Validation) and operation.can_show(before):
            title = f"checking: {operation.verb} {operation.target.name}"
            try:
                sight = await self.progress.watch(title, lambda _: self._look(operation, before, RECONCILE_DELAYS[:1]))
            except Cancelled:
                sight = _Sight(_State.UNKNOWN)
            if sight.is_shown:
                is_gone = sight.state is _State.GONE
                text = applied_text(operation, refusal)
                return OperationResult(Verdict.APPLIED, text, refusal, sight.answer, is_gone=is_gone)
        elif isinstance(refusal, Conflict) and not operation.may_conflict:
            text = f"{_reason(refusal)}; nothing can prove whether the change happened: {operation.no_evidence}"
            return OperationResult(Verdict.UNKNOWN, text, refusal)
        return OperationResult(Verdict.REFUSED, operation.refusal_text(refusal, before), refusal)

    async def _read_back(self, operation: Operation[T], before: T, answer: object) -> OperationResult:
        """Read the object after a change, and return DONE with a text about values that differ from the sent values.

        Another person may change the object between the response and the read. A value that has not changed may only be
        late, so the object is read several times.
        """
        done = OperationResult(Verdict.DONE, operation.verdict_words(Verdict.DONE), answer=answer)
        if not self.reads_back or not operation.shows_values:
            return done
        had = operation.other_values(before)
        has = had
        for delay in RECONCILE_DELAYS:
            await self.clock.sleep(delay)
            try:
                has = operation.other_values(await operation.read(self.platform))
            except ApiError as error:
                if isinstance(error, NotFound) and not _is_of_proxy(error):
                    return replace(done, text=f"accepted, but {operation.target.name} no longer exists", differs=True)
                return replace(done, text=f"{done.text}; could not be checked afterwards: {error}", error=error)
            if not has:
                return done
            if has != had:
                break
        text = f"accepted, but {operation.target.name} {'now ' if has != had else ''}has {' and '.join(has)}"
        answered = operation.read_of_answer(answer)
        was_so = answered is not None and not operation.other_values(answered)
        rest = ", as before" if has == had else ", set by somebody else" if was_so else ""
        return replace(done, text=f"{text}{rest}", differs=True)

    async def _reconcile(self, operation: Operation[T], before: T, error: ApiError | None) -> OperationResult:
        """Look for the effect of a change for some seconds, and return APPLIED or UNKNOWN with the result of the reads.

        `error`: reason why no response proves the outcome; None if the person stopped waiting.
        """
        can_show = operation.can_show(before)
        nothing_shows = f"nothing can prove whether the change happened: {operation.no_evidence}"
        is_seen = bool(operation.target.id) and not isinstance(before, tuple | None)  # a list does not show its order
        if not can_show and not (is_seen and isinstance(error, NotFound)):
            return OperationResult(Verdict.UNKNOWN, f"{_reason(error)}; {nothing_shows}", error)
        title = f"UNKNOWN, checking: {operation.verb} {operation.target.name}"
        delays = RECONCILE_DELAYS if can_show else RECONCILE_DELAYS[:1]
        try:
            sight = await self.progress.watch(title, lambda _: self._look(operation, before, delays))
        except Cancelled:
            sight = _Sight(_State.UNKNOWN)
        is_gone = sight.state is _State.GONE
        if sight.is_shown:
            text = applied_text(operation, error)
            return OperationResult(Verdict.APPLIED, text, error, sight.answer, is_gone=is_gone)
        text = f"{_reason(error)}; {_seen_text(operation, sight.state, can_show=can_show)}"
        if not can_show:
            return OperationResult(Verdict.UNKNOWN, f"{text}; {nothing_shows}", error, is_gone=is_gone)
        until = None if is_gone else self.clock.now() + timedelta(seconds=WATCH_SECONDS)
        return OperationResult(Verdict.UNKNOWN, text, error, watched_until=until, is_gone=is_gone)

    async def _look(self, operation: Operation[T], before: T, delays: Iterable[float]) -> _Sight:
        """Read the object after each delay, until a read proves the change. Return the result of the reads."""
        state = _State.UNKNOWN
        for delay in delays:
            await self.clock.sleep(delay)
            try:
                after: T | None = await operation.read(self.platform)
            except NotFound as error:
                if _is_of_proxy(error):
                    continue
                after = None
            except ApiError as error:
                log.warning("a read after a lost response failed", reason=str(error))
                continue
            state = _State.GONE if after is None else _State.THERE
            if operation.can_show(before) and operation.shows(before, after):
                return _Sight(state, is_shown=True, answer=operation.shown_answer(before, after))
        return _Sight(state)

    def _begin_watch(self, operation: Operation[T], before: T, intent: IntentRecord, reason: str) -> None:
        task = asyncio.create_task(self._watch(operation, before, intent, reason))
        self._watches[intent.id] = _Watch(operation, intent, reason, task)
        task.add_done_callback(lambda _: self._watches.pop(intent.id))

    async def _watch(self, operation: Operation[T], before: T, intent: IntentRecord, reason: str) -> None:
        """Search in the background for a change that is not visible yet, and report the outcome."""
        sight = await self._look(operation, before, WATCH_DELAYS)
        if sight.is_shown:
            result = OperationResult(Verdict.APPLIED, f"{reason}, but {_as_wanted(operation)}", answer=sight.answer)
            self.open_changes.end(intent)
        else:
            result = OperationResult(Verdict.UNKNOWN, f"{reason}; {NOT_SEEN}")
            self.open_changes.put(OpenChange(intent, result.text))
        self.notify(operation, result)
        await self._record(intent, _OUTCOMES[result.verdict], result.text)
        if result.has_happened:
            self.refresh()

    async def _end_older_watches(self, operation: Operation[Any]) -> None:
        """Stop the searches for earlier similar changes, because this operation may have the same effect."""
        for watch in [watch for watch in self._watches.values() if may_look_alike(watch.operation, operation)]:
            watch.task.cancel()
            text = f"{watch.reason}; {SENT_AGAIN}"
            self.open_changes.put(OpenChange(watch.intent, text))
            await self._record(watch.intent, AuditOutcome.UNKNOWN, text)

    async def _record(
        self,
        intent: IntentRecord,
        outcome: AuditOutcome,
        detail: str,
        watched_until: datetime | None = None,
        *,
        action: str = "",
    ) -> None:
        if self.audit is None:
            return
        target = intent.target_kind, intent.target_id, intent.target_name
        await self.audit.record_action(
            ActionRecord(
                self.clock.now(),
                action or intent.action,
                *target,
                outcome,
                detail,
                () if action else intent.edits,
                intent.id,
                watched_until,
            )
        )


def new_intent(operation: Operation[Any], at: datetime) -> IntentRecord:
    """Return the audit record of an operation that is about to be sent, with user, host and process."""
    target = operation.target
    return IntentRecord(
        uuid4().hex,
        at,
        _action(operation),
        operation.verb,
        target.kind,
        target.id,
        target.name,
        _user_name(),
        gethostname(),
        os.getpid(),
        tuple(FieldChange(change.name, change.before, change.after) for change in operation.changes),
    )


def _user_name() -> str:
    """Return the name of this process's account, or its number if the account has no name."""
    try:
        return getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _action(operation: Operation[Any]) -> str:
    return operation.audit_name or operation.name


def applied_text(operation: Operation[Any], error: ApiError | None) -> str:
    """Return the text for the verdict APPLIED. It must also be true if another person has made the same change."""
    return f"{_reason(error)}, but {_as_wanted(operation)}"


def _as_wanted(operation: Operation[Any]) -> str:
    return f"it is as you wanted: {operation.evidence}"


def _seen_text(operation: Operation[Any], state: _State, *, can_show: bool) -> str:
    """Return the result of reads that do not prove a change, as text."""
    if state is _State.GONE:
        return f"the platform says that the {operation.kind} does not exist"
    if state is _State.UNKNOWN:
        return NOT_READ
    return NOT_SEEN_YET if can_show and not isinstance(operation, DeleteOperation) else STILL_THERE


def _is_of_proxy(error: NotFound) -> bool:
    """Return whether a 404 may come from a proxy, because it has no error code.

    Then it says nothing about the object.
    """
    return not error.is_documented


def _reason(error: ApiError | None) -> str:
    """Return the reason why no response proves the outcome of a change. `error`: None if the person stopped waiting."""
    if isinstance(error, Rejected):
        said = "that it does not exist" if isinstance(error, NotFound) else "that this is not allowed"
        return f"{error.sender} responded {said} ({error.numbers}), which leaves the outcome open"
    return error.reason if isinstance(error, Unknown) else NOT_WAITED_FOR


def with_open_changes(
    confirmation: Confirmation, action: str, changes: Sequence[OpenChange], now: datetime
) -> Confirmation:
    """Return the confirmation with a list of the open changes at its beginning. Its level is then at least ASK."""
    if not changes:
        return confirmation
    lines = tuple((f"▲ {open_change_text(change, now)}.", StyleRole.CRITICAL) for change in changes)
    is_again = any(change.intent.action == action for change in changes)
    advice = SENT_TWICE if is_again else LANDS_AFTER
    level = ConfirmLevel.ASK if confirmation.level is ConfirmLevel.NONE else confirmation.level
    return replace(confirmation, lines=(*lines, (advice, StyleRole.WARNING), *confirmation.lines), level=level)


async def audit_local(audit: AuditPort | None, at: datetime, action: str, target: Target, detail: str = "") -> bool:
    """Record in the audit a person's action that has no effect outside this machine. Returns whether it is recorded."""
    if audit is None:
        return False
    outcome = AuditOutcome.DONE
    return await audit.record_action(ActionRecord(at, action, target.kind, target.id, target.name, outcome, detail))
