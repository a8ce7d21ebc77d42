"""The newest changes: each of them once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from livedeck.monitor import BroadcastState, ConnectionState, ConnectionStatus, EndedEvent, EndWay, Phase, Snapshot
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
