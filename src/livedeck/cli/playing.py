"""The simulated platform on a free loopback port, and the deck on top, over real HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import click

from livedeck.cli.deck import show
from livedeck.cli.exits import run
from livedeck.cli.simulated import simulated
from livedeck.service import Addresses, Service, ServiceError, serving
from livedeck.settings import IN_MEMORY, DisplaySettings, displayed


def run_demo(simulation: Mapping[str, Any], looks: Mapping[str, Any], *, read_only: bool) -> int:
    """The demo of that simulation, with that theme and those characters; the exit code. Raises UsageError."""
    try:
        service = Service(**simulation)
    except ServiceError as error:
        raise click.UsageError(str(error)) from None

    async def work() -> int:
        return await _demo(service, read_only=read_only, display=displayed(**looks))

    return run(work)


async def play(*, read_only: bool) -> int:
    """The demo as it is without any flag, for a first start that leads to it."""
    return await _demo(Service(), read_only=read_only, display=displayed())


async def _demo(service: Service, *, read_only: bool, display: DisplaySettings) -> int:
    with closing(service):
        async with serving(service) as addresses:
            return await _deck_on(service, addresses, read_only=read_only, display=display)


async def _deck_on(service: Service, addresses: Addresses, *, read_only: bool, display: DisplaySettings) -> int:
    settings = simulated(
        service,
        addresses.base_url,
        upload_url=addresses.upload_url,
        profile="DEMO",
        history=IN_MEMORY,
        read_only=read_only,
        **display.model_dump(),
    )
    return await show(settings)
