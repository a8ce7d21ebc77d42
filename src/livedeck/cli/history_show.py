"""`livedeck history EVENT`: what happened on an event in a stretch of time."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.recorded import FILE, Past, print_lines, stretch, width, with_past
from livedeck.report.recorded import gather
from livedeck.report.tables import history_csv, history_object
from livedeck.report.text import entry_lines, head_lines, sample_lines
from livedeck.report.timeline import timeline
from livedeck.settings import load
from livedeck.text.values import safe

OutputFormat = Literal["text", "json", "csv"]


@click.command("show")
@click.argument("event", metavar="EVENT")
@stretch
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema history`.")
@click.option("--csv", "output_format", flag_value="csv", help="A header and a row for each entry and each sample.")
@FILE
@platform
@click.pass_context
def show_command(
    ctx: click.Context,
    /,
    *,
    event: str,
    since: datetime | None,
    until: datetime | None,
    output_format: OutputFormat | None,
    path: Path | None,
    **flags: Any,
) -> None:
    """Print what happened on EVENT: samples, alarms and who answered them, actions, markers, the connection.

    \b
    livedeck history "Main stage" --from "yesterday 21:00" --to "yesterday 21:15"

    EVENT: an id, a name, or the beginning of either; one that was deleted is known as long as the history knows of it.
    Without times: its last show. Read from the history of this machine or the collector: the platform is not asked.
    `show` may be left out where the event is not called like another command of this group.
    """

    async def work(past: Past) -> int:
        meant = past.event(event)
        span = past.span(since, until, await past.last_show(meant))
        recorded = await gather(past.reader, span, past.now, meant.event_id)
        entries = timeline(recorded)
        if output_format == "json":
            echo_json(history_object(recorded, meant, entries))
        elif output_format == "csv":
            echo(history_csv(recorded, entries), nl=False)
        else:
            lines = [*head_lines(recorded, safe(meant.name or meant.event_id, 80)), *sample_lines(recorded), ""]
            lines += entry_lines(entries, width(), has_names=False) if entries else ["nothing is recorded of that time"]
            print_lines(lines)
        return DONE

    ctx.exit(run(lambda: with_past(load(**merge_flags(ctx, flags)), "history", work, path)))
