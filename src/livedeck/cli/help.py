"""`livedeck help`: the help of a command, for whoever asks by that word."""

from __future__ import annotations

import click

from livedeck.cli.output import echo


@click.command
@click.argument("words", metavar="[COMMAND]", nargs=-1)
@click.pass_context
def command(ctx: click.Context, /, *, words: tuple[str, ...]) -> None:
    """Show the help of COMMAND, as `livedeck help events list`; without one that of livedeck."""
    shown = ctx.find_root()
    for word in words:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands of its own")
        name, found, _ = group.resolve_command(shown, [word])
        assert found is not None  # else it has raised UsageError
        shown = click.Context(found, parent=shown, info_name=name)
    echo(shown.get_help())
