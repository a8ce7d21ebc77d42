"""Real programs on a platform without code of livedeck (monitoring.md, "Lost replies", "Missing events", "Connection").

Each program has the same trouble in real time. No event is blamed for faults of the platform or the link.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.commands import called
from cli.foreign import ForeignPlatform, foreign_platform, timestamp
from cli.programs import programs, settings, words
from cli.starts import LIVEDECK
from cli.terminals import terminal

TROUBLE_SECONDS = 75
"""Seconds longer than an event on a poor link goes without a reply before it is doubted."""


def lose(share: float) -> Callable[[ForeignPlatform], None]:
    return lambda platform: setattr(platform, "lost", share)


def delay(platform: ForeignPlatform) -> None:
    platform.delay = 3.0


def portal(kind: str) -> Callable[[ForeignPlatform], None]:
    return lambda platform: setattr(platform, "portal", kind)


def unlist(*numbers: int, lists: int) -> Callable[[ForeignPlatform], None]:
    return lambda platform: platform.unlisted.update({platform.events[number]["id"]: lists for number in numbers})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "is_told_as", "kinds"),
    [
        (lose(0.1), "LINK POOR since", set()),
        (lose(0.3), "LINK POOR since", set()),
        (delay, "rtt 30", set()),
        (portal("redirect"), "SENT ELSEWHERE since", {"API_BLIND"}),
        (portal("page"), "REPLY UNREADABLE since", {"API_BLIND"}),
        (unlist(0, 1, 2, 3, lists=1000), "The list is empty", {"LIST_WRONG"}),
        (unlist(0, 1, 2, 3, lists=1), "", set()),
        (unlist(1, lists=1), "", set()),
    ],
    ids=[
        "lost-10",
        "lost-30",
        "latency",
        "redirect",
        "portal",
        "empty-list",
        "one-empty-list",
        "one-list-without-an-event",
    ],
)
def test_no_event_is_blamed_for_the_link(
    tmp_path: Path, trouble: Callable[[ForeignPlatform], None], is_told_as: str, kinds: set[str]
) -> None:
    with foreign_platform() as platform, programs(tmp_path, platform) as running:
        running.live(5)
        trouble(platform)
        running.live(TROUBLE_SECONDS)
        platform.lost, platform.delay, platform.portal = 0.0, 0.0, ""
        platform.unlisted.clear()
        running.live(20)
        assert running.event_criticals() == []
        assert running.kinds_shown() <= kinds
        assert is_told_as in words(running.deck.written)
        report = json.loads(called(tmp_path, "status", "--json", env=settings(platform)).stdout)
        assert {event["health"]["grade"] for event in report["events"]} == {"GOOD"}
        assert len(report["events"]) == 4


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_report_on_a_poor_link_blames_no_event(tmp_path: Path, seed: int) -> None:
    """Thirty of a hundred requests are lost; it has one look, and asks a few times for what it lacks."""
    with foreign_platform(count=8, seed=seed) as platform:
        platform.lost = 0.3
        report = json.loads(called(tmp_path, "status", "--json", env=settings(platform)).stdout)
    assert max(platform.asked.values()) > 2
    assert [finding for event in report["events"] for finding in event["findings"]] == []
    assert len(report["events"]) == 8


def test_an_alarm_of_an_event_without_replies_is_unknown_and_not_absent(tmp_path: Path) -> None:
    with foreign_platform(count=1) as platform:
        named = ("alarm", "ack", platform.events[0]["id"], "FPS_LOW")
        env = settings(platform) | {"LIVEDECK_HISTORY": str(tmp_path / "history.sqlite")}
        absent = called(tmp_path, *named, env=env)
        platform.unheard.add("/qos")
        unknown = called(tmp_path, *named, env=env)
    assert (absent.returncode, absent.stderr.partition(";")[0]) == (6, "livedeck alarm: Hall 1 has no alarm FPS_LOW")
    assert unknown.returncode == 4
    assert "unknown whether Hall 1 has an alarm FPS_LOW" in unknown.stderr


def omit_fields(platform: ForeignPlatform) -> None:
    """Remove the video rate of Hall 1 and the audio rate of Hall 2, and rename the frame rate of Hall 2."""

    def change(event_id: str, sample: dict[str, Any]) -> dict[str, Any]:
        number = platform.number(event_id)
        if number == 0:
            return {**sample, "bitrate_video": None}
        if number == 1:
            return {"fps": sample.pop("frame_rate"), **sample, "bitrate_audio": None}
        return sample

    platform.change = change


def findings(home: Path, platform: ForeignPlatform) -> set[tuple[str, str, str]]:
    """Return event, kind and severity of all findings in a report."""
    report = json.loads(called(home, "status", "--json", env=settings(platform)).stdout)
    return {
        (event["name"], finding["kind"], finding["severity"])
        for event in report["events"]
        for finding in event["findings"]
    }


def test_samples_that_lack_fields_are_told_as_that(tmp_path: Path) -> None:
    with foreign_platform() as platform:
        omit_fields(platform)
        assert findings(tmp_path, platform) == {
            ("Hall 1", "UNKNOWN_DATA", "warning"),
            ("Hall 2", "UNKNOWN_DATA", "info"),
        }


def test_a_platform_whose_samples_come_late_has_no_event_that_is_gone(tmp_path: Path) -> None:
    with foreign_platform() as platform:
        platform.lag = {event["id"]: 40.0 for event in platform.events}
        assert findings(tmp_path, platform) == set()


def name_statuses(platform: ForeignPlatform) -> None:
    """Give a stream, a restream and a room statuses that no document has."""
    event, now = platform.events[0], timestamp(platform.started_at)
    event["stream"]["status"] = "publishing"
    restream = {
        "name": "Elsewhere",
        "url": "rtmp://elsewhere.example.com/app",
        "key": "key-of-elsewhere",
        "description": "",
    }
    ids = {"id": "7f1c9a30-3333-4000-8000-000000000000", "event_id": event["id"]}
    event["restreams"] = [
        {**ids, **restream, "status": "warming", "enabled": True, "created_at": now, "updated_at": None}
    ]
    room = {
        "name": "Foyer",
        "type": "ball_room",
        "code": "abc",
        "link": "https://meet.example.com/abc",
        "restreams": [],
    }
    platform.rooms = [
        {"id": "7f1c9a30-4444-4000-8000-000000000000", **room, "status": "hibernating", "created_at": now}
    ]


def test_a_status_that_nobody_documented_is_shown_as_it_is_and_raises_nothing(tmp_path: Path) -> None:
    with foreign_platform(count=1) as platform:
        name_statuses(platform)
        assert findings(tmp_path, platform) == set()
        with terminal(tmp_path, size=(120, 40), program=LIVEDECK, **settings(platform)) as deck:
            deck.until("Elsewhere warming(.|\n)*100 GOOD")
            deck.press("2")
            deck.until("publishing")
            deck.press("5")
            deck.until("hibernating")
            assert "CRIT" not in words(deck.written)
            assert "WARN" not in words(deck.written)
