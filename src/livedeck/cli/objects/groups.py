"""Makes the commands of the platform's nouns from the operations: list, get, download and every change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import click

from livedeck.cli.objects.changing import change_command
from livedeck.cli.objects.reading import (
    FILES,
    download_command,
    get_command,
    list_command,
    restreams_command,
    videos_command,
)
from livedeck.operations.commands import COMMANDS
from livedeck.operations.nouns import NOUNS, RECORDINGS


@cache
def make_commands(name: str) -> Mapping[str, click.Command]:
    """Return the commands of a noun by their verbs, in the order of the documentation."""
    if name == RECORDINGS.name:
        return {"list": videos_command()}
    noun = NOUNS[name]
    made = [list_command(noun), get_command(noun)]
    made += [restreams_command()] if name == "event" else []
    made += [download_command(noun)] if name in FILES else []
    changes = [command for command in COMMANDS.values() if command.noun is noun]
    return {str(command.name): command for command in (*made, *map(change_command, changes))}
