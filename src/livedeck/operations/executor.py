"""The one road of every change: it acts on what was seen, once, and says what became of it.

In order (architecture.md, "One action"): refused where nothing may be sent; asked, by how much it can break; read again
and compared; sent; where the answer was lost, read again until it is known whether it happened; recorded, told, and the
platform asked anew. A change is never sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import structlog

from livedeck.client import ApiError, NotFound, Rejected, Unknown, Unreadable
from livedeck.monitor import Clock
from livedeck.operations.operation import Operation, OperationResult, Target, Verdict
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation
from livedeck.ui.kit.dialogs.dialog import Dialog
from livedeck.ui.kit.dialogs.progress import ProgressDialog

log = structlog.get_logger()


T = TypeVar("T")

R = TypeVar("R")


SHOW_AFTER = 0.5

"""Seconds of silence after which a dialog says that something is under way."""


RECONCILE_DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0)

"""Pauses in seconds between the looks after an answer was lost; what was on its way may still arrive."""


MIN_READS = 4

"""So many looks that show no change make a verdict."""


AMBIGUOUS_STATUS = frozenset({500, 502, 504})

"""A proxy, or a platform that broke, may say these of a change that happened."""


LEFT = "nobody knows whether it happened: the deck was left before its answer was there"

"""What the audit says of a change whose end nobody waited for."""


class Desk(Protocol):
    """What performing needs of the deck."""

    def hindrance(self, target: Target) -> str:
        """Why nothing may be done to the target now; empty where it may."""

    async def ask(self, dialog: Dialog[R]) -> R:
        """Show a dialog; what it returns."""

    def tell(self, outcome: OperationResult, act: Operation[T]) -> None:
        """Say what became of it, where people see it and where they find it later."""

    async def record(self, outcome: OperationResult, act: Operation[T]) -> None:
        """Write it into the audit."""

    def poke(self) -> None:
        """Have the platform asked anew."""


@dataclass(slots=True)
class Executor:
    """One change on one target at a time. `clock`: its pauses, and what tells early keys.

    `undecided`: what was sent, in words, and nobody knows yet what became of it.
    """

    desk: Desk
    clock: Clock
    busy: dict[tuple[str, str], str] = field(default_factory=dict)
    undecided: dict[tuple[str, str], str] = field(default_factory=dict)

    async def perform(self, act: Operation[T]) -> OperationResult:
        """Take the act down the road. Every end of it is told; every end after something was sent is recorded,
        and so is that the deck was left before there was one.
        """
        outcome = await self._performed(act)
        if outcome.verdict is not Verdict.CANCELLED:
            self.desk.tell(outcome, act)
        if outcome.verdict not in {Verdict.CANCELLED, Verdict.REFUSED}:
            await self.desk.record(outcome, act)
            self.desk.poke()
        return outcome

    async def _performed(self, act: Operation[T]) -> OperationResult:
        place = act.target.kind, act.target.id
        if place in self.busy:
            return OperationResult(Verdict.REFUSED, f"{self.busy[place]} is still under way; wait for its end")
        self.busy[place] = act.verb
        try:
            before = await self._agreed(act)
            if isinstance(before, OperationResult):
                return before
            self.undecided[place] = f"{act.verb} {act.target.name}"
            return await self._sent(act, before)
        except asyncio.CancelledError:
            if place in self.undecided:
                await self.desk.record(OperationResult(Verdict.UNKNOWN, LEFT), act)
            raise
        finally:
            del self.busy[place]
            self.undecided.pop(place, None)

    async def _agreed(self, act: Operation[T]) -> T | OperationResult:
        """The object as it is now, once what was seen of it is still so and the person wants it."""
        seen = act.seen
        changes: tuple[str, ...] = ()
        while True:
            if why := self.desk.hindrance(act.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {why}")
            question = act.question(seen, changes)
            if question and not await self.desk.ask(self._confirm(act, question)):
                return OperationResult(Verdict.CANCELLED)
            if why := self.desk.hindrance(act.target):
                return OperationResult(Verdict.REFUSED, f"nothing was sent: {why}")
            try:
                now = await act.look()
            except NotFound as error:
                return OperationResult(Verdict.REFUSED, "nothing was sent: it is not there any more", error)
            except ApiError as error:
                return OperationResult(Verdict.REFUSED, f"nothing was sent: it could not be read again: {error}", error)
            if not (changes := act.differences(seen, now)):
                return now
            seen = now

    def _confirm(self, act: Operation[T], question: Confirmation) -> Confirm:
        return Confirm(question, self.clock.monotonic, lambda: self.desk.hindrance(act.target))

    async def _sent(self, act: Operation[T], before: T) -> OperationResult:
        """The one call, and what became of it."""
        working = ProgressDialog(f"{act.verb} {act.target.name}", self.clock.monotonic)
        try:
            answer = await self.watched(act.send(working.progress), working)
        except Cancelled:
            return await self._settled(act, before, None)
        except ApiError as error:
            if is_ambiguous(error):
                return await self._settled(act, before, error)
            return OperationResult(Verdict.FAILED, str(error), error)
        return OperationResult(Verdict.DONE, f"{act.verb}: done", answer=answer)

    async def _settled(self, act: Operation[T], before: T, error: ApiError | None) -> OperationResult:
        """UNKNOWN, checking: read again until it shows, or has not shown often enough."""
        working = ProgressDialog(f"UNKNOWN, checking: {act.verb} {act.target.name}", self.clock.monotonic)
        try:
            found = await self.watched(self._found(act, before), working)
        except Cancelled:
            found = None
        why = "its answer was lost" if error else "it was stopped"
        if found is None:
            return OperationResult(
                Verdict.UNKNOWN, "nobody knows whether it happened: look again before you repeat it", error
            )
        if found:
            return OperationResult(Verdict.APPLIED, f"applied: {why}, and reading again shows it", error)
        return OperationResult(Verdict.NOT_APPLIED, f"not applied: {why}, and reading again shows no change", error)

    async def _found(self, act: Operation[T], before: T) -> bool | None:
        good = 0
        for pause in RECONCILE_DELAYS:
            await self.clock.sleep(pause)
            try:
                after: T | None = await act.look()
            except NotFound:
                after = None
            except ApiError as error:
                log.warning("a look after a lost answer failed", why=str(error))
                continue
            if applied := act.applied(before, after):
                return True
            good += applied is False
            if good == MIN_READS:
                return False
        return None

    async def watched(self, work: Awaitable[R], working: ProgressDialog) -> R:
        """The work; a dialog where it takes long. Raises Stopped where the person waits no longer: it was cancelled."""
        task = asyncio.ensure_future(work)
        patience = asyncio.ensure_future(self.clock.sleep(SHOW_AFTER))
        try:
            await asyncio.wait({task, patience}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.add_done_callback(lambda _: working.finish())
                if await self.desk.ask(working):
                    task.cancel()
                    await asyncio.wait({task})
                    raise Cancelled
            return await task
        finally:
            patience.cancel()
            task.cancel()


class Cancelled(Exception):  # noqa: N818  read after `except`
    """The person waits no longer."""


def is_ambiguous(error: ApiError) -> bool:
    """Whether a change that ended so may have happened all the same."""
    return isinstance(error, Unknown | Unreadable) or (isinstance(error, Rejected) and error.status in AMBIGUOUS_STATUS)
