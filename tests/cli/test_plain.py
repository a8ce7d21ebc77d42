"""`livedeck --plain`: lines for a screen reader."""

from __future__ import annotations

import asyncio
import re
from math import inf
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cli.commands import called
from cli.listening import listen
from livedeck.cli.plain import follow
from monitor.stage import Deck, Stage, event
from virtual_clock import VirtualClock


async def test_each_event_is_told_once_and_then_each_change_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    deck = Deck(Stage(clock, event(name="Town hall"), event("two", name="Choir \x1b[31m\r\nall well")))

    async def evening() -> None:
        await clock.sleep(20.0)
        deck.stage.silent_from = 20.0
        await clock.sleep(40.0)
        deck.stage.silent_from = inf
        await clock.sleep(40.0)
        deck.stage.fails = 503, {}
        await clock.sleep(60.0)
        deck.stage.fails = None

    played = asyncio.ensure_future(evening())
    with capture_logs():
        await listen(clock, follow(deck.monitor), 240)
    played.cancel()
    await deck.close()
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0].startswith("2 events, 0 alarms. ")
    assert "Town hall: on air, health good, 100." in lines[1:3]
    assert [line for line in lines if not line.isascii() or "\x1b" in line] == []
    told = [line for line in lines if line.startswith("Town hall: ")][1:]
    assert any("reconnecting, was on air." in line for line in told)
    assert any("RECONNECTING raised" in line for line in told)
    assert any("on air, was " in line for line in told)
    assert all(re.search(r"\. \d\d:\d\d:\d\dZ$", line) for line in lines[3:]), lines
    assert any(line.startswith("Blind, the present state is unknown: ") for line in lines)
    assert any(line.startswith("The platform responds again.") for line in lines)
    assert len(lines) == len(set(lines))


def test_it_is_given_alone(tmp_path: Path) -> None:
    for words in (("--plain", "status"), ("--plain", "--at", "-5m")):
        done = called(tmp_path, *words, env={"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "token"})
        assert (done.returncode, "--plain prints the present" in done.stderr) == (2, True)
