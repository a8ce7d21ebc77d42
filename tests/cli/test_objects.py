"""Output for programs: JSON that any reader accepts, and that controls no terminal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from livedeck.cli import alarm
from livedeck.cli.screenshots import EVENING
from livedeck.presentation import serialization
from livedeck.presentation.render_time import RenderTime
from ui.wall_stage import evening

HOSTILE = "half \ud83d, \x9b31m, \x1b]0;owned\x07, \u202egnp, 会議室"


async def test_a_name_from_outside_is_whole_and_neither_obeyed_nor_the_end_of_the_command() -> None:
    known = await evening()
    first, *rest = known.events
    named = replace(first, event=first.event.model_copy(update={"name": HOSTILE}))
    told = serialization.to_json(
        serialization.snapshot_object(replace(known, events=(named, *rest)), RenderTime.from_snapshot(known, EVENING))
    )
    assert json.loads(told)["events"][0]["name"] == HOSTILE
    assert "会議室" in told
    assert told.encode()
    assert not {char for char in told if char < " " or "\x7f" <= char <= "\x9f" or char == "\u202e"}


async def test_alarms_of_such_an_event_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    known = await evening()
    named = replace(known, alarms=tuple(replace(alarm, subject=HOSTILE) for alarm in known.alarms))
    capsys.readouterr()  # what the monitor logged meanwhile
    alarm.print_alarms(named, named.at, as_json=True, include_quiet=False)
    assert {alarm["subject"] for alarm in json.loads(capsys.readouterr().out)["alarms"]} == {HOSTILE}
