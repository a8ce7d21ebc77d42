"""The newest changes: each of them once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.monitor import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EndedEvent,
    EndWay,
    EventState,
    Phase,
    Snapshot,
)
from livedeck.presentation.last_changes import Changes
from livedeck.text.segments import plain
from presentation.test_events import FRESH, NOW, state


def test_a_completion_is_listed_once_with_the_time_that_the_platform_tells() -> None:
    at = NOW - timedelta(seconds=30)
    done = replace(state(), phase=Phase(BroadcastState.COMPLETED, at))
    ended = EndedEvent(done.id, "Choir", "was completed", NOW - timedelta(seconds=18), way=EndWay.COMPLETED)
    link = ConnectionStatus(ConnectionState.OK, NOW)
    lines = [plain(line) for line in Changes().lines(Snapshot(1, NOW, link, (done,), ended=(ended,)), FRESH, 60, 9)]
    assert [line.split() for line in lines] == [[f"{at:%H:%M:%S}", "■", "Choir", "completed"]]
    gone = Changes().lines(Snapshot(2, NOW, link, (), ended=(ended,)), FRESH, 60, 9)
    assert len(gone) == 1


def test_a_completion_without_a_time_is_listed_at_the_reply_that_showed_it() -> None:
    at = NOW - timedelta(seconds=18)
    done = replace(state(), phase=Phase(BroadcastState.COMPLETED, None))
    ended = EndedEvent(done.id, "Choir", "was completed", at, way=EndWay.COMPLETED)
    assert changes_of((done,), ended) == [[f"{at:%H:%M:%S}", "■", "Choir", "completed"]]


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (EndWay.GONE, "removed"),
        (EndWay.STREAM_REMOVED, "stream removed"),
        (EndWay.COMPLETED, "completed"),
        (EndWay.REPLACED, "stream replaced"),
    ],
)
def test_each_end_on_air_has_its_words(way: EndWay, words: str) -> None:
    at = NOW - timedelta(seconds=18)
    ended = EndedEvent("e", "Choir", "", at, is_gone=way is EndWay.GONE, way=way)
    assert changes_of((), ended) == [[f"{at:%H:%M:%S}", "■", "Choir", *words.split()]]


def changes_of(events: tuple[EventState, ...], ended: EndedEvent) -> list[list[str]]:
    """Return the words of each change."""
    snapshot = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), events, ended=(ended,))
    return [plain(line).split() for line in Changes().lines(snapshot, FRESH, 60, 9)]
