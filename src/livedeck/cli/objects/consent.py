"""Confirmation of a change on the command line, by flags or by a person, and its progress."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, TypeVar

from livedeck.cli.exit_codes import DONE, NOT_SO, REFUSED, USAGE
from livedeck.cli.options import is_confirmed, is_interactive
from livedeck.cli.output import TransferLine, echo
from livedeck.client import Progress
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import Confirmation, ConfirmLevel, Operation
from livedeck.text.segments import plain
from livedeck.text.values import safe

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Consent:
    """Flags that confirm a change.

    `overwrite`: send the change even if the object changed since it was read. `if_unchanged`: the user gave a token of
    the object.
    """

    yes: bool = False
    confirm: str = ""
    dry_run: bool = False
    overwrite: bool = False
    if_unchanged: bool = False


@dataclass(slots=True)
class CommandPort:
    """Confirmations and progress for the executor on a command line.

    `refusal`: why nothing was sent, and the exit code for that; an empty text if nothing was refused.
    """

    consent: Consent
    open_changes: OpenChanges
    is_quiet: bool = False
    refusal: tuple[str, int] = ("", DONE)
    _previewed: list[Confirmation] = field(default_factory=list)

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """Show the change and return whether to send it."""
        is_again = bool(self._previewed)
        self._previewed.append(confirmation)
        self.preview(operation, confirmation)
        if self.consent.dry_run:
            return False
        return self._agrees_again(confirmation) if is_again else self._agrees(operation, confirmation)

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """Run the work, show its progress on standard error, and return its result."""
        line = TransferLine(title)
        try:
            return await work(line)
        finally:
            line.clear()

    def preview(self, operation: Operation[Any], confirmation: Confirmation) -> None:
        """Print the change, unless the output is quiet."""
        if self.is_quiet:
            return
        echo(confirmation.title, err=True)
        for line in preview_lines(operation, confirmation):
            echo(f"  {line}", err=True)

    def _agrees(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        is_open = self.open_changes.of_target(operation.audit_name or operation.name, operation.target)
        return self.agrees(confirmation, "an earlier change of the object has no verdict yet" if is_open else "")

    def agrees(self, confirmation: Confirmation, reason: str = "") -> bool:
        """Return whether the flags or the user confirm. `reason`: why the user must type the name; empty if not."""
        if self.consent.confirm:
            return self._is_named(confirmation)
        if reason:
            return self._agrees_by_name(confirmation, reason)
        if confirmation.level is ConfirmLevel.TYPE_NAME:
            return self._agrees_by_name(confirmation, "the change may cut off an audience")
        if not self.consent.yes and not is_interactive():
            return self.refuse("No terminal to confirm at. Add --yes.", USAGE)
        if self.consent.yes or confirmation.level is ConfirmLevel.NONE:
            return True
        return is_confirmed(f"{confirmation.button}?") or self.refuse("not confirmed", NOT_SO)

    def _is_named(self, confirmation: Confirmation) -> bool:
        """Return whether --confirm is the requested word, the id, or the exact name if that is unique."""
        named, typed = confirmation.named, self.consent.confirm
        is_id = bool(named and named.id and named.id.casefold() == typed.strip().casefold())
        if is_id or confirmation.is_word(typed) or confirmation.is_name(typed):
            return True
        word = f"{safe(confirmation.word, 80)!r}{', the whole name' if confirmation.has_own_name else ''}"
        return self.refuse(f"--confirm should be {word} or the whole id", USAGE)

    def _agrees_by_name(self, confirmation: Confirmation, reason: str) -> bool:
        """Ask the user to type the name, since a yes is not enough. Returns whether the name was right."""
        word = confirmation.word
        if not is_interactive():
            return self.refuse(f"{reason}: --yes is not enough, add --confirm {quote(safe(word, 80))}", USAGE)
        what = "the whole name" if confirmation.wants_name else "the end of the id"
        typed = self._ask(f"Type {what} to continue, {safe(word, 80)}: ")
        return confirmation.is_word(typed) or self.refuse(f"not confirmed: that is not {safe(word, 80)}", NOT_SO)

    def _agrees_again(self, confirmation: Confirmation) -> bool:
        """Return whether to send the change although the object changed: by --overwrite, or by asking the user."""
        consent = self.consent
        if consent.overwrite:
            return True
        if consent.yes or consent.if_unchanged or not is_interactive():
            advice = (
                "read the object again, then decide"
                if consent.if_unchanged
                else "look at the object, or add --overwrite"
            )
            return self.refuse(f"the object is not as expected: {'; '.join(confirmation.conflicts)}; {advice}", REFUSED)
        return is_confirmed("Send anyway?") or self.refuse("not confirmed", NOT_SO)

    def _ask(self, question: str) -> str:
        echo(question, nl=False, err=True)
        return sys.stdin.readline().strip()

    def refuse(self, reason: str, code: int) -> bool:
        """Store the reason why nothing is sent, and return False."""
        self.refusal = reason, code
        return False


def preview_lines(operation: Operation[Any], confirmation: Confirmation) -> list[str]:
    """Return the lines of a confirmation below its title, with the changed fields."""
    changes = () if operation.lists_changes else operation.changes
    return [*(plain([line]) for line in confirmation.lines), *(change.text for change in changes)]
