"""The executor of operations with dialogs as its ports; forms that come back with all that was typed if refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import Any, Protocol, TypeVar

from textual.screen import Screen

from livedeck.client import Api, FileFault, Invalid, Progress, Rejected
from livedeck.monitor import Clock, Feed, History, Severity, Snapshot
from livedeck.operations import guard
from livedeck.operations.diff import ParsedForm, parse_form
from livedeck.operations.executor import Cancelled, Executor, LockPort, audit_local
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Operation,
    OperationResult,
    Platform,
    Target,
    Verdict,
)
from livedeck.operations.schema import (
    FieldErrors,
    FieldValues,
    FormResult,
    FormSchema,
    FormState,
    Suggestions,
    field_errors,
)
from livedeck.presentation.open_changes import ADVICE, open_change_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import StyleRole
from livedeck.text.times import TimeReference
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from livedeck.ui.shell.directory import Directory

R = TypeVar("R")

MAX_LISTED = 6
"""Changes without a verdict in one dialog, the newest ones; at 80x24 there is room for no more."""

SHOW_AFTER = 0.5
"""Seconds of silence after which a dialog says that something is under way."""

SEVERITIES = {
    Verdict.DONE: Severity.INFO,
    Verdict.APPLIED: Severity.INFO,
    Verdict.REFUSED: Severity.WARNING,
    Verdict.UNKNOWN: Severity.CRITICAL,
}
"""How loud each verdict is told; a refusal in the platform's words is critical."""

OperationFactory = Callable[[ParsedForm[Any]], Operation[Any] | Awaitable[Operation[Any]]]
"""The operation that a filled form asks for; awaited where a file is read first. Raises Invalid and FileFault."""

RetryHook = Callable[[FormResult, OperationResult], Awaitable[bool]]
"""What may follow on a refusal in place of the form; whether it did."""


async def _no_hook(_: FormResult, __: OperationResult) -> bool:
    return False


class Host(Protocol):
    """What the confirmer needs of the deck; its Context has all of it."""

    api: Api | None
    clock: Clock
    fault: str
    history: History | None
    locks: LockPort | None
    monitor: Feed
    open_changes: OpenChanges
    snapshot: Snapshot | None

    @property
    def directory(self) -> Directory:
        """What ids are called."""

    def render_time(self) -> RenderTime | None:
        """The instant that the screen is painted for."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Say that above the keys."""

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog and wait for its result."""


class Confirmer:
    """Where features ask, and hand operations to the executor.

    `zone`: that typed times are read in. `refresh_key`: the key that has the platform asked again.
    """

    def __init__(self, ctx: Host, *, zone: tzinfo | None, refresh_key: str) -> None:
        self._ctx, self._zone, self._refresh_key = ctx, zone, refresh_key
        self._executor: Executor | None = None

    @property
    def api(self) -> Api:
        """Where changes go; the deck refuses every action that writes where there is none."""
        assert self._ctx.api is not None
        return self._ctx.api

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """The changes that were sent, in words, and have no verdict yet."""
        return tuple(self._executor.in_doubt.values()) if self._executor else ()

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """Confirm and send it; what became of it, which was told."""
        return await self._made_executor().run(operation)

    async def close_changes(self) -> None:
        """Say which changes have no verdict and what to do, and close those that the person has looked after."""
        changes, now = self._ctx.open_changes.items, self._ctx.clock.now()
        paragraphs = [(f"{open_change_text(change, now)}.", StyleRole.TEXT) for change in reversed(changes)]
        advice = f"{ADVICE[0].upper()}{ADVICE[1:]}."
        hint = f"{advice} Close what you have looked after: it is shown no more, and the audit keeps it."
        title = f"{len(changes)} {'change has' if len(changes) == 1 else 'changes have'} no verdict"
        lines = (*paragraphs[:MAX_LISTED], (hint, StyleRole.WARNING))
        if await self.ask_confirmation(Confirmation(title, lines, "I have looked: close", cancel="Keep")):
            still_open = {change.intent.id for change in self._ctx.open_changes.items}
            for change in (change for change in changes if change.intent.id in still_open):
                await self._made_executor().close_change(change)

    def _made_executor(self) -> Executor:
        if self._executor is None:
            ctx = self._ctx
            self._executor = Executor(
                Platform(self.api, lambda: ctx.snapshot),
                ctx.clock,
                confirmations=self,
                progress=self,
                audit=ctx.history,
                blocked_reason=self.blocked_reason,
                notify=self._notify,
                refresh=ctx.monitor.refresh,
                open_changes=ctx.open_changes,
                locks=ctx.locks,
            )
        return self._executor

    async def run_form(
        self,
        state: FormState,
        make_operation: OperationFactory,
        *,
        before: FieldValues | None = None,
        always: Iterable[str] = (),
        retry: RetryHook = _no_hook,
    ) -> OperationResult | None:
        """What became of the operation that a form asks for; None where the form was left.

        `before`: what the changes are told against, where that is not what the form begins with. `always`: fields that
        are sent though they did not change.
        """
        initial = state.initial if before is None else before
        while (result := await self.ask_form(state, blocks=True)) is not None:
            try:
                made = make_operation(self._parsed(state, initial, result, always))
                outcome = await self.run(await made if isinstance(made, Awaitable) else made)
            except Invalid as error:
                errors = _errors_of_invalid(error, state.schema)
                state = replace(state, entered=result.entries, errors=errors, note="")
                continue
            except FileFault as error:
                state = replace(state, entered=result.entries, errors=FieldErrors(), note=str(error))
                continue
            if outcome.has_happened:
                self._ctx.directory.remember(state.schema, result.entries)
            if outcome.has_happened or outcome.verdict is Verdict.UNKNOWN or await retry(result, outcome):
                return outcome
            state = _refused(state, result, outcome)
        return None

    async def ask_form(
        self, state: FormState, *, time_reference: Callable[[], TimeReference] | None = None, blocks: bool = False
    ) -> FormResult | None:
        """The form as it was saved; None where it was left. `blocks`: it is not saved while nothing may be sent."""
        reference = time_reference or self.time_reference
        reason = self.blocked_reason if blocks else (lambda: "")
        shown = replace(state, suggestions=self._suggestions(state))
        return await self._ctx.ask(Form(shown, self._ctx.clock.monotonic, reference, reason))

    def _parsed(
        self, state: FormState, initial: FieldValues, result: FormResult, always: Iterable[str]
    ) -> ParsedForm[Any]:
        suggestions = self._suggestions(state)
        return parse_form(state.schema, initial, result, self.time_reference(), always=always, suggestions=suggestions)

    def _suggestions(self, state: FormState) -> Suggestions:
        """What the form brings along, and what the deck knows besides."""
        return {**self._ctx.directory.suggestions(state.schema, self._ctx.snapshot), **state.suggestions}

    async def try_form(
        self,
        state: FormState,
        attempt: Callable[[FormResult], Awaitable[R]],
        error_type: type[Exception],
        time_reference: Callable[[], TimeReference] | None = None,
        *,
        typed: FieldValues | None = None,
    ) -> R | None:
        """What the attempt with a filled form returns; None where the form was left.

        Where it raises that error the form is there again, with all that was typed, and says why. `typed`: what is
        tried before the form is shown.
        """
        result = FormResult(typed, tuple(typed)) if typed else None
        while result or (result := await self.ask_form(state, time_reference=time_reference)):
            try:
                return await attempt(result)
            except error_type as error:
                state, result = replace(state, entered=result.entries, note=str(error)), None
        return None

    async def ask_confirmation(self, confirmation: Confirmation) -> bool:
        """Whether the person agrees to what is no operation."""
        return await self._ctx.ask(Confirm(confirmation, self._ctx.clock.monotonic))

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """The executor's ConfirmationPort."""
        if confirmation.level is ConfirmLevel.NONE:
            return True
        reason = partial(self.blocked_reason, operation.target)
        return await self._ctx.ask(Confirm(confirmation, self._ctx.clock.monotonic, reason))

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """The executor's ProgressPort, and for work that changes nothing: a dialog where it takes long."""
        dialog = ProgressDialog(title, self._ctx.clock.monotonic)
        task = asyncio.ensure_future(work(dialog.progress))
        delay = asyncio.ensure_future(self._ctx.clock.sleep(SHOW_AFTER))
        try:
            await asyncio.wait({task, delay}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.add_done_callback(lambda _: dialog.finish())
                if await self._ctx.ask(dialog):
                    task.cancel()
                    await asyncio.wait({task})
                    raise Cancelled
            return await task
        finally:
            delay.cancel()
            task.cancel()

    def blocked_reason(self, target: Target | None = None) -> str:
        """Why nothing may be sent (to the target) now; empty where it may."""
        ctx, render_time = self._ctx, self._ctx.render_time()
        now = render_time.now if render_time else ctx.clock.now()
        is_watched = not ctx.fault
        return guard.blocked_reason(ctx.snapshot, now, target, is_watched=is_watched, refresh_key=self._refresh_key)

    def time_reference(self) -> TimeReference:
        """What typed times are read against: the platform's clock, the person's zone."""
        render_time = self._ctx.render_time()
        return TimeReference(render_time.server if render_time else self._ctx.clock.now(), self._zone)

    async def audit_local(self, action: str, target: Target, detail: str = "") -> None:
        """Record what a person did that never leaves this machine."""
        await audit_local(self._ctx.history, self._ctx.clock.now(), action, target, detail)

    def _notify(self, operation: Operation[Any], result: OperationResult) -> None:
        """What was done to what, and what became of it; it stays among the notices."""
        name, until = operation.target.name, result.watched_until
        text = name if result.verdict is Verdict.DONE else f"{name}: {result.text}"
        if result.verdict is Verdict.UNKNOWN:
            text += f"{f', watching until {until:%H:%M:%S}Z' if until else ''}; {ADVICE}"
        is_refusal = result.verdict is Verdict.REFUSED and result.error is not None
        severity = Severity.CRITICAL if is_refusal else SEVERITIES[result.verdict]
        self._ctx.announce(f"{operation.verdict_words(result.verdict)}: {text}", severity)


def _refused(state: FormState, result: FormResult, outcome: OperationResult) -> FormState:
    """The form as it was saved, with what was said of it."""
    errors = FieldErrors()
    if isinstance(outcome.error, Invalid):
        errors = _errors_of_invalid(outcome.error, state.schema)
    elif isinstance(outcome.error, Rejected):
        errors = field_errors(outcome.error.invalid_params, state.schema)
        field = state.schema.field_by_code.get(outcome.error.code or 0)
        if field and not errors.by_field:
            errors = replace(errors, by_field={field: outcome.error.message or outcome.error.happened})
    return replace(state, entered=result.entries, errors=errors, note=outcome.text)


def _errors_of_invalid(error: Invalid, schema: FormSchema[Any]) -> FieldErrors:
    """What the client would not send, at its field; below the title where all fields together break the rule."""
    errors = field_errors([{"name": error.field, "reason": error.limit}], schema)
    return errors if errors.by_field else FieldErrors({}, (f"{error.field} {error.limit}",))
