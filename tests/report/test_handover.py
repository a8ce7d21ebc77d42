"""The handover lists open alarms, and the ends of others; ages count only while a deck watches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from livedeck.monitor import Alarm, AlarmState, Severity
from livedeck.report.handover import Handover, handover_lines, handover_markdown, handover_object

NOW = datetime(2026, 11, 21, 21, tzinfo=UTC)


def alarm(kind: str, state: AlarmState, minutes: float, cleared: float | None = None) -> Alarm:
    """Return an alarm that began some minutes ago, and may have cleared."""
    ended = None if cleared is None else NOW - timedelta(minutes=cleared)
    return Alarm(
        "e", kind, Severity.CRITICAL, NOW - timedelta(minutes=minutes), "Show", "fps 15.0", "over 20.0", changed=NOW,
        state=state, present=cleared is None, cleared_at=ended,
    )  # fmt: skip


def sheet(watched: datetime) -> Handover:
    open_alarm = alarm("FPS_COLLAPSE", AlarmState.UNACKNOWLEDGED, 30)
    over = alarm("AUDIO_LOST", AlarmState.RETURNED, 90, 80)
    return Handover(NOW, watched, (), (open_alarm,), (), (), (), cleared=(over,))


def test_an_alarm_that_has_cleared_is_not_open_and_its_age_does_not_run() -> None:
    lines = "\n".join(handover_lines(sheet(NOW), None))
    before, _, after = lines.partition("CLEARED, NOT ACKNOWLEDGED")
    assert "FPS_COLLAPSE since 20:30:00Z (30:00), fps 15.0, expected over 20.0" in before
    assert "AUDIO_LOST" not in before
    assert "AUDIO_LOST from 19:30:00Z to 19:40:00Z (10:00)" in after
    assert "## Cleared, not acknowledged" in handover_markdown(sheet(NOW))
    found = handover_object(sheet(NOW))
    assert [each["kind"] for each in found["open_alarms"]] == ["FPS_COLLAPSE"]
    assert [(each["kind"], each["cleared_at"]) for each in found["cleared_alarms"]] == [
        ("AUDIO_LOST", "2026-11-21T19:40:00Z")
    ]


@pytest.mark.parametrize(("unwatched", "lasted"), [(0, "30:00"), (20, "10:00")])
def test_an_age_ends_where_watching_ended(unwatched: float, lasted: str) -> None:
    lines = "\n".join(handover_lines(sheet(NOW - timedelta(minutes=unwatched)), None))
    assert f"FPS_COLLAPSE since 20:30:00Z ({lasted})" in lines
