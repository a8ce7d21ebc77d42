"""How a command prints what it found: the options of its output, and the one place that prints objects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from livedeck.cli.output import echo, echo_json, echo_table
from livedeck.environment import terminal
from livedeck.presentation.rows import csv_text, detail_lines, picked, table_lines, value_at
from livedeck.text.outside import shown

Command = TypeVar("Command", bound=Callable[..., Any])

_FORMATS = (
    click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema` has its form."),
    click.option("--ndjson", "output_format", flag_value="ndjson", help="A line of JSON for each."),
    click.option("--csv", "output_format", flag_value="csv", help="A head and a row for each."),
    click.option("--columns", metavar="NAME,...", help="Those fields, in that order: id,name,scheduled.time."),
    click.option("-q", "--quiet", is_flag=True, help="Print ids alone."),
)

OPTION_NAMES = ("output_format", "columns", "quiet")


@dataclass(frozen=True, slots=True)
class Output:
    """What is wanted of the output. `columns`: none where the command's own are meant."""

    format: str = "table"
    columns: tuple[str, ...] = ()
    quiet: bool = False

    @classmethod
    def take(cls, flags: dict[str, Any]) -> Output:
        """What the flags say, which are taken out of them. Raises UsageError for what does not go together."""
        output_format, columns, quiet = (flags.pop(name, None) for name in OPTION_NAMES)
        names = tuple(name.strip() for name in (columns or "").split(",") if name.strip())
        if quiet and (output_format or names):
            raise click.UsageError("--quiet prints ids alone: leave out the other form of output")
        return cls(output_format or "table", names, bool(quiet))


def output_options(command: Command) -> Command:
    """Add --json, --ndjson, --csv, --columns and --quiet."""
    for option in reversed(_FORMATS):
        command = option(command)
    return command


def check_columns(output: Output, known: Sequence[str]) -> None:
    """Raise UsageError for a column that is none. `known`: the names of the fields."""
    from difflib import get_close_matches

    for name in output.columns:
        if name.partition(".")[0] not in known:
            near = get_close_matches(name, known, 1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise click.BadParameter(f"no field {shown(name)!r}; {advice}", param_hint="--columns")


def print_list(
    command: str,
    items: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    output: Output,
    unreadable: Sequence[Mapping[str, object]],
) -> None:
    """Print those objects. `columns`: of a table, where no others are named. `unreadable`: why rows are left out."""
    wanted = output.columns
    if output.quiet:
        if items:
            echo("\n".join(str(item.get("id")) for item in items))
    elif output.format == "json":
        shown_items = [picked(item, wanted) for item in items]
        echo_json({"schema": schema_name(command), "items": shown_items, "unreadable": [*unreadable]})
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
    """Print that object, whole for people too."""
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
"""Of the JSON of every command: within one only fields are added."""


OWN_FIELDS = ("token", "faults", "schema")
"""What the JSON of an object has of livedeck's own: nothing of the platform's that could be sent back."""


def schema_name(command: str) -> str:
    """What the JSON of a command calls its form: `livedeck events list v1`."""
    return f"livedeck {command} v{SCHEMA_VERSION}"


def item_id(item: Mapping[str, Any]) -> str:
    """Its id; empty where it has none."""
    return str(value_at(item, "id") or "")


def _width() -> int | None:
    return terminal().columns if sys.stdout.isatty() else None
