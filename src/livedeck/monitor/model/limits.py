"""Limits by which events are judged, and changes of these limits (monitoring.md, "Changed limits")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import field

from livedeck.monitor.model.thresholds import Thresholds
from livedeck.record import Record


class Limits(Record):
    """Limits by which events are judged. `base`: for all events; `events`: event id -> limits of that event alone."""

    base: Thresholds = field(default_factory=Thresholds)
    events: Mapping[str, Thresholds] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, event_id: str) -> Thresholds:
        """Return the thresholds of an event."""
        return self.events.get(event_id, self.base)

    def changes_since(self, before: Limits) -> tuple[LimitChange, ...]:
        """Return the changed limits: first those of all events, then those of single events whose change differs."""
        of_all = tuple(_differences(before.base, self.base))
        changes = [LimitChange("", text) for text in of_all]
        for event_id in sorted({*before.events, *self.events}):
            own = _differences(before.of(event_id), self.of(event_id))
            changes += [LimitChange(event_id, text) for text in own if text not in of_all]
        return tuple(changes)


class LimitChange(Record):
    """Changed limit, such as `low_video 0.7 -> 0.6`; `event_id` is empty for all events."""

    event_id: str
    text: str


class LimitsError(Exception):
    """Settings that cannot be used, with line and reason."""


class LimitsSource(Protocol):
    """Source of limits, such as a file that a person may change while the deck runs."""

    def changed(self) -> Limits | None:
        """Return the limits if they changed since the last call, else None. Raises LimitsError once for each change."""


class RuleChange(Record):
    """Change in how events are judged, in words.

    `event_id`: the event, empty for all or several; `actor`: who made the change, empty if the settings changed.
    `is_fault`: nothing changed, because the settings cannot be used.

    """

    at: datetime
    text: str
    event_id: str = ""
    actor: str = ""
    is_fault: bool = False


def _differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield a text such as `low_video 0.7 -> 0.6` for each value that differs."""
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
