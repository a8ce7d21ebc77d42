"""Actions to go to a moment of the past, play from there, and return to the present (past.md, "In the deck")."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.monitor import FASTEST, PastError
from livedeck.text.times import TimeReference, parse
from livedeck.text.values import safe
from livedeck.ui.shell.context import Action, Feature, HelpGroup
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.moments import ask_moment

if TYPE_CHECKING:
    from datetime import datetime

    from livedeck.ui.shell.context import Context

SPEEDS = (1.0, 4.0, 15.0, FASTEST)


def go(ctx: Context, argument: str) -> Awaitable[None]:
    """Show the deck as it was at the moment `argument`. Without an argument, the person types a moment."""
    return _go_to(ctx, argument) if argument else _ask_moment(ctx)


async def _ask_moment(ctx: Context) -> None:
    async def travel(_: str, moment: datetime) -> None:
        await ctx.travel(moment)

    await ask_moment(ctx, "Show the deck as it was at", lambda: _time_reference(ctx), travel)


async def _go_to(ctx: Context, text: str) -> None:
    try:
        moment = parse(text, _time_reference(ctx))
    except ValueError as error:
        ctx.announce(f"{safe(text, 40)} {error}")
        return
    try:
        await ctx.travel(moment)
    except PastError as error:
        ctx.announce(str(error))


def _time_reference(ctx: Context) -> TimeReference:
    return TimeReference(ctx.machine_time(), ctx.identity["zone"], past=True)


async def now(ctx: Context, _: str) -> None:
    """Go back to the present."""
    await ctx.travel(None)


def play(ctx: Context, argument: str) -> None:
    """Play the past at the speed `argument`. Without an argument, pause; if it is paused, play."""
    if ctx.past is None:
        return
    try:
        ctx.past.play(float(argument.rstrip("x")) if argument else 0.0 if ctx.past.speed else 1.0)
    except ValueError:
        ctx.announce(f"{safe(argument, 40)} is not a speed. Try 1 to {FASTEST:g}")
    ctx.snapshot_signal.publish(None)


def faster(ctx: Context, _: str) -> None:
    """Play at the next higher speed. After the highest speed comes the lowest."""
    if ctx.past is not None:
        past = ctx.past
        past.play(next((speed for speed in SPEEDS if speed > past.speed), SPEEDS[0]))
        ctx.snapshot_signal.publish(None)


async def after(ctx: Context, _: str) -> None:
    """Go to the next moment with a recorded change."""
    await _step(ctx, 1, "nothing is recorded after this moment")


async def before(ctx: Context, _: str) -> None:
    """Go to the previous moment with a recorded change."""
    await _step(ctx, -1, "nothing is recorded before this moment")


async def _step(ctx: Context, step: int, otherwise: str) -> None:
    try:
        if ctx.past is not None and not await ctx.past.step(step):
            ctx.announce(otherwise)
    except PastError as error:
        ctx.announce(str(error))
    ctx.snapshot_signal.publish(None)


def _needs_history(ctx: Context) -> str:
    """Return the reason why the past cannot be shown, before the person types a moment; empty if it can.

    Checks only a history of this process. A collector's history refuses the moment itself.
    """
    is_elsewhere = ctx.past is not None or ctx.records is not ctx.history
    is_kept = ctx.history is not None and ctx.history.path is not None
    return "" if is_elsewhere or is_kept else "needs a history file: set `history` in the settings to keep one"


def _needs_past(ctx: Context) -> str:
    return "" if ctx.past else f"works only in the past; {key_of('past.go', ctx.actions)} goes there"


def _needs_now(ctx: Context) -> str:
    return "is not possible: a recording has no present" if ctx.identity["recording"] else _needs_past(ctx)


FEATURE = Feature(
    actions=(
        Action(
            "past.go",
            ("T",),
            "go to",
            "Show the deck as it was at: 21:04, yesterday 21:04, -15m",
            go,
            blocked=_needs_history,
            takes="[MOMENT]",
            past_rank=6,
        ),
        Action(
            "past.now",
            ("backspace",),
            "now",
            "Leave the past and show the present",
            now,
            blocked=_needs_now,
            past_rank=2,
        ),
        Action(
            "past.play",
            ("R",),
            "play",
            "Play the past from here, or pause; or play at the speed that you name, 1 to 60",
            play,
            blocked=_needs_past,
            takes="[SPEED]",
            past_rank=1,
        ),
        Action(
            "past.faster",
            ("asterisk",),
            "faster",
            "Play the past at the next speed: 1, 4, 15 or 60 times",
            faster,
            blocked=_needs_past,
            past_rank=3,
        ),
        Action(
            "past.before",
            ("left_parenthesis",),
            "before",
            "Go to the previous recorded change",
            before,
            blocked=_needs_past,
            past_rank=4,
        ),
        Action(
            "past.after",
            ("right_parenthesis",),
            "after",
            "Go to the next recorded change",
            after,
            blocked=_needs_past,
            past_rank=5,
        ),
    ),
    help=(HelpGroup("past", "The past", 85),),
)
