"""Who agrees to a change on a command line: flags, or a person who is asked; and how it shows what takes long."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from livedeck.cli.exit_codes import DONE, NOT_SO, REFUSED, USAGE
from livedeck.cli.options import is_interactive
from livedeck.cli.output import echo
from livedeck.cli.progress import TransferLine
from livedeck.client import Progress
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import Confirmation, ConfirmLevel, Operation, Target, short_name
from livedeck.text.segments import plain

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Consent:
    """What the command line says of confirming.

    `overwrite`: send it though the object changed since it was read. `if_unchanged`: a token of the object was given.
    """

    yes: bool = False
    confirm: str = ""
    dry_run: bool = False
    overwrite: bool = False
    if_unchanged: bool = False


@dataclass(slots=True)
class CommandPort:
    """The executor's ports on a command line. `refusal`: why nothing was sent, with its exit code."""

    consent: Consent
    open_changes: OpenChanges
    is_quiet: bool = False
    refusal: tuple[str, int] = ("", DONE)
    _previewed: list[Confirmation] = field(default_factory=list)

    async def confirm(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        """Show what would be sent, and whether it may be."""
        is_again = bool(self._previewed)
        self._previewed.append(confirmation)
        self._preview(operation, confirmation)
        if self.consent.dry_run:
            return False
        return self._agrees_again(confirmation) if is_again else self._agrees(operation, confirmation)

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        """The result of that work, its progress on standard error."""
        line = TransferLine(title)
        try:
            return await work(line)
        finally:
            line.clear()

    def _preview(self, operation: Operation[Any], confirmation: Confirmation) -> None:
        if self.is_quiet:
            return
        echo(confirmation.title, err=True)
        lines: list[str] = [plain([line]) for line in confirmation.lines]
        if not operation.lists_changes:
            lines += [f"{change.name}: {change.before or '-'} → {change.after or '-'}" for change in operation.changes]
        for line in lines:
            echo(f"  {line}", err=True)

    def _agrees(self, operation: Operation[Any], confirmation: Confirmation) -> bool:
        target = operation.target
        word = confirmation.word or short_name(target.name, target.id)
        if self.consent.confirm:
            return self._is_named(word, target)
        if self.open_changes.of_target(operation.audit_name or operation.name, target):
            return self._agrees_by_name(word, target, "a change of it has no verdict yet")
        if confirmation.level is ConfirmLevel.TYPE_NAME:
            return self._agrees_by_name(word, target, "it may cut an audience off")
        if not self.consent.yes and not is_interactive():
            return self._refuse("nobody can be asked here: add --yes", USAGE)
        if self.consent.yes or confirmation.level is ConfirmLevel.NONE:
            return True
        return self._ask(f"{confirmation.button}? [y/N] ") in {"y", "yes"} or self._refuse("not confirmed", NOT_SO)

    def _is_named(self, word: str, target: Target) -> bool:
        names = {word, _typed(target.name), target.id.casefold()}
        is_named = _typed(self.consent.confirm) in names
        return is_named or self._refuse(f"--confirm should be {word!r}, or the whole name, or the id", USAGE)

    def _agrees_by_name(self, word: str, target: Target, reason: str) -> bool:
        """A word is typed, or stands behind --confirm; a yes for everything is not enough."""
        if not is_interactive():
            return self._refuse(f"{reason}: --yes is not enough, add --confirm {word}", USAGE)
        is_typed = _typed(self._ask(f"Type {word} to go on: ")) in {word, _typed(target.name)}
        return is_typed or self._refuse("not confirmed", NOT_SO)

    def _agrees_again(self, confirmation: Confirmation) -> bool:
        """Return whether it may be sent though it changed since it was read: --overwrite, or a person, agrees."""
        consent = self.consent
        if consent.overwrite:
            return True
        if consent.yes or consent.if_unchanged or not is_interactive():
            advice = "read it again, and decide anew" if consent.if_unchanged else "look at it, or add --overwrite"
            return self._refuse(f"it changed since it was read: {'; '.join(confirmation.conflicts)}; {advice}", REFUSED)
        return self._ask("Go on all the same? [y/N] ") in {"y", "yes"} or self._refuse("not confirmed", NOT_SO)

    def _ask(self, question: str) -> str:
        echo(question, nl=False, err=True)
        return sys.stdin.readline().strip().casefold()

    def _refuse(self, reason: str, code: int) -> bool:
        self.refusal = reason, code
        return False


def _typed(name: str) -> str:
    """A name as it is compared: in whatever case, and with however many blanks."""
    return " ".join(name.split()).casefold()
