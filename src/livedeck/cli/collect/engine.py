"""The settings of `[engine]` made into one of several collectors that ask together (engine.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from livedeck.cli.collect.receivers import read_secret
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock
from livedeck.environment import this_process
from livedeck.monitor import History, HistoryReader
from livedeck.settings import Settings, SettingsError
from livedeck.text.secrets import register_secret

if TYPE_CHECKING:
    from livedeck.collector.engine.engine import Engine
    from livedeck.collector.engine.rows import SharedRows
    from livedeck.collector.engine.spool import SharedSpool

_MISSING = "several collectors need the Python package redis: pip install 'livedeck[engine]'"

_LONG_APART = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Membership:
    """This collector among the others: what it shares with them, and where it keeps who was told."""

    engine: Engine
    rows: SharedRows
    spool: SharedSpool

    async def run(self) -> None:
        """Take part, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.engine.run(), name="engine")
            group.create_task(self.rows.run(), name="engine rows")

    @property
    def fault(self) -> str:
        """Why nobody may be told: this one is apart for long, and did not tell before. Empty where all is well."""
        since = self.engine.fault.apart_since
        if since is None or self.spool.is_on_duty or SystemClock().now() - since < _LONG_APART:
            return ""
        return f"apart from the other collectors since {since:%H:%M:%S}Z"


@asynccontextmanager
async def join_others(settings: Settings, history: History | None) -> AsyncIterator[Membership | None]:
    """This collector among the others, which it leaves in the end; None where the settings name no others. Raises
    SettingsError.
    """
    address = await redis_address(settings)
    if not address:
        yield None
        return
    if history is None or history.path is None:
        raise SettingsError(
            "engine: each collector keeps its own history, and `history` names no file; let it name one"
        )
    try:
        from livedeck.collector.engine.engine import Engine
        from livedeck.collector.engine.rows import SharedRows
        from livedeck.collector.engine.shared import SharedDesk, SharedStore, SharedStoreError
        from livedeck.collector.engine.spool import SharedSpool
    except ImportError as error:
        raise SettingsError(f"engine: {_MISSING}") from error
    clock, workspace = SystemClock(), _workspace(settings)
    name = settings.engine.name or this_process().partition("@")[2].partition(":")[0]
    worker = f"{name}/{uuid4().hex[:8]}"
    store = SharedStore(address, workspace, worker)
    try:
        try:
            for fault in await store.faults():
                echo(f"livedeck collector run: {fault}", err=True)
        except SharedStoreError as error:
            echo(f"livedeck collector run: {error}; asking for everything until it is there", err=True)
        engine = Engine(store, clock, settings.engine.ttl)
        await _refuse_namesake(engine, name)
        await engine.join()
        desk = SharedDesk(address, workspace, worker)
        spool = SharedSpool(desk, lambda: engine.desk_epoch, lambda: engine.is_cut_off)
        try:
            yield Membership(engine, SharedRows(engine, store, history, HistoryReader(history.path), clock), spool)
        finally:
            await engine.leave()
    finally:
        await store.close()


async def _refuse_namesake(engine: Engine, name: str) -> None:
    """Raises SettingsError where another collector is at work under that name: the death of one of them would not be
    known, as the other one lives.
    """
    from livedeck.collector.engine.shared import SharedStoreError

    with suppress(SharedStoreError):  # it is apart, which is told, and nobody can say
        if await engine.has_namesake():
            raise SettingsError(
                f"engine.name: another collector called {name!r} is at work; give each a `name` of its own in [engine]"
            )


async def redis_address(settings: Settings) -> str:
    """Where the collectors meet; empty where there are no others. Raises SettingsError."""
    engine = settings.engine
    address = await asyncio.to_thread(read_secret, "engine.redis_url", engine.redis_url_command, engine.redis_url_file)
    if address:
        try:
            from livedeck.collector.engine.shared import check_address

            check_address(address)
        except ImportError as error:
            raise SettingsError(f"engine: {_MISSING}") from error
        except ValueError as error:
            raise SettingsError(f"engine.redis_url: {error}") from None
        if password := urlsplit(address).password:  # of unix:// too, which has no host
            register_secret(unquote(password))
    return address


def _workspace(settings: Settings) -> str:
    """By which those that share are told from others in the same Redis."""
    return settings.base_url.rstrip("/")


async def shared_spool(settings: Settings) -> SharedSpool | None:
    """What the collectors keep of messages, for a command, which tells nobody; None where the settings name no others.
    Raises SettingsError.
    """
    address = await redis_address(settings)
    if not address:
        return None
    from livedeck.collector.engine.shared import SharedDesk
    from livedeck.collector.engine.spool import SharedSpool

    return SharedSpool(SharedDesk(address, _workspace(settings), "notify/0"), lambda: None)


async def engine_faults(settings: Settings) -> list[str] | None:
    """Why the Redis of the collectors is not fit, in words; None where there is none. Raises SettingsError."""
    address = await redis_address(settings)
    if not address:
        return None
    from livedeck.collector.engine.shared import SharedStore, SharedStoreError

    store = SharedStore(address, _workspace(settings), "doctor/0")
    try:
        return await store.faults()
    except SharedStoreError as error:
        return [str(error)]
    finally:
        await store.close()
