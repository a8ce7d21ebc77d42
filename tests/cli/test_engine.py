"""`livedeck collector run` and `livedeck doctor` with several collectors."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from client.answers import api_of, saying
from collector.engine.servers import RedisServer, skip_without_redis
from livedeck.cli.collect.engine import engine_faults, join_others, redis_address
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api
from livedeck.monitor import History
from livedeck.settings import Settings, SettingsError

SECRET = "redis-password-canary"  # what may be shown nowhere


def settings_of(path: Path, address: str) -> Settings:
    """Return the settings of a collector that shares a Redis with others."""
    file = path / "redis"
    file.write_text(address, encoding="utf-8")
    file.chmod(0o600)
    return Settings.model_validate(
        {"base_url": "https://platform.example", "engine": {"redis_url_file": str(file), "name": "north"}}
    )


async def test_without_the_setting_there_are_no_others() -> None:
    assert await redis_address(Settings()) == ""
    assert await engine_faults(Settings()) is None
    async with join_others(Settings(), None) as others:
        assert others is None


async def test_an_address_in_clear_over_a_network_is_refused_without_being_shown(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="use rediss") as error:
        await redis_address(settings_of(tmp_path, f"redis://user:{SECRET}@redis.example"))
    assert SECRET not in str(error.value)


async def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "redis" or name.endswith("engine.shared")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(SettingsError, match=r"pip install '\.\[engine\]'"):
        await redis_address(settings_of(tmp_path, "redis://127.0.0.1"))


async def test_a_redis_that_is_away_is_said_and_the_collector_works_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(tmp_path, f"unix://user:{SECRET}@{tmp_path}/nowhere.sock")
    (fault,) = await engine_faults(settings) or []
    assert "Redis" in fault
    history = await History.open(tmp_path / "history.sqlite", SystemClock().now())
    async with join_others(settings, history) as others:
        assert others
        assert others.engine.fault.apart_since
        assert not others.engine.holds("event")
        assert not others.spool.is_on_duty
    await history.close()
    said = capsys.readouterr().err
    assert "polling every event until Redis is back" in said
    assert SECRET not in said + fault


@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [("one", "two", True), ("one", "one", False), ("one", None, False), (None, "two", False)],
    ids=["another", "the same", "unknown later", "unknown before"],
)
async def test_a_collector_of_another_workspace_is_refused_if_both_are_known(
    tmp_path: Path, first: str | None, second: str | None, is_refused: bool
) -> None:
    skip_without_redis()
    server = RedisServer()
    history = await History.open(tmp_path / "history.sqlite", SystemClock().now())
    settings = settings_of(tmp_path, server.address)
    south = settings.model_copy(update={"engine": settings.engine.model_copy(update={"name": "south"})})
    try:
        async with (
            platform_of(first) as api,
            platform_of(second) as other,
            join_others(settings, history, api) as living,
        ):
            assert living
            working = asyncio.create_task(living.run())
            refusal = pytest.raises(SettingsError, match="watch another workspace; give each workspace a database")
            with refusal if is_refused else nullcontext():
                async with join_others(south, history, other) as joined:
                    assert joined
                    assert len(joined.engine.workers) == 2
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
    finally:
        await history.close()
        server.close()


def platform_of(workspace: str | None) -> Api:
    """Return a client of a platform with an event of that workspace; None: without any event."""
    events = [{"id": "e", "workspace_id": workspace}] if workspace else []
    return api_of(saying(json.dumps({"data": events}).encode()))


async def test_a_redis_that_hangs_holds_up_neither_the_start_nor_the_doctor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without_redis()
    server = RedisServer()
    history = await History.open(tmp_path / "history.sqlite", SystemClock().now())
    try:
        settings = settings_of(tmp_path, server.address)
        server.hang()
        async with asyncio.timeout(60):
            assert await engine_faults(settings) == ["Redis does not reply in time"]
            async with join_others(settings, history) as others:
                assert others
                assert others.engine.fault.apart_since
        assert "does not reply in time; polling every event until Redis is back" in capsys.readouterr().err
    finally:
        await history.close()
        server.close()


async def test_under_the_name_of_one_that_lives_nobody_starts_and_under_that_of_a_dead_one_somebody_does(
    tmp_path: Path,
) -> None:
    skip_without_redis()
    server = RedisServer()
    history = await History.open(tmp_path / "history.sqlite", SystemClock().now())
    settings = settings_of(tmp_path, server.address)
    settings = settings.model_copy(update={"engine": settings.engine.model_copy(update={"ttl": 5.0})})
    try:
        async with asyncio.timeout(60), join_others(settings, history) as living:
            assert living
            working = asyncio.create_task(living.run())
            with pytest.raises(SettingsError, match=r"engine\.name: another collector called 'north' is running"):
                async with join_others(settings, history):
                    raise AssertionError("it started")
            assert len(living.engine.workers) == 1
            working.cancel()  # as it dies: it claims no more, and has not left
            await asyncio.gather(working, return_exceptions=True)
            async with join_others(settings, history) as second:
                assert second
                assert [worker.split("/")[0] for worker in second.engine.workers] == ["north", "north"]
    finally:
        await history.close()
        server.close()


async def test_who_joins_holds_and_who_ends_gives_back(tmp_path: Path) -> None:
    skip_without_redis()
    server = RedisServer()
    try:
        settings = settings_of(tmp_path, server.address)
        assert await engine_faults(settings) == []
        history = await History.open(tmp_path / "history.sqlite", SystemClock().now())
        for _ in range(2):  # the second finds nobody
            async with join_others(settings, history) as others:
                assert others
                assert [worker.split("/")[0] for worker in others.engine.workers] == ["north"]
                assert others.spool.is_on_duty
        await history.close()
    finally:
        server.close()
