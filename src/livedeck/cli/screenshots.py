"""`livedeck docs --screenshots`: the pictures of the documentation, made from a seed and a fixed clock."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from livedeck.atomic_file import replace_file
from livedeck.cli.demo import demo_settings
from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.output import echo
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Api
from livedeck.monitor import (
    ROOM_LIST,
    AlarmChange,
    AlarmState,
    Attachment,
    AttachmentState,
    Clock,
    ConnectionProblem,
    ConnectionState,
    Monitor,
    Snapshot,
)
from livedeck.monitor.detection.health import unseen
from livedeck.monitor.evidence.blame import Facts, blame
from livedeck.monitor.model.attachment import Silence
from livedeck.settings import Settings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.ui.app import Deck
from livedeck.ui.streams.screen import StreamsScreen
from livedeck.ui.videos.screen import VideoTab

EVENING = datetime(2026, 11, 20, 21, 14, 7, tzinfo=UTC)
"""Time at which every picture is taken."""

TROUBLES: dict[str, tuple[str, float]] = {
    "trouble-keyframes": ("keyframe-drift", 150),
    "trouble-loss": ("sustained-loss", 120),
    "trouble-encoder-away": ("encoder-drop-inside-window", 105),
}
"""Pictures of an event in trouble: name -> scenario, and seconds from its start to `EVENING`."""

PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "events-80x24": ((80, 24), ()),
    "events-120x40": ((120, 40), ()),
    "events-200x60": ((200, 60), ()),
    "qos-80x24": ((80, 24), ("3",)),
    "qos-120x40": ((120, 40), ("down", "3")),
    "qos-200x60": ((200, 60), ("down", "3")),
    "chat-120x40": ((120, 40), (*["down"] * 5, "4", "enter")),
    "rooms-80x24": ((80, 24), ("5", "down")),
    "rooms-120x40": ((120, 40), ("5", "down")),
    "rooms-200x60": ((200, 60), ("5", "down")),
    "streams-120x40": ((120, 40), ("2",)),
    "videos-120x40": ((120, 40), ("6", "down")),
    "alarms-120x40": ((120, 40), ("7",)),
    "help-120x40": ((120, 40), ("question_mark",)),
}

_AWAY = "collector.example refuses connections; check that the collector runs, and the address in collector_url"


def attached(state: AttachmentState, seconds: float, **values: Any) -> Attachment:
    """Return a deck's attachment to a collector, in a state that began `seconds` ago."""
    return Attachment(state, "collector.example", EVENING - timedelta(seconds=seconds), **values)


def watching(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of a deck attached to a watching collector, whose clock differs by 3 s."""
    return replace(snapshot, attachment=attached(AttachmentState.WATCHING, 600, skew=3.0))


def silent(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of a deck whose collector has sent nothing for 42 s."""
    since = EVENING - timedelta(seconds=42)
    silence = Silence(since, f"the collector has been silent since {since:%H:%M:%S}Z")
    link = replace(
        snapshot.link,
        state=ConnectionState.BLIND,
        since=since,
        as_of=since,
        problem=ConnectionProblem.COLLECTOR_SILENT,
        reason=silence.reason,
        blame=blame(Facts(silence=silence)),
    )
    attachment = attached(AttachmentState.SILENT, 42, heard_at=since, reason=_AWAY)
    return replace(
        snapshot, link=link, events=tuple(unseen(state, link.blame) for state in snapshot.events), attachment=attachment
    )


def alone(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of a deck that polls without its collector; an alarm was acknowledged meanwhile."""
    worst, *others = snapshot.alarms
    answered = replace(
        worst,
        state=AlarmState.ACKNOWLEDGED,
        needs_ack=False,
        answered_by="anna@regie:1",
        answered_at=EVENING - timedelta(seconds=5),
        acknowledged_at=EVENING - timedelta(seconds=5),
        acknowledged_until=EVENING + timedelta(seconds=250),
    )
    heard_at = EVENING - timedelta(seconds=90)
    attachment = attached(AttachmentState.ALONE, 12, heard_at=heard_at, reason=_AWAY, unshared=(worst.key,))
    return replace(snapshot, alarms=(answered, *others), attachment=attachment)


ATTACHED: dict[str, Callable[[Snapshot], Snapshot]] = {
    "collector-watching": watching,
    "collector-silent": silent,
    "collector-alone": alone,
}
"""Pictures of an attached deck: name -> function that turns a monitor's snapshot into that of the deck."""

TOUR = ("events-120x40", "trouble-loss", "alarms-120x40", "videos-120x40", "help-120x40")
"""Pictures that `tour.svg` shows one after the other. All have the same size."""

TOUR_SECONDS = 4
"""Seconds that the tour shows each picture."""

LASTING_GROUPS = frozenset({"default", "actions"})
"""Groups of Textual workers that run as long as the deck, or until a person answers a question."""


class FixedClock:
    """Clock with a fixed time, so that a picture never changes.

    `before`: seconds from its time to `EVENING`.
    """

    def __init__(self, before: float = 0.0) -> None:
        self.before = before

    def now(self) -> datetime:
        """Return the time `before` seconds before `EVENING`."""
        return EVENING - timedelta(seconds=self.before)

    def monotonic(self) -> float:
        """Return the seconds from `EVENING` to the time of this clock: 0 or less."""
        return -self.before

    async def sleep(self, seconds: float) -> None:
        """Return soon if `seconds` is below 1; otherwise wait until cancelled.

        A sleep of half a second or more takes 20 real ms, so that a polling loop leaves time for other tasks.
        """
        if seconds >= 1:
            await asyncio.Event().wait()
        if seconds >= 0.5:
            await asyncio.sleep(0.02)


LOOKS_APART = 5.0
"""Seconds between two readings of the platform. Several are needed, because one reply does not prove an absence."""

REQUEST_TIMEOUT = 60.0
"""Time limit of a request in seconds of this machine. Long, so that no picture shows a poor link on a busy machine."""

_WATCHED = 80.0
"""Seconds that the deck watches a scenario before a picture, to learn how late samples arrive."""


async def watch_until_evening(monitor: Monitor, clock: FixedClock, simulator: Simulator) -> Snapshot:
    """Poll the simulated platform from the time of `clock` to `EVENING`, and return the snapshot at `EVENING`."""
    changes: tuple[AlarmChange, ...] = ()
    simulator.clock.step(-clock.before)
    while True:
        snapshot = await monitor.wait_ready(patience=0.0)  # a new fault ends a round before its other replies
        changes += snapshot.changes
        if any(state.qos.as_of not in {None, clock.now()} for state in snapshot.events):
            monitor.refresh()
        elif clock.before:
            simulator.clock.step(LOOKS_APART)
            clock.before -= LOOKS_APART
            monitor.refresh()
        else:
            return replace(snapshot, changes=changes)


@asynccontextmanager
async def still_deck(
    *, scenario: str | None = None, played_seconds: float = 0, read_only: bool = False, **display: Any
) -> AsyncIterator[Deck]:
    """Open a deck on the simulated platform in process, both at `EVENING`, with every sample judged.

    `scenario`: name of the scenario, already played for `played_seconds`. `display`: display settings.
    """
    simulator_clock = SimulatorClock(start=EVENING - timedelta(seconds=played_seconds), paused=True)
    simulator = Simulator(seed=1, clock=simulator_clock, scenario=scenario)
    simulator_clock.step(played_seconds)
    clock = FixedClock(_WATCHED if played_seconds else LOOKS_APART)
    settings = demo_settings(simulator, read_only=read_only, timeout=REQUEST_TIMEOUT)
    async with make_api(settings, clock=clock, mount=simulator.app) as api:
        monitor = make_monitor(api, clock)
        monitor.watch("screenshots", ROOM_LIST)  # rooms must be there whichever screen is shown
        await watch_until_evening(monitor, clock, simulator)
        yield demo_deck(monitor, clock, api, settings, **display)


def demo_deck(
    monitor: Monitor, clock: Clock, api: Api, settings: Settings, *, theme: str = "dark", **display: Any
) -> Deck:
    """Return the deck of the demo with times in UTC, the same on every machine.

    `display`: further arguments of `Deck`.
    """
    return Deck(
        monitor,
        clock,
        profile="DEMO",
        host=api.host,
        read_only=api.read_only,
        zone=UTC,
        api=api,
        names={"user": settings.users, "folder": settings.folders},
        theme=theme,
        **display,
    )


async def picture(
    size: tuple[int, int], keys: Sequence[str], scenario: str | None = None, played_seconds: float = 0
) -> str:
    """Return an SVG of the deck at that size, after those keys, on the demo or `played_seconds` into a scenario."""
    async with still_deck(scenario=scenario, played_seconds=played_seconds) as deck, deck.run_test(size=size) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await _wait_answered(deck, pilot)
        await pilot.pause()
        return export_svg(deck)


async def _wait_answered(deck: Deck, pilot: Pilot[int]) -> None:
    """Wait for the data that the screen loads by itself, so that the next key acts on the loaded screen."""
    while not is_answered(deck):
        await pilot.pause()
    waits = [worker.wait() for worker in deck.workers if worker.group not in LASTING_GROUPS]
    await asyncio.gather(*waits, return_exceptions=True)  # a replaced request is no failure


def is_answered(deck: Deck) -> bool:
    """Return whether the top screen shows all of its lists with data polled after the last refresh."""
    assert isinstance(deck.monitor, Monitor)
    snapshot, cache = deck.snapshot, deck.monitor.on_demand
    if snapshot is None or not isinstance(deck.screen, StreamsScreen | VideoTab):
        return True
    return snapshot.lists is cache.lists and cache.is_current(deck.screen.keys(snapshot))


async def attached_picture(name: str) -> str:
    """Return the picture of `ATTACHED` with that name: the events on an attached deck."""
    async with still_deck() as deck, deck.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert deck.snapshot
        deck.workers.cancel_all()  # no further snapshot may replace this one
        deck.snapshot = ATTACHED[name](deck.snapshot)
        deck.snapshot_signal.publish(None)
        await pilot.pause()
        return export_svg(deck)


async def trouble_picture(name: str) -> str:
    """Return the picture of `TROUBLES` with that name: the last five minutes of the event in trouble."""
    return await picture((120, 40), ("3", "plus"), *TROUBLES[name])


def tour(pictures: Sequence[str]) -> str:
    """Return an SVG that shows the pictures in an endless loop. Browsers set to reduce motion show only the first."""
    share, length = 100 / len(pictures), TOUR_SECONDS * len(pictures)
    frames = "".join(
        f'<g class="frame" style="animation-delay:{TOUR_SECONDS * index}s">{picture}</g>'
        for index, picture in enumerate(pictures)
    )
    view = re.search(r'viewBox="[^"]*"', pictures[0])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {view[0] if view else ""}><style>'
        f".frame{{visibility:hidden;animation:tour {length}s step-end infinite}}"
        ".frame:first-of-type{visibility:visible}"
        f"@keyframes tour{{0%{{visibility:visible}}{share:g}%{{visibility:hidden}}}}"
        "@media(prefers-reduced-motion:reduce){.frame{animation:none}}"
        f"</style>{frames}</svg>\n"
    )


def export_svg(deck: Deck) -> str:
    """Return the current screen as SVG. The SVG embeds no font; it names fonts that the reader may have installed."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", deck.export_screenshot(title="livedeck"))
    return svg.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")


def make_screenshots(folder: Path) -> int:
    """Make the pictures of the documentation in the folder, the same on every machine. Returns the exit code."""

    async def work() -> int:
        for name, (size, keys) in PICTURES.items():
            _write(folder / f"{name}.svg", await picture(size, keys))
        for name in TROUBLES:
            _write(folder / f"{name}.svg", await trouble_picture(name))
        for name in ATTACHED:
            _write(folder / f"{name}.svg", await attached_picture(name))
        _write(folder / "tour.svg", tour([(folder / f"{name}.svg").read_text(encoding="utf-8") for name in TOUR]))
        return DONE

    return run(work)


def _write(target: Path, svg: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, svg.encode())
    echo(target)
