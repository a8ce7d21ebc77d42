"""`livedeck report`: a show or a day, as a page, as Markdown, as JSON and as CSV."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from livedeck.atomic_file import write_private
from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.recorded import FILE, Past, past_moment, stretch, with_past
from livedeck.monitor import EventRecord
from livedeck.report.chat import messages_a_minute
from livedeck.report.facts import Report, facts_of, may_have_been_on_air, report_of
from livedeck.report.formats import REPORT_FORMATS
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from livedeck.settings import Settings, load
from livedeck.text.values import safe


@click.command
@click.argument("event", metavar="[EVENT]", required=False)
@click.option("--day", type=past_moment, metavar="DATE", help="Every event of that day: 2026-11-21, today, yesterday.")
@stretch
@click.option(
    "--target", type=click.FloatRange(0, 100), metavar="PERCENT", help="Of the error budget, in place of the setting."
)
@click.option(
    "--chat",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="An export of EVENT's chat: messages a minute.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a file of each form there.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@click.option("--json", "output_format", flag_value="json", help="Print JSON; `livedeck schema report` has its form.")
@click.option("--csv", "output_format", flag_value="csv", help="Print CSV.")
@click.option("--html", "output_format", flag_value="html", help="Print the page.")
@FILE
@platform
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    event: str | None,
    day: datetime | None,
    since: datetime | None,
    until: datetime | None,
    target: float | None,
    chat: Path | None,
    output: Path | None,
    force: bool,
    output_format: str | None,
    path: Path | None,
    **flags: Any,
) -> None:
    """Report the last show of EVENT, or a day: planned and real times, uptime, outages, alarms, who answered.

    Prints Markdown, or writes four files into DIR with -o. Read from the history of this machine or the collector:
    the platform is not asked. What nobody watched is said, and is neither up nor down.
    """
    if (event is None) == (day is None):
        raise click.UsageError("name an EVENT, or a day with --day")
    if chat and event is None:
        raise click.UsageError("--chat is the chat of one EVENT")
    if output and output.exists() and not output.is_dir():
        raise click.UsageError(f"{output} is no folder: -o takes one, for four files")
    messages = _chat(chat) if chat else None

    async def work(past: Past) -> int:
        percent = settings.uptime_target if target is None else target
        if event is not None:
            meant = past.event(event)
            span = past.span(since, until, await past.last_show(meant))
            title = meant.name or meant.event_id
            report = await make_report(past, [meant], span, title, target=percent, chat=messages)
        else:
            assert day is not None
            end = min(past.now, day + timedelta(days=1))
            if day >= end:
                raise click.UsageError("that day has not begun")
            span = past.span(since, until, Span(day, end))
            records = await past.reader.events(*span)
            ids = {record.event_id for record in records if may_have_been_on_air(record, span)}
            events = [record for record in past.events if record.event_id in ids]
            report = await make_report(past, events, span, f"{day.astimezone():%A, %d %B %Y}", target=percent)
        return await _give(report, output, output_format, force=force)

    settings: Settings = load(**merge_flags(ctx, flags))
    ctx.exit(run(lambda: with_past(settings, "report", work, path)))


async def make_report(
    past: Past,
    events: Sequence[EventRecord],
    span: Span,
    title: str,
    *,
    target: float,
    chat: Mapping[datetime, int] | None = None,
) -> Report:
    """The report of these events."""
    found = []
    for event in events:
        recorded = await gather(past.reader, span, past.now, event.event_id)
        last = recorded.events[-1] if recorded.events else event
        facts = facts_of(recorded, last, target, chat)
        found.append(facts)
    recorded = await gather(past.reader, span, past.now, has_samples=False)
    return report_of(safe(title, 120), recorded, found, past.now)


def _chat(path: Path) -> Mapping[datetime, int]:
    try:
        return messages_a_minute(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        raise click.UsageError(f"{path}: {error}") from None


async def _give(report: Report, output: Path | None, output_format: str | None, *, force: bool) -> int:
    """Print it, or write the files."""
    if output is None:
        echo(REPORT_FORMATS[output_format or "md"].write(report), nl=False)
        return DONE
    return await asyncio.to_thread(_write, report, output, force)


def _write(report: Report, output: Path, force: bool) -> int:
    output.mkdir(parents=True, exist_ok=True)
    paths = {ending: output / f"report.{ending}" for ending in REPORT_FORMATS}
    there = [path for path in paths.values() if path.exists()]
    if there and not force:
        echo(f"livedeck report: {there[0]} is there already; --force replaces it", err=True)
        return FAULT
    for ending, path in paths.items():
        write_private(path, REPORT_FORMATS[ending].write(report), replace=force)
    echo("\n".join(f"{path}: {REPORT_FORMATS[ending].name}" for ending, path in paths.items()))
    return DONE
