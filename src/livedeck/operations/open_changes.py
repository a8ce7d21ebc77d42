"""Changes under way, and changes without a proved outcome (trust.md, "Verdicts")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from livedeck.monitor import IntentRecord, OpenChange
from livedeck.presentation.render_time import ChangeStep

if TYPE_CHECKING:
    from livedeck.operations.operation import Target


class OpenChanges:
    """Open changes of this process, and open changes of other processes from the history.

    `on_change`: called after the open changes have changed. `steps`: id of an object -> progress of its last change,
    until a list shows the outcome.
    """

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._own: dict[str, OpenChange | None] = {}  # by id of the intent; None if it ended or is still under way
        self._recorded: tuple[OpenChange, ...] = ()
        self.steps: Mapping[str, ChangeStep] = MappingProxyType({})

    @property
    def items(self) -> tuple[OpenChange, ...]:
        """Open changes, the oldest first."""
        others = (change for change in self._recorded if change.intent.id not in self._own)
        return tuple(sorted((*others, *filter(None, self._own.values())), key=lambda change: change.intent.at))

    def of_target(self, action: str, target: Target) -> tuple[OpenChange, ...]:
        """Return the open changes of a target. If the target has no id yet, compare its name and the action."""

        def matches(intent: IntentRecord) -> bool:
            if (intent.target_kind, intent.target_id) != (target.kind, target.id):
                return False
            return bool(target.id) or (intent.action, intent.target_name) == (action, target.name)

        return tuple(change for change in self.items if matches(change.intent))

    def begin(self, intent: IntentRecord) -> None:
        """Record that a change is sent and has no verdict yet."""
        self._own[intent.id] = None
        self._set_step(intent.target_id, ChangeStep())

    def confirm(self, intent: IntentRecord, at: datetime) -> None:
        """Record the time at which the platform confirmed a change or a read showed it."""
        self._set_step(intent.target_id, ChangeStep(at))

    def put(self, change: OpenChange) -> None:
        """Add an open change, or replace its earlier text."""
        self._own[change.intent.id] = change
        self._set_step(change.intent.target_id, None)

    def end(self, intent: IntentRecord) -> None:
        """Close a change: its outcome is clear, or a person has checked it."""
        self._own[intent.id] = None
        self._set_step(intent.target_id, None)

    def _set_step(self, target_id: str, step: ChangeStep | None) -> None:
        steps = {key: value for key, value in self.steps.items() if key != target_id}
        self.steps = MappingProxyType({**steps, target_id: step} if step and target_id else steps)
        self._on_change()

    def take_recorded(self, changes: Iterable[OpenChange]) -> None:
        """Replace the open changes of other processes by the current ones of the history."""
        before, self._recorded = self.items, tuple(changes)
        if self.items != before:
            self._on_change()
