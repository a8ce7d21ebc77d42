"""`livedeck event check`: one event or all of them, as a plugin of a monitoring system."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import run
from livedeck.cli.lookup import find_known_event
from livedeck.cli.options import PATIENCE, merge_flags, platform, refuse_patience
from livedeck.cli.output import echo
from livedeck.cli.plugin import Plugin
from livedeck.cli.wiring import open_watch
from livedeck.client import ApiError
from livedeck.presentation.check import EventCheck, ServiceState, check_event, check_lines
from livedeck.presentation.connection import missing_text
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, SettingsError, load

TIMEOUT = 15.0
"""Seconds to wait until every event on air has been judged."""


@click.command(cls=Plugin)
@click.argument("event", metavar="[EVENT]", required=False)
@PATIENCE
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str | None, patience: float, **flags: Any) -> None:
    """Check EVENT, or every event, as a Nagios plugin: a line with performance data, and its exit codes.

    0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN (also if the platform does not respond). Without EVENT a line for each event
    follows the first line. If samples are late, and --patience passes without proof that the encoder has left, the
    event is UNKNOWN: `late or gone`. A collector decides that by itself. Alarms that are shelved, out of service or
    silenced at a deck of this machine do not count.
    """

    async def work() -> int:
        try:
            settings = load(**merge_flags(ctx, flags))
            refuse_patience(ctx, settings)
            return await print_check(settings, event, patience)
        except (click.ClickException, ApiError, SettingsError) as error:
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            echo(f"LIVEDECK UNKNOWN - {text}")
            return ServiceState.UNKNOWN

    ctx.exit(run(work))


async def print_check(settings: Settings, words: str | None, patience: float) -> int:
    """Print the state of the named event, or of all events. Returns the exit code of a plugin.

    `patience`: maximum seconds of polling late streams again. Raises UsageError, ApiError.
    """
    async with open_watch(settings) as watch:
        snapshot = await watch.feed.wait_ready(TIMEOUT, patience)
        if not snapshot.link.state.is_answering:
            echo(f"LIVEDECK UNKNOWN - the platform cannot be watched: {snapshot.link.why}")
            return ServiceState.UNKNOWN
        listed = (state.event for state in snapshot.events)
        wanted = None if words is None else (await find_known_event(watch.api, listed, words)).id
    render_time = RenderTime.from_snapshot(snapshot, watch.feed.clock.now())
    states = [state for state in snapshot.events if wanted in {None, state.id}]
    if wanted and not states:
        echo(f"LIVEDECK UNKNOWN - event {wanted} exists, but the platform does not list it")
        return ServiceState.UNKNOWN
    checks = [check_event(state, (*snapshot.alarms, *snapshot.quiet), render_time) for state in states]
    names = [state.event.name or state.id for state in states]
    if wanted is None and (missing := missing_text(snapshot)):
        checks.append(EventCheck(ServiceState.UNKNOWN, missing, {}))
        names.append("")
    found, lines = check_lines(checks, names)
    echo("\n".join(lines))
    return found
