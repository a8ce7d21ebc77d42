"""`livedeck alarm kpi`: key figures of alarms from the history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import click

from livedeck.cli.exit_codes import DONE
from livedeck.cli.formats import schema_name
from livedeck.cli.options import time_span
from livedeck.cli.output import echo_json
from livedeck.cli.past.asking import Past, past_command, print_lines
from livedeck.monitor import FIGURES_SINCE, read_figures
from livedeck.presentation.kpi import figures_lines, figures_object
from livedeck.settings import Settings


@click.command
@click.option("--since", type=time_span, metavar="TIME", help="Length of the time up to now: 12h, 7d. [default: 7d]")
@past_command("table", "json", has_range=False)
def command(*, settings: Settings, output_format: str, since: float | None) -> Callable[[Past], Awaitable[int]]:
    """Print key figures of alarms with their goals (ISA-18.2): load, floods, nuisance, response, precision.

    Reads the history of the collector, or else of this machine. Counts only announced alarms: onsets that an incident
    explained do not count. Marks figures that the history does not record.
    """

    async def work(past: Past) -> int:
        begin = past.now - (FIGURES_SINCE if since is None else timedelta(seconds=since))
        limits = settings.limits_in_force().base.attention
        figures = await read_figures(past.reader, begin, past.now, limits)
        if output_format == "json":
            echo_json({"schema": schema_name("alarm kpi"), **figures_object(figures)})
        else:
            print_lines(figures_lines(figures))
        return DONE

    return work
