"""Monitor and history: it reads silences of others, stores windows that begin, and ends those of a broadcast."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from livedeck.client import Api
from livedeck.monitor import (
    AlarmRefused,
    History,
    HistoryReader,
    MaintenanceWindow,
    Matcher,
    Monitor,
    SilenceDraft,
    SilenceGone,
    Snapshot,
    silence_of_draft,
)
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.recording import export
from livedeck.monitor.history.samples import prune
from livedeck.text.hours import Hours
from monitor.stage import NOW, Deck, Stage, at, event
from monitor.test_restart import MovedClock
from virtual_clock import VirtualClock

DRAFT = SilenceDraft((Matcher.parse("event = one"),), 3600.0, "encoder swap", actor="anna@regie:7", uid="u1")


@asynccontextmanager
async def watching(history: History, stage: Stage, **options: Any) -> AsyncIterator[Until]:
    """Yield a function that waits for a snapshot which meets a condition, of a monitor with that history."""
    clock = MovedClock(0)
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=stage) as api:
        monitor = Monitor(api, clock, random=Random(1), history=history, actor="deck@regie:1", **options)
        async with aclosing(monitor.snapshots()) as snapshots:

            async def until(is_so: Callable[[Snapshot], object]) -> tuple[Monitor, Snapshot]:
                async with asyncio.timeout(60):
                    while not is_so(snapshot := await anext(snapshots)):
                        monitor.refresh()
                return monitor, snapshot

            yield until
    await history.close()


Until = Callable[[Callable[[Snapshot], object]], Awaitable[tuple[Monitor, Snapshot]]]


async def test_a_silence_of_another_deck_of_the_file_is_in_the_next_snapshots(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history, other = await History.open(path, NOW), await History.open(path, NOW)
    async with watching(history, Stage(VirtualClock(), event("one"))) as until:
        await until(lambda snapshot: snapshot.events)
        made = silence_of_draft(DRAFT, (), NOW)
        other.record_silence(made)
        await other.flush()
        assert (await until(lambda snapshot: snapshot.silences))[1].silences == (made,)
        assert [row.uid for row in await HistoryReader(path).new_silences()] == ["u1"]
    await other.close()


async def test_a_silence_ends_with_the_broadcast_of_its_event_for_everybody() -> None:
    history, stage = await History.open(None, NOW), Stage(VirtualClock(), event("one"))
    async with watching(history, stage) as until:
        monitor, _ = await until(lambda snapshot: snapshot.events)
        await monitor.add_silence(replace(DRAFT, until_end_of="one"))
        await until(lambda snapshot: snapshot.silences)
        stage.events[0]["stream"].update(status="finished", finished_at=at(1))
        await until(lambda snapshot: not snapshot.silences)
        assert [row.actor for row in await history.silence_log(NOW)] == ["livedeck"]


async def test_a_window_that_begins_is_in_the_history_for_decks_with_other_settings() -> None:
    history = await History.open(None, NOW)
    running = MaintenanceWindow("swap", Hours.parse("Su 12:00-13:00"), "UTC", DRAFT.matchers, "swap")
    planned = MaintenanceWindow("later", Hours.parse("Su 18:00-19:00"), "UTC", DRAFT.matchers, "later")
    async with watching(history, Stage(VirtualClock(), event("one")), maintenance=(running, planned)) as until:
        monitor, snapshot = await until(lambda snapshot: snapshot.events)
        assert [silence.id for silence in snapshot.silences] == ["swap@20260301T1200Z", "later@20260301T1800Z"]
        await history.flush()
        assert await history.silence_log(NOW) == snapshot.silences[:1]
        await monitor.end_silence("swap")
        _, after = await until(lambda snapshot: snapshot.silences[0].id.startswith("later"))
        assert after.silences == snapshot.silences[1:]


async def test_a_repeated_command_changes_nothing_and_another_with_its_id_is_refused() -> None:
    deck = Deck(Stage(VirtualClock(), event("one")))
    await deck.until(5)
    added = await deck.monitor.add_silence(DRAFT)
    assert await deck.monitor.add_silence(DRAFT) == added
    with pytest.raises(AlarmRefused, match="another command"):
        await deck.monitor.end_silence(added.id, uid="u1")
    ended = await deck.monitor.end_silence(added.id, uid="u2")
    assert await deck.monitor.end_silence(added.id, uid="u2") == ended
    with pytest.raises(SilenceGone):
        await deck.monitor.end_silence(added.id, uid="u3")
    await deck.close()


def tables_of(path: Path) -> set[str]:
    """Return the tables of a file."""
    db = Database(path, reads=True)
    found = {name for (name,) in db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    db.close()
    return found


async def test_a_file_gets_the_table_with_its_first_silence(tmp_path: Path) -> None:
    """An older version shows no file with a table that it does not know, and a recording may go anywhere."""
    path, before, after = (tmp_path / name for name in ("history.sqlite", "before.sqlite", "after.sqlite"))
    history = await History.open(path, NOW)
    export(path, before)
    db = Database(path)
    assert [*prune(db, 0)] == []
    db.close()
    assert "silence" not in tables_of(path) | tables_of(before)
    history.record_silence(silence_of_draft(DRAFT, (), NOW))
    await history.flush()
    export(path, after)
    assert "silence" in tables_of(path) & tables_of(after)
    await history.close()


async def test_a_file_without_the_table_has_no_silences(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    Database(path).close()
    reader = HistoryReader(path)
    assert (await reader.new_silences(), await reader.silence_log(NOW), reader.fault) == ((), (), "")
