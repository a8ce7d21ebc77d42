"""Doing without a collector that is silent, and going back to it (collector.md, "On the screen")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import AlarmRefused, AttachedFeed, Severity
from livedeck.ui.shell.context import Action, Feature, HelpGroup

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def toggle_alone(ctx: Context, _: str) -> None:
    """Have this deck poll the platform itself, or go back to the collector."""
    if isinstance(ctx.monitor, AttachedFeed) and ctx.snapshot and ctx.snapshot.attachment:
        if ctx.snapshot.attachment.is_alone:
            ctx.monitor.attach_again()
            ctx.announce("back to the collector as soon as it is heard", Severity.INFO)
            return
        try:
            ctx.monitor.poll_alone()
        except AlarmRefused as error:
            ctx.announce(str(error), Severity.WARNING)


def _needs_collector(ctx: Context) -> str:
    return (
        "" if isinstance(ctx.monitor, AttachedFeed) else "is for an attached deck: this one polls the platform itself"
    )


FEATURE = Feature(
    actions=(
        Action(
            "collector.alone",
            ("at",),
            "poll alone",
            "Poll the platform by this deck itself while the collector is silent; again: back to the collector",
            toggle_alone,
            blocked=_needs_collector,
            is_for_now=True,
        ),
    ),
    help=(HelpGroup("collector", "The collector", 90),),
)
