"""Collector with a test platform, in process: its app, called by HTTP, and its tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx
from starlette.types import ASGIApp

from collector.described import check_described
from livedeck.collector.links import Links
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.app import collector_app
from livedeck.collector.serving.hooks import FindLife
from livedeck.collector.serving.hub import Hub
from livedeck.collector.serving.ledger import Ledger
from livedeck.monitor import History, Snapshot, Viewer
from livedeck.presentation.metrics import Counted
from livedeck.settings import CollectorTokenSettings
from livedeck.settings.model import May
from monitor.stage import Deck, Stage, event
from virtual_clock import VirtualClock

MAY: dict[str, May] = {"anna": "act", "wall": "read", "prometheus": "metrics", "chat": "respond"}


def secret(name: str) -> str:
    """Return the token with a name."""
    return f"{name}-{'x' * 32}"


def known(names: Mapping[str, May]) -> dict[str, CollectorTokenSettings]:
    """Return the settings of these tokens."""
    return {
        name: CollectorTokenSettings(sha256=sha256(secret(name).encode()).hexdigest(), may=may)
        for name, may in names.items()
    }


@dataclass
class Service:
    """Collector. `tokens`: its tokens in force."""

    stage: Stage
    deck: Deck
    hub: Hub
    access: Access
    app: ASGIApp
    tokens: dict[str, CollectorTokenSettings]

    async def watch(self) -> Snapshot:
        """Make the collector publish its next snapshot."""
        snapshot = await self.deck.next()
        await self.hub.publish(snapshot)
        return snapshot

    async def ask(
        self, path: str, token: str = "anna", method: str = "GET", *, body: Any = None, **headers: str
    ) -> httpx.Response:
        """Send a request as the owner of a token; without a token if `token` is empty."""
        sent = {"Authorization": f"Bearer {secret(token)}"} if token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(self.app, client=("192.0.2.7", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
            response = await client.request(method, path, headers=sent, json=body)
        check_described(response)
        return response


@asynccontextmanager
async def service(
    *events: dict[str, Any],
    rounds: int = 3,
    is_proxied: bool = False,
    make_ledger: Callable[[VirtualClock], Ledger] | None = None,
    links: Links | None = None,
    history: History | None = None,
    make_probe: Callable[[VirtualClock], Viewer] | None = None,
    find_life: FindLife = lambda _: None,
    pagerduty_secret: str = "",
) -> AsyncIterator[Service]:
    """Yield a collector that has published `rounds` snapshots of these events."""
    clock = VirtualClock()
    stage = Stage(clock, *(events or [event("one"), event("two")]))
    deck, tokens = Deck(stage, viewer=make_probe(clock) if make_probe else None), known(MAY)
    hub = Hub(deck.monitor.clock, "b00t")
    ledger = make_ledger(clock) if make_ledger else None
    access = Access(lambda: tokens, deck.monitor.clock, is_proxied=is_proxied, ledger=ledger)
    app = collector_app(
        hub, deck.monitor, history, access, Counted, links=links, find_life=find_life, pagerduty_secret=pagerduty_secret
    )
    made = Service(stage, deck, hub, access, app, tokens)
    try:
        for _ in range(rounds):
            await made.watch()
        yield made
    finally:
        await deck.close()
