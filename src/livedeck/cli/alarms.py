"""`livedeck alarms`: what is wrong, most urgent first, once or as it changes."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, code_of_link, run
from livedeck.cli.options import given, platform
from livedeck.cli.status import TIMEOUT, summary
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.monitor import AlarmChange, ConnectionState, ConnectionStatus, Monitor, Snapshot
from livedeck.presentation import alarms, serialization
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import load


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
            return report(await monitor.wait_ready(TIMEOUT), as_json=as_json, everything=everything)

    ctx.exit(run(work))


def report(snapshot: Snapshot, *, as_json: bool, everything: bool) -> int:
    """Print the alarms of that snapshot. Returns the exit code."""
    if as_json:
        click.echo(serialization.to_json(serialization.alarms_object(snapshot, include_quiet=everything)))
    else:
        moment = RenderTime.from_snapshot(snapshot, SystemClock().now())
        shown = [*snapshot.alarms, *(snapshot.quiet if everything else ())]
        lines = [line for alarm in shown for line in alarms.alarm_text(alarm, moment)]
        click.echo("\n".join([*lines, *([""] if lines else []), summary(snapshot)]))
    if snapshot.link.state is not ConnectionState.OK:
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
            if snapshot.link.state is not ConnectionState.CONNECTING and well is not (
                snapshot.link.state is ConnectionState.OK
            ):
                well = not well
                _say(snapshot.link)
    return DONE


def _told(change: AlarmChange) -> bool:
    return change.transition not in alarms.HIDDEN_TRANSITIONS


def _line(change: AlarmChange, *, as_json: bool) -> str:
    return serialization.to_json(serialization.change_object(change)) if as_json else alarms.change_text(change)


def _say(link: ConnectionStatus) -> None:
    """How the link fares, in one line on standard error."""
    well = link.state is ConnectionState.OK
    click.echo(
        "livedeck alarms: " + ("the platform answers again" if well else f"cannot watch: {link.reason}"), err=True
    )
