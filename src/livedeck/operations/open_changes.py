"""The changes that are on their way, and those of which nothing proves what became (trust.md, "Verdicts")."""

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
    """Those of this process, and those that the history has of others. `on_change` is told of every difference.

    `steps`: how far the last change of each object is, by its id: until a list shows what became of it.
    """

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._own: dict[str, OpenChange | None] = {}  # by the id of the intent; None: it has an end, or none is due yet
        self._recorded: tuple[OpenChange, ...] = ()
        self.steps: Mapping[str, ChangeStep] = MappingProxyType({})

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

    def begin(self, intent: IntentRecord) -> None:
        """It is sent now, and has no verdict yet."""
        self._own[intent.id] = None
        self._set_step(intent.target_id, ChangeStep())

    def confirm(self, intent: IntentRecord, at: datetime) -> None:
        """The platform said that it is done, or shows it."""
        self._set_step(intent.target_id, ChangeStep(at))

    def put(self, change: OpenChange) -> None:
        """So much is known of it, and no more."""
        self._own[change.intent.id] = change
        self._set_step(change.intent.target_id, None)

    def end(self, intent: IntentRecord) -> None:
        """What became of it is known, or somebody has looked."""
        self._own[intent.id] = None
        self._set_step(intent.target_id, None)

    def _set_step(self, target_id: str, step: ChangeStep | None) -> None:
        steps = {key: value for key, value in self.steps.items() if key != target_id}
        self.steps = MappingProxyType({**steps, target_id: step} if step and target_id else steps)
        self._on_change()

    def take_recorded(self, changes: Iterable[OpenChange]) -> None:
        """What the history has now."""
        before, self._recorded = self.items, tuple(changes)
        if self.items != before:
            self._on_change()
