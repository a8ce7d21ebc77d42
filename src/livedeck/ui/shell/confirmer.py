"""A form that is filled in, performed, and shown again with all that was typed where the platform did not take it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from livedeck.client import FileFault, Invalid, Rejected
from livedeck.operations.operation import Operation, OperationResult, Verdict
from livedeck.operations.schema import FieldErrors, FormSchema, field_errors
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


OperationFactory = Callable[[FormResult], Operation[Any] | Awaitable[Operation[Any]]]

"""What a filled form asks for; awaited where a file has to be read first."""


RetryHook = Callable[[FormResult, OperationResult], Awaitable[bool]]

"""What else than the form may follow on a refusal; whether that was enough."""


async def _never(_: FormResult, __: OperationResult) -> bool:
    return False


async def run_form(
    ctx: Context, blank: FormState, act: OperationFactory, settle: RetryHook = _never
) -> OperationResult | None:
    """What became of it; None where the form was left. `act` raises Invalid, and FileFault for a file that it reads."""
    while True:
        filled = await ctx.ask(Form(blank, ctx.clock.monotonic, ctx.desk.present, ctx.desk.hindrance))
        if filled is None:
            return None
        try:
            made = act(filled)
            outcome = await ctx.desk.perform(await made if isinstance(made, Awaitable) else made)
        except Invalid as error:
            blank = replace(blank, entered=filled.entries, said=_invalid(error, blank.sheet), note="")
            continue
        except FileFault as error:
            blank = replace(blank, entered=filled.entries, said=FieldErrors(), note=str(error))
            continue
        if outcome.done or outcome.verdict is Verdict.UNKNOWN or await settle(filled, outcome):
            return outcome
        blank = _again(blank, filled, outcome)


def _again(blank: FormState, filled: FormResult, outcome: OperationResult) -> FormState:
    """The form as it was left, with what was said of it."""
    said = FieldErrors()
    if isinstance(outcome.error, Invalid):
        said = _invalid(outcome.error, blank.sheet)
    elif isinstance(outcome.error, Rejected):
        said = field_errors(outcome.error.invalid_params, blank.sheet)
        place = blank.sheet.codes.get(outcome.error.code or 0)
        if place and not said.by_field:
            said = replace(said, by_field={place: outcome.error.message or outcome.error.happened})
    return replace(blank, entered=filled.entries, said=said, note=outcome.text)


def _invalid(error: Invalid, sheet: FormSchema) -> FieldErrors:
    """What the client would not send, at its field; below the title where all fields together break the rule."""
    said = field_errors([{"name": error.field, "reason": error.limit}], sheet)
    return said if said.by_field else FieldErrors({}, (f"{error.field} {error.limit}",))
