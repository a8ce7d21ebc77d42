"""Confirmation before leaving the deck with unfinished work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from livedeck.operations.operation import Confirmation
from livedeck.text.segments import StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.dialog import Timer
from livedeck.ui.shell.context import Unfinished

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class LeaveDialog(Confirm):
    """Question whether to leave before all work is done."""

    def __init__(self, work: Sequence[Unfinished], timer: Timer) -> None:
        lines = tuple(line for unfinished in work for line in unfinished.lines)
        super().__init__(Confirmation(work[0].title, lines, "Leave", cancel="Stay"), timer)


def unfinished_work(ctx: Context) -> list[Unfinished]:
    """Return the unfinished work: first sent changes without a verdict, then the work that features report."""
    reports = [feature.unfinished(ctx) for feature in ctx.actions.features if feature.unfinished]
    work = [report for report in reports if report]
    if in_doubt := ctx.confirmer.in_doubt:
        text = "The change was sent, but the response is missing. If you leave now, the audit records UNKNOWN."
        title = f"Leave without the outcome of {', '.join(in_doubt)}?"
        work.insert(0, Unfinished(title, ((text, StyleRole.WARNING),)))
    return work


async def confirm_leave(ctx: Context, work: Sequence[Unfinished], code: int = 0) -> None:
    """Ask whether to leave. If the person agrees, stop the work and leave with the exit code `code`."""
    if await ctx.ask(LeaveDialog(work, ctx.clock.monotonic)):
        for unfinished in work:
            if unfinished.stop:
                await unfinished.stop()
        ctx.leave(code)
