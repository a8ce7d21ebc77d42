"""The simulator plays a recording; a new recording of that play has the same samples, states and alarms."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from golden.player import record, record_show
from golden.test_recordings import RECORDINGS
from livedeck.cli.past.conversion import convert
from livedeck.monitor.history.recording import export
from livedeck.monitor.recorded_show import RecordedShow, read_show
from livedeck.simulator import Simulator

POLL = timedelta(seconds=5)


def played(recording: Path, folder: Path) -> tuple[RecordedShow, RecordedShow]:
    """Return the show of a recording, and the show that a deck records while the simulator plays it."""
    convert(recording, folder / "show.tar", replace=False)
    record_show(folder / "show.tar", folder / "again.sqlite")
    return read_show(recording), read_show(folder / "again.sqlite")


def assert_same(then: RecordedShow, now: RecordedShow) -> None:
    for key, readings in then.streams.items():
        again = now.streams[key]
        rows, seen = ([*map(one.__getitem__, range(len(one)))] for one in (readings, again))
        assert seen == rows[: len(seen)]
        assert rows[-1].time - seen[-1].time <= POLL.total_seconds()
    assert [(span.key, span.severity) for span in now.alarms] == [(span.key, span.severity) for span in then.alarms]
    for before, after in zip(then.alarms, now.alarms, strict=True):
        assert abs(after.since - before.since) <= POLL
        assert (before.until is None) == (after.until is None)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_shipped_recording_is_recorded_again(path: Path, tmp_path: Path) -> None:
    assert_same(*played(path, tmp_path))


@pytest.mark.parametrize(
    "name",
    [
        "restream-down",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("ended-remotely", "encoder-drop-inside-window", "late-start")
        ),
    ],
)
def test_changes_of_events_come_at_their_times(name: str, tmp_path: Path) -> None:
    record(name, 1, tmp_path / "deck.sqlite")
    export(tmp_path / "deck.sqlite", tmp_path / "show.livedeck")
    assert_same(*played(tmp_path / "show.livedeck", tmp_path))


def test_an_event_that_is_deleted_or_appears_does_so_again(tmp_path: Path) -> None:
    record("deleted-remotely", 1, tmp_path / "deck.sqlite")
    then, now = played(tmp_path / "deck.sqlite", tmp_path)
    gone = [[(row.event_id, row.fields is None) for row in show.events if row.at > show.since] for show in (then, now)]
    assert gone[0] == gone[1] != []


def test_the_snapshot_names_the_alarms_that_the_recording_has(tmp_path: Path) -> None:
    convert(RECORDINGS[0], tmp_path / "show.tar", replace=False)
    simulator = Simulator(snapshot=tmp_path / "show.tar")
    assert simulator.scenario
    (alarm,) = simulator.scenario.alarms
    assert (alarm.kind, alarm.event, alarm.severity) == ("AUDIO_LOST", "Main stage", "critical")
    assert simulator.on_air() == ["Main stage", "Second stage", "Small hall"]
