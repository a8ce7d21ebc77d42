"""Settings made into the objects that do the work. Nothing is constructed anywhere else."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from livedeck.cli.logs import hide
from livedeck.client import Api
from livedeck.monitor import Clock, Monitor
from livedeck.settings import Settings, SettingsError


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds)


def make_api(settings: Settings, *, clock: Clock | None = None, mount: Any = None) -> Api:
    """The client of the configured platform, or of the ASGI app `mount`. Raises SettingsError, Misconfigured."""
    if not settings.base_url:
        raise SettingsError("no platform: set LIVEDECK_BASE_URL or --base-url, or try `livedeck demo`")
    time, token = clock or SystemClock(), settings.secret_token()
    hide(token)
    return Api(
        base_url=settings.base_url,
        upload_url=settings.upload_url or None,
        token=token,
        read_only=settings.read_only,
        meet_segment=settings.meet_segment,
        platforms=settings.platforms,
        timeout=settings.timeout,
        retry=0.0,  # the monitor asks again at its own pace
        now=time.now,
        timer=time.monotonic,
        sleep=time.sleep,
        mount=mount,
    )


def make_monitor(api: Api, clock: Clock | None = None) -> Monitor:
    """A monitor of that platform, on this machine's time unless another is given."""
    return Monitor(api, clock or SystemClock())
