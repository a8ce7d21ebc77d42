"""Routes of the simulator's clock."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.clock import MAX_SPEED, SimulatorClock, format_timestamp
from livedeck.simulator.errors import invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, RequestBody, Time, number


class ClockChange(RequestBody):
    """Changes of the clock."""

    jump: Time = UNSET
    step: Annotated[float, number(-1e9, 1e9)] = UNSET
    speed: Annotated[float, number(0.001, MAX_SPEED)] = UNSET
    paused: Boolean = UNSET


async def read_clock(request: ApiRequest[None]) -> Response:
    """Return the simulator's time, its speed, and whether it is paused."""
    return data(_show_clock(request.world.clock))


async def set_clock(request: ApiRequest[ClockChange]) -> Response:
    """Change the clock: jump to a time, step by seconds, change the speed, pause or resume; in this order."""
    change, clock = (await request.body()).given(), request.world.clock
    if "jump" in change:
        clock.jump(change["jump"])
    if "step" in change:
        _step(clock, change["step"])
    if "speed" in change:
        clock.run(change["speed"])
    if "paused" in change:
        (clock.pause if change["paused"] else clock.resume)()
    return data(_show_clock(clock))


def _step(clock: SimulatorClock, seconds: float) -> None:
    try:
        clock.step(seconds)
    except ValueError as error:
        raise invalid(("step", f"must lead to {error}")) from None


def _show_clock(clock: SimulatorClock) -> dict[str, object]:
    return {"now": format_timestamp(clock.now()), "speed": clock.speed, "paused": clock.paused}


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/clock", read_clock),
    Endpoint("POST", "/_control/clock", set_clock, ClockChange),
)
