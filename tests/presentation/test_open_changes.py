"""A change without a verdict in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from livedeck.monitor import IntentRecord, OpenChange
from livedeck.presentation.open_changes import open_change_text

NOW = datetime(2026, 11, 20, 21, 14, tzinfo=UTC)


def test_what_nobody_watches_any_more_is_not_called_watched() -> None:
    intent = IntentRecord("i", NOW, "event.enable", "enable", "event", "e", "Show", "anna", "desk", 1, ())
    change = OpenChange(intent, "no answer came", NOW + timedelta(minutes=10))
    assert open_change_text(change, NOW).endswith(", watching until 21:24:00Z")
    assert open_change_text(change, NOW + timedelta(minutes=11)).endswith(", watched until 21:24:00Z")
