"""Typed moments of the past and their meaning (past.md, "In the deck")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from livedeck.monitor import PastError
from livedeck.text.segments import Line, StyleRole
from livedeck.text.times import PAST_EXAMPLES, TimeReference, describe, parse
from livedeck.text.values import safe
from livedeck.ui.kit.dialogs.choice import PromptScreen

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def parse_moment(text: str, reference: TimeReference) -> datetime:
    """Return the moment of the past in a typed text.

    Raises ValueError with the reason if the text is no moment of the past.
    """
    at = parse(text, reference)
    if at > reference.now:
        raise ValueError("is in the future; type a time in the past")
    return at


def moment_words(text: str, reference: TimeReference) -> tuple[str, bool]:
    """Return the meaning of a typed moment, or the error, and whether the text is valid."""
    try:
        return describe(parse_moment(text, reference), reference), True
    except ValueError as error:
        return f"that {error}", False


async def ask_moment(
    ctx: Context,
    title: str,
    time_reference: Callable[[], TimeReference],
    go: Callable[[str, datetime], Awaitable[None]],
) -> None:
    """Ask for a moment. After enter, call `go` with the typed text and its meaning at the time of enter.

    If `go` raises PastError, ask again with the typed text and the reason.
    """
    text, refused = "", ""

    def remark(typed: str) -> tuple[Line, bool]:
        if not typed.strip():
            return [(f" {PAST_EXAMPLES}", StyleRole.DIM)], False
        words, is_good = moment_words(typed, time_reference())
        if refused and typed == text:
            words, role = safe(refused), StyleRole.WARNING
        else:
            role = StyleRole.TEXT if is_good else StyleRole.WARNING
        return [(f" {words}", role)], is_good

    while typed := await ctx.ask(PromptScreen(title, remark, text)):
        try:
            await go(typed, parse_moment(typed, time_reference()))
        except PastError as error:
            text, refused = typed, str(error)
        else:
            return
