"""`livedeck demo`: the simulated platform on a free loopback port and the deck on top, over real HTTP."""

from __future__ import annotations

from contextlib import closing

import click
from pydantic import SecretStr

from livedeck.cli.deck import show
from livedeck.cli.exits import run
from livedeck.cli.options import READ_ONLY, refuse_platform
from livedeck.service import Addresses, Service, serving
from livedeck.settings import alone


@click.command
@click.option("--seed", default=1, show_default=True, help="Another seed, another noise on the same events.")
@click.option("--read-only", is_flag=True, envvar="LIVEDECK_READ_ONLY", help=READ_ONLY)
@click.pass_context
def command(ctx: click.Context, *, seed: int, read_only: bool) -> None:
    """The deck on a simulated platform of its own, without an account.

    Twelve events of one evening, some of them in trouble. Nothing is kept and nothing leaves this machine.
    """
    refuse_platform(ctx)
    read_only = read_only or bool((ctx.obj or {}).get("read_only"))
    ctx.exit(run(lambda: _demo(seed, read_only=read_only)))


async def _demo(seed: int, *, read_only: bool) -> int:
    service = Service(seed=seed)
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
