"""A token that is read anew when the platform refuses it: a wall is not restarted because a token ran out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import structlog

from livedeck.cli.logs import hide
from livedeck.cli.token import token_of
from livedeck.client import Api, Misconfigured
from livedeck.monitor import Clock, Monitor, Snapshot
from livedeck.settings import Settings, SettingsError

PAUSE = 5.0
"""Seconds between two looks at the source of the token: it may be a program that asks another machine."""

_log: Any = structlog.get_logger("livedeck.renewing")


async def renewing(monitor: Monitor, renewal: Renewal) -> AsyncGenerator[Snapshot, None]:
    """The monitor's snapshots; whenever the platform refuses the token its source is read again."""
    try:
        async with aclosing(monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                renewal.look(snapshot)
                yield renewal.told(snapshot)
    finally:
        await renewal.close()


class Renewal:
    """Gives `api` the token that its source has now. `renewed` is called when that is another one."""

    def __init__(self, api: Api, settings: Settings, clock: Clock, renewed: Callable[[], None]) -> None:
        self._api, self._settings, self._clock, self._renewed = api, settings, clock, renewed
        self._token, self._why = "", ""
        self._task: asyncio.Task[None] | None = None

    def look(self, snapshot: Snapshot) -> None:
        """Begin to read the source, where the token is refused and nobody is reading it yet."""
        if snapshot.link.refused and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._read())

    def told(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot; while the token is refused and its source gives none, with what to do about the source."""
        if not snapshot.link.refused or not self._why:
            return snapshot
        return replace(snapshot, link=replace(snapshot.link, why=self._why))

    async def close(self) -> None:
        """Read no more."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        """Off the loop, for a program may take its time; then rest. A source that fails is tried again."""
        try:
            token = await asyncio.to_thread(token_of, self._settings)
            if token != self._token:
                hide(token)
                self._api.renew(token)
                self._token = token
                _log.info("the platform refused the token, its source was read again")
                self._renewed()
            self._why = ""
        except (SettingsError, Misconfigured) as error:
            if str(error) != self._why:
                self._why = str(error)
                _log.warning("the token cannot be renewed", why=self._why)
        await self._clock.sleep(PAUSE)
