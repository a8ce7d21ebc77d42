"""Decks attached to a collector in a process of its own, which is killed and comes back."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.commands import TIMEOUT, called, collecting, served, settings_of
from livedeck.cli.wiring import SystemClock
from livedeck.client import Outgoing, Secret
from livedeck.collector.attached.link import Link
from livedeck.collector.attached.remote import Remote
from livedeck.monitor import AlarmKey, AlarmState, AttachmentState, ConnectionState, Snapshot


@dataclass
class Deck:
    """Deck and its snapshots."""

    remote: Remote
    snapshots: AsyncGenerator[Snapshot, None]

    async def look(self, is_so: Callable[[Snapshot], bool]) -> Snapshot:
        """Return the first snapshot that meets a condition."""
        async with asyncio.timeout(TIMEOUT):
            async for snapshot in self.snapshots:
                if is_so(snapshot):
                    return snapshot
        raise AssertionError("it ended")


@asynccontextmanager
async def decks(address: str, *tokens: str) -> AsyncIterator[list[Deck]]:
    """Yield a deck for each token."""
    async with AsyncExitStack() as stack:
        made = []
        for token in tokens:
            outgoing = await stack.enter_async_context(Outgoing())
            remote = Remote(Link(outgoing, [address], Secret(token)), SystemClock())
            made.append(Deck(remote, await stack.enter_async_context(aclosing(remote.snapshots()))))
        yield made


def is_watching(snapshot: Snapshot) -> bool:
    """Return whether the deck receives data of the collector."""
    return bool(snapshot.attachment and snapshot.attachment.state is AttachmentState.WATCHING)


def is_answered(shown: Snapshot, key: AlarmKey) -> bool:
    """Return whether anna has acknowledged the alarm."""
    found = (alarm for alarm in (*shown.alarms, *shown.quiet) if alarm.key == key)
    return any(alarm.answered_by.startswith("anna") for alarm in found)


async def live_through(address: str, tokens: list[str], kill: Callable[[], None], restart: Callable[[], None]) -> None:
    """Acknowledge an alarm, kill the collector and restart it, and check every deck."""
    async with decks(address, *tokens) as attached:
        seen = [await deck.look(lambda shown: is_watching(shown) and bool(shown.alarms)) for deck in attached]
        key = next(alarm.key for alarm in seen[0].alarms if alarm.state is AlarmState.UNACKNOWLEDGED)
        assert await attached[0].remote.acknowledge(key)
        for deck in attached:
            await deck.look(lambda shown: is_answered(shown, key))
        killed_at = SystemClock().monotonic()
        kill()
        for deck in attached:
            blind = await deck.look(lambda shown: shown.link.state is ConnectionState.BLIND)
            assert SystemClock().monotonic() - killed_at < 30
            assert "COLLECTOR_SILENT" in {alarm.kind for alarm in blind.alarms}
        restart()
        for deck in attached:
            await deck.look(
                lambda shown: is_watching(shown) and shown.link.state.is_answering and is_answered(shown, key)
            )


@pytest.mark.slow
def test_a_killed_collector_blinds_every_deck_and_back_again_it_has_forgotten_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as stack:
        _, service = stack.enter_context(served(tmp_path))
        platform = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env = settings_of(tmp_path, f'[collector]\nlisten = "127.0.0.1:{port}"\n') | platform
        tokens = []
        for name, may in (("anna", "act"), ("bert", "act"), ("wall", "read")):
            done = called(tmp_path, "collector", "token", "create", name, "--may", may, env=env)
            tokens.append(done.stdout.strip())
        first, address = stack.enter_context(collecting(tmp_path, env))

        def restart() -> None:
            stack.enter_context(collecting(tmp_path, env))

        asyncio.run(live_through(address, tokens, first.kill, restart))
