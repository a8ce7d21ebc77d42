"""The pane of alarms beside the events."""

from __future__ import annotations

from livedeck.monitor import AlarmState, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.presentation.alarms import pane_length, pane_lines
from livedeck.text.segments import plain
from monitor.recordings import NOW
from notify.stage import alarm
from presentation.test_events import FRESH

NAME = "Morning service of the north campus"


def test_the_name_of_a_hidden_alarm_is_cut_only_while_lines_are_missing() -> None:
    hidden = alarm(NAME, "KEYFRAME_DRIFT", Severity.WARNING, state=AlarmState.SUPPRESSED, parent="KEYFRAME_SEVERE")
    link = ConnectionStatus(ConnectionState.OK, NOW)
    snapshot = Snapshot(1, NOW, link, alarms=(alarm("hall"),), quiet=(hidden,))
    assert pane_length(snapshot) == 3
    few, many = ([plain(line) for line in pane_lines(snapshot, FRESH, 70, rows)] for rows in (3, 4))
    assert NAME.upper() not in "\n".join(few)
    assert few[2].endswith("KEYFRAME_DRIFT  hidden by KEYFRAME_SEVERE")
    assert NAME.upper() in many[2]
    assert many[3].strip() == "KEYFRAME_DRIFT  hidden by KEYFRAME_SEVERE"
    assert many[3].index("KEYFRAME") == many[2].index(NAME.upper()) == many[1].index("NO_INGEST")


def test_the_values_of_an_alarm_are_cut_only_while_lines_are_missing() -> None:
    uneven = alarm(
        "hall", "KEYFRAME_SEVERE", actual="very uneven key frames in 21 % of the last 10 min", expected="under 4 %"
    )
    snapshot = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), alarms=(uneven, alarm("choir")))
    few, many = ([plain(line).rstrip() for line in pane_lines(snapshot, FRESH, 70, rows)] for rows in (5, 6))
    assert few[1].strip() == "KEYFRAME_SEVERE  very uneven key frames in 21 %…"
    assert [line.strip() for line in many[1:4]] == [
        "KEYFRAME_SEVERE",
        "very uneven key frames in 21 % of the last 10 min,",
        "expected under 4 %",
    ]
    assert len({len(line) - len(line.lstrip()) for line in many[1:4]}) == 1
    assert many[4:] == few[2:]
