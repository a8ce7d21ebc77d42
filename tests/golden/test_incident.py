"""An outage rings once and needs one acknowledgement; and one lost camera is no flood."""

from __future__ import annotations

from pathlib import Path

import pytest

from breadth import slow_rows
from golden.log import Log
from golden.player import play
from livedeck.monitor import Alarm, AlarmState

OUTAGE = """
title = "Every encoder fails at once, and comes back"
workspace = "{workspace}"
lasts = "+00:03:20"

[[steps]]
at = "+00:00:20"
do = "encoder"
event = "*"
sending = false

[[steps]]
at = "+00:01:20"
do = "encoder"
event = "*"
sending = true
"""
OVER, LATER = 80.0, 60.0
"""Second in which the encoders send again, and seconds from then to the look at the board."""

DEMO = """
title = "The demonstration, left alone"
workspace = "demo"
lasts = "{lasts}"
"""


def left(log: Log) -> tuple[Alarm, ...]:
    """Return the active alarms a minute after the encoders sent again."""
    return next(snapshot.alarms for at, snapshot in log.snapshots if at >= OVER + LATER)


@pytest.mark.parametrize(("workspace", "seed"), [("stage", 1), *slow_rows(*(("forty", seed) for seed in range(1, 6)))])
def test_encoders_that_fail_at_once_and_come_back_are_one_bell_and_one_alarm_to_answer(
    tmp_path: Path, workspace: str, seed: int
) -> None:
    scenario = tmp_path / "outage.toml"
    scenario.write_text(OUTAGE.format(workspace=workspace))
    log = play(scenario, seed)
    on_air = sum(state.phase.tally.expects_signal for state in log.snapshots[10][1].events)
    assert sum(len(snapshot.bells) for _, snapshot in log.snapshots) == 1
    assert not any(snapshot.flood for _, snapshot in log.snapshots)
    incidents = [span for span in log.spans if span.kind == "PLATFORM"]
    members = [span for span in log.spans if span.kind == "RECONNECTING"]
    assert (len(incidents), len(members)) == (1, on_air)
    (alarm,) = left(log)
    assert (alarm.kind, alarm.state) == ("PLATFORM", AlarmState.RETURNED)
    words = [entry.text.split(":")[0] for entry in alarm.timeline]
    assert (words[0], words[-1], {*words[1:-1]}) == ("raised", "cleared, not acknowledged", {"joined", "left"})


@pytest.mark.parametrize(("minutes", "seed"), [(1, 1), *slow_rows(*((10, seed) for seed in (1, 2, 3)))])
def test_the_demonstration_is_no_flood(tmp_path: Path, minutes: int, seed: int) -> None:
    scenario = tmp_path / "demo.toml"
    scenario.write_text(DEMO.format(lasts=f"+00:{minutes:02}:00"))
    log = play(scenario, seed)
    assert any(alarm.subject == "Harbour webcam" for _, snapshot in log.snapshots for alarm in snapshot.alarms)
    assert not any(snapshot.flood for _, snapshot in log.snapshots)
