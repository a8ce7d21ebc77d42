"""`livedeck search TEXT`: where something stands in what is recorded."""

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
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from livedeck.report.tables import entries_csv
from livedeck.report.text import entry_lines
from livedeck.report.timeline import matching, timeline
from livedeck.settings import load
from livedeck.text.values import safe


@click.command
@click.argument("text", metavar="TEXT...", nargs=-1, required=True)
@stretch
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema search`.")
@click.option("--csv", "output_format", flag_value="csv", help="A header and a row for each.")
@FILE
@platform
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    text: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    output_format: str | None,
    path: Path | None,
    **flags: Any,
) -> None:
    """Print every entry of the history that has all words of TEXT, whatever the case, oldest first.

    Searched are alarms with their reasons, notes and answers, actions, markers, what became of events, and the
    connection. Without times: as far back as this machine keeps its own history. Read from the history of this machine
    or the collector: the platform is not asked.
    """
    words = " ".join(text)

    async def work(past: Past) -> int:
        span = past.span(since, until, Span(past.now - timedelta(days=settings.retention_days + 1), past.now))
        found = matching(timeline(await gather(past.reader, span, past.now, has_samples=False)), words)
        if output_format == "json":
            entries = [entry.as_object() for entry in found]
            document: documents.Search = {"schema": schema_name("search"), "text": words, "entries": entries}
            echo_json(document)
        elif output_format == "csv":
            echo(entries_csv(found), nl=False)
        elif found:
            print_lines([*entry_lines(found, width(), has_names=True)])
        else:
            print_lines([f"nothing recorded has {safe(words, 80)!r}"])
        return DONE

    settings = load(**merge_flags(ctx, flags))
    ctx.exit(run(lambda: with_past(settings, "search", work, path)))
