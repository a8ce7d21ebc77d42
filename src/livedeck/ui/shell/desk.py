"""Where the deck's changes are made from: what is selected, whether anything may be sent, and who is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from livedeck.client import Progress, Unreachable
from livedeck.monitor import ActionRecord, AuditOutcome, FieldChange, History, Severity
from livedeck.operations.events import EventTarget
from livedeck.operations.operation import Operation, Target, Verdict
from livedeck.operations.operation import OperationResult as Ending
from livedeck.text import values
from livedeck.text.times import TimeReference
from livedeck.ui.shell.keymap import key_of

if TYPE_CHECKING:
    from livedeck.client import Api
    from livedeck.operations.executor import Executor
    from livedeck.ui.kit.dialogs.dialog import Dialog
    from livedeck.ui.shell.context import Context


R = TypeVar("R")


SEVERITIES = {
    Verdict.DONE: Severity.INFO,
    Verdict.APPLIED: Severity.INFO,
    Verdict.REFUSED: Severity.WARNING,
    Verdict.UNKNOWN: Severity.CRITICAL,
    Verdict.NOT_APPLIED: Severity.CRITICAL,
    Verdict.FAILED: Severity.CRITICAL,
}

"""How loud each ending is told."""


ROOMS = frozenset({"room", "relay profile"})

"""The kinds of what is listed with the rooms."""


OUTCOMES = {
    Verdict.DONE: AuditOutcome.APPLIED,
    Verdict.APPLIED: AuditOutcome.APPLIED,
    Verdict.NOT_APPLIED: AuditOutcome.NOT_APPLIED,
    Verdict.UNKNOWN: AuditOutcome.UNKNOWN,
}

"""The audit's words; what is not here was refused, or never arrived."""


class Desk:
    """The deck as `performing` sees it. `history`: where the audit is kept; None: nowhere."""

    def __init__(self, ctx: Context, history: History | None) -> None:
        self._ctx, self._history = ctx, history

    @cached_property
    def _performer(self) -> Executor:
        """Imported, with its dialogs, when something is to be done: a first picture asks nothing."""
        from livedeck.operations.executor import Executor as Performer

        return Performer(self, self._ctx.clock)

    @property
    def api(self) -> Api:
        """Where changes go; the deck refuses every action that writes where there is none."""
        assert self._ctx.api is not None
        return self._ctx.api

    def subject(self) -> EventTarget:
        """The selected event as it is shown now: to be called as the key is pressed, before anything is awaited."""
        state, shown = self._ctx.selected_event(), self._ctx.displayed()
        assert state is not None
        assert shown is not None
        snapshot, moment = shown
        return EventTarget.of(self.api, lambda: self._ctx.snapshot, state, moment, snapshot.seq)

    def present(self) -> TimeReference:
        """What typed moments are read against: the platform's clock, the person's zone."""
        moment = self._ctx.render_time()
        now = moment.server if moment else self._ctx.clock.now()
        return TimeReference(now, self._ctx.identity["zone"])

    async def fetch(self, what: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """Work that changes nothing on the platform; how far it is, where it takes long. Raises Stopped."""
        from livedeck.ui.kit.dialogs.progress import ProgressDialog as Working

        working = Working(what, self._ctx.clock.monotonic)
        return await self._performer.watched(work(working.progress), working)

    async def perform(self, act: Operation[Any]) -> Ending:
        """Take it down the one road of every change."""
        return await self._performer.perform(act)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The changes that were sent, in words, of which nobody knows yet what became of them."""
        return tuple(self._performer.undecided.values())

    def hindrance(self, target: Target | None = None) -> str:
        """Why nothing may be sent now: nobody changes what they cannot see (interface.md, "Behaviour")."""
        moment, snapshot = self._ctx.render_time(), self._ctx.snapshot
        if moment is None or snapshot is None or snapshot.link.as_of is None:
            return "no data yet; wait for the platform's first answer"
        ask = key_of("app.ask", self._ctx.actions)
        if moment.stale:
            age = values.age(moment.seconds_since(snapshot.link.as_of))
            return f"what you see is STALE, {age} old; {ask} asks the platform again"
        if target and target.kind in ROOMS and snapshot.rooms.as_of and snapshot.rooms.stale(moment.now):
            age = values.age(moment.seconds_since(snapshot.rooms.as_of))
            return f"the rooms that you see are STALE, {age} old; {ask} asks the platform again"
        state = snapshot.find(target.id) if target and target.kind == "event" else None
        if state and state.is_stale:
            return f"what you see of it may be over: the platform gives no answer for it; {ask} asks again"
        return ""

    async def ask(self, dialog: Dialog[R]) -> R:
        """Show it over whatever is there; what it returns."""
        return await self._ctx.ask(dialog)

    def tell(self, ending: Ending, act: Operation[Any]) -> None:
        """What was done to what, and what became of it; it stays among the notices."""
        text = act.target.name if ending.verdict is Verdict.DONE else f"{act.target.name}: {ending.text}"
        self._ctx.announce(f"{act.verb} {ending.verdict}: {text}", SEVERITIES[ending.verdict])

    async def record(self, ending: Ending, act: Operation[Any]) -> None:
        """The audit's line."""
        if self._history is None:
            return
        lost = AuditOutcome.NOT_APPLIED if isinstance(ending.error, Unreachable) else AuditOutcome.REFUSED
        outcome = OUTCOMES.get(ending.verdict, lost)
        target, now = act.target, self._ctx.clock.now()
        edits = tuple(FieldChange(one.name, one.before, one.after) for one in act.edits)
        await self._history.record_action(
            ActionRecord(now, act.name, target.kind, target.id, target.name, outcome, ending.text, edits)
        )

    async def did(self, action: str, target: Target, detail: str = "") -> None:
        """The audit's line for what a person did that never leaves this machine."""
        if self._history is not None:
            now = self._ctx.clock.now()
            record = ActionRecord(now, action, target.kind, target.id, target.name, AuditOutcome.APPLIED, detail)
            await self._history.record_action(record)

    def poke(self) -> None:
        """Something was changed: the next snapshot shows it."""
        self._ctx.monitor.refresh()
