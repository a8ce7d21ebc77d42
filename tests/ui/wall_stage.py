"""Walls made from values: events by the dozen out of one snapshot of the simulated platform, and no deck at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

from pydantic import SecretStr

from livedeck.cli.screenshots import EVENING, FixedClock
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import defaults_only
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.segments import Line, StyleRole, plain
from livedeck.ui.kit import themes
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.layout import Wall, WallLayout, shifted
from livedeck.ui.wallboard.model import unanswered, wall_model
from livedeck.ui.wallboard.svg import svg
from livedeck.ui.wallboard.tiles import Recent

SIZES = ((80, 24), (160, 45), (240, 67), (400, 100))
STILL = Wall(zone=UTC)
COUNTS = (0, 1, 4, 9, 10, 25, 100)


async def evening() -> Snapshot:
    """The demo's twelve events at `EVENING`, judged."""
    service = Simulator(clock=SimulatorClock(start=EVENING, paused=True))
    settings = defaults_only(base_url="http://127.0.0.1:8787", token=SecretStr(service.token), read_only=True)
    clock = FixedClock()
    async with make_api(settings, clock=clock, mount=service.app) as api:
        return await make_monitor(api, clock).wait_ready()


def many(snapshot: Snapshot, count: int) -> Snapshot:
    """That snapshot with so many events: those on air again and again, under ids and names of their own."""
    models = [state for state in snapshot.events if state.phase.tally.expects_signal]
    known = {state.id for state in snapshot.events}
    events = tuple(_copy(models[number % len(models)], number // len(models)) for number in range(count))
    alarms = tuple(one for one in snapshot.alarms if not one.event_id or one.event_id in known & {e.id for e in events})
    return replace(snapshot, events=events, alarms=alarms)


def _copy(state: EventState, number: int) -> EventState:
    if not number:
        return state
    event = state.event.model_copy(update={"id": f"{state.id}-{number}", "name": f"{state.event.name} {number + 1}"})
    return replace(state, event=event)


def lines(snapshot: Snapshot, size: tuple[int, int], wall: Wall | None = None, **options: Any) -> list[Line]:
    """A wall of that size at `EVENING`. `page`: None, the pinned one; `elapsed`: s since it began."""
    moment = RenderTime.from_snapshot(snapshot, options.get("now", EVENING), watched=not options.get("fault"))
    seen = wall_model(snapshot, moment, options.get("terms", ()), options.get("fault", ""))
    board = WallLayout(wall or STILL, seen, (size[0] - 1, size[1] - 1), options.get("recent") or Recent())
    pinned = board.plan.pages_of(unanswered(seen))
    page = options.get("page", next(iter(pinned), 0))
    return shifted(board.draw(page, page in pinned), options.get("elapsed", 0.0))


def picture(snapshot: Snapshot, size: tuple[int, int], wall: Wall | None = None, **options: Any) -> str:
    """The same as SVG, in `theme`, dimmed where the app would dim it."""
    moment = RenderTime.from_snapshot(snapshot, options.get("now", EVENING), watched=not options.get("fault"))
    calm = wall_model(snapshot, moment, options.get("terms", ()), options.get("fault", "")).calm
    drawn = lines(snapshot, size, wall, **options)
    return svg(drawn, size, themes.PALETTES[options.get("theme", "dark")], dim=calm)


def text(drawn: Iterable[Line]) -> str:
    """The words of a wall."""
    return "\n".join(plain(line).rstrip() for line in drawn)


def says(drawn: Sequence[Line], words: str) -> bool:
    """Whether these lines, from the first one on, say it in plain letters or in those of pixels."""
    large = [plain(line) for line in glyphs.word(words.upper(), StyleRole.TEXT, 2, 400)]
    return words in text(drawn) or all(row in plain(line) for row, line in zip(large, drawn, strict=False))
