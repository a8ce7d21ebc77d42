"""Adapter between executor and dialogs. After a refusal, the form is shown again with its entries."""

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
"""Maximum number of changes without a verdict in a dialog, newest first. More do not fit on a terminal of 80x24."""

SHOW_AFTER = 0.5
"""Seconds of work after which a progress dialog opens."""

SEVERITIES = {
    Verdict.DONE: Severity.INFO,
    Verdict.APPLIED: Severity.INFO,
    Verdict.REFUSED: Severity.WARNING,
    Verdict.UNKNOWN: Severity.CRITICAL,
}
"""Severity of the notice for each verdict."""

OperationFactory = Callable[[ParsedForm[Any]], Operation[Any] | Awaitable[Operation[Any]]]
"""Function that makes the operation of a filled form. It returns an awaitable if a file must be read before.

Raises Invalid or FileFault.
"""

RetryHook = Callable[[FormResult, OperationResult], Awaitable[bool]]
"""Function that is called after a failed operation. If it returns True, the form is not shown again."""


async def _no_hook(_: FormResult, __: OperationResult) -> bool:
    return False


class Host(Protocol):
    """Parts of the deck that the confirmer needs. The deck's Context has all of them."""

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
        """Directory with the names of ids."""

    def render_time(self) -> RenderTime | None:
        """Return the instant that the screen is painted for."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Show a notice above the keys."""

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog and wait for its result."""


class Confirmer:
    """Asks for confirmations and passes operations to the executor.

    `zone`: time zone of typed times. `refresh_key`: key that polls the platform again.
    """

    def __init__(self, ctx: Host, *, zone: tzinfo | None, refresh_key: str) -> None:
        self._ctx, self._zone, self._refresh_key = ctx, zone, refresh_key
        self._executor: Executor | None = None

    @property
    def api(self) -> Api:
        """Client that sends changes. Without one, the deck disables every action that writes."""
        assert self._ctx.api is not None
        return self._ctx.api

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """Descriptions of sent changes without a verdict."""
        return tuple(self._executor.in_doubt.values()) if self._executor else ()

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """Confirm and send an operation, announce the result and return it."""
        return await self._made_executor().run(operation)

    async def close_changes(self) -> None:
        """List the changes without a verdict, and close those that the person has checked."""
        changes, now = self._ctx.open_changes.items, self._ctx.clock.now()
        shown = changes[-MAX_LISTED:]
        paragraphs = [(f"{open_change_text(change, now)}.", StyleRole.TEXT) for change in reversed(shown)]
        advice = f"{ADVICE[0].upper()}{ADVICE[1:]}."
        close = "Close the changes once you have checked them. They disappear from the screen, but stay in the audit."
        hint = f"{advice} {close}"
        title = f"{len(changes)} {'change has' if len(changes) == 1 else 'changes have'} no verdict"
        if len(shown) < len(changes):
            title = f"{title}: the newest {len(shown)}"
        lines = (*paragraphs, (hint, StyleRole.WARNING))
        if await self.ask_confirmation(Confirmation(title, lines, "I have checked: close", cancel="Keep")):
            still_open = {change.intent.id for change in self._ctx.open_changes.items}
            for change in (change for change in shown if change.intent.id in still_open):
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
                announce=ctx.monitor.note_intent,
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
        """Show a form, and run the operation that its entries describe.

        Returns None if the form was cancelled. `before`: values before the change; None for the form's first entries.
        `always`: fields that are sent even if they are unchanged.
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
        """Show a form and return its result; None if it was cancelled.

        `blocks`: the form cannot be saved while no change may be sent.
        """
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
        """Return the directory's suggestions for the fields. The form's own suggestions have precedence."""
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
        """Show a form, call `attempt` with its result and return what `attempt` returns; None if it was cancelled.

        If `attempt` raises `error_type`, show the form again with its entries and the reason. `typed`: entries to try
        before the form is shown.
        """
        result = FormResult(typed, tuple(typed)) if typed else None
        while result or (result := await self.ask_form(state, time_reference=time_reference)):
            try:
                return await attempt(result)
            except error_type as error:
                state, result = replace(state, entered=result.entries, note=str(error)), None
        return None

    async def ask_confirmation(self, confirmation: Confirmation) -> bool:
        """Ask for consent to an action that is not an operation."""
        return await self._ctx.ask(Confirm(confirmation, self._ctx.clock.monotonic))

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """Ask for consent to an operation. Implements the executor's ConfirmationPort."""
        if confirmation.level is ConfirmLevel.NONE:
            return True
        reason = partial(self.blocked_reason, operation.target)
        return await self._ctx.ask(Confirm(confirmation, self._ctx.clock.monotonic, reason))

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """Run work, and show a dialog if the work takes long. Implements the executor's ProgressPort.

        Raises Cancelled if the person stops the work.
        """
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
        """Return the reason why no change (of `target`) may be sent now; empty if a change may be sent."""
        ctx, render_time = self._ctx, self._ctx.render_time()
        now = render_time.now if render_time else ctx.clock.now()
        is_watched = not ctx.fault
        return guard.blocked_reason(ctx.snapshot, now, target, is_watched=is_watched, refresh_key=self._refresh_key)

    def time_reference(self) -> TimeReference:
        """Return the reference for typed times: the platform's clock and the person's time zone."""
        render_time = self._ctx.render_time()
        return TimeReference(render_time.server if render_time else self._ctx.clock.now(), self._zone)

    async def audit_local(self, action: str, target: Target, detail: str = "") -> str:
        """Record in the audit an action that sends nothing to the platform.

        Returns the reason if the history does not have the record; empty if it does.
        """
        history = self._ctx.history
        if await audit_local(history, self._ctx.clock.now(), action, target, detail):
            return ""
        return (history.fault or "the history did not store the record") if history else "this deck has no history"

    def _notify(self, operation: Operation[Any], result: OperationResult) -> None:
        """Announce the operation, its target and its result."""
        name, until = operation.target.name, result.watched_until
        text = name if result.verdict is Verdict.DONE else f"{name}: {result.text}"
        if result.verdict is Verdict.UNKNOWN:
            text += f"{f', watching until {until:%H:%M:%S}Z' if until else ''}; {ADVICE}"
        self._ctx.announce(f"{operation.verdict_words(result.verdict)}: {text}", SEVERITIES[result.verdict])


def _refused(state: FormState, result: FormResult, outcome: OperationResult) -> FormState:
    """Return the form with its entries and the errors at its fields. If no field is wrong, the reason is a note."""
    errors, note = FieldErrors(), outcome.text
    if isinstance(outcome.error, Invalid):
        errors = _errors_of_invalid(outcome.error, state.schema)
    elif isinstance(outcome.error, Rejected):
        errors = field_errors(outcome.error.invalid_params, state.schema)
        field = state.schema.field_by_code.get(outcome.error.code or 0)
        if field and not errors.by_field:
            errors = replace(errors, by_field={field: outcome.error.message or outcome.error.happened})
    if note and errors == FieldErrors():
        note = f"{note}. Your input is kept."
    return replace(state, entered=result.entries, errors=errors, note=note)


def _errors_of_invalid(error: Invalid, schema: FormSchema[Any]) -> FieldErrors:
    """Return the client's error at its field, or under the title if the form lacks the field."""
    errors = field_errors([{"name": error.field, "reason": error.limit}], schema)
    return errors if errors.by_field else FieldErrors({}, (f"{error.field} {error.limit}",))
