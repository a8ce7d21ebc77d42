"""The groups of commands, `events` to `materials`: list, get and every change, made from the operations."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping

import click

from livedeck.cli.examples import with_examples
from livedeck.cli.options import CommandGroup


class NounGroup(CommandGroup):
    """The commands of a noun. They are made of the operations when one is asked for, which imports most of livedeck;
    the help of the group alone is read from the documentation, whose table is made of them (commands.md, "Nouns").
    """

    def __init__(self, name: str, summary: str) -> None:
        super().__init__(name, help=f"{summary[0].upper()}{summary[1:]}.")

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*self.made()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return self.made().get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([*_documented(str(self.name))])

    def made(self) -> MutableMapping[str, click.Command]:
        """Each of its commands by name, in the order of the documentation."""
        if not self.commands:
            self.commands = {str(command.name): command for command in _make_commands(str(self.name))}
        return self.commands


def _documented(group: str) -> Iterator[tuple[str, str]]:
    """Name and purpose of each command, as the documentation has them."""
    from livedeck import docs

    rows = re.findall(rf"^\| (.+) \| `{group} ([a-z-]+)[^|`]*` \|$", docs.page("commands"), re.MULTILINE)
    return ((name, purpose) for purpose, name in rows)


def _make_commands(name: str) -> Iterator[click.Command]:
    from livedeck.cli.objects.changing import change_command
    from livedeck.cli.objects.reading import FILES, download_command, get_command, list_command, recordings_command
    from livedeck.operations.commands import COMMANDS
    from livedeck.operations.nouns import NOUNS

    noun = NOUNS[name]
    made = [list_command(noun), get_command(noun)]
    made += [recordings_command()] if name == "events" else []
    made += [download_command(noun)] if name in FILES else []
    made += [change_command(command) for command in COMMANDS.values() if command.noun is noun]
    return (with_examples(f"{name} {command.name}", command) for command in made)


def commands_table(main: click.Group) -> str:
    """Every command of the groups, as a table of Markdown (commands.md, "Nouns")."""
    groups = [main.get_command(click.Context(main), name) for name in main.list_commands(click.Context(main))]
    rows = [
        f"| {command.get_short_help_str(200).rstrip('.')} | `{_usage(group, command)}` |"
        for group in groups if isinstance(group, NounGroup)
        for command in group.made().values()
    ]  # fmt: skip
    return "\n".join(["| What | Command |", "|---|---|", *rows])


def _usage(group: click.Group, command: click.Command) -> str:
    arguments = [str(param.metavar) for param in command.params if isinstance(param, click.Argument)]
    return " ".join([str(group.name), str(command.name), *arguments])
