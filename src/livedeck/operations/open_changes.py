"""The changes that were sent and of which nothing proves what became of them (trust.md, "Verdicts")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from livedeck.monitor import IntentRecord, OpenChange

if TYPE_CHECKING:
    from livedeck.operations.operation import Target


class OpenChanges:
    """Those of this process, and those that the history has of others. `on_change` is told of every difference."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._own: dict[str, OpenChange | None] = {}  # by the id of the intent; None: it has an end, or none is due yet
        self._recorded: tuple[OpenChange, ...] = ()

    @property
    def items(self) -> tuple[OpenChange, ...]:
        """The oldest first."""
        others = (change for change in self._recorded if change.intent.id not in self._own)
        return tuple(sorted((*others, *filter(None, self._own.values())), key=lambda change: change.intent.at))

    def of_target(self, action: str, target: Target) -> tuple[OpenChange, ...]:
        """Those of that target; of what is not made yet, those of that action and name."""

        def is_meant(intent: IntentRecord) -> bool:
            if (intent.target_kind, intent.target_id) != (target.kind, target.id):
                return False
            return bool(target.id) or (intent.action, intent.target_name) == (action, target.name)

        return tuple(change for change in self.items if is_meant(change.intent))

    def begin(self, intent_id: str) -> None:
        """It is sent now, and has no verdict yet."""
        self._own[intent_id] = None

    def put(self, change: OpenChange) -> None:
        """So much is known of it, and no more."""
        self._own[change.intent.id] = change
        self._on_change()

    def end(self, intent_id: str) -> None:
        """What became of it is known, or somebody has looked."""
        self._own[intent_id] = None
        self._on_change()

    def take_recorded(self, changes: Iterable[OpenChange]) -> None:
        """What the history has now."""
        before, self._recorded = self.items, tuple(changes)
        if self.items != before:
            self._on_change()
