"""`livedeck screenshots`: the pictures of the README, made from a seed and a fixed clock."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from textual.pilot import Pilot

from livedeck.cli.demo import demo_settings
from livedeck.cli.exit_codes import run
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import ROOM_LIST, History
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.ui.app import Deck
from livedeck.ui.shell.action import Keymap
from livedeck.ui.streams.screen import StreamsScreen
from livedeck.ui.videos.screen import VideoTab

EVENING = datetime(2026, 11, 20, 21, 14, 7, tzinfo=UTC)

"""The moment at which every picture is taken."""


TROUBLES: dict[str, tuple[str, float]] = {
    "trouble-keyframes": ("keyframe-drift", 150),
    "trouble-loss": ("sustained-loss", 120),
    "trouble-encoder-away": ("encoder-drop-inside-window", 105),
}

"""Pictures of the QoS screen in trouble: the scenario, and how many seconds of it have passed at `EVENING`."""


PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "events-80x24": ((80, 24), ()),
    "events-120x40": ((120, 40), ()),
    "events-200x60": ((200, 60), ()),
    "qos-80x24": ((80, 24), ("3",)),
    "qos-120x40": ((120, 40), ("down", "3")),
    "qos-200x60": ((200, 60), ("down", "3")),
    "chat-120x40": ((120, 40), (*["down"] * 5, "4", "enter")),
    "rooms-80x24": ((80, 24), ("5", "down", "down")),
    "rooms-120x40": ((120, 40), ("5", "down", "down")),
    "rooms-200x60": ((200, 60), ("5", "down", "down")),
    "videos-120x40": ((120, 40), ("6", "down", "right_square_bracket")),
    "help-120x40": ((120, 40), ("question_mark",)),
}


LASTING = frozenset({"default", "actions"})

"""The groups of what a deck does for as long as it runs, or until a person answers."""


class FixedClock:
    """A time that stands still, so that a picture is the same whenever it is taken."""

    def __init__(self, at: datetime = EVENING) -> None:
        self._at = at

    def now(self) -> datetime:
        """Always the same moment."""
        return self._at

    def monotonic(self) -> float:
        """Always the same number."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """What is due within a breath is due; nothing else ever is, and cancelling ends the wait."""
        if seconds >= 1:
            await asyncio.Event().wait()


@asynccontextmanager
async def still_deck(
    *,
    seed: int = 1,
    read_only: bool = False,
    theme: str = "dark",
    ascii_only: bool = False,
    history: History | None = None,
    keymap: Keymap | None = None,
    scenario: str | None = None,
    played: float = 0,
) -> AsyncIterator[Deck]:
    """A deck on the simulated platform in process, both at `EVENING`, with every sample judged.

    `scenario`: what is played there, and has been for `played` seconds.
    """
    service_clock = SimulatorClock(start=EVENING - timedelta(seconds=played), paused=True)
    service = Simulator(seed=seed, clock=service_clock, scenario=scenario)
    service_clock.step(played)
    clock = FixedClock()
    async with make_api(demo_settings(service, read_only=read_only), clock=clock, mount=service.app) as api:
        monitor = make_monitor(api, clock)
        monitor.watch("screenshots", ROOM_LIST)  # so that they are there whichever screen is shown
        await monitor.wait_ready()
        yield Deck(
            monitor,
            clock,
            profile="DEMO",
            host=api.host,
            read_only=read_only,
            zone=UTC,
            api=api,
            theme=theme,
            ascii_only=ascii_only,
            history=history,
            keymap=keymap,
        )


async def picture(size: tuple[int, int], keys: Sequence[str], scenario: str | None = None, played: float = 0) -> str:
    """The deck at that size after those keys, as SVG; on the demo, or so many seconds into a scenario."""
    async with still_deck(scenario=scenario, played=played) as deck, deck.run_test(size=size) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await _answered(deck, pilot)
        await pilot.pause()
        return framed(deck)


async def _answered(deck: Deck, pilot: Pilot[int]) -> None:
    """Until all that its screens ask for by themselves has come; the next key is for what is shown then."""
    while not is_answered(deck):
        await pilot.pause()
    asked = [one.wait() for one in deck.workers if one.group not in LASTING]
    await asyncio.gather(*asked, return_exceptions=True)  # a question that another one replaced is no failure


def is_answered(deck: Deck) -> bool:
    """Whether every list that the screen in front shows was answered since the last refresh, and is shown."""
    snapshot, cache = deck.snapshot, deck.monitor.on_demand
    if snapshot is None or not isinstance(deck.screen, StreamsScreen | VideoTab):
        return True
    return snapshot.lists is cache.lists and cache.is_current(deck.screen.keys(snapshot))


async def trouble(name: str) -> str:
    """One of `TROUBLES`: the last five minutes of the event that it befell."""
    return await picture((120, 40), ("3", "minus"), *TROUBLES[name])


def framed(deck: Deck) -> str:
    """What the deck shows now as SVG. It asks no other host for a font: it names fonts that a reader may have."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", deck.export_screenshot(title="livedeck"))
    return svg.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")


@click.command
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path("screenshots"))
@click.pass_context
def command(ctx: click.Context, folder: Path) -> None:
    """Make the pictures of the README in FOLDER, the same ones on every machine."""

    async def work() -> int:
        for name, (size, keys) in PICTURES.items():
            _write(folder / f"{name}.svg", await picture(size, keys))
        for name in TROUBLES:
            _write(folder / f"{name}.svg", await trouble(name))
        return 0

    ctx.exit(run(work))


def _write(target: Path, svg: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg, encoding="utf-8")
    click.echo(target)
