"""A known unit of the bit rates answers the question of `event qos` and `doctor`; without one, both ask."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from client.answers import Platform, api_of
from collector.stand_in import Asked, plain, stand_in
from livedeck.cli.doctor import CheckStatus, check_rates
from livedeck.cli.event.qos import QosFollower
from livedeck.client import Api, Event
from livedeck.collector.protocol.questions import QUESTIONS
from livedeck.monitor import BitrateUnit, History, Readings, Ruling, UnitChoice
from livedeck.monitor.signal.series import merge
from livedeck.settings import Settings
from monitor.recordings import snapshot
from monitor.stage import NOW, at, samples, signal
from monitor.stage import event as event_rows
from virtual_clock import VirtualClock

HOST = "127.0.0.1:8787"
ROWS = [
    {"time": at(second - 60), "bitrate_video": 2438, "bitrate_audio": 156, "frame_rate": 25, "status": 0}
    for second in range(0, 60, 2)
]
"""Samples that look like kbit/s and may be bit/s."""


def reply(path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
    rows: Any = ROWS if path.endswith("/qos") else [event_rows("one")]
    return 200, json.dumps({"data": rows}).encode(), {}


async def told(api: Api, settings: Settings) -> tuple[str, float | None, CheckStatus]:
    """Return the question of `event qos`, its newest rate, and the verdict of `doctor`."""
    clock = VirtualClock()
    follower = QosFollower(api, Event.model_validate(event_rows("one")), clock, settings)
    await follower.poll()
    newest = follower.readings.last
    assert newest
    check = await check_rates(api, settings)
    return follower.unit_question, newest.video, check.status


@asynccontextmanager
async def asking(**values: Any) -> AsyncIterator[tuple[Api, Settings]]:
    async with api_of(Platform(reply)) as api:
        yield api, Settings.model_validate(values)


async def test_without_a_history_both_ask() -> None:
    async with asking(history="off") as (api, settings):
        question, video, verdict = await told(api, settings)
    assert question.startswith("rates look like kbit/s (2438 / 156)")
    assert (video, verdict) == (None, CheckStatus.WARN)


@pytest.mark.parametrize(("unit", "rate"), [(BitrateUnit.KBIT, 2_438_000), (BitrateUnit.BIT, 2438)])
async def test_a_history_that_has_read_the_same_samples_shows_the_unit(
    tmp_path: Path, unit: BitrateUnit, rate: int
) -> None:
    path = tmp_path / "deck.sqlite"
    read = signal(30, end=-2.0, video=unit.bits * 2438, audio=unit.bits * 156, fps=25.0)
    history = await History.open(path, NOW)
    await history.append(snapshot({"one": merge(Readings(), samples(read))}))
    await history.close()
    async with asking(history=str(path)) as (api, settings):
        assert await told(api, settings) == ("", rate, CheckStatus.OK)


async def test_a_ruling_of_a_deck_is_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    history = await History.open(path, NOW)
    await history.record_ruling(UnitChoice(NOW, BitrateUnit.KBIT, "anna", HOST))
    await history.close()
    async with asking(history=str(path)) as (api, settings):
        assert await told(api, settings) == ("", 2_438_000, CheckStatus.OK)


async def test_a_ruling_at_the_collector_is_obeyed(tmp_path: Path) -> None:
    rulings: tuple[Ruling, ...] = (UnitChoice(NOW, BitrateUnit.KBIT, "anna", HOST),)

    async def answer(asked: Asked, writer: Any) -> None:
        name = asked.target.partition("?")[0].rpartition("/")[2]
        body = {"answer": QUESTIONS[name].dump(rulings), "fault": "", "now": NOW.timestamp() * 1000}
        writer.write(plain("200 OK", json.dumps(body).encode(), "Content-Type: application/json"))

    token = tmp_path / "token"
    token.write_text("of-a-deck")
    token.chmod(0o600)
    async with stand_in(answer) as server:
        values = {"collector_url": server.address, "collector_token_file": str(token), "history": "off"}
        async with asking(**values) as (api, settings):
            assert await told(api, settings) == ("", 2_438_000, CheckStatus.OK)
    assert {asked.target.partition("?")[0] for asked in server.asked} == {"/v1/history/ruling_log"}


async def test_a_collector_that_is_away_leaves_the_question(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("of-a-deck")
    token.chmod(0o600)
    values = {"collector_url": "http://127.0.0.1:1", "collector_token_file": str(token), "history": "off"}
    async with asking(**values) as (api, settings):
        question, video, verdict = await told(api, settings)
    assert (bool(question), video, verdict) == (True, None, CheckStatus.WARN)
