"""`livedeck completion`: the script that makes a shell complete livedeck's commands."""

from __future__ import annotations

import click

from livedeck.cli.exit_codes import FAULT
from livedeck.cli.output import echo

PLACES = {
    "bash": ("data", "bash-completion/completions/livedeck", "New shells load it, if bash-completion is installed."),
    "zsh": ("data", "zsh/site-functions/_livedeck", "Add to ~/.zshrc, above compinit: fpath=({folder} $fpath)"),
    "fish": ("config", "fish/completions/livedeck.fish", "New shells load it."),
}
"""Shell -> kind of the folder for its script, path of the script in that folder, and the user's next step."""


@click.command
@click.argument("shell", type=click.Choice([*PLACES]))
@click.option("--install", is_flag=True, help="Write the script to the file where your shell looks for it.")
@click.pass_context
def command(ctx: click.Context, /, *, shell: str, install: bool) -> None:
    """Print or install the completion script of a shell.

    --install changes no file of your own: where a line of ~/.zshrc is needed, it prints the line.
    """
    from click.shell_completion import get_completion_class

    completing = get_completion_class(shell)
    assert completing is not None
    script = completing(ctx.find_root().command, {}, "livedeck", "_LIVEDECK_COMPLETE").source()
    if not install:
        click.echo(script)
        return
    from livedeck.atomic_file import write_private
    from livedeck.environment import shell_folder

    kind, name, advice = PLACES[shell]
    target = shell_folder("config" if kind == "config" else "data") / name
    try:
        write_private(target, script, replace=True)
    except OSError as error:
        echo(f"livedeck completion: {target}: {error.strerror}", err=True)
        ctx.exit(FAULT)
    echo(f"{target}\n{advice.format(folder=target.parent)}")
