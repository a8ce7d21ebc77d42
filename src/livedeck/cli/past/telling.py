"""Commands that print the recorded past: `history show`, `episodes`, `search` and `handover`."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.past.asking import FILE, Past, print_lines, stretch, width, with_past
from livedeck.report.handover import handover_lines, handover_markdown, handover_object, read_handover
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from livedeck.report.tables import entries_csv, episode_object, episodes_csv, history_csv, history_object
from livedeck.report.text import entry_lines, episode_lines, episode_sums, head_lines, sample_lines, stretch_text
from livedeck.report.timeline import matching, timeline
from livedeck.settings import load
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.presentation import documents

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


_OTHERWISE = timedelta(days=1)


@click.command
@click.argument("event", metavar="[EVENT]", required=False)
@stretch
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema episodes`.")
@click.option("--csv", "output_format", flag_value="csv", help="A header and a row for each.")
@FILE
@platform
@click.pass_context
def episodes_command(
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
            listed: documents.Episodes = {"schema": schema_name("episodes"), "episodes": objects}
            echo_json(listed)
        elif output_format == "csv":
            echo(episodes_csv(episodes, names), nl=False)
        elif episodes:
            print_lines([*episode_lines(episodes, names, width()), "", *episode_sums(episodes)])
        else:
            print_lines([f"no fault is recorded from {stretch_text(span)} UTC"])
        return DONE

    ctx.exit(run(lambda: with_past(load(**merge_flags(ctx, flags)), "episodes", work, path)))


@click.command
@click.argument("text", metavar="TEXT...", nargs=-1, required=True)
@stretch
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema search`.")
@click.option("--csv", "output_format", flag_value="csv", help="A header and a row for each.")
@FILE
@platform
@click.pass_context
def search_command(
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


@click.command
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema handover`.")
@click.option("--markdown", "output_format", flag_value="markdown", help="A sheet for a chat or a ticket.")
@FILE
@platform
@click.pass_context
def handover_command(ctx: click.Context, /, *, output_format: str | None, path: Path | None, **flags: Any) -> None:
    """Print what runs, what is wrong, who promised what until when, what is put away, and what comes next.

    Read from the history of this machine or the collector, as it was seen last; how long ago that was is said. The
    platform is not asked.
    """

    async def work(past: Past) -> int:
        handover = await read_handover(past.reader, past.now)
        if output_format == "json":
            echo_json(handover_object(handover))
        elif output_format == "markdown":
            echo(handover_markdown(handover), nl=False)
        else:
            print_lines([*handover_lines(handover, width())])
        return DONE

    ctx.exit(run(lambda: with_past(load(**merge_flags(ctx, flags)), "handover", work, path)))
