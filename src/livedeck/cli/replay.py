"""`livedeck replay`: a recording, on any machine and without an account."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, run
from livedeck.cli.output import echo
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.judging import AlarmSpan, Comparison, Judgement, judge
from livedeck.monitor.model.limits import Limits
from livedeck.settings import load
from livedeck.text.values import safe


@click.command
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--judge", "is_judged", is_flag=True, help="Print what would be told today beside what was told then.")
@click.pass_context
def command(ctx: click.Context, /, *, path: Path, is_judged: bool) -> None:
    """Open a recording: no account, no token, no network, and nothing is written.

    --judge runs the detector anew over what was recorded, by the limits of the settings here, and compares the alarms:
    kind, onset, end, severity. Exit code 6 where any differs. What a deck says of its own machine and link is not
    compared.
    """

    if not is_judged:
        raise click.UsageError("say what to do with it: --judge")

    async def work() -> int:
        try:
            return await _judge(path)
        except StorageError as error:
            echo(f"livedeck replay: {error}", err=True)
            return FAULT

    ctx.exit(run(work))


async def _judge(path: Path) -> int:
    settings = load()
    limits = Limits(settings.thresholds_of(), settings.event_thresholds())
    judgement = await judge(path, limits, settings.polling_cadence())
    if judgement is None:
        echo(f"livedeck replay: {path} holds no samples: there is nothing to judge", err=True)
        return FAULT
    echo("\n".join(judgement_lines(judgement)))
    return NOT_SO if judgement.differs else DONE


def judgement_lines(judgement: Judgement) -> list[str]:
    """A line for each alarm, and what it comes to."""
    lines = [_line(comparison) for comparison in judgement.alarms]
    differing = sum(bool(comparison.differences) for comparison in judgement.alarms)
    span = f"{judgement.since:%Y-%m-%d %H:%M:%S} to {_moment(judgement.until)}"
    as_then = len(judgement.alarms) - differing
    return [*lines, f"{span}: {as_then} as then, {differing} otherwise"]


def _line(comparison: Comparison) -> str:
    span = comparison.then or comparison.today
    assert span is not None
    words = "; ".join(comparison.differences)
    return f"{'otherwise' if words else 'as then':9}  {_span_text(span)}{f': {words}' if words else ''}"


def _span_text(span: AlarmSpan) -> str:
    who = " ".join(safe(name, 60) for name in (span.subject, span.target_name) if name)
    until = f"to {_moment(span.until)}" if span.until else "to the end"
    return f"{span.key.kind} of {who}, {span.severity}, {span.since:%H:%M:%S} {until}"


def _moment(at: datetime) -> str:
    return f"{at:%H:%M:%S}Z"
