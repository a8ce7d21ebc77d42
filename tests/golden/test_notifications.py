"""Each scenario sends exactly its messages, besides its alarms (notifications.md)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from golden.player import play
from golden.plays import FIRST_SEED
from livedeck.notify import Board, Plan, Route, State, step
from livedeck.simulator import scenario_names

REST = timedelta(minutes=3)
"""Time after the end of a play in which the ends of alarms are notified."""

MESSAGES = {
    "api-dead": ["CRIT API_BLIND platform", "RESOLVED API_BLIND platform after 92 s"],
    "audio-high": ["WARN AUDIO_HIGH Main stage", "RESOLVED AUDIO_HIGH Main stage after 2 min"],
    "audio-lost": ["CRIT AUDIO_LOST Main stage", "RESOLVED AUDIO_LOST Main stage after 2 min"],
    "audio-low": ["WARN AUDIO_LOW Main stage", "RESOLVED AUDIO_LOW Main stage after 2 min"],
    "bad-night": [
        "CRIT 2 alarms: RESTREAM_DOWN Main stage / Video share, RESTREAM_DOWN Main stage / Social network",
        "WARN FPS_COLLAPSE Main stage",
        "WARN PACKET_LOSS Second stage",
        "CRIT API_BLIND platform",
        "RESOLVED 2 alarms: RESTREAM_DOWN Main stage / Video share, RESTREAM_DOWN Main stage / Social network",
        "CRIT RECONNECTING Second stage",
        "RESOLVED API_BLIND platform after 34 s",
        "RESOLVED FPS_COLLAPSE Main stage after 3 min",
        "WARN ENDED_ON_AIR Small hall",
        "RESOLVED 2 alarms: RECONNECTING Second stage, PACKET_LOSS Second stage",
    ],
    "broken-json": ["CRIT API_BLIND platform", "RESOLVED API_BLIND platform after 92 s"],
    "camera-lost": ["CRIT BLACKOUT Main stage", "RESOLVED BLACKOUT Main stage after 2 min"],
    "clock-skew": ["CRIT CLOCK_SKEW platform"],
    "deleted-remotely": ["CRIT ENDED_ON_AIR Main stage"],
    "encoder-drop-inside-window": ["CRIT RECONNECTING Main stage", "RESOLVED RECONNECTING Main stage after 2 min"],
    "encoder-drop-outside-window": [
        "CRIT RECONNECTING Main stage",
        "CRIT RECONNECTING Main stage",
        "CRIT RECONNECTING Main stage",
        "CRIT RECONNECTING Main stage",
        "RESOLVED RECONNECTING Main stage after 12 min",
    ],
    "encoder-overload": [
        "WARN FPS_COLLAPSE Main stage",
        "CRIT FPS_COLLAPSE Main stage",
        "WARN PACKET_LOSS Main stage",
        "RESOLVED FPS_COLLAPSE Main stage after 2 min",
        "RESOLVED PACKET_LOSS Main stage after 5 min",
    ],
    "flapping": [
        "CRIT RECONNECTING Main stage",
        "CRIT DROPOUTS Main stage",
        "RESOLVED RECONNECTING Main stage after 4 min",
    ],
    "ended-remotely": ["WARN ENDED_ON_AIR Main stage", "RESOLVED ENDED_ON_AIR Main stage after 10 min"],
    "fps-halving": ["WARN FPS_COLLAPSE Main stage", "RESOLVED FPS_COLLAPSE Main stage after 2 min"],
    "fps-low": ["WARN FPS_LOW Main stage", "RESOLVED FPS_LOW Main stage after 2 min"],
    "frozen-picture": [
        "WARN PICTURE_STILL Small hall",
        "CRIT PICTURE_STILL Small hall",
        "RESOLVED PICTURE_STILL Small hall after 5 min",
    ],
    "frozen-qos": ["CRIT PLATFORM 3 of 3 events", "RESOLVED PLATFORM after 2 min"],
    "ghost-publisher": ["CRIT BLACKOUT Main stage", "RESOLVED BLACKOUT Main stage after 2 min"],
    "keyframe-drift": [
        "WARN KEYFRAME_DRIFT Main stage",
        "WARN KEYFRAME_SEVERE Main stage",
        "RESOLVED KEYFRAME_SEVERE Main stage after 2 min",
        "RESOLVED KEYFRAME_DRIFT Main stage after 4 min",
    ],
    "late-start": [
        "WARN LATE_START Opening",
        "CRIT LATE_START Opening",
        "CRIT LATE_START Opening",
        "RESOLVED LATE_START Opening after 6 min",
    ],
    "loss-bursts": ["WARN PACKET_LOSS Main stage", "RESOLVED PACKET_LOSS Main stage after 8 min"],
    "missing-values": [
        "WARN 3 alarms: UNKNOWN_DATA Small hall, UNKNOWN_DATA Second stage, UNKNOWN_DATA Main stage",
        "RESOLVED 3 alarms: UNKNOWN_DATA Small hall, UNKNOWN_DATA Second stage, UNKNOWN_DATA Main stage",
    ],
    "no-ingest": ["CRIT NO_INGEST Opening", "RESOLVED NO_INGEST Opening after 2 min"],
    "platform-outage": ["CRIT PLATFORM 3 of 3 events", "RESOLVED PLATFORM after 2 min"],
    "preflight": ["CRIT LATE_START Night lecture"],
    "rate-limited": [
        "WARN RATE_LIMITED platform",
        "CRIT RATE_LIMITED platform",
        "RESOLVED RATE_LIMITED platform after 3 min",  # the deck comes back to its pace step by step
    ],
    "restream-down": [
        "WARN RESTREAM_DOWN Main stage / Video share",
        "RESOLVED RESTREAM_DOWN Main stage / Video share after 2 min",
    ],
    "slow-api": ["CRIT API_BLIND platform", "RESOLVED API_BLIND platform after 90 s"],
    "starvation": ["CRIT VIDEO_STARVED Main stage", "RESOLVED VIDEO_STARVED Main stage after 2 min"],
    "sustained-loss": [
        "WARN PACKET_LOSS Main stage",
        "CRIT PACKET_LOSS Main stage",
        "RESOLVED PACKET_LOSS Main stage after 3 min",
    ],
    "token-revoked": ["CRIT AUTH_FAILED platform", "RESOLVED AUTH_FAILED platform after 117 s"],
    "unstable-rate": ["WARN BITRATE_UNSTABLE Main stage", "RESOLVED BITRATE_UNSTABLE Main stage after 7 min"],
    "video-low": ["WARN VIDEO_LOW Main stage", "RESOLVED VIDEO_LOW Main stage after 2 min"],
}
"""Scenario -> its messages. A scenario that is not here sends none."""


def told(name: str) -> list[str]:
    """Return the titles of the messages on a route of warnings and worse, in order, while a scenario is played."""
    plan, state, titles = Plan((Route("ops", "ops"),)), State(), list[str]()
    snapshots = [snapshot for _, snapshot in play(name, FIRST_SEED).snapshots]
    moments = [(snapshot, snapshot.at) for snapshot in snapshots]
    last = snapshots[-1]
    moments += [(last, last.at + timedelta(seconds=5 * number)) for number in range(1, REST // timedelta(seconds=5))]
    for snapshot, at in moments:
        state, messages, _ = step(plan, state, Board.of(snapshot), at)
        titles += [message.title for message in messages]
    return titles


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_sends_exactly_these_messages(name: str) -> None:
    assert told(name) == MESSAGES.get(name, [])


def test_every_scenario_that_sends_something_is_there() -> None:
    assert {*MESSAGES} <= {*scenario_names()}
