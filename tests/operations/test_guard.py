"""Refused changes of objects that you cannot see."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.client import Event, Room
from livedeck.monitor import (
    ROOM_LIST,
    BroadcastState,
    CachedList,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Phase,
    QosState,
    Snapshot,
)
from livedeck.operations.guard import blocked_reason
from livedeck.operations.operation import Target
from operations.rig import EVENING

LINK = ConnectionStatus(ConnectionState.OK, EVENING, as_of=EVENING)
EVENT = Target("event", "e1", "Choir")
ROOM = Target("room", "r1", "Council")
RELAY = Target("relay profile", "p1", "Channel")


def event_state(*, is_stale: bool) -> EventState:
    return EventState(
        Event(id="e1"), EVENING, Phase(BroadcastState.DRAFT), QosState(), HealthAssessment(), is_stale=is_stale
    )


def test_before_the_first_answer_nothing_may_be_sent() -> None:
    for snapshot in (None, Snapshot(1, EVENING, replace(LINK, as_of=None))):
        assert blocked_reason(snapshot, EVENING) == "no data yet; wait for the platform's first response"


def test_fresh_data_block_nothing() -> None:
    snapshot = Snapshot(1, EVENING, LINK, (event_state(is_stale=False),), lists={ROOM_LIST: CachedList(as_of=EVENING)})
    for target in (None, EVENT, ROOM, RELAY):
        assert not blocked_reason(snapshot, EVENING, target)


@pytest.mark.parametrize("target", [None, EVENT, ROOM])
def test_stale_data_block_every_change_and_say_their_age(target: Target | None) -> None:
    later = EVENING + timedelta(minutes=2)
    assert blocked_reason(Snapshot(1, EVENING, LINK), later, target) == "the screen is STALE, 02:00 old"


def test_a_monitor_that_stopped_blocks_every_change_at_once() -> None:
    assert blocked_reason(Snapshot(1, EVENING, LINK), EVENING, is_watched=False).startswith("the screen is STALE")


@pytest.mark.parametrize("target", [ROOM, RELAY])
def test_stale_rooms_block_what_is_listed_with_them_and_nothing_else(target: Target) -> None:
    rooms: CachedList[Room] = CachedList(as_of=EVENING - timedelta(seconds=61))
    snapshot = Snapshot(1, EVENING, LINK, lists={ROOM_LIST: rooms})
    assert blocked_reason(snapshot, EVENING, target) == "the list of rooms is STALE, 01:01 old"
    assert not blocked_reason(snapshot, EVENING, EVENT)


def test_an_event_without_an_answer_blocks_changes_of_it_alone() -> None:
    snapshot = Snapshot(1, EVENING, LINK, (event_state(is_stale=True),))
    assert "does not respond for it" in blocked_reason(snapshot, EVENING, EVENT)
    assert not blocked_reason(snapshot, EVENING, Target("event", "e2", "Another"))
    assert not blocked_reason(snapshot, EVENING)


def test_the_key_that_asks_again_is_named_where_there_is_one() -> None:
    later = EVENING + timedelta(minutes=2)
    assert blocked_reason(Snapshot(1, EVENING, LINK), later, refresh_key="f4").endswith("; press f4 to refresh")
