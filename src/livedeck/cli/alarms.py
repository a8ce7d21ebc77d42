"""`livedeck alarms`: what is wrong, most urgent first, once or as it changes."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import click

from livedeck.cli import alarm_lines, objects
from livedeck.cli.build import SystemClock, make_api, make_monitor
from livedeck.cli.exits import DONE, code_of_link, run
from livedeck.cli.options import given, platform
from livedeck.cli.status import PATIENCE, summary
from livedeck.monitor import Change, Link, LinkState, Monitor, Snapshot
from livedeck.settings import load
from livedeck.ui.renderables.moment import Moment


@click.command
@click.option("--follow", is_flag=True, help="Print what becomes of alarms as it happens, until ctrl-c.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; with --follow one line a change.")
@click.option(
    "--all", "everything", is_flag=True, help="Also what is shelved, suppressed, out of service or just over."
)
@platform
@click.pass_context
def command(ctx: click.Context, /, *, follow: bool, as_json: bool, everything: bool, **flags: Any) -> None:
    """Print what is wrong, most urgent first: its state, since when, why, what viewers see, what to do.

    Judged anew from the samples that the platform keeps: what was acknowledged or shelved in a deck is not known here.
    An alarm is no fault of this command: its exit code tells only whether the platform could be asked.
    """

    async def work() -> int:
        settings = load(**given(ctx, flags))
        async with make_api(settings) as api:
            monitor = make_monitor(api, settings=settings)
            if follow:
                return await followed(monitor, as_json=as_json, everything=everything)
            return report(await monitor.settled(PATIENCE), as_json=as_json, everything=everything)

    ctx.exit(run(work))


def report(snapshot: Snapshot, *, as_json: bool, everything: bool) -> int:
    """Print the alarms of that snapshot. Returns the exit code."""
    if as_json:
        click.echo(objects.line(objects.of_alarms(snapshot, everything=everything)))
    else:
        moment = Moment.of(snapshot, SystemClock().now())
        shown = [*snapshot.alarms, *(snapshot.quiet if everything else ())]
        lines = [line for alarm in shown for line in alarm_lines.block(alarm, moment)]
        click.echo("\n".join([*lines, *([""] if lines else []), summary(snapshot)]))
    if snapshot.link.state is not LinkState.OK:
        _say(snapshot.link)
    return code_of_link(snapshot.link)


async def followed(monitor: Monitor, *, as_json: bool, everything: bool) -> int:
    """Print every change until somebody ends it; on standard error how the link fares."""
    well = True
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            lines = [_line(change, as_json=as_json) for change in snapshot.changes if everything or _told(change)]
            if lines:
                click.echo("\n".join(lines))
            if snapshot.link.state is not LinkState.CONNECTING and well is not (snapshot.link.state is LinkState.OK):
                well = not well
                _say(snapshot.link)
    return DONE


def _told(change: Change) -> bool:
    return change.turn not in alarm_lines.UNTOLD


def _line(change: Change, *, as_json: bool) -> str:
    return objects.line(objects.of_change(change)) if as_json else alarm_lines.turn(change)


def _say(link: Link) -> None:
    """How the link fares, in one line on standard error."""
    well = link.state is LinkState.OK
    click.echo("livedeck alarms: " + ("the platform answers again" if well else f"cannot watch: {link.why}"), err=True)
