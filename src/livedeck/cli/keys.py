"""`livedeck keys`: the keys in force, as the table that stands in the README."""

from __future__ import annotations

import click

from livedeck import settings as configuration
from livedeck.cli.deck import keymap
from livedeck.cli.exit_codes import run


@click.command
@click.pass_context
def command(ctx: click.Context) -> None:
    """Print every action with its keys and its command, as `[keys]` of the settings has them."""

    async def work() -> int:
        from livedeck.ui.features import FEATURES
        from livedeck.ui.shell.action import ActionRegistry
        from livedeck.ui.shell.commands import markdown

        click.echo(markdown(ActionRegistry(FEATURES, keymap(configuration.displayed()))))
        return 0

    ctx.exit(run(work))
