"""Sent changes without a verdict, as text with advice for the operator (trust.md, "Verdicts"). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from livedeck.monitor import OpenChange
from livedeck.text.segments import Line, StyleRole
from livedeck.text.times import isoformat_utc
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.presentation import documents

ADVICE = "do not repeat it: it may have happened or may still take effect; check the platform's own page"
"""Advice for every change without a verdict."""

MIN_NAME = 8
"""Minimum number of characters of a name, on a screen of any width."""

NO_NEWS = "livedeck ended before the result was known"
"""Detail of a change whose process was killed."""


def open_change_text(change: OpenChange, now: datetime) -> str:
    """Return `unknown: enable "Morning show", sent 14:02:11Z: ..., watching until 14:12:11Z`.

    `now`: this machine's clock.
    """
    intent = change.intent
    name = safe(intent.target_name or intent.target_id, 60)
    until, watch = change.watched_until, ""
    if until:
        watch = f", {'watching' if until > now else 'watched'} until {until:%H:%M:%S}Z"
    return f'unknown: {intent.verb} "{name}", sent {intent.at:%H:%M:%S}Z: {safe(change.detail or NO_NEWS)}{watch}'


def open_changes_line(changes: Sequence[OpenChange], key: str, cells: int) -> Line:
    """Return the banner with the newest open change and the number of other open changes; empty without any.

    `key`: key that lists the open changes.
    """
    if not changes:
        return []
    intent, until = changes[-1].intent, changes[-1].watched_until
    state = f"not visible yet, checked until {until:%H:%M}Z" if until else "no verdict"
    more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
    before, after = f" ? UNKNOWN  {intent.verb} ", f" sent {intent.at:%H:%M}Z, {state}{more}  {key} "
    name = safe(intent.target_name or intent.target_id, max(MIN_NAME, cells - len(before) - len(after) - 2))
    return [(f'{before}"{name}"{after}', StyleRole.BANNER)]


def open_change_object(change: OpenChange) -> documents.OpenChange:
    """Return the change as JSON. `detail` is null if the process that sent the change has exited."""
    intent = change.intent
    return {
        "id": intent.id,
        "sent": isoformat_utc(intent.at),
        "action": intent.action,
        "target": {"kind": intent.target_kind, "id": intent.target_id or None, "name": intent.target_name},
        "by": {"user": intent.actor, "host": intent.host, "pid": intent.pid},
        "detail": change.detail or None,
        "watched_until": isoformat_utc(change.watched_until),
    }
