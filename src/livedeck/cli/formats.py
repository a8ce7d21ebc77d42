"""Output of commands that print objects: options and printing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from livedeck.cli.options import QUIET, formats
from livedeck.cli.output import echo, echo_json, echo_table
from livedeck.environment import terminal
from livedeck.presentation.rows import csv_text, detail_lines, picked, table_lines, value_at
from livedeck.text.outside import shown

Command = TypeVar("Command", bound=Callable[..., Any])


OPTION_NAMES = ("output_format", "columns", "quiet")


@dataclass(frozen=True, slots=True)
class Output:
    """Requested output. `columns`: fields to print; empty for the usual columns of the command."""

    format: str = "table"
    columns: tuple[str, ...] = ()
    quiet: bool = False

    @classmethod
    def take(cls, flags: dict[str, Any]) -> Output:
        """Remove the output flags from `flags` and return them as an Output.

        Raises UsageError for flags that exclude each other.
        """
        output_format, columns, quiet = (flags.pop(name, None) for name in OPTION_NAMES)
        names = tuple(name.strip() for name in (columns or "").split(",") if name.strip())
        if quiet and (output_format != "table" or names):
            raise click.UsageError("--quiet prints ids only: leave out --format, --json and --columns")
        return cls(output_format, names, bool(quiet))


def output_options(command: Command, columns: Sequence[str], *more: str) -> Command:
    """Add --format, --json, --schema, --columns and --quiet.

    `columns`: examples for the help of --columns. `more`: further formats.
    """
    metavar = ",".join((*columns[:2], "..."))
    columns_option = click.option("--columns", metavar=metavar, help="Print these fields, in this order.")
    return formats("table", "json", "ndjson", "csv", *more)(columns_option(QUIET(command)))


def check_columns(output: Output, fields: Sequence[str]) -> None:
    """Raise UsageError if --columns names an unknown field. `fields`: the names of the fields."""
    from difflib import get_close_matches

    for name in output.columns:
        if name.partition(".")[0] not in fields:
            near = get_close_matches(name, fields, 1)
            advice = f"did you mean {near[0]}?" if near else f"the fields are {', '.join(fields)}"
            raise click.BadParameter(f"no field {shown(name)!r}; {advice}", param_hint="--columns")


def print_list(
    command: str, items: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Output, gaps: Mapping[str, object]
) -> None:
    """Print a list of objects in the requested format.

    `columns`: columns of the table unless --columns names others. `gaps`: further members of the JSON, which describe
    missing rows.
    """
    wanted = output.columns
    if output.quiet:
        if items:
            echo("\n".join(str(item.get("id")) for item in items))
    elif output.format == "json":
        shown_items = [picked(item, wanted) for item in items]
        echo_json({"schema": schema_name(command), "items": shown_items, **gaps})
    elif output.format == "ndjson":
        for item in items:
            echo_json(picked(item, wanted))
    elif output.format == "csv":
        names = wanted or tuple(dict.fromkeys(name for item in items for name in item)) or tuple(columns)
        echo(csv_text(items, names), nl=False)
    else:
        head, *lines = table_lines(items, wanted or columns, _width())
        echo_table(head, lines, is_bold=sys.stdout.isatty() and terminal().colours > 0)


def print_item(command: str, item: Mapping[str, Any], output: Output) -> None:
    """Print one object with every field."""
    if output.quiet:
        echo(str(item.get("id")))
    elif output.format == "json":
        echo_json({"schema": schema_name(command), **picked(item, output.columns)})
    elif output.format == "ndjson":
        echo_json(picked(item, output.columns))
    elif output.format == "csv":
        echo(csv_text([item], output.columns or tuple(item)), nl=False)
    else:
        echo("\n".join(detail_lines(item, output.columns)))


SCHEMA_VERSION = 1
"""Version of the JSON of every command: within one version fields are only added."""


OWN_FIELDS = ("token", "faults", "schema")
"""Fields that livedeck adds to the JSON of an object; the platform does not accept them."""


def schema_name(command: str) -> str:
    """Return the name of the JSON Schema of a command: `livedeck event list v1`."""
    return f"livedeck {command} v{SCHEMA_VERSION}"


def item_id(item: Mapping[str, Any]) -> str:
    """Return the id of an object; empty if it has none."""
    return str(value_at(item, "id") or "")


def _width() -> int | None:
    return terminal().columns if sys.stdout.isatty() else None
