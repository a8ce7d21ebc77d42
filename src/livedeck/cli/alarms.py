"""`livedeck alarms`: what is wrong, most urgent first, once or as it changes."""

from __future__ import annotations

from contextlib import aclosing
from datetime import datetime
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, code_of_link, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.status_report import TIMEOUT, summary
from livedeck.cli.wiring import open_watch
from livedeck.monitor import AlarmAction, ConnectionState, ConnectionStatus, Feed, Snapshot
from livedeck.presentation.alarm_text import HIDDEN_TRANSITIONS, alarm_text, answer_text, change_text, rule_change_text
from livedeck.presentation.connection import loss_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import alarm_action_object, alarms_object, change_object, rule_change_object
from livedeck.settings import WatchedLimits, load


@click.command
@click.option("--follow", is_flag=True, help="Print what becomes of alarms as it happens, until ctrl-c.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; with --follow one line a change or answer.")
@click.option(
    "--all", "include_quiet", is_flag=True, help="Also what is shelved, suppressed, out of service or just over."
)
@platform
@click.pass_context
def command(ctx: click.Context, /, *, follow: bool, as_json: bool, include_quiet: bool, **flags: Any) -> None:
    """Print what is wrong, most urgent first: its state, since when, why, what viewers see, what to do.

    Judged anew from the samples that the platform keeps; what was acknowledged, shelved or noted at a deck of this
    machine counts here too.
    An alarm is no fault of this command: its exit code tells only whether the platform could be asked.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with open_watch(settings, limits_source=WatchedLimits() if follow else None) as watch:
            if follow:
                return await follow_alarms(watch.feed, as_json=as_json, include_quiet=include_quiet)
            snapshot = await watch.feed.wait_ready(TIMEOUT)
            now = watch.feed.clock.now()
            return print_alarms(snapshot, now, as_json=as_json, include_quiet=include_quiet)

    ctx.exit(run(work))


def print_alarms(snapshot: Snapshot, now: datetime, *, as_json: bool, include_quiet: bool) -> int:
    """Print the alarms of that snapshot at `now`. Returns the exit code."""
    if as_json:
        echo_json(alarms_object(snapshot, include_quiet=include_quiet))
    else:
        render_time = RenderTime.from_snapshot(snapshot, now)
        alarms = [*snapshot.alarms, *(snapshot.quiet if include_quiet else ())]
        lines = [line for alarm in alarms for line in alarm_text(alarm, render_time, snapshot)]
        echo("\n".join([*lines, *([""] if lines else []), summary(snapshot)]))
    if snapshot.link.state is not ConnectionState.OK:
        _print_connection(snapshot.link)
    return code_of_link(snapshot.link)


async def follow_alarms(monitor: Feed, *, as_json: bool, include_quiet: bool) -> int:
    """Print every change until somebody ends it; on standard error how the connection fares."""
    reported = ConnectionState.OK
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            for answer in snapshot.answers:
                text = answer_text(answer, _subject(snapshot, answer))
                echo_json(alarm_action_object(answer)) if as_json else echo(text)
            for rule_change in snapshot.rule_changes:
                subject = _event_name(snapshot, rule_change.event_id)
                echo_json(rule_change_object(rule_change)) if as_json else echo(rule_change_text(rule_change, subject))
            for change in snapshot.changes:
                if include_quiet or change.transition not in HIDDEN_TRANSITIONS:
                    echo_json(change_object(change)) if as_json else echo(change_text(change))
            state = snapshot.link.state
            is_news = state is not reported and (state.is_answering or reported.is_answering)
            if is_news and state is not ConnectionState.CONNECTING:
                reported = state
                _print_connection(snapshot.link)
    return DONE


def _subject(snapshot: Snapshot, answer: AlarmAction) -> str:
    """Whose alarm was answered, as the alarm says it; its id where it is not listed any more."""
    alarms = (*snapshot.alarms, *snapshot.quiet)
    return next((alarm.subject for alarm in alarms if alarm.key == answer.key), answer.key.event_id or "platform")


def _event_name(snapshot: Snapshot, event_id: str) -> str:
    """What people call that event; its id where it is not listed, nothing for all events."""
    state = snapshot.find(event_id)
    return (state.event.name if state else None) or event_id


def _print_connection(link: ConnectionStatus) -> None:
    """How the connection fares, in one line on standard error."""
    if link.state is ConnectionState.POOR:
        text = f"the link is poor: {loss_text(link)}"
    else:
        text = "the platform answers again" if link.state is ConnectionState.OK else f"cannot watch: {link.reason}"
    echo(f"livedeck alarms: {text}", err=True)
