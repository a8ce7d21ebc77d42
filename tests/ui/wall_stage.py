"""Walls drawn from values, without an app: any number of events from one snapshot of the simulated platform."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

from pydantic import SecretStr

from livedeck.cli.screenshots import EVENING, LOOKS_APART, FixedClock, watch_until_evening
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.segments import ShadedLine, plain
from livedeck.ui.kit import themes
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.face import text_dots
from livedeck.ui.wallboard.layout import Wall, WallLayout, shift_lines
from livedeck.ui.wallboard.model import WallModel, wall_model
from livedeck.ui.wallboard.seats import Seats
from livedeck.ui.wallboard.svg import svg

SIZES = ((80, 24), (160, 45), (240, 67), (400, 100))
STILL = Wall(zone=UTC)
COUNTS = (0, 1, 4, 9, 10, 25, 100)


async def evening() -> Snapshot:
    """Return the demo's twelve events at `EVENING`, judged."""
    simulator = Simulator(clock=SimulatorClock(start=EVENING, paused=True))
    settings = Settings(base_url="http://127.0.0.1:8787", token=SecretStr(simulator.token), read_only=True)
    clock = FixedClock(LOOKS_APART)
    async with make_api(settings, clock=clock, mount=simulator.app) as api:
        return await watch_until_evening(make_monitor(api, clock), clock, simulator)


def many(snapshot: Snapshot, count: int) -> Snapshot:
    """Return the snapshot with `count` events: copies of those on air, with ids and names of their own."""
    models = [state for state in snapshot.events if state.phase.tally.expects_signal]
    events = tuple(_copy(models[number % len(models)], number // len(models)) for number in range(count))
    kept = {state.id for state in snapshot.events} & {state.id for state in events}
    alarms = tuple(alarm for alarm in snapshot.alarms if not alarm.event_id or alarm.event_id in kept)
    return replace(snapshot, events=events, alarms=alarms)


def _copy(state: EventState, number: int) -> EventState:
    if not number:
        return state
    event = state.event.model_copy(update={"id": f"{state.id}-{number}", "name": f"{state.event.name} {number + 1}"})
    return replace(state, event=event)


def lines(snapshot: Snapshot, size: tuple[int, int], wall: Wall | None = None, **options: Any) -> list[ShadedLine]:
    """A wall of that size at `now` (`EVENING`). `page`: the pinned one, else the first; `elapsed`: s since it began."""
    model = _model(snapshot, options)
    cache, seats = options.get("cache") or DrawCache(), options.get("seats") or Seats()
    layout = WallLayout(wall or STILL, model, (size[0] - 1, size[1] - 1), cache, seats)
    page = options.get("page", next(iter(layout.pinned_pages), 0))
    return shift_lines(layout.draw(page), options.get("elapsed", 0.0))


def _model(snapshot: Snapshot, options: dict[str, Any]) -> WallModel:
    fault = options.get("fault", "")
    render_time = RenderTime.from_snapshot(snapshot, options.get("now", EVENING), watched=not fault)
    return wall_model(snapshot, render_time, options.get("terms", ()), fault, options.get("rule_changes", ()))


def picture(snapshot: Snapshot, size: tuple[int, int], wall: Wall | None = None, **options: Any) -> str:
    """Return the wall of `lines` as SVG, in `theme`, dimmed where the app would dim it."""
    palette = themes.PALETTES[options.get("theme", "dark")]
    return svg(lines(snapshot, size, wall, **options), size, palette, dim=_model(snapshot, options).is_idle)


def text(lines: Iterable[ShadedLine]) -> str:
    """Return the text of a wall."""
    return "\n".join(plain(line).rstrip() for line in lines)


_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


def says(lines: Sequence[ShadedLine], words: str) -> bool:
    """Return whether these lines, from the first one on, show the words in plain or large letters."""
    return words in text(lines) or is_drawn(dots(lines[:4]), words)


def dots(lines: Iterable[ShadedLine]) -> list[str]:
    """Return the dots of these lines, two rows for each line."""
    cells = [[max(0, _QUADRANTS.find(cell)) for cell in plain(line)] for line in lines]
    return [
        "".join(".#"[cell >> dot & 1] for cell in row for dot in (upper, upper + 1))
        for row in cells
        for upper in (0, 2)
    ]


def is_drawn(rows: Sequence[str], words: str) -> bool:
    """Return whether the words are anywhere in these rows of dots, in large letters."""
    shape = text_dots(words)
    return shape is not None and any(_is_at(rows[top : top + len(shape)], shape) for top in range(0, len(rows), 2))


def _is_at(rows: Sequence[str], shape: Sequence[str]) -> bool:
    if len(rows) < len(shape):
        return False
    densest = max(range(len(shape)), key=lambda row: shape[row].count("#"))
    starts = [match.start() for match in re.finditer(f"(?={re.escape(shape[densest])})", rows[densest])]
    return any(all(row.startswith(part, start) for row, part in zip(rows, shape, strict=True)) for start in starts)
