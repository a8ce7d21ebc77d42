"""The pane of alarms beside the events."""

from __future__ import annotations

from dataclasses import replace

from livedeck.monitor import AlarmState, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.presentation.alarms import ALARMS, pane_length, pane_lines
from livedeck.presentation.table import RowCells, layout, row_line
from livedeck.text.segments import plain
from livedeck.text.values import evidence_text
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


def test_the_first_alarms_keep_their_values_while_the_last_ones_lack_lines() -> None:
    uneven = [
        alarm(name, "KEYFRAME_SEVERE", actual="very uneven key frames in 21 % of the last 10 min", expected="under 4 %")
        for name in ("hall", "choir")
    ]
    snapshot = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), alarms=tuple(uneven))
    lines = [plain(line).strip() for line in pane_lines(snapshot, FRESH, 70, 7)]
    assert lines[2:4] == ["very uneven key frames in 21 % of the last 10 min,", "expected under 4 %"]
    assert lines[5:] == ["KEYFRAME_SEVERE  very uneven key frames in 21 %…"]


def test_no_alarm_keeps_its_values_after_one_that_lost_them() -> None:
    long, short = (
        "packets are lost in 34 % of the last 10 min, most of them at once",
        "packets are lost in 34 % of 10 min",
    )
    alarms = (alarm("hall", actual=long * 2), alarm("choir", "PACKET_LOSS", actual=short))
    snapshot = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), alarms=alarms)
    few, many = ([plain(line) for line in pane_lines(snapshot, FRESH, 60, rows)] for rows in (6, 12))
    assert [len(few), "…" in few[1], "…" in few[3]] == [4, True, True]
    assert "…" not in "".join(many)


def test_the_kind_of_a_cleared_alarm_is_under_its_subject() -> None:
    cleared = alarm("hall", "VIDEO_LOW", Severity.WARNING, state=AlarmState.RETURNED, actual="video 2.35M", expected="")
    snapshot = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), alarms=(cleared,))
    above, below = (plain(line) for line in pane_lines(snapshot, FRESH, 70, 2))
    assert above.index("HALL") == below.index("VIDEO_LOW")
    assert below.strip() == "VIDEO_LOW  cleared, not acknowledged  video 2.35M"


def test_the_value_of_a_board_row_takes_the_cells_of_an_empty_state() -> None:
    uneven = alarm("hall", "KEYFRAME_SEVERE", actual="uneven key frames in 21 % of the time", expected="under 4 %")
    columns, acknowledged = layout(ALARMS.columns, 118), replace(uneven, state=AlarmState.ACKNOWLEDGED)
    new, handled = (plain(row_line(row, FRESH, columns)) for row in (uneven, acknowledged))
    assert evidence_text(uneven) in new
    assert evidence_text(uneven) not in handled
    assert len(new) == len(handled)
    assert handled.rstrip().endswith("acknowledged")
    assert plain(RowCells(uneven).line(FRESH, columns)) == new
