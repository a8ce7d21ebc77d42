"""The limits of every event as they are now, and what changed in them (monitoring.md, "Changed limits")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol

from livedeck.monitor.model.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Limits:
    """`base`: of every event that has none of its own; `events`: those that have, by id."""

    base: Thresholds = field(default_factory=Thresholds)
    events: Mapping[str, Thresholds] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, event_id: str) -> Thresholds:
        """What that event is judged by."""
        return self.events.get(event_id, self.base)

    def changes_since(self, before: Limits) -> tuple[LimitChange, ...]:
        """What is another limit now: those of all events, then those of single ones that differ otherwise."""
        of_all = tuple(_differences(before.base, self.base))
        changes = [LimitChange("", text) for text in of_all]
        for event_id in sorted({*before.events, *self.events}):
            own = _differences(before.of(event_id), self.of(event_id))
            changes += [LimitChange(event_id, text) for text in own if text not in of_all]
        return tuple(changes)


@dataclass(frozen=True, slots=True)
class LimitChange:
    """One limit that changed, as `low_video 0.7 -> 0.6`; of one event, or with an empty id of all."""

    event_id: str
    text: str


class LimitsError(Exception):
    """The settings cannot be used: which line, and why."""


class LimitsSource(Protocol):
    """Where limits come from: a file that a person may change while the deck runs."""

    def changed(self) -> Limits | None:
        """The limits, where they were written since the last look; else None. Raises LimitsError, once for what was
        written."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """Something changed in how events are judged, in words. `event_id`: which one, empty for all or several; `actor`:
    who said so, empty where the settings do. `is_fault`: nothing changed, because the settings cannot be used."""

    at: datetime
    text: str
    event_id: str = ""
    actor: str = ""
    is_fault: bool = False


def _differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Each number that differs, by its path."""
    for item in fields(before):
        old, new = getattr(before, item.name), getattr(after, item.name)
        if old == new:
            continue
        if is_dataclass(old) and type(old) is type(new):
            yield from _differences(old, new, f"{path}{item.name}.")
        else:
            yield f"{path}{item.name} {_text(old)} -> {_text(new)}"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
