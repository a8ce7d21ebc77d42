"""What a command prints: the one way to its streams, which may be a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import click

from livedeck.cli.process import flush_errors
from livedeck.text.outside import shown


def echo(text: object, *, nl: bool = True, err: bool = False) -> None:
    """Print that, each of its lines as it may stand on a terminal (trust.md, "Outside text").

    Words that standard error cannot take are lost, and nothing else is: they decide neither what is sent nor how it is
    told to have ended.
    """
    try:
        click.echo("\n".join(shown(line) for line in str(text).split("\n")), nl=nl, err=err)
    except OSError:
        if not err:
            raise
        flush_errors()


def echo_table(head: str, lines: Iterable[str], *, is_bold: bool) -> None:
    """Print a table, its head bold where colours are wanted; each of its lines as `echo` does."""
    titles = click.style(shown(head), bold=True) if is_bold else shown(head)
    click.echo("\n".join([titles, *(shown(line) for line in lines)]))


def echo_json(value: object) -> None:
    """Print that value as one line of JSON, unabridged: what controls a terminal is escaped in it."""
    from livedeck.presentation.serialization import to_json

    click.echo(to_json(value))
