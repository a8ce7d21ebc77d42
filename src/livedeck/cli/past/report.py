"""`livedeck past report`: a report of a show or a day as HTML page, Markdown, JSON and CSV."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from livedeck.atomic_file import write_private
from livedeck.cli import options
from livedeck.cli.drill.evidence import check_truth, evidence_of
from livedeck.cli.drill.scores import report_object
from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.options import FORCE, PLOT, formats, history, merge_flags, platform
from livedeck.cli.output import echo, echo_lines
from livedeck.cli.past.asking import Past, past_moment, stretch, with_past
from livedeck.drill.grade import grade
from livedeck.drill.report import html, markdown
from livedeck.drill.scores import Score, score_of
from livedeck.environment import terminal
from livedeck.monitor import EventRecord
from livedeck.presentation.serialization import to_json
from livedeck.report import document
from livedeck.report.chat import messages_a_minute
from livedeck.report.facts import Report, facts_of, may_have_been_on_air, report_of
from livedeck.report.formats import REPORT_FORMATS
from livedeck.report.markdown import markdown_lines
from livedeck.report.page import page
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from livedeck.settings import Settings, load
from livedeck.text.values import safe


@click.command
@click.argument("event", metavar="[EVENT]", required=False)
@click.option("--day", type=past_moment, metavar="DATE", help="Report every event of this day: 2026-11-21, yesterday.")
@stretch
@click.option(
    "--objective",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Uptime objective of the error budget. [default: uptime_target of the settings]",
)
@click.option(
    "--chat",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Count messages per minute in this chat export of EVENT.",
)
@click.option(
    "--truth",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Grade the reactions to a scenario: FILE is the reply of the simulator's /_control/scenario/truth.",
)
@formats(*REPORT_FORMATS, default=next(iter(REPORT_FORMATS)), has_plot=True)
@options.output("FOLDER", type=click.Path(path_type=Path, file_okay=False))
@FORCE
@history()
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
    objective: float | None,
    chat: Path | None,
    truth: Path | None,
    output: Path | None,
    force: bool,
    output_format: str,
    path: Path | None,
    **flags: Any,
) -> None:
    """Report the last show of EVENT, or a day: planned and real times, uptime, outages, alarms, acknowledgements.

    Prints Markdown by default; --plot puts the curves of each event into it. With -o it writes a file of each format
    into FOLDER. Reads the history of this machine or of the collector, never the platform. Unwatched time is shown and
    counts neither as up nor as down. --truth adds a row for each fault of a scenario: the times of fault and alarm, the
    person who acknowledged and acted, and the credit.
    """
    if (event is None) == (day is None):
        raise click.UsageError("name an EVENT, or a day with --day")
    if chat and event is None:
        raise click.UsageError("--chat needs an EVENT")
    is_file_name = output is not None and output.suffix in {f".{form.suffix}" for form in REPORT_FORMATS.values()}
    if output and not output.is_dir() and (output.exists() or is_file_name):
        raise click.UsageError(f"{output} is not a folder, and -o writes four files; for one file use --format and >")
    if output and output_format == PLOT:
        raise click.UsageError("leave out --plot: with -o, the HTML page has the curves")
    if truth and output_format in {"csv", PLOT}:
        raise click.UsageError("--truth needs Markdown, JSON or HTML: leave out --plot and --format csv")
    messages = _chat(chat) if chat else None
    played = _truth(truth) if truth else None

    async def work(past: Past) -> int:
        percent = settings.uptime_target if objective is None else objective
        if event is not None:
            meant = past.event(event)
            span = past.span(since, until, await past.last_show(meant))
            title = meant.name or meant.event_id
            report = await make_report(past, [meant], span, title, target=percent, chat=messages)
        else:
            assert day is not None
            end = min(past.now, day + timedelta(days=1))
            if day >= end:
                raise click.UsageError("that day is in the future")
            span = past.span(since, until, Span(day, end))
            records = await past.reader.events(*span)
            ids = {record.event_id for record in records if may_have_been_on_air(record, span)}
            events = [record for record in past.events if record.event_id in ids]
            report = await make_report(past, events, span, f"{day.astimezone():%A, %d %B %Y}", target=percent)
        drill = await _score(past, played) if played else None
        return await _give(report, drill, output, output_format, force=force)

    settings: Settings = load(**merge_flags(ctx, flags))
    ctx.exit(run(lambda: with_past(settings, "past report", work, path)))


async def make_report(
    past: Past,
    events: Sequence[EventRecord],
    span: Span,
    title: str,
    *,
    target: float,
    chat: Mapping[datetime, int] | None = None,
) -> Report:
    """Return the report of these events in the time range.

    `target`: uptime objective in percent. `chat`: number of messages by minute, or None.
    """
    found = []
    for event in events:
        recorded = await gather(past.reader, span, past.now, event.event_id)
        last = recorded.events[-1] if recorded.events else event
        if event.stream_id == last.stream_id and event.finished_at and event.finished_at <= span.until:
            last = event  # a deck may learn of the end after the period
        facts = facts_of(recorded, last, target, chat)
        found.append(facts)
    recorded = await gather(past.reader, span, past.now, has_samples=False)
    return report_of(safe(title, 120), recorded, found, past.now)


def _chat(path: Path) -> Mapping[datetime, int]:
    try:
        return messages_a_minute(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        raise click.UsageError(f"{path}: {error}") from None


def _truth(path: Path) -> dict[str, Any]:
    """Return the truth of a scenario in a file. Raises UsageError."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())["data"]
        check_truth(found)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise click.UsageError(f"{path} is not a reply of /_control/scenario/truth: {error}") from None
    return found


async def _score(past: Past, played: dict[str, Any]) -> Score:
    """Return the score of a drill. `played`: truth of its scenario, as the control API sends it."""
    evidence = await evidence_of(past.reader, played, datetime.fromisoformat(played["now"]))
    if played["dropped"]:
        lost = f"{played['dropped']} requests are no longer in the journal, so changes may be missing"
        echo(f"livedeck past report: {lost}", err=True)
    return score_of(evidence, evidence.truth.began)


def _text(name: str, report: Report, drill: Score | None) -> str:
    """Return the report in the format `name`. HTML and JSON include the drill; other formats leave it out."""
    if drill is None or name not in {"html", "json"}:
        return REPORT_FORMATS[name].write(report)
    if name == "html":
        return page(report, html(grade(drill.evidence)))
    graded = {key: value for key, value in report_object(0, drill).items() if key != "number"}
    return f"{to_json({**document.report_object(report), 'drill': graded})}\n"


async def _give(report: Report, drill: Score | None, output: Path | None, output_format: str, *, force: bool) -> int:
    """Print the report, or write it in every format to the folder `output`. Returns the exit code."""
    if output_format == PLOT:
        from livedeck.report.plot import facts_plot

        columns = terminal().columns
        echo_lines(markdown_lines(report, lambda facts: facts_plot(facts, columns)))
        return DONE
    if output is not None:
        return await asyncio.to_thread(_write, report, drill, output, force)
    echo(_text(output_format, report, drill), nl=False)
    if drill is not None and output_format == "markdown":
        echo(f"\n{markdown(grade(drill.evidence))}", nl=False)
    return DONE


def _write(report: Report, drill: Score | None, output: Path, force: bool) -> int:
    output.mkdir(parents=True, exist_ok=True)
    paths = {name: output / f"report.{form.suffix}" for name, form in REPORT_FORMATS.items()}
    there = [path for path in paths.values() if path.exists()]
    if there and not force:
        echo(f"livedeck past report: {there[0]} exists already; add --force to replace it", err=True)
        return FAULT
    for name, path in paths.items():
        write_private(path, _text(name, report, drill), replace=force)
    if drill is not None:
        write_private(
            output / f"drill.{REPORT_FORMATS['markdown'].suffix}", markdown(grade(drill.evidence)), replace=force
        )
    echo("\n".join(f"{path}: {REPORT_FORMATS[name].title}" for name, path in paths.items()))
    return DONE
