"""Words of an explanation: each forecast names its condition, and unrecorded values are called so."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from livedeck.monitor import (
    AlarmKey,
    AlarmState,
    BroadcastState,
    Condition,
    DecidingLimit,
    Explanation,
    Forecast,
    KindFacts,
    Severity,
    SilentKind,
)
from livedeck.monitor.model.explanation import DeliveryFacts, OpenAlarm, SignalFacts
from livedeck.presentation.explanation import explanation_lines, explanation_object, explanation_title, forecast_text
from livedeck.settings.model import LimitSettings
from monitor.stage import signal
from monitor.test_explain import Watch, after, watch

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BARE = Explanation(
    "one",
    "Studio A",
    NOW,
    BroadcastState.ON_AIR,
    NOW - timedelta(seconds=3091),
    "show",
    None,
    SignalFacts(video=4.1e6, usual_video=4.2e6),
    DeliveryFacts(age=3.1, lag=4.0),
    None,
    None,
    (),
    None,
    (),
    (),
    None,
)
"""Explanation from a snapshot of the past."""


@pytest.mark.parametrize(
    ("forecast", "words"),
    [
        (
            Forecast("RECONNECTING", Condition.SILENT, 7.9, answers=1),
            "RECONNECTING in 7.9 s, after 1 more reply, if no sample comes",
        ),
        (
            Forecast("VIDEO_LOW", Condition.BELOW, 15.0, 3, rate="video", limit=2.9e6, now=3.8e6),
            "VIDEO_LOW in 15.0 s (3 samples) if video stays under 2.90M (now 3.80M)",
        ),
        (
            Forecast("AUDIO_LOST", Condition.BELOW, 5.0, 1, rate="audio", limit=0.0, now=128e3),
            "AUDIO_LOST in 5.0 s (1 sample) if audio is 0 (now 128k)",
        ),
        (
            Forecast("AUDIO_HIGH", Condition.ABOVE, 5.0, 1, rate="audio", limit=320e3, now=128e3),
            "AUDIO_HIGH in 5.0 s (1 sample) if audio stays over 320k (now 128k)",
        ),
        (
            Forecast("FPS_LOW", Condition.BELOW, 75.0, 5, rate="fps", limit=23.4, now=30.0),
            "FPS_LOW in 01:15 (5 samples) if fps stays under 23.4 (now 30.0)",
        ),
        (
            Forecast("PACKET_LOSS", Condition.STATUS, 2.0, 1, limit=5.0),
            "PACKET_LOSS in 2.0 s (1 sample) if every new sample has status 5",
        ),
        (Forecast("VIDEO_LOW", Condition.UNCHANGED, 4.0, 2), "VIDEO_LOW in 4.0 s (2 samples) if nothing changes"),
        (Forecast("LATE_START", Condition.TIME, 600.0), "LATE_START in 10:00 if no sample comes"),
    ],
)
def test_a_forecast_names_its_condition(forecast: Forecast, words: str) -> None:
    assert forecast_text(forecast) == words


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (BroadcastState.ON_AIR, "on air for 51:31"),
        (BroadcastState.RECONNECTING, "reconnecting, started 51:31 ago"),
        (BroadcastState.LATE, "late, planned 51:31 ago"),
        (BroadcastState.COMPLETED, "completed"),
    ],
)
def test_the_title_dates_the_event_and_not_its_state(tally: BroadcastState, words: str) -> None:
    assert explanation_title(replace(BARE, tally=tally)) == f"Studio A  {words}, content show"


def test_what_the_past_lacks_is_not_recorded() -> None:
    lines = dict(explanation_lines(BARE))
    for label in ("would alarm", "class", "decides"):
        assert lines[label] == ["not recorded"]
    assert "limit not recorded" in lines["delivery"][0]
    assert lines["alarms"] == ["No open alarms"]
    assert explanation_title(BARE) == "Studio A  on air for 51:31, content show"
    found = explanation_object(BARE)
    assert (found["would_alarm"], found["decides"], found["evidence"]) == (None, None, None)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (AlarmState.UNACKNOWLEDGED, "new, began 11:50:00Z: no samples, expected a signal; clears with newer samples"),
        (AlarmState.RETURNED, "cleared, not acknowledged, began 11:50:00Z: no samples, expected a signal"),
    ],
)
def test_an_open_alarm_says_when_it_began_and_a_present_one_what_clears_it(state: AlarmState, words: str) -> None:
    key, began = AlarmKey("one", "RECONNECTING"), NOW - timedelta(minutes=10)
    alarm = OpenAlarm(key, Severity.CRITICAL, state, began, "no samples", "a signal", "newer samples")
    assert dict(explanation_lines(replace(BARE, open=(alarm,))))["alarms"] == [f"RECONNECTING critical, {words}"]


def test_values_and_watched_time_end_with_the_newest_sample() -> None:
    since, until = NOW - timedelta(minutes=9), NOW - timedelta(minutes=4)
    lines = dict(explanation_lines(replace(BARE, watched_since=since, watched_until=until)))
    assert lines["watched"] == ["11:51:00Z to 11:56:00Z"]
    assert lines["usual"][0].endswith("(newest sample: 4.10M, ?, ?)")


def test_what_is_silent_says_by_whom_and_until_when_and_what_decides_says_where() -> None:
    key, until = AlarmKey("one", "AUDIO_LOW"), NOW + timedelta(hours=1)
    limit = DecidingLimit("low_video", "0.7", ("limits", "0", "thresholds", "low_video"))
    chosen = DecidingLimit("content", "radio", by="anna@regie")
    found = replace(
        BARE,
        forecasts=(),
        silent=(
            SilentKind(key, "shelved: rehearsal", until, "anna@regie"),
            SilentKind(AlarmKey("one", ""), "old data"),
        ),
        decides=(limit, chosen),
    )
    lines = dict(explanation_lines(found, lambda keys: f"line 41 of {keys[0]}"))
    assert lines["silent"] == [
        "AUDIO_LOW: shelved: rehearsal by anna@regie until 13:00:00Z",
        "every kind that samples raise: old data",
    ]
    assert lines["would alarm"] == ["Unknown: samples are not judged"]
    assert lines["alarms"] == ["No open alarms, but samples are not judged"]
    judged = dict(explanation_lines(replace(found, silent=())))
    assert judged["would alarm"] == ["No alarm forecast within a minute"]
    assert judged["alarms"] == ["No open alarms"]
    assert lines["decides"] == ["low_video = 0.7 (line 41 of limits)", "content = radio (chosen by anna@regie)"]
    assert dict(explanation_lines(replace(found, decides=())))["decides"] == ["the default limits"]


def explained(kind: str, *deciding: DecidingLimit, content: str = "show") -> Explanation:
    """Return an event with one alarm of a kind, as the monitor explains it now."""
    alarm = OpenAlarm(AlarmKey("one", kind), Severity.WARNING, AlarmState.UNACKNOWLEDGED, NOW, "", "", "")
    return replace(BARE, open=(alarm,), decides=deciding, content=content)


async def test_a_still_picture_is_answered_with_the_settings_of_a_still_camera() -> None:
    rows = [*signal(300, end=-62.0), *signal(31, video=2e5)]
    stream = await watch(rows)
    assert "PICTURE_STILL" in stream.present()
    lines = dict(explanation_lines(stream.explained()))["if meant"]
    settings = LimitSettings.model_validate(tomllib.loads("\n".join(lines[2:4])))
    declared = Watch(after(rows), limits=settings.limits_in_force())
    await declared.poll(rows)
    assert "PICTURE_STILL" not in declared.present()
    assert lines[0].endswith(f"livedeck event content {stream.event.id} camera")
    assert all(kind in lines[-1] for kind in ("PICTURE_STILL", "VIDEO_BELOW_PRESET", "VIDEO_DECAY", "VIEWER_FROZEN"))


def test_a_still_camera_is_proposed_for_a_still_picture_only() -> None:
    def proposed(found: Explanation) -> bool:
        return "if meant" in dict(explanation_lines(found))

    assert proposed(explained("VIDEO_BELOW_PRESET"))
    assert not proposed(explained("AUDIO_LOST"))
    assert not proposed(explained("VIDEO_BELOW_PRESET", content="camera"))
    assert not proposed(replace(explained("VIDEO_BELOW_PRESET"), decides=None))


def test_settings_that_a_person_has_overruled_are_not_proposed() -> None:
    lines = dict(explanation_lines(explained("VIDEO_DECAY", DecidingLimit("content", "show", by="anna"))))["if meant"]
    assert "livedeck event content one camera" in lines[0]
    assert not any("settings" in line for line in lines)


TABLE = '[events."one"]'


@pytest.mark.parametrize(
    ("limit", "lines"),
    [
        (DecidingLimit("low_video", "0.7", ("events", "two", "low_video")), ["Or in the settings:", TABLE]),
        (DecidingLimit("low_video", "0.7", ("events", "one", "low_video")), [f"Or in the settings, in {TABLE}:"]),
        (
            DecidingLimit("content", "slides", ("events", "one", "content")),
            [f"Or in the settings, in {TABLE}, in place of its line `content`:"],
        ),
    ],
)
def test_the_lines_of_a_still_camera_fit_a_table_that_the_settings_have(limit: DecidingLimit, lines: list[str]) -> None:
    """A table that stands twice makes the settings unreadable."""
    found = explained("VIDEO_DECAY", limit)
    assert dict(explanation_lines(found))["if meant"][1:-1] == [*lines, 'content = "camera"']


def test_limits_of_one_kind_do_not_prove_that_the_settings_lack_the_table() -> None:
    found = replace(explained("VIDEO_DECAY"), kind=KindFacts("VIDEO_DECAY", "", ""))
    assert dict(explanation_lines(found))["if meant"][1] == f"Or in the settings, in {TABLE}:"


def test_an_event_that_a_collector_judges_is_declared_by_the_same_command_or_in_its_settings() -> None:
    command, settings, *_ = dict(explanation_lines(explained("VIDEO_DECAY"), of_collector=True))["if meant"]
    assert command.endswith(" at night: livedeck event content one camera")
    assert settings == "Or in the collector's settings:"
