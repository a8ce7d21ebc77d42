"""The one way of every change: it acts on what was shown, is sent once, and ends in a verdict.

In order: refused where nothing may be sent; confirmed; read again, and conflicts confirmed anew; recorded as an intent;
sent; where the answer was lost, looked for in what it changes, for a moment here and for minutes behind the person's
back; recorded, told, and the platform asked anew.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pwd import getpwuid
from socket import gethostname
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import structlog

from livedeck.client import ApiError, NotFound, Progress, Unknown
from livedeck.monitor import ActionRecord, AuditOutcome, Clock, FieldChange, IntentRecord, OpenChange
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    Operation,
    OperationResult,
    Platform,
    SendContext,
    Target,
    Verdict,
    may_look_alike,
    recognisable,
)
from livedeck.presentation.open_changes import open_change_text
from livedeck.text.segments import StyleRole

log = structlog.get_logger()
T = TypeVar("T")
R = TypeVar("R")

RECONCILE_DELAYS = (0.0, 1.0, 2.0, 4.0)
"""Seconds before each read after a lost answer, while the person waits; what was on its way may still arrive."""

WATCH_SECONDS = 600.0
"""How long a change is looked for that is not seen yet: gateways give up after seconds, platforms go on for minutes."""

WATCH_DELAYS = (*((8.0,) * 15), *((30.0,) * 16))
"""Seconds before each read meanwhile: two minutes of the dense kind, then the rest."""

LOOKED = "closed by a person who has looked"
"""What the audit says of a change that is closed."""

CLOSE = "change.close"
"""What the audit calls it that a person has looked what became of a change."""

LEFT = "the deck was left before its answer was there"
NOT_SEEN_YET = "it is not seen yet"
NOT_SEEN = f"it was not seen for {WATCH_SECONDS / 60:.0f} min"
SENT_AGAIN = "one like it was sent after it: nothing tells the two apart"
"""What is known of a change without a verdict, behind what came in place of one."""

NOT_WAITED_FOR = "its answer was not waited for"

LANDS_AFTER = "It may still land, after this one too. Look at the platform's own page first."
SENT_TWICE = f"Sent again, it may happen twice. {LANDS_AFTER}"
"""What is to be thought of before a change is sent while another one has no verdict."""

HELD_ELSEWHERE = "nothing was sent: another livedeck of yours is changing it, and has not come to an end; try again"
"""What is said where the lock of an object does not come free."""

NOT_SENT = "the deck was left before it was sent"

_OUTCOMES = {
    Verdict.DONE: AuditOutcome.DONE,
    Verdict.REFUSED: AuditOutcome.REFUSED,
    Verdict.APPLIED: AuditOutcome.APPLIED,
    Verdict.UNKNOWN: AuditOutcome.UNKNOWN,
}


class Cancelled(Exception):  # noqa: N818  read after `except`
    """The person does not wait any longer."""


class ConfirmationPort(Protocol):
    """Whoever decides: dialogs, a prompt, a policy."""

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """Whether to send it. Called at every level: where it is NONE there is nothing to ask."""


class ProgressPort(Protocol):
    """Whoever shows that something takes long."""

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """The result of the work. Raises Cancelled where the person stops waiting; then the work is cancelled."""


class LockPort(Protocol):
    """Whoever keeps other processes of this user from changing the same object at the same time."""

    def hold(self, target: Target, /) -> AbstractAsyncContextManager[bool]:
        """Hold that object while the block runs. Yields False if another process kept it for too long."""


class AuditPort(Protocol):
    """Where the audit is kept."""

    async def record_intent(self, record: IntentRecord) -> None:
        """Add that a change is about to be sent. Returns once it is kept."""

    async def record_action(self, record: ActionRecord) -> None:
        """Add that record."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """A change that is looked for: by its intent, in what it changes. `reason`: why nothing is known of it."""

    operation: Operation[Any]
    intent: IntentRecord
    reason: str
    task: asyncio.Task[None]


@dataclass(frozen=True, slots=True)
class _Shown:
    """That a read shows that a change happened. `answer`: what stands in for the lost one."""

    answer: object


@dataclass(slots=True)
class Executor:
    """Runs operations, one on a target at a time.

    `blocked_reason`: why nothing may be sent to a target now, empty where it may. `notify`: tells a person of every end
    but CANCELLED, and once more where a change that had none is seen. `refresh`: has the platform asked anew. `clock`:
    of its delays and of the audit. `open_changes`: what has no verdict; a new change of the same target is asked about
    with them. `locks`: held from the last read before a change is sent until its end is known. `recheck`: what else is
    otherwise than it was seen, by that last read. `reads_back`: whether what was done is read once more.

    `busy`: the verbs under way, by kind and id of the target. `in_doubt`: what was sent and has no verdict yet.
    """

    platform: Platform
    clock: Clock
    confirmations: ConfirmationPort
    progress: ProgressPort
    audit: AuditPort | None = None
    blocked_reason: Callable[[Target], str] = lambda _: ""
    notify: Callable[[Operation[Any], OperationResult], None] = lambda *_: None
    refresh: Callable[[], None] = lambda: None
    open_changes: OpenChanges = field(default_factory=OpenChanges)
    locks: LockPort | None = None
    recheck: Callable[[Any], Conflicts] = lambda _: ()
    reads_back: bool = False
    busy: dict[tuple[str, str], str] = field(default_factory=dict)
    in_doubt: dict[tuple[str, str], str] = field(default_factory=dict)
    _watches: dict[str, _Watch] = field(default_factory=dict)

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """What became of it. Recorded is everything that was sent, before and after."""
        result, was_sent = await self._run(operation)
        if result.verdict is not Verdict.CANCELLED:
            self.notify(operation, result)
        if was_sent:
            self.refresh()
        return result

    async def wait_watches(self) -> None:
        """Return once no change is looked for any more."""
        while self._watches:
            await asyncio.wait([watch.task for watch in self._watches.values()])

    async def stop_watches(self) -> None:
        """Look for no change any more; what has no verdict stays open."""
        for watch in self._watches.values():
            watch.task.cancel()
        await self.wait_watches()

    async def close_change(self, change: OpenChange) -> None:
        """Record that a person has looked what became of it, and look for it no more."""
        if watch := self._watches.get(change.intent.id):
            watch.task.cancel()
        await self._record(change.intent, AuditOutcome.DONE, LOOKED, action=CLOSE)
        self.open_changes.end(change.intent)

    async def _run(self, operation: Operation[Any]) -> tuple[OperationResult, bool]:
        """What became of it, and whether anything was sent."""
        key = operation.target.kind, operation.target.id
        if key in self.busy:
            text = f"{self.busy[key]} is still under way; wait for its end"
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
        """Return the object as it is now, once what was shown of it is still so and the operation is confirmed.

        `lock`: holds the object's lock then. While somebody is asked nothing is locked.
        """
        current, conflicts = operation.seen, tuple[str, ...]()
        while True:
            await lock.aclose()
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {reason}")
            action = _action(operation)
            unresolved = self.open_changes.of_target(action, operation.target)
            confirmation = replace(self._recognisable(operation, current, conflicts), conflicts=conflicts)
            confirmation = with_open_changes(confirmation, action, unresolved, self.clock.now())
            if not await self.confirmations.confirm(operation, confirmation):
                return OperationResult(Verdict.CANCELLED)
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {reason}")
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
        """Return the object as it is now, its lock held in that stack; or why nothing can be sent."""
        try:
            if self.locks is not None:
                hold = self.locks.hold(operation.target)
                title = f"waiting for another change of {operation.target.name}"
                if not await self.progress.watch(title, lambda _: lock.enter_async_context(hold)):
                    return OperationResult(Verdict.REFUSED, HELD_ELSEWHERE)
            return await operation.read(self.platform)
        except Cancelled:
            return OperationResult(Verdict.CANCELLED)
        except NotFound as error:
            return OperationResult(Verdict.REFUSED, "nothing was sent: it is not there any more", error)
        except ApiError as error:
            return OperationResult(Verdict.REFUSED, f"nothing was sent: it could not be read again: {error}", error)

    async def _send(self, operation: Operation[T], current: T) -> OperationResult:
        """The one call, recorded before it leaves, and what became of it."""
        intent = new_intent(operation, self.clock.now())
        self.open_changes.begin(intent)
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
        except Unknown as lost:
            error = lost
        except ApiError as refusal:
            return OperationResult(Verdict.REFUSED, str(refusal), refusal)
        else:
            return await self._read_back(operation, current, answer)
        if not operation.may_have_arrived:
            text = "not all of it was sent before the connection ended, so that the platform cannot have it"
            return OperationResult(Verdict.REFUSED, text, error)
        return await self._reconcile(operation, current, error)

    async def _read_back(self, operation: Operation[T], before: T, answer: object) -> OperationResult:
        """Return that it is done, or what the platform shows in place of it.

        Others may write between our answer and our read. A value that is still the one before may only be late: it is
        read again for a moment.
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
            except NotFound:
                return replace(done, text=f"accepted, but {operation.target.name} is not there any more", differs=True)
            except ApiError as error:
                return replace(done, text=f"{done.text}; it could not be read once more: {error}", error=error)
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
        """Read again, for a moment, for what shows it. `error`: None where the wait was stopped."""
        if not operation.can_show(before):
            text = f"{_reason(error)}; nothing can show whether it happened: {operation.no_evidence}"
            return OperationResult(Verdict.UNKNOWN, text, error)
        title = f"UNKNOWN, checking: {operation.verb} {operation.target.name}"
        try:
            shown = await self.progress.watch(title, lambda _: self._look(operation, before, RECONCILE_DELAYS))
        except Cancelled:
            shown = None
        if shown:
            return OperationResult(Verdict.APPLIED, applied_text(operation, error), error, shown.answer)
        until = self.clock.now() + timedelta(seconds=WATCH_SECONDS)
        return OperationResult(Verdict.UNKNOWN, f"{_reason(error)}; {NOT_SEEN_YET}", error, watched_until=until)

    async def _look(self, operation: Operation[T], before: T, delays: Iterable[float]) -> _Shown | None:
        """What a read after one of these delays shows of it; None where none shows that it happened."""
        for delay in delays:
            await self.clock.sleep(delay)
            try:
                after: T | None = await operation.read(self.platform)
            except NotFound as error:
                if error.code is None:  # not the platform's own words: a proxy knows nothing of the object
                    continue
                after = None
            except ApiError as error:
                log.warning("a read after a lost answer failed", reason=str(error))
                continue
            if operation.shows(before, after):
                return _Shown(operation.shown_answer(before, after))
        return None

    def _begin_watch(self, operation: Operation[T], before: T, intent: IntentRecord, reason: str) -> None:
        task = asyncio.create_task(self._watch(operation, before, intent, reason))
        self._watches[intent.id] = _Watch(operation, intent, reason, task)
        task.add_done_callback(lambda _: self._watches.pop(intent.id))

    async def _watch(self, operation: Operation[T], before: T, intent: IntentRecord, reason: str) -> None:
        """Go on looking for what was not seen, and say what came of it."""
        if shown := await self._look(operation, before, WATCH_DELAYS):
            result = OperationResult(Verdict.APPLIED, f"{reason}, but {_as_wanted(operation)}", answer=shown.answer)
            self.open_changes.end(intent)
        else:
            result = OperationResult(Verdict.UNKNOWN, f"{reason}; {NOT_SEEN}")
            self.open_changes.put(OpenChange(intent, result.text))
        self.notify(operation, result)
        await self._record(intent, _OUTCOMES[result.verdict], result.text)
        if result.has_happened:
            self.refresh()

    async def _end_older_watches(self, operation: Operation[Any]) -> None:
        """What shows after this one is sent may be its work: it proves nothing of one like it that was sent before."""
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
    """What is about to be sent, and by whom."""
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
    """Of the account that this process runs under; its number where it has no name."""
    try:
        return getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _action(operation: Operation[Any]) -> str:
    return operation.audit_name or operation.name


def applied_text(operation: Operation[Any], error: ApiError | None) -> str:
    """Why it counts as applied. Somebody else may have wanted the same: then it is so all the same."""
    return f"{_reason(error)}, but {_as_wanted(operation)}"


def _as_wanted(operation: Operation[Any]) -> str:
    return f"it is as you wanted: {operation.evidence}"


def _reason(error: ApiError | None) -> str:
    """Why nothing is known of a change that was sent. `error` None: nobody waited."""
    return error.reason if isinstance(error, Unknown) else NOT_WAITED_FOR


def with_open_changes(
    confirmation: Confirmation, action: str, changes: Sequence[OpenChange], now: datetime
) -> Confirmation:
    """The confirmation of that action with what has no verdict said first; it is asked then, whatever its level."""
    if not changes:
        return confirmation
    lines = tuple((f"▲ {open_change_text(change, now)}.", StyleRole.CRITICAL) for change in changes)
    is_again = any(change.intent.action == action for change in changes)
    advice = SENT_TWICE if is_again else LANDS_AFTER
    level = ConfirmLevel.ASK if confirmation.level is ConfirmLevel.NONE else confirmation.level
    return replace(confirmation, lines=(*lines, (advice, StyleRole.WARNING), *confirmation.lines), level=level)


async def audit_local(audit: AuditPort | None, at: datetime, action: str, target: Target, detail: str = "") -> None:
    """Record what a person did that never leaves this machine."""
    if audit is not None:
        outcome = AuditOutcome.DONE
        await audit.record_action(ActionRecord(at, action, target.kind, target.id, target.name, outcome, detail))
