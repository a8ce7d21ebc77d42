"""`livedeck docs` and `livedeck help`: pages of the documentation, their generated tables, and help of commands."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from livedeck import docs
from livedeck.cli.output import echo


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    return [CompletionItem(topic) for topic in docs.topics() if topic.startswith(incomplete)]


@click.command
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=_complete)
@click.option(
    "--write",
    "folder",
    hidden=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Write the generated tables into the pages in this folder, and write commands.json.",
)
@click.option(
    "--screenshots",
    "pictures",
    hidden=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Make the screenshots of the documentation in this folder.",
)
@click.option(
    "--site",
    hidden=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Build the documentation of this checkout as static files in this folder.",
)
@click.pass_context
def command(
    ctx: click.Context, /, *, topic: str | None, folder: Path | None, pictures: Path | None, site: Path | None
) -> None:
    """Show the page of TOPIC, or list the topics.

    Formatted on a terminal, and as Markdown in a pipe. `livedeck docs json` lists the commands with --json, and
    `livedeck docs openapi` prints the collector's HTTP as OpenAPI.
    """
    if pictures:
        from livedeck.cli.screenshots import make_screenshots

        ctx.exit(make_screenshots(pictures))
    if site:
        from livedeck.cli.site import make_site

        ctx.exit(make_site(site, checkout=Path(docs.__file__).parents[3]))
    if folder:
        flags = frozenset(str(param.name) for param in ctx.find_root().command.params)
        renew_tables(folder, flags, ctx.find_root().command)
        return
    try:
        if topic is None:
            formatter = ctx.make_formatter()
            formatter.write_dl([(name, ", ".join(docs.headings(name))) for name in docs.topics()])
            click.echo(formatter.getvalue(), nl=False)
        elif topic == "json":
            from livedeck.cli.schema import command_schemas

            click.echo("\n".join(f"livedeck {path} --json" for path in sorted(command_schemas())))
        elif topic == "openapi":
            from livedeck.collector.serving.openapi import openapi_text

            click.echo(openapi_text())
        else:
            show(topic)
    except BrokenPipeError:
        from livedeck.cli.exit_codes import end_broken_pipe

        ctx.exit(end_broken_pipe())


def show(topic: str) -> None:
    """Print the page of a topic. Raises UsageError if there is none."""
    try:
        page = docs.page(topic)
    except LookupError:
        about = docs.topics_about(topic)[:3]
        where = f", but look in {', '.join(about)}" if about else ""
        raise click.UsageError(f"there is no page {topic!r}{where}; there are {', '.join(docs.topics())}") from None
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page, hyperlinks=False))
    else:
        click.echo(page, nl=False)


def renew_tables(folder: Path, flags: frozenset[str], main: click.Command) -> None:
    """Write commands.json, and every generated table between its markers. `flags`: the settings that have a flag."""
    from livedeck.atomic_file import replace_file
    from livedeck.cli.command_tree import NounGroup, describe
    from livedeck.cli.description import commands_table, description_file, load_description, purposes
    from livedeck.monitor.evidence.claims import claims_table
    from livedeck.operations.catalogue import evidence_table
    from livedeck.settings import limits_table, settings_table
    from livedeck.simulator import control_table, listings
    from livedeck.ui.features import FEATURES
    from livedeck.ui.shell.commands import markdown
    from livedeck.ui.shell.context import ActionRegistry

    if isinstance(main, NounGroup):
        file, described = description_file(), describe(main.tree, main)
        if not file.exists() or described != file.read_text(encoding="utf-8"):
            replace_file(file, described.encode())
            load_description.cache_clear()
            purposes.cache_clear()
            click.echo(file)
    tables = {
        "keys": markdown(ActionRegistry(FEATURES)),
        "settings": settings_table(flags),
        "limits": limits_table(),
        "evidence": evidence_table(),
        "commands": commands_table(),
        "claims": claims_table(),
        **{listing.name: listing.markdown() for listing in listings()},
        "control": control_table(),
    }
    for path in sorted(folder.glob("*.md")):
        before = after = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
            head, found, rest = after.partition(begin)
            if found:
                after = f"{head}{begin}{table}\n{end}{rest.partition(end)[2]}"
        if after != before:
            replace_file(path, after.encode())
            click.echo(path)


@click.command
@click.argument("words", metavar="[COMMAND]", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, /, *, words: tuple[str, ...]) -> None:
    """Show the help of a command, such as `livedeck help event list`."""
    shown = ctx.find_root()
    for word in words:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no subcommands")
        name, found, _ = group.resolve_command(shown, [word, shown.help_option_names[0]])
        assert found is not None  # else it has raised UsageError
        shown = click.Context(found, parent=shown, info_name=name)
    echo(shown.get_help())
