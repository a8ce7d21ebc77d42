"""Silences in words and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from livedeck.monitor import Alarm, Matcher, MatchField, Preview, Severity, Silence, Snapshot, person, preview_of
from livedeck.text.segments import Line, StyleRole, labelled, wrap
from livedeck.text.times import isoformat_utc
from livedeck.text.values import evidence_text, safe, short_duration

if TYPE_CHECKING:
    from livedeck.presentation import documents

_SOON = timedelta(hours=20)
"""Maximum distance from now at which a time is shown without its date."""


def moment_text(at: datetime, now: datetime) -> str:
    """Return a time in UTC: `04:00Z`, with its date if it is not within 20 h."""
    return f"{at:%H:%M}Z" if abs(at - now) <= _SOON else f"{at:%Y-%m-%d %H:%M}Z"


def silenced_text(alarm: Alarm, now: datetime) -> str:
    """Return `silenced until 04:00Z (encoder swap, anna)`; empty for an alarm that no silence covers."""
    silenced = alarm.silenced
    if silenced is None:
        return ""
    words = f"{safe(silenced.comment, 80)}, {safe(person(silenced.by), 40)}"
    return f"silenced until {moment_text(silenced.until, now)} ({words})"


def count_text(silences: Sequence[Silence], now: datetime) -> str:
    """Return the number of running silences, as in `2 silences`; empty without one."""
    count = sum(silence.covers(now) for silence in silences)
    return f"{count} silence{'' if count == 1 else 's'}" if count else ""


def time_text(silence: Silence, now: datetime) -> str:
    """Return when a silence runs, and how long it still lasts."""
    if silence.covers(now):
        left = short_duration((silence.ends_at - now).total_seconds())
        return f"until {moment_text(silence.ends_at, now)} ({left} left)"
    return f"from {moment_text(silence.starts_at, now)} to {moment_text(silence.ends_at, now)}"


_PASSING = {Severity.CRITICAL: "critical", Severity.WARNING: "warning and critical", Severity.INFO: "every severity"}
"""Lowest severity that passes a silence -> severities that pass it."""


def what_text(silence: Silence) -> str:
    """Return the alarms that a silence covers by its conditions, as text."""
    passes = f", except {_PASSING[silence.passes]}" if silence.passes else ""
    until = ", until the event ends" if silence.until_end_of else ""
    return f"{safe(silence.what, 200)}{passes}{until}"


def named(silences: Iterable[Silence], names: Mapping[str, str]) -> tuple[Silence, ...]:
    """Return silences to show, with the names of events in place of their ids. `names`: event id -> name."""

    def with_name(matcher: Matcher) -> Matcher:
        is_id = matcher.field is MatchField.EVENT and matcher.value in names
        return replace(matcher, value=names[matcher.value]) if is_id else matcher

    return tuple(replace(silence, matchers=tuple(map(with_name, silence.matchers))) for silence in silences)


def silence_text(silence: Silence, now: datetime) -> str:
    """Return a silence on one line."""
    why = f"({safe(silence.comment, 200)}, {safe(person(silence.by), 40)})"
    return f"{safe(silence.id, 80)}  {time_text(silence, now)}  {what_text(silence)}  {why}"


def silence_lines(silence: Silence, snapshot: Snapshot, now: datetime, cells: int) -> list[Line]:
    """Return a silence as labelled lines of `cells` cells: time, alarms, severities that pass, reason and author."""
    is_running = silence.covers(now)
    preview = preview_of(silence, snapshot)
    passes = _PASSING[silence.passes] if silence.passes else "nothing: every severity is silenced"
    facts = {
        "time": f"{'runs' if is_running else 'planned'}, {time_text(silence, now)}",
        "hides now" if is_running else "would hide": "\n".join(preview_lines(preview)).removeprefix("covers now: "),
        "passes": passes,
        "ends with": "the broadcast of its event" if silence.until_end_of else "",
        "reason": safe(silence.comment, 200),
        "by": safe(person(silence.by), 60),
        "id": safe(silence.id, 80),
    }
    return [
        labelled("" if row else label, line, _LABEL_CELLS)
        for label, text in facts.items()
        if text
        for row, line in enumerate(
            part for words in text.split("\n") for part in wrap(words, StyleRole.TEXT, cells - _LABEL_CELLS)
        )
    ]


_LABEL_CELLS = 12


def preview_lines(preview: Preview) -> list[str]:
    """Return what a silence covers now, with the names of the events and the alarms."""
    lines = [preview.text]
    names = [f"{name}{' (on air)' if name in preview.on_air else ''}" for name in preview.events]
    lines += [f"  {_listed([safe(name, 60) for name in names])}"] if names else []
    lines += [
        f"  {safe(alarm.subject, 60)}: {alarm.kind} {evidence_text(alarm, 160)}" for alarm in preview.alarms[:_NAMED]
    ]
    return lines


_NAMED = 8
"""Maximum number of events and of alarms that a preview names."""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def silence_object(silence: Silence, now: datetime) -> documents.Silence:
    """Return a silence as JSON."""
    return {
        "id": silence.id,
        "running": silence.covers(now),
        "matchers": [
            {"field": matcher.field.value, "op": matcher.op.value, "value": matcher.value}
            for matcher in silence.matchers
        ],
        "starts_at": isoformat_utc(silence.starts_at),
        "ends_at": isoformat_utc(silence.ends_at),
        "until_end_of": silence.until_end_of or None,
        "passes": silence.passes,
        "comment": silence.comment,
        "by": silence.by,
        "changed_by": silence.actor,
        "changed_at": isoformat_utc(silence.at),
    }
