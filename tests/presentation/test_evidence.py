"""Every screen and output shows the value of an alarm with its limit, in the same words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from livedeck.cli.status_report import status_table
from livedeck.monitor import (
    Alarm,
    AlarmChange,
    AlarmRecord,
    AlarmTransition,
    ConnectionState,
    ConnectionStatus,
    EpisodeRecord,
    Finding,
    Severity,
    Snapshot,
)
from livedeck.presentation.alarm_text import alarm_text, change_text
from livedeck.presentation.alarms import ALARMS, alarm_line, alarm_lines
from livedeck.presentation.check import check_event
from livedeck.presentation.event_detail import short_lines
from livedeck.presentation.incidents import incident_lines, incidents
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import snapshot_object
from livedeck.report.text import episode_lines
from livedeck.text.segments import plain
from livedeck.ui.alarms.view import detail
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.model import wall_model
from livedeck.ui.wallboard.page import page
from monitor.alarm_stage import Watcher, state
from monitor.recordings import snapshot as published
from monitor.stage import NOW
from ui.wall_stage import STILL, lines

ACTUAL, EXPECTED = "video 2.90M", "over 3.09M as median of 10 s, usual 4.41M"
WORDS = f"{ACTUAL}, expected {EXPECTED}"


def seen() -> tuple[Snapshot, Alarm]:
    watcher, event = Watcher(), state(Finding("VIDEO_LOW", Severity.CRITICAL, ACTUAL, EXPECTED, NOW))
    watcher.look(event)
    (alarm,) = watcher.shown
    link = ConnectionStatus(ConnectionState.OK, NOW, as_of=NOW)
    return replace(published({}, 0.0), link=link, at=NOW, events=(event,), alarms=watcher.shown), alarm


def test_each_face_shows_the_value_with_its_limit() -> None:
    snapshot, alarm = seen()
    at = RenderTime.from_snapshot(snapshot, snapshot.at)
    (event,) = snapshot.events
    change = AlarmChange(NOW, AlarmTransition.RAISED, alarm)
    episode = EpisodeRecord(
        "one", "VIDEO_LOW", "", "", Severity.CRITICAL, NOW, NOW + timedelta(seconds=9), ACTUAL, EXPECTED
    )
    faces = {
        "table": plain(ALARMS.columns[4].cell(alarm, at, 160)),
        "wall line": plain(alarm_line(alarm, at, 200)),
        "pane": plain(alarm_lines(alarm, at, 160)[1]),
        "panel": " ".join(plain(line) for line in detail(alarm, at, 160)),
        "event": plain(short_lines(event, at, 160)[0]),
        "incident": " ".join(plain(line) for line in incident_lines(incidents([AlarmRecord.of(change)])[0], 160, 40)),
        "alarm list": alarm_text(alarm, at, snapshot)[0],
        "follow": change_text(change),
        "check": check_event(event, snapshot.alarms, at).text,
        "status": status_table(snapshot, at),
        "wall": " ".join(" ".join(plain(line).split()) for line in lines(snapshot, (240, 67), now=NOW)),
        "wall page": json.dumps(page(wall_model(snapshot, at), STILL, DrawCache()), default=str),
        "episodes": " ".join(episode_lines([episode], {}, None)),
    }
    assert {face for face, words in faces.items() if WORDS not in words} == set()
    (shown,) = snapshot_object(snapshot, at)["alarms"]
    assert (shown["actual"], shown["expected"]) == (ACTUAL, EXPECTED)
