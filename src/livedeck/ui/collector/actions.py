"""Actions to poll the platform while the collector is silent, and to return to it (collector.md, "On the screen")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import AlarmRefused, AttachedFeed, Severity
from livedeck.text.segments import StyleRole
from livedeck.text.values import safe
from livedeck.ui.shell.context import Action, Feature, HelpGroup, Unfinished

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def toggle_alone(ctx: Context, _: str) -> None:
    """Poll the platform from this deck. If the deck polls already, return to the collector."""
    if isinstance(ctx.monitor, AttachedFeed) and ctx.snapshot and ctx.snapshot.attachment:
        if ctx.snapshot.attachment.is_alone:
            ctx.monitor.attach_again()
            ctx.announce("this deck returns to the collector as soon as it responds", Severity.INFO)
            return
        try:
            ctx.monitor.poll_alone()
        except AlarmRefused as error:
            ctx.announce(str(error), Severity.WARNING)


def _needs_collector(ctx: Context) -> str:
    return (
        ""
        if isinstance(ctx.monitor, AttachedFeed)
        else "works only in an attached deck; this deck polls the platform itself"
    )


def unfinished(ctx: Context) -> Unfinished | None:
    """Return the alarm actions that the collector has not received; None if there are none."""
    attachment = ctx.snapshot.attachment if ctx.snapshot else None
    if attachment is None or not attachment.unshared:
        return None
    kinds = ", ".join(key.kind for key in attachment.unshared)
    text = f"{kinds}: handled here while {attachment.host} is silent. If you leave now, others do not see your actions."
    return Unfinished("Leave before your alarm actions are shared?", ((safe(text, 400), StyleRole.WARNING),))


FEATURE = Feature(
    actions=(
        Action(
            "collector.alone",
            ("at",),
            "poll alone",
            "Poll the platform from this deck while the collector is silent; press again to return to the collector",
            toggle_alone,
            blocked=_needs_collector,
            is_for_now=True,
        ),
    ),
    help=(HelpGroup("collector", "The collector", 90),),
    unfinished=unfinished,
)
