"""`livedeck demo`: the deck on a simulated platform of its own."""

from __future__ import annotations

from contextlib import AsyncExitStack, closing
from typing import Any

import click
from pydantic import SecretStr

from livedeck.cli.deck import run_deck
from livedeck.cli.exit_codes import run
from livedeck.cli.options import READ_ONLY, appearance, merge_flags, refuse_platform, simulation
from livedeck.cli.output import echo
from livedeck.settings import IN_MEMORY, DisplaySettings, Settings, load_display
from livedeck.simulator import Simulator, SimulatorError, domains, serve

IN_PROCESS = "http://127.0.0.1:8787"
"""The address of a platform that is reached without a socket."""


def demo_settings(simulator: Simulator, base_url: str = IN_PROCESS, **settings: Any) -> Settings:
    """Its token, its table of relay platforms, and what its users and folders are called: forms say all that."""
    return Settings(
        base_url=base_url,
        token=SecretStr(simulator.token),
        platforms=dict(domains()),
        users={simulator.user_id: simulator.user_name},
        folders=dict(simulator.folders()),
        **settings,
    )


async def run_demo(
    simulator: Simulator, display: DisplaySettings, *, read_only: bool, has_collector: bool = False
) -> int:
    """The deck on that platform, over HTTP on a free port of loopback. Closes the simulator; returns the exit code.

    `has_collector`: a collector watches the platform, and the deck is attached to it.
    """
    with closing(simulator):
        async with serve(simulator) as addresses, AsyncExitStack() as stack:
            settings = demo_settings(
                simulator,
                addresses.base_url,
                upload_url=addresses.upload_url,
                profile="DEMO",
                history=IN_MEMORY,
                read_only=read_only,
                **display.model_dump(),
            )
            if has_collector:
                from livedeck.cli.demo_collector import run_collector

                collector = await stack.enter_async_context(run_collector(settings))
                echo(f"livedeck demo: a wall beside it: {collector.command('wallboard')}", err=True)
                attached = {"collector_url": collector.url, "collector_token_file": collector.token_file}
                settings = settings.model_copy(update=attached)
            return await run_deck(settings)


@click.command
@simulation
@click.option("--collector", "has_collector", is_flag=True, help="A collector watches, and the deck is attached to it.")
@click.option("--read-only", is_flag=True, envvar="LIVEDECK_READ_ONLY", help=READ_ONLY)
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    has_collector: bool,
    read_only: bool,
    theme: str | None,
    ascii: bool | None,  # noqa: A002
    **simulation: Any,
) -> None:
    """The deck on a simulated platform of its own, without an account.

    Twelve events of one evening, some of them in trouble. Nothing is kept and nothing leaves this machine. Of the
    settings only those of the screen are heeded: theme, signs, keys, bell. --collector prints how a wall attaches, too.
    """
    refuse_platform(ctx)
    flags = merge_flags(ctx, {"theme": theme, "ascii": ascii})
    try:
        simulator = Simulator(**simulation)
    except SimulatorError as error:
        raise click.UsageError(str(error)) from None

    async def work() -> int:
        is_locked = read_only or bool(flags.get("read_only"))
        return await run_demo(simulator, load_display(**flags), read_only=is_locked, has_collector=has_collector)

    ctx.exit(run(work, is_screen=True))
