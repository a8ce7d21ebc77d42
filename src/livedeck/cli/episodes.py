"""`livedeck episodes`: the faults of events that are over, each with its beginning and its end."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.recorded import FILE, Past, print_lines, stretch, width, with_past
from livedeck.presentation import documents
from livedeck.report.spans import Span
from livedeck.report.tables import episode_object, episodes_csv
from livedeck.report.text import episode_lines, episode_sums, stretch_text
from livedeck.settings import load
from livedeck.text.values import safe

_OTHERWISE = timedelta(days=1)


@click.command
@click.argument("event", metavar="[EVENT]", required=False)
@stretch
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema episodes`.")
@click.option("--csv", "output_format", flag_value="csv", help="A header and a row for each.")
@FILE
@platform
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    event: str | None,
    since: datetime | None,
    until: datetime | None,
    output_format: str | None,
    path: Path | None,
    **flags: Any,
) -> None:
    """Print the faults of EVENT, or of every event, that are over: since when, until when, as the samples tell it.

    Without times: those of the last day. Read from the history of this machine or the collector: the platform is not
    asked. A fault that still stands is no episode yet: `livedeck alarms` has it.
    """

    async def work(past: Past) -> int:
        meant = past.event(event) if event else None
        span = past.span(since, until, Span(past.now - _OTHERWISE, past.now))
        found = await past.reader.episodes(*span, meant.event_id if meant else None)
        episodes = sorted(found, key=lambda episode: episode.since)
        names = {known: safe(name, 80) for known, name in past.names().items()}
        if output_format == "json":
            objects = [episode_object(episode, names) for episode in episodes]
            document: documents.Episodes = {"schema": schema_name("episodes"), "episodes": objects}
            echo_json(document)
        elif output_format == "csv":
            echo(episodes_csv(episodes, names), nl=False)
        elif episodes:
            print_lines([*episode_lines(episodes, names, width()), "", *episode_sums(episodes)])
        else:
            print_lines([f"no fault is recorded from {stretch_text(span)} UTC"])
        return DONE

    ctx.exit(run(lambda: with_past(load(**merge_flags(ctx, flags)), "episodes", work, path)))
