"""A moment of the past as a person types it, and what it means (past.md, "In the deck")."""

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
    """That moment of the past. Raises ValueError, saying why the text means none."""
    at = parse(text, reference)
    if at > reference.now:
        raise ValueError("is still to come")
    return at


def moment_words(text: str, reference: TimeReference) -> tuple[str, bool]:
    """What a typed moment means, and whether it can be gone to."""
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
    """Go to the moment that a person types, as it is meant when enter is pressed; to none where they leave.

    Where `go` raises PastError the prompt is there again, with what was typed, and says why.
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
