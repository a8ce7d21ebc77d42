"""`livedeck demo`: the deck on a simulated platform of its own."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.options import READ_ONLY, appearance, given, refuse_platform, simulation
from livedeck.cli.responsive import importing
from livedeck.cli.skeleton import drawn


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
            from livedeck.cli.playing import run_demo

        code = run_demo(simulated, given(ctx, {"theme": theme, "ascii": ascii}), read_only=read_only)
    ctx.exit(code)
