"""A collector of a demo: for the decks and walls of this machine, while the demo runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import NamedTuple

from livedeck.atomic_file import write_private
from livedeck.cli.exposure import Exposure
from livedeck.cli.http_server import serve_app
from livedeck.cli.wiring import SystemClock, make_api, make_history, make_monitor
from livedeck.collector.access import MAX_READERS, Access
from livedeck.collector.app import collector_app
from livedeck.collector.hub import Hub
from livedeck.monitor import Monitor
from livedeck.presentation.metrics import Counted
from livedeck.settings import CollectorTokenSettings, Settings

NAME = "demo"
"""Of its one token: who answers alarms there."""


class DemoCollector(NamedTuple):
    """Where it is, and the file of the token that may act there."""

    url: str
    token_file: Path

    def command(self, name: str) -> str:
        """The line that has another command of livedeck attach to it."""
        return f"LIVEDECK_COLLECTOR_URL={self.url} LIVEDECK_COLLECTOR_TOKEN_FILE={self.token_file} livedeck {name}"


@asynccontextmanager
async def run_collector(settings: Settings) -> AsyncIterator[DemoCollector]:
    """A collector of that platform on a free port of loopback, while the block runs."""
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(make_api(settings.model_copy(update={"read_only": True})))
        history = await stack.enter_async_context(make_history(settings))
        monitor = make_monitor(api, settings=settings, history=history)
        token, hub = token_hex(32), Hub(monitor.clock, token_hex(4))
        tokens = {NAME: CollectorTokenSettings(sha256=sha256(token.encode()).hexdigest(), may="act")}
        access = Access(lambda: tokens, SystemClock())
        app = collector_app(hub, monitor, history, access, lambda: Counted(readers=hub.readers))
        token_file = Path(stack.enter_context(TemporaryDirectory(prefix="livedeck-demo-"))) / "token"
        write_private(token_file, token, replace=False)
        listener = stack.enter_context(Exposure(0).listen())
        url = await stack.enter_async_context(serve_app(listener, app, max_connections=2 * MAX_READERS))
        publishing = asyncio.create_task(_publish(monitor, hub))
        try:
            yield DemoCollector(url.rstrip("/"), token_file)
        finally:
            publishing.cancel()
            await asyncio.gather(publishing, return_exceptions=True)
            hub.close()


async def _publish(monitor: Monitor, hub: Hub) -> None:
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            await hub.publish(snapshot)
