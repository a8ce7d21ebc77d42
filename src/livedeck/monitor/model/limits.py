"""Limits for judging events, and changes of these limits (monitoring.md, "Changed limits")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import field

from livedeck.client import Event
from livedeck.monitor.model.thresholds import Thresholds, with_overrides
from livedeck.record import Record
from livedeck.text.patterns import fits

Overrides = Mapping[str, object]
"""Name of a field of `Thresholds` -> other value, for `with_overrides`."""

_NONE: Overrides = MappingProxyType({})


_DEFAULTS = Thresholds()


def _key_of(name: str) -> tuple[str, ...]:
    """Return the keys of a limit in the table of an event or a template."""
    return (name,) if name == "content" else ("thresholds", name)


class LimitTemplate(Record):
    """Limits for some events.

    `events`: shell patterns; one must match the event's id or name. `projects`: the same for its project.
    """

    overrides: Overrides
    events: tuple[str, ...] = ("*",)
    projects: tuple[str, ...] = ("*",)

    def fits(self, event: Event) -> bool:
        """Return whether the limits apply to an event."""
        return fits(self.events, event.id, event.name or "") and fits(self.projects, event.parent_id or "")

    @property
    def is_for_all(self) -> bool:
        """True if the limits apply to every event."""
        return not str(self)

    def __str__(self) -> str:
        named = (("events", self.events), ("projects", self.projects))
        return "; ".join(f"{field} {', '.join(patterns)}" for field, patterns in named if patterns != ("*",))


class Limits(Record):
    """Limits for judging events.

    `base`: limits of all events. `templates`: those that fit an event override `base`, in their order. `events`: event
    id -> limits of this event alone, which override both.
    """

    base: Thresholds = field(default_factory=Thresholds)
    templates: tuple[LimitTemplate, ...] = ()
    events: Mapping[str, Overrides] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, event: Event) -> Thresholds:
        """Return the thresholds of an event."""
        templates = [template.overrides for template in self.templates if template.fits(event)]
        thresholds = self.base
        for overrides in (*templates, self.events.get(event.id, _NONE)):
            thresholds = with_overrides(thresholds, overrides) if overrides else thresholds
        return thresholds

    def template_of(self, event: Event) -> str:
        """Return the last template that fits the event, in words; empty without one."""
        return next((str(template) for template in reversed(self.templates) if template.fits(event)), "")

    def setting_of(self, event: Event, name: str) -> tuple[str, ...]:
        """Return the keys of the setting that decides a limit of an event; empty if the limit has its default."""
        if name in self.events.get(event.id, _NONE):
            return ("events", event.id, *_key_of(name))
        for index in reversed(range(len(self.templates))):
            if name in self.templates[index].overrides and self.templates[index].fits(event):
                return ("limits", str(index), *_key_of(name))
        return ("thresholds", name) if getattr(self.base, name) != getattr(_DEFAULTS, name) else ()

    def changes_since(self, before: Limits) -> tuple[LimitChange, ...]:
        """Return the changed limits: first of all events, then of templates, then of single events.

        A change for all events is not repeated for a template or an event.
        """
        of_all = tuple(_differences(before.base, self.base))

        def own(old: Overrides, new: Overrides) -> list[str]:
            texts = _differences(with_overrides(before.base, old), with_overrides(self.base, new))
            return [text for text in texts if text not in of_all]

        changes = [LimitChange("", text) for text in of_all]
        old, new = before._by_template(), self._by_template()
        for name in dict.fromkeys((*old, *new)):
            texts = own(old.get(name, _NONE), new.get(name, _NONE))
            changes += [LimitChange("", f"{name}: {text}") for text in texts]
        for event_id in sorted({*before.events, *self.events}):
            texts = own(before.events.get(event_id, _NONE), self.events.get(event_id, _NONE))
            changes += [LimitChange(event_id, text) for text in texts]
        return tuple(changes)

    def _by_template(self) -> dict[str, Overrides]:
        """Return template in words -> its limits; templates with the same words are joined."""
        found: dict[str, Overrides] = {}
        for template in self.templates:
            found[str(template)] = {**found.get(str(template), _NONE), **template.overrides}
        return found


class LimitChange(Record):
    """Changed limit, such as `low_video 0.7 -> 0.6`; `event_id` is empty for all events."""

    event_id: str
    text: str


class LimitsError(Exception):
    """The settings cannot be used. The message has the line and the reason."""


class LimitsSource(Protocol):
    """Source of limits, such as a file that a person may change while the deck runs."""

    def changed(self) -> Limits | None:
        """Return the limits if they have changed since the last call, else None.

        Raises LimitsError once for each change that cannot be used.
        """


class RuleChange(Record):
    """Change of a limit or a ruling, in words.

    `event_id`: the event; empty for all or several. `actor`: person who made the change; empty if the settings changed.
    `is_fault`: the settings cannot be used, so nothing has changed.
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
            yield f"{path}{item.name} {limit_text(old)} -> {limit_text(new)}"


def limit_text(value: object) -> str:
    """Return the value of a limit in words."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(limit_text, value))}]"
    if is_dataclass(value):
        parts = ((item.name, getattr(value, item.name)) for item in fields(value))
        return ", ".join(f"{name} {limit_text(part)}" for name, part in parts)
    return f"{value:.10g}" if isinstance(value, float) else str(value)
