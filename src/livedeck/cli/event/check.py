"""`livedeck event check`: one event or all of them, as a plugin of a monitoring system."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import run
from livedeck.cli.lookup import find_known_event
from livedeck.cli.options import PATIENCE, merge_flags, platform, refuse_patience
from livedeck.cli.output import echo
from livedeck.cli.plugin import Plugin
from livedeck.cli.show.file import Item, Show, read_show
from livedeck.cli.wiring import open_watch
from livedeck.client import Api, ApiError, NotFound
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.check import EventCheck, ServiceState, check_event, check_lines
from livedeck.presentation.connection import missing_text
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, SettingsError, load

TIMEOUT = 15.0
"""Seconds to wait until every event on air has been judged."""


@click.command(cls=Plugin)
@click.argument("event", metavar="[EVENT]", required=False)
@click.option("--show", "file", metavar="FILE", help="Check the events of this show file (`livedeck docs shows`).")
@PATIENCE
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str | None, file: str | None, patience: float, **flags: Any) -> None:
    """Check EVENT, or every event, as a Nagios plugin: a line with performance data, and its exit codes.

    0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN (also if the platform does not respond). Without EVENT a line for each event
    follows the first line. An event with late samples is UNKNOWN (`late or gone`) if --patience passes without proof
    that the encoder has left. A collector decides this without --patience. Alarms that are shelved, out of service or
    silenced at a deck of this machine do not count.
    """

    async def work() -> int:
        try:
            if event and file:
                raise click.UsageError("give EVENT or --show, not both")
            show = read_show(file, has_secrets=False) if file else None
            settings = load(**merge_flags(ctx, flags))
            refuse_patience(ctx, settings)
            return await print_check(settings, event, patience, show)
        except (click.ClickException, ApiError, SettingsError) as error:
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            echo(f"LIVEDECK UNKNOWN - {text}")
            return ServiceState.UNKNOWN

    ctx.exit(run(work))


async def print_check(settings: Settings, words: str | None, patience: float, show: Show | None) -> int:
    """Print the state of the named event, of the events of a show, or of all events. Returns the exit code of a plugin.

    `patience`: maximum seconds of polling late streams again. Raises UsageError, ApiError.
    """
    async with open_watch(settings) as watch:
        snapshot = await watch.feed.wait_ready(TIMEOUT, patience)
        if not snapshot.link.state.is_answering:
            echo(f"LIVEDECK UNKNOWN - the platform cannot be watched: {snapshot.link.why}")
            return ServiceState.UNKNOWN
        wanted = None if words is None else (await find_known_event(watch.api, snapshot, words)).id
        missing = missing_text(snapshot)
        states, lost = await _of_show(show, snapshot, missing, watch.api) if show else (snapshot.events, [])
    render_time = RenderTime.from_snapshot(snapshot, watch.feed.clock.now())
    states = [state for state in states if wanted in {None, state.id}]
    if wanted and not states:
        echo(f"LIVEDECK UNKNOWN - event {wanted} exists, but the platform does not list it")
        return ServiceState.UNKNOWN
    checks = [check_event(state, (*snapshot.alarms, *snapshot.quiet), render_time) for state in states]
    names = [state.event.name or state.id for state in states]
    if wanted is None and show is None and missing:
        lost.append(EventCheck(ServiceState.UNKNOWN, missing, {}))
    checks, names = [*checks, *lost], [*names, *([""] * len(lost))]
    found, lines = check_lines(checks, names)
    echo("\n".join(lines))
    return found


async def _of_show(
    show: Show, snapshot: Snapshot, missing: str, api: Api | None
) -> tuple[list[EventState], list[EventCheck]]:
    """Return the events of a show file, and a result for each event that was not found or whose name fits several.

    An event that an empty or incomplete list lacks may still exist. `missing`: text about the events that the list
    lacks; empty for a whole list. `api`: reads a missing event by its id; None with a collector.
    """
    found, lost = list[EventState](), list[EventCheck]()
    gap = missing or ("" if snapshot.events else "the list is empty, which does not prove that the event is missing")
    for item in (item for item in show.items if item.kind == "event"):
        parent = item.content.get("parent_id")
        named = [state for state in snapshot.events if (state.event.name or "").strip() == item.name]
        fits = [state for state in named if parent in {None, state.event.parent_id}]
        fits = [state for state in snapshot.events if state.id == item.id] if item.id else fits
        if len(fits) == 1:
            found += fits
        elif fits:
            lost.append(EventCheck(ServiceState.UNKNOWN, f"{item.title}: {len(fits)} events have this name", {}))
        elif item.id and api:
            lost.append(await _by_id(item, api))
        elif gap:
            lost.append(EventCheck(ServiceState.UNKNOWN, f"{item.title}: not in the list; {gap}", {}))
        else:
            lost.append(EventCheck(ServiceState.CRITICAL, f"{item.title}: not in the platform's list", {}))
    return found, lost


async def _by_id(item: Item, api: Api) -> EventCheck:
    """Read by its id an event that the list lacks. Returns the result: CRITICAL if the event does not exist."""
    try:
        await api.events.get(item.id)
    except NotFound:
        return EventCheck(ServiceState.CRITICAL, f"{item.title}: the platform does not have it", {})
    except ApiError as error:
        return EventCheck(ServiceState.UNKNOWN, f"{item.title}: not in the list; by its id: {error}", {})
    return EventCheck(ServiceState.UNKNOWN, f"{item.title}: the platform has it, but does not list it", {})
