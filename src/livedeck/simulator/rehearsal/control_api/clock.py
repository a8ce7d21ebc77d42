"""Routes of the simulator's clock."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.clock import MAX_SPEED, SimulatorClock, format_timestamp
from livedeck.simulator.errors import invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, Parameters, RequestBody, Time, digits, number


class ClockChange(RequestBody):
    """Changes of the clock."""

    jump: Time = UNSET
    step: Annotated[float, number(-1e9, 1e9)] = UNSET
    speed: Annotated[float, number(0.001, MAX_SPEED)] = UNSET
    paused: Boolean = UNSET


class ClockWatch(Parameters):
    """Query of a clock reading. `after`: epoch that the caller knows. `wait`: seconds to wait for another epoch."""

    after: Annotated[int, digits(0)] = UNSET
    wait: Annotated[int, digits(0, 60)] = 0


async def read_clock(request: ApiRequest[None]) -> Response:
    """Return the simulator's time, its speed, whether it is paused, and the epoch, which grows with each change."""
    return data(_show_clock(request.world.clock))


async def set_clock(request: ApiRequest[ClockChange]) -> Response:
    """Change the clock: jump to a time, step by seconds, change the speed, pause or resume; in this order, at once."""
    change, clock = (await request.body()).given(), request.world.clock
    try:
        clock.change(**change)
    except ValueError as error:
        raise invalid(("step", f"must lead to {error}")) from None
    return data(_show_clock(clock))


async def watch_clock(request: ApiRequest[ClockWatch]) -> Response:
    """Return the clock. With `after` and `wait`, wait until its epoch differs. Needs no token; no fault hits it."""
    watch, clock = request.query(), request.world.clock
    if watch.after is not None:
        await clock.wait(watch.after, watch.wait)
    return data(_show_clock(clock))


def _show_clock(clock: SimulatorClock) -> dict[str, object]:
    state = clock.state
    return {"now": format_timestamp(clock.now()), "speed": state.speed, "paused": state.paused, "epoch": state.epoch}


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/clock", read_clock),
    Endpoint("POST", "/_control/clock", set_clock, ClockChange),
)
OPEN_ENDPOINTS: tuple[Endpoint[Any], ...] = (Endpoint("GET", "/_clock", watch_clock, ClockWatch),)
"""Endpoints that need no token."""
