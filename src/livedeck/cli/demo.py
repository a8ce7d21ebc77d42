"""`livedeck demo`: the simulated platform on a free loopback port and the deck on top, over real HTTP."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from livedeck.cli.deck import show
from livedeck.cli.exits import run
from livedeck.cli.options import READ_ONLY, appearance, given, refuse_platform, simulation
from livedeck.cli.simulated import simulated
from livedeck.service import Addresses, Service, ServiceError, serving
from livedeck.settings import IN_MEMORY, DisplaySettings, displayed


@click.command
@simulation
@click.option("--read-only", is_flag=True, envvar="LIVEDECK_READ_ONLY", help=READ_ONLY)
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    read_only: bool,
    theme: str | None,
    ascii: bool | None,  # noqa: A002
    **simulated: Any,
) -> None:
    """The deck on a simulated platform of its own, without an account.

    Twelve events of one evening, some of them in trouble. Nothing is kept and nothing leaves this machine. Of the
    settings only theme, ascii and keys are heeded.
    """
    refuse_platform(ctx)
    read_only = read_only or bool((ctx.obj or {}).get("read_only"))
    try:
        service = Service(**simulated)
    except ServiceError as error:
        raise click.UsageError(str(error)) from None
    looks = given(ctx, {"theme": theme, "ascii": ascii})

    async def work() -> int:
        return await _demo(service, read_only=read_only, display=displayed(**looks))

    ctx.exit(run(work))


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
