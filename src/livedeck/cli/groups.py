"""The groups of commands, `events` to `materials`: list, get and every change, made from the operations."""

from __future__ import annotations

import click

from livedeck.cli.changing import change_command
from livedeck.cli.options import CommandGroup
from livedeck.cli.reading import FILES, download_command, get_command, list_command, recordings_command
from livedeck.operations.commands import COMMANDS
from livedeck.operations.nouns import NOUNS


def make_group(name: str, summary: str) -> click.Group:
    """The group of that noun. `summary`: its line in the list of commands."""
    noun = NOUNS[name]
    group = CommandGroup(name, help=f"{summary[0].upper()}{summary[1:]}.")
    group.add_command(list_command(noun))
    group.add_command(get_command(noun))
    if name == "events":
        group.add_command(recordings_command())
    if name in FILES:
        group.add_command(download_command(noun))
    for command in COMMANDS.values():
        if command.noun is noun:
            group.add_command(change_command(command))
    return group
