"""The settings of a deck on a simulated platform."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import click
from pydantic import SecretStr

from livedeck.cli.deck import show
from livedeck.cli.exit_codes import run
from livedeck.cli.options import READ_ONLY, appearance, given, refuse_platform, simulation
from livedeck.cli.start_screen import drawn, importing
from livedeck.settings import IN_MEMORY, DisplaySettings, Settings, defaults_only, displayed
from livedeck.simulator import Addresses, Simulator, SimulatorError, domains, serve

IN_PROCESS = "http://127.0.0.1:8787"

"""The address of a platform that is reached without a socket."""


def simulated(service: Simulator, base_url: str = IN_PROCESS, **given: Any) -> Settings:
    """Its token, and its table of relay platforms: a form says of an address what that platform will make of it."""
    return defaults_only(base_url=base_url, token=SecretStr(service.token), platforms=dict(domains()), **given)


def run_demo(simulation: Mapping[str, Any], looks: Mapping[str, Any], *, read_only: bool) -> int:
    """The demo of that simulation, with that theme and those characters; the exit code. Raises UsageError."""
    try:
        service = Simulator(**simulation)
    except SimulatorError as error:
        raise click.UsageError(str(error)) from None

    async def work() -> int:
        return await _demo(service, read_only=read_only, display=displayed(**looks))

    return run(work)


async def play(*, read_only: bool) -> int:
    """The demo as it is without any flag, for a first start that leads to it."""
    return await _demo(Simulator(), read_only=read_only, display=displayed())


async def _demo(service: Simulator, *, read_only: bool, display: DisplaySettings) -> int:
    with closing(service):
        async with serve(service) as addresses:
            return await _deck_on(service, addresses, read_only=read_only, display=display)


async def _deck_on(service: Simulator, addresses: Addresses, *, read_only: bool, display: DisplaySettings) -> int:
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
    with drawn():
        with importing():
            pass

        code = run_demo(simulated, given(ctx, {"theme": theme, "ascii": ascii}), read_only=read_only)
    ctx.exit(code)
