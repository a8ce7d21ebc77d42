"""The one way of every change: it acts on what was shown, is sent once, and ends in a verdict.

In order: refused where nothing may be sent; confirmed; read again, and conflicts confirmed anew; sent; where the answer
was lost, reconciled by reading again; told, recorded in the audit, and the platform asked anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

import structlog

from livedeck.client import ApiError, NotFound, Progress, Rejected, Unknown, Unreachable, Unreadable
from livedeck.monitor import ActionRecord, AuditOutcome, Clock, FieldChange
from livedeck.operations.operation import (
    Confirmation,
    Operation,
    OperationResult,
    Platform,
    SendContext,
    Target,
    Verdict,
)

log = structlog.get_logger()
T = TypeVar("T")
R = TypeVar("R")

RECONCILE_DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0)
"""Seconds before each read after a lost answer; what was on its way may still arrive."""

MIN_READS = 4
"""So many good reads that show no change make a verdict."""

AMBIGUOUS_STATUS = frozenset({500, 502, 504})
"""A proxy, or a platform that broke, may answer these to a change that happened."""

LEFT = "nobody knows whether it happened: the deck was left before its answer was there"
"""What the audit says of a change whose end nobody waited for."""

_OUTCOMES = {
    Verdict.DONE: AuditOutcome.APPLIED,
    Verdict.APPLIED: AuditOutcome.APPLIED,
    Verdict.NOT_APPLIED: AuditOutcome.NOT_APPLIED,
    Verdict.UNKNOWN: AuditOutcome.UNKNOWN,
}
"""The audit's words; what is not here was refused, or never arrived."""


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


class AuditPort(Protocol):
    """Where the audit is kept."""

    async def record_action(self, record: ActionRecord) -> None:
        """Add that record."""


@dataclass(slots=True)
class Executor:
    """Runs operations, one on a target at a time.

    `blocked_reason`: why nothing may be sent to a target now, empty where it may. `notify`: tells a person of every end
    but CANCELLED. `refresh`: has the platform asked anew. `clock`: of its delays and of the audit.

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
    busy: dict[tuple[str, str], str] = field(default_factory=dict)
    in_doubt: dict[tuple[str, str], str] = field(default_factory=dict)

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """What became of it. Recorded is everything that was sent, also where this is cancelled before its end."""
        result = await self._run(operation)
        if result.verdict is not Verdict.CANCELLED:
            self.notify(operation, result)
        if result.verdict not in {Verdict.CANCELLED, Verdict.REFUSED}:
            await self._record(operation, result)
            self.refresh()
        return result

    async def _run(self, operation: Operation[Any]) -> OperationResult:
        key = operation.target.kind, operation.target.id
        if key in self.busy:
            return OperationResult(Verdict.REFUSED, f"{self.busy[key]} is still under way; wait for its end")
        self.busy[key] = operation.verb
        try:
            confirmed = await self._confirm(operation)
            if isinstance(confirmed, OperationResult):
                return confirmed
            self.in_doubt[key] = f"{operation.verb} {operation.target.name}"
            return await self._send(operation, confirmed)
        except asyncio.CancelledError:
            if key in self.in_doubt:
                await self._record(operation, OperationResult(Verdict.UNKNOWN, LEFT))
            raise
        finally:
            del self.busy[key]
            self.in_doubt.pop(key, None)

    async def _confirm(self, operation: Operation[T]) -> T | OperationResult:
        """The object as it is now, once what was shown of it is still so and the operation is confirmed."""
        current, conflicts = operation.seen, tuple[str, ...]()
        while True:
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {reason}")
            if not await self.confirmations.confirm(operation, operation.confirmation(current, conflicts)):
                return OperationResult(Verdict.CANCELLED)
            if reason := self.blocked_reason(operation.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {reason}")
            try:
                now = await operation.read(self.platform)
            except NotFound as error:
                return OperationResult(Verdict.REFUSED, "nothing was sent: it is not there any more", error)
            except ApiError as error:
                return OperationResult(Verdict.REFUSED, f"nothing was sent: it could not be read again: {error}", error)
            conflicts = operation.conflicts(current, now)
            if not conflicts:
                return now
            current = now

    async def _send(self, operation: Operation[T], current: T) -> OperationResult:
        """The one call, and what became of it."""
        try:
            answer = await self.progress.watch(
                f"{operation.verb} {operation.target.name}",
                lambda progress: operation.send(SendContext(self.platform.api, current, progress)),
            )
        except Cancelled:
            return await self._reconcile(operation, current, None)
        except ApiError as error:
            if is_ambiguous(error):
                return await self._reconcile(operation, current, error)
            return OperationResult(Verdict.FAILED, str(error), error)
        return OperationResult(Verdict.DONE, f"{operation.verb}: done", answer=answer)

    async def _reconcile(self, operation: Operation[T], before: T, error: ApiError | None) -> OperationResult:
        """Read again until it shows, or has not shown often enough. `error`: None where the wait was stopped."""
        title = f"UNKNOWN, checking: {operation.verb} {operation.target.name}"
        try:
            is_applied = await self.progress.watch(title, lambda _: self._verify(operation, before))
        except Cancelled:
            is_applied = None
        reason = "its answer was lost" if error else "it was stopped"
        if is_applied is None:
            text = "nobody knows whether it happened: look again before you repeat it"
            return OperationResult(Verdict.UNKNOWN, text, error)
        if is_applied:
            return OperationResult(Verdict.APPLIED, f"applied: {reason}, and reading again shows it", error)
        return OperationResult(Verdict.NOT_APPLIED, f"not applied: {reason}, and reading again shows no change", error)

    async def _verify(self, operation: Operation[T], before: T) -> bool | None:
        good_reads = 0
        for delay in RECONCILE_DELAYS if operation.can_verify else ():
            await self.clock.sleep(delay)
            try:
                after: T | None = await operation.read(self.platform)
            except NotFound:
                after = None
            except ApiError as error:
                log.warning("a read after a lost answer failed", reason=str(error))
                continue
            is_applied = operation.verify(before, after)
            if is_applied:
                return True
            good_reads += is_applied is False
            if good_reads == MIN_READS:
                return False
        return None

    async def _record(self, operation: Operation[Any], result: OperationResult) -> None:
        if self.audit is None:
            return
        lost = AuditOutcome.NOT_APPLIED if isinstance(result.error, Unreachable) else AuditOutcome.REFUSED
        outcome = _OUTCOMES.get(result.verdict, lost)
        action, target = operation.audit_name or operation.name, operation.target
        changes = tuple(FieldChange(change.name, change.before, change.after) for change in operation.changes)
        await self.audit.record_action(
            ActionRecord(self.clock.now(), action, target.kind, target.id, target.name, outcome, result.text, changes)
        )


async def audit_local(audit: AuditPort | None, at: datetime, action: str, target: Target, detail: str = "") -> None:
    """Record what a person did that never leaves this machine."""
    if audit is not None:
        outcome = AuditOutcome.APPLIED
        await audit.record_action(ActionRecord(at, action, target.kind, target.id, target.name, outcome, detail))


def is_ambiguous(error: ApiError) -> bool:
    """Whether a change that ended so may have happened all the same."""
    return isinstance(error, Unknown | Unreadable) or (isinstance(error, Rejected) and error.status in AMBIGUOUS_STATUS)
