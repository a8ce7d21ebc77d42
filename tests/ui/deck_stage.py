"""Deck that may write, on a platform in process that records its requests. The test moves the time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import httpx
from starlette.responses import JSONResponse
from textual import events
from textual.pilot import Pilot

from livedeck.cli.demo import IN_PROCESS, demo_settings
from livedeck.cli.screenshots import (
    EVENING,
    LOOKS_APART,
    REQUEST_TIMEOUT,
    FixedClock,
    demo_deck,
    export_svg,
    watch_until_evening,
)
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Api, Event
from livedeck.monitor import History
from livedeck.settings import Settings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.ui.app import Deck
from livedeck.ui.kit.dialogs.dialog import Dialog
from ui.stage import REGISTRY, steady

Refused = tuple[int, dict[str, Any]]

UNHURRIED = Settings.model_validate({"cadence": {"budget": 1000}})
"""Settings with a large request budget, because on a clock that stands still the budget never refills."""

READS = {"GET", "HEAD"}
PATIENCE = 120.0
"""Maximum seconds that a test waits for anything, enough for a busy machine."""


class HandClock(FixedClock):
    """Clock that the test moves. A pause of a second or more ends at once; a shorter one lasts until `impatient`.

    `late`: time since the start. `held_from`: pauses of so many seconds and more last until `release`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tick = 0.0
        self.late = timedelta()
        self.impatient = False
        self.held_from = inf
        self._released = asyncio.Event()

    def release(self) -> None:
        """End the held pauses, and hold no more."""
        self.held_from = inf
        self._released.set()

    def now(self) -> datetime:
        return super().now() + self.late

    def monotonic(self) -> float:
        return self.tick

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        if 0 < seconds < 1 and not self.impatient:
            await asyncio.Event().wait()
        if seconds >= self.held_from:
            await self._released.wait()


@dataclass
class Stage:
    """Deck, its pilot, the platform behind it, and every request that arrived there.

    `refusals`: status and error of the replies to the next changes. `gate`: while it is closed, only the first parts of
    a request arrive.
    """

    deck: Deck
    pilot: Pilot[int]
    simulator: Simulator
    api: Api
    clock: HandClock
    requests: list[tuple[str, str]] = field(default_factory=list)
    hooks: list[tuple[str, Callable[[], Awaitable[None]]]] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Requests that change something."""
        return [request for request in self.requests if request[0] not in READS]

    async def settle(self) -> None:
        """Wait until everything is painted."""
        await self.pilot.pause()

    async def steady(self) -> str:
        """Return the screen as SVG once nothing on it moves any more."""
        return await steady(self.deck, self.pilot)

    async def press(self, *keys: str) -> None:
        """Press keys at the pace of a person: a second apart, so that blinking parts are always lit."""
        for key in keys:
            self.clock.tick += 1.0
            await self.pilot.press(key)
        await self.settle()

    async def enter(self, text: str) -> None:
        """Paste text into the field with the focus."""
        self.deck.post_message(events.Paste(text))
        await self.settle()

    async def act(self, action: str) -> None:
        """Press the key of an action, or run its command if it has no key."""
        keys = REGISTRY.by_name[action].keys
        if keys:
            await self.press(keys[0])
        else:
            self.deck.dispatch(action)
        await self.settle()

    async def idle(self) -> None:
        """Wait until no action is in progress, or a dialog waits for the person."""
        await self.settle()
        await self.until(lambda: isinstance(self.deck.screen, Dialog) or not self._is_busy())

    async def done(self) -> None:
        """Wait until no action is in progress, not even one that waits for the person."""
        await self.settle()
        await self.until(lambda: not self._is_busy())

    def _is_busy(self) -> bool:
        return any(worker.group == "actions" for worker in self.deck.workers)

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until a condition is true."""
        end = time.monotonic() + PATIENCE
        while not so():
            assert time.monotonic() < end, f"never: {self.text()}"
            await self.settle()

    async def fault(self, **what: Any) -> None:
        """Put a fault of the platform in force."""
        match = {name: what.pop(name) for name in ("method", "path") if name in what}
        await self._control("POST", "/_control/faults", what | {"match": match})

    async def clear_faults(self) -> None:
        """End every fault."""
        await self._control("DELETE", "/_control/faults", None)

    async def _control(self, method: str, path: str, body: Any) -> None:
        headers = {"Authorization": f"Bearer {self.simulator.control_token}"}
        transport = httpx.ASGITransport(self.simulator.app)
        async with httpx.AsyncClient(transport=transport, base_url=IN_PROCESS) as client:
            answer = await client.request(method, path, json=body, headers=headers)
            assert answer.is_success, answer.text

    def last_notice(self) -> str:
        """Return the last notice."""
        return self.deck.preferences.notices[-1].text if self.deck.preferences.notices else ""

    def choose(self, name: str) -> Event:
        """Select the event with a name. Returns it as it is shown."""
        assert self.deck.snapshot is not None
        state = next(state for state in self.deck.snapshot.events if state.event.name == name)
        self.deck.select_event(state.id)
        return state.event

    async def event(self, event: Event) -> Event:
        """Return the event as the platform has it now."""
        return await self.api.events.get(event.id)

    def text(self) -> str:
        """Return the words on the screen, line by line; runs of spaces become one."""
        return "\n".join(" ".join(row.split()) for row in self.rows())

    def rows(self) -> list[str]:
        """Return the screen cell by cell."""
        return [strip.text for strip in self.deck.screen._compositor.render_strips(self.deck.size)]

    def shows(self, kind: type[Dialog[Any]]) -> bool:
        """Return whether a dialog of that kind is in front."""
        return isinstance(self.deck.screen, kind)

    def picture(self) -> str:
        """Return the screen as SVG."""
        return export_svg(self.deck)


@asynccontextmanager
async def deck_stage(
    size: tuple[int, int] = (100, 40),
    *,
    read_only: bool = False,
    history: History | None = None,
    data: Path | None = None,
    **display: Any,
) -> AsyncIterator[Stage]:
    """Yield a deck that may change the demo workspace at `EVENING`, which is stored in `data` if given.

    `display`: further arguments of `Deck`.
    """
    simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True), data=data)
    requests: list[tuple[str, str]] = []
    hooks: list[tuple[str, Callable[[], Awaitable[None]]]] = []
    refusals: list[Refused] = []
    gate = asyncio.Event()
    gate.set()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        requests.append((scope["method"], scope["path"]))
        if refusals and scope["method"] not in READS:
            status, error = refusals.pop(0)
            await JSONResponse({"error": error}, status)(scope, receive, send)
            return
        parts = 0

        async def arriving() -> Any:
            nonlocal parts
            parts += 1
            if parts > 2:
                await gate.wait()
            return await receive()

        try:
            await simulator.app(scope, arriving, send)
        finally:
            for hook in [hook for method, hook in hooks if method == scope["method"]]:
                await hook()

    settings = demo_settings(simulator, upload_url=f"{IN_PROCESS}/upload", read_only=read_only, timeout=REQUEST_TIMEOUT)
    free = settings.model_copy(update={"read_only": False})
    clock, still = HandClock(), FixedClock(LOOKS_APART)
    async with make_api(settings, clock=still, mount=noting) as api, make_api(free, mount=simulator.app) as other:
        monitor = make_monitor(api, still, settings=UNHURRIED, history=history)
        await watch_until_evening(monitor, still, simulator)
        deck = demo_deck(monitor, clock, api, settings, history=history, **display)
        async with deck.run_test(size=size) as pilot:
            stage = Stage(deck, pilot, simulator, other, clock, requests, hooks, refusals, gate)
            await stage.settle()
            requests.clear()
            yield stage
