"""`livedeck keys`: the keys in force, as a table."""

from __future__ import annotations

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.output import echo
from livedeck.cli.wiring import make_keymap
from livedeck.settings import load_display


@click.command
@click.pass_context
def command(ctx: click.Context) -> None:
    """Print every action with its keys and its command, as `[keys]` of the settings has them."""

    async def work() -> int:
        from livedeck.ui.features import FEATURES
        from livedeck.ui.shell.commands import markdown
        from livedeck.ui.shell.context import ActionRegistry

        echo(markdown(ActionRegistry(FEATURES, make_keymap(load_display()))))
        return DONE

    ctx.exit(run(work))
