"""Membership in a group of collectors that share the polling, from the settings of `[engine]` (engine.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from livedeck.cli.collect.receivers import read_secret
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api, ApiError
from livedeck.environment import this_machine
from livedeck.monitor import History, HistoryReader
from livedeck.settings import Settings, SettingsError
from livedeck.text.secrets import register_secret

if TYPE_CHECKING:
    from livedeck.collector.engine.engine import Engine
    from livedeck.collector.engine.rows import SharedRows
    from livedeck.collector.engine.spool import SharedSpool

_MISSING = "several collectors need the Python package redis: pip install '.[engine]' in the checkout"

_LONG_APART = timedelta(minutes=5)

_WORKSPACE_SECONDS = 10.0
"""Maximum seconds that the start waits for the platform to name the workspace."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Membership of this collector in a group: shared leases, shared history rows, shared spool."""

    engine: Engine
    rows: SharedRows
    spool: SharedSpool

    async def run(self) -> None:
        """Take part in the group until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.engine.run(), name="engine")
            group.create_task(self.rows.run(), name="engine rows")

    @property
    def fault(self) -> str:
        """Reason why notifications may be missing; empty if there is none.

        There is one if Redis has been unreachable for long, and this collector is no notifier.
        """
        since = self.engine.fault.apart_since
        if since is None or self.spool.is_on_duty or SystemClock().now() - since < _LONG_APART:
            return ""
        return f"no contact with the other collectors since {since:%H:%M:%S}Z"


@asynccontextmanager
async def join_others(
    settings: Settings, history: History | None, api: Api | None = None
) -> AsyncIterator[Membership | None]:
    """Join the other collectors while the block runs. Yields None if the settings name no Redis.

    `api`: client of the platform; None leaves the workspace unknown. Raises SettingsError if the settings cannot be
    used, the name is taken, or the other collectors watch another workspace.
    """
    address = await redis_address(settings)
    if not address:
        yield None
        return
    if history is None or history.path is None:
        raise SettingsError("engine: each collector needs its own history; set `history` to a file")
    try:
        from livedeck.collector.engine.engine import Engine, worker_of
        from livedeck.collector.engine.rows import SharedRows
        from livedeck.collector.engine.shared import SharedDesk, SharedStore, SharedStoreError
        from livedeck.collector.engine.spool import SharedSpool
    except ImportError as error:
        raise SettingsError(f"engine: {_MISSING}") from error
    clock, group = SystemClock(), _group(settings)
    name = settings.engine.name or this_machine()
    worker = worker_of(name, await _find_workspace(api) if api else "")
    store = SharedStore(address, group, worker)
    try:
        try:
            for fault in await store.faults():
                echo(f"livedeck collector run: {fault}", err=True)
        except SharedStoreError as error:
            echo(f"livedeck collector run: {error}; polling every event until Redis is back", err=True)
        engine = Engine(store, clock, settings.engine.ttl)
        await _refuse_unfit(engine, name)
        await engine.join()
        desk = SharedDesk(address, group, worker)
        spool = SharedSpool(desk, lambda: engine.desk_epoch, lambda: engine.is_cut_off)
        try:
            yield Membership(engine, SharedRows(engine, store, history, HistoryReader(history.path), clock), spool)
        finally:
            await engine.leave()
    finally:
        await store.close()


async def _find_workspace(api: Api) -> str:
    """Return the id of the workspace that the newest event names; empty if no event or no reply names it."""
    with suppress(ApiError, TimeoutError):
        async with asyncio.timeout(_WORKSPACE_SECONDS):
            for event in await api.events.list(per_page=1):
                return event.workspace_id or ""
    return ""


async def _refuse_unfit(engine: Engine, name: str) -> None:
    """Raise SettingsError if this collector must not join the live ones.

    If two collectors had the same name, nobody would notice the death of either. If they watched two workspaces, only
    one workspace would get notifications.
    """
    from livedeck.collector.engine.engine import is_namesake, is_stranger
    from livedeck.collector.engine.shared import SharedStoreError

    with suppress(SharedStoreError):  # without Redis the check is impossible; that Redis is away is reported elsewhere
        if await engine.meets(is_stranger):
            raise SettingsError(
                "engine: the collectors in this Redis database watch another workspace; give each workspace a database"
                " of its own (/0 or /1 at the end of the address)"
            )
        if await engine.meets(is_namesake):
            raise SettingsError(
                f"engine.name: another collector called {name!r} is running; give each its own `name` in [engine]"
            )


async def redis_address(settings: Settings) -> str:
    """Return the address of the shared Redis; empty if none is set. Raises SettingsError."""
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
        if password := urlsplit(address).password:  # also in unix://, an address without a host
            register_secret(unquote(password))
    return address


def _group(settings: Settings) -> str:
    """Return the key that keeps groups of collectors apart in one Redis: the address of their platform."""
    return settings.base_url.rstrip("/")


async def shared_spool(settings: Settings) -> SharedSpool | None:
    """Return the shared spool, for a command that sends no notifications itself; None if no Redis is set.

    Raises SettingsError.
    """
    address = await redis_address(settings)
    if not address:
        return None
    from livedeck.collector.engine.shared import SharedDesk
    from livedeck.collector.engine.spool import SharedSpool

    return SharedSpool(SharedDesk(address, _group(settings), "notify/0"), lambda: None)


async def engine_faults(settings: Settings) -> list[str] | None:
    """Return the faults of the shared Redis, in words; None if no Redis is set. Raises SettingsError."""
    address = await redis_address(settings)
    if not address:
        return None
    from livedeck.collector.engine.shared import SharedStore, SharedStoreError

    store = SharedStore(address, _group(settings), "doctor/0")
    try:
        return await store.faults()
    except SharedStoreError as error:
        return [str(error)]
    finally:
        await store.close()
