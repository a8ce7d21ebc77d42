"""`livedeck demo`: the simulated platform on a free loopback port and the deck on top, over real HTTP."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click
from pydantic import SecretStr

from livedeck.cli.deck import show
from livedeck.cli.exits import run
from livedeck.cli.options import READ_ONLY, refuse_platform, simulation
from livedeck.service import Addresses, Service, ServiceError, serving
from livedeck.settings import alone


@click.command
@simulation
@click.option("--read-only", is_flag=True, envvar="LIVEDECK_READ_ONLY", help=READ_ONLY)
@click.pass_context
def command(ctx: click.Context, /, *, read_only: bool, **simulated: Any) -> None:
    """The deck on a simulated platform of its own, without an account.

    Twelve events of one evening, some of them in trouble. Nothing is kept and nothing leaves this machine.
    """
    refuse_platform(ctx)
    read_only = read_only or bool((ctx.obj or {}).get("read_only"))
    try:
        service = Service(**simulated)
    except ServiceError as error:
        raise click.UsageError(str(error)) from None
    ctx.exit(run(lambda: _demo(service, read_only=read_only)))


async def _demo(service: Service, *, read_only: bool) -> int:
    with closing(service):
        async with serving(service) as addresses:
            return await _deck_on(service, addresses, read_only=read_only)


async def _deck_on(service: Service, addresses: Addresses, *, read_only: bool) -> int:
    settings = alone(
        base_url=addresses.base_url,
        upload_url=addresses.upload_url,
        token=SecretStr(service.token),
        profile="DEMO",
        read_only=read_only,
    )
    return await show(settings)
