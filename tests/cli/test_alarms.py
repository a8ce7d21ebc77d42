"""`livedeck alarm list`, and the alarms of `livedeck status`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from cli.commands import called, served
from cli.listening import listen
from livedeck.cli.alarm import follow_alarms
from livedeck.monitor import ActionKind, AlarmAction, AlarmKey, History, Severity
from livedeck.text.times import parse_timestamp
from monitor.stage import Deck, Stage, event
from virtual_clock import VirtualClock


def test_alarms_are_printed_most_urgent_first_with_state_cause_and_what_to_do(tmp_path: Path) -> None:
    with served(tmp_path, "--speed", "0.01") as (_, service):  # one evening in all three, however long they take
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        told = called(tmp_path, "alarm", "list", "--json", env=env)
        table = called(tmp_path, "alarm", "list", env=env)
        status = called(tmp_path, "status", env=env)
    assert (told.returncode, told.stderr, table.returncode) == (0, "", 0)
    alarms = json.loads(told.stdout)["alarms"]
    severities = [alarm["severity"] for alarm in alarms]
    assert severities == sorted(severities, key=["critical", "warning", "info"].index)
    steady = [alarm for alarm in alarms if alarm["subject"] != "Cup final, pitch 2"]  # its encoder comes and goes
    assert len(steady) > 3
    for alarm in steady:
        assert alarm["state"] == "unacknowledged"
        for text in (table.stdout, status.stdout):
            assert f"{alarm['subject']}: {alarm['kind']}" in text or alarm["target"]
            assert "  new  " in text
            assert (alarm["cause"] or "") in text


def test_an_alarm_of_no_event_that_is_not_there_is_missing_and_not_wrong_use(tmp_path: Path) -> None:
    """A script acknowledges what has cleared meanwhile."""
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        done = called(tmp_path, "alarm", "ack", "platform", "API_BLIND", env=env)
    missing = "livedeck alarm: platform has no alarm API_BLIND; `livedeck alarm list` lists them\n"
    assert (done.returncode, done.stderr) == (6, missing)


def test_what_was_acknowledged_at_a_deck_is_so_for_alarms_status_and_metrics(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        path = tmp_path / "history.sqlite"
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = {**platform, "LIVEDECK_HISTORY": str(path)}
        alarms = json.loads(called(tmp_path, "alarm", "list", "--json", env=env).stdout)["alarms"]
        asyncio.run(_acknowledge(path, alarms))
        told = [called(tmp_path, *words, "--json", env=env).stdout for words in (("alarm", "list"), ("status",))]
        metrics = called(tmp_path, "status", "--format", "prometheus", env=env).stdout
        alone = called(tmp_path, "status", "--format", "prometheus", env={**platform, "LIVEDECK_HISTORY": "off"}).stdout
    for printed in told:
        assert "acknowledged" in {alarm["state"] for alarm in json.loads(printed)["alarms"]}
    assert ('state="acknowledged"' in metrics, 'state="acknowledged"' in alone) == (True, False)


async def _acknowledge(path: Path, alarms: list[dict[str, Any]]) -> None:
    """Acknowledge alarms as a deck of this machine stores it."""
    history = await History.open(path, datetime.now(UTC))
    for number, alarm in enumerate(alarms):
        key = AlarmKey(alarm["event_id"] or "", alarm["kind"], alarm["target"] or "")
        since, severity = parse_timestamp(alarm["since"]), Severity(alarm["severity"])
        now = datetime.now(UTC)
        history.record_alarm_action(
            AlarmAction(f"{number}", key, since, ActionKind.ACKNOWLEDGE, now, "anna@regie:1", severity)
        )
    await history.close()


def test_the_alarms_of_a_platform_that_cannot_be_asked_are_not_called_none(tmp_path: Path) -> None:
    env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "t" * 20}
    done = called(tmp_path, "alarm", "list", env=env)
    assert (done.returncode, done.stdout) == (4, "no data: alarms unknown\n")
    assert "refuses connections" in done.stderr


@asynccontextmanager
async def watched() -> AsyncIterator[Deck]:
    """Yield a monitor of one event whose encoder is silent from 20 s to 60 s after NOW.

    Its later samples fill the gap, because the encoder sent all the time.
    """
    clock = VirtualClock()
    deck = Deck(Stage(clock, event(name="Town hall")))
    deck.stage.silent_from = 20.0

    async def mended() -> None:
        await clock.sleep(60.0)
        deck.stage.silent_from = inf

    mending = asyncio.ensure_future(mended())
    yield deck
    mending.cancel()
    await deck.close()


async def test_each_change_is_told_once_and_says_what_became_of_which_alarm(capsys: pytest.CaptureFixture[str]) -> None:
    async with watched() as deck:
        with capture_logs():
            await listen(deck.clock, follow_alarms(deck.monitor, as_json=True, include_quiet=False), 120)
    printed = capsys.readouterr()
    changes = [json.loads(line) for line in printed.out.splitlines()]
    told = [(change["change"], change["kind"], change["subject"]) for change in changes]
    assert len(told) == len(set(told))
    assert ("raised", "RECONNECTING", "Town hall") in told
    assert told[-1][0] == "cleared"
    assert all(one["at"].endswith("Z") and one["state"] for one in changes)
    assert [one["at"] for one in changes] == sorted(one["at"] for one in changes)
    assert printed.err == ""


async def test_a_platform_that_fails_is_told_on_standard_error_and_so_is_its_return(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = VirtualClock()
    deck = Deck(Stage(clock, event()))
    deck.stage.fails = 503, {}

    async def mended() -> None:
        await clock.sleep(60.0)
        deck.stage.fails = None

    mending = asyncio.ensure_future(mended())
    with capture_logs():
        await listen(clock, follow_alarms(deck.monitor, as_json=False, include_quiet=False), 120)
    mending.cancel()
    await deck.close()
    printed = capsys.readouterr()
    lost, back = printed.err.splitlines()
    assert ("cannot watch" in lost, "again" in back) == (True, True)
    assert "API_BLIND" in printed.out
