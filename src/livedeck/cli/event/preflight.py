"""`livedeck event preflight`: check whether an event is ready for its show."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import DONE, NOT_SO, code_of_link, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import find_known_event
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.client import Api
from livedeck.monitor import ConnectionStatus, event_key
from livedeck.presentation.preflight import Preflight, PreflightFacts, gather_facts, missing_fields, preflight
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, load
from livedeck.text.values import safe

TIMEOUT = 15.0
"""Seconds to wait until the event has been judged."""


@click.command
@click.argument("event", metavar="EVENT")
@formats("table", "json")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str, output_format: str, **flags: Any) -> None:
    """Print GO or NO-GO for EVENT, with reasons: schedule, conflicts, restreams, poster, signal, clock, rights.

    EVENT: an id, a name, or the beginning of either, if unambiguous. Changes nothing. Exit code 0 is GO, 6
    is NO-GO. CHECK asks you to look, and ? means unknown; neither makes it NO-GO.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            link, facts = await judge(settings, api, event)
        if facts is None:
            echo(f"livedeck: the platform at {settings.base_url} cannot be watched: {link.why}", err=True)
            return code_of_link(link)
        found = preflight(facts)
        if output_format == "json":
            echo_json(preflight_object(facts, found))
        else:
            echo("\n".join(preflight_lines(facts, found)))
        return DONE if found.is_go else NOT_SO

    ctx.exit(run(work))


async def judge(settings: Settings, api: Api, words: str) -> tuple[ConnectionStatus, PreflightFacts | None]:
    """Watch until the event has been judged. Returns the link to the platform, and the facts if it responds.

    Raises UsageError for a name that fits no event, and ApiError.
    """
    monitor = make_monitor(api, settings=settings)
    snapshot = await monitor.wait_ready(TIMEOUT)
    if code_of_link(snapshot.link):
        return snapshot.link, None
    meant = await find_known_event(api, snapshot, words)
    if missing_fields(meant):
        monitor.watch("preflight", event_key(meant.id))
        snapshot = await monitor.wait_ready(TIMEOUT)
    render_time = RenderTime.from_snapshot(snapshot, SystemClock().now())
    return snapshot.link, gather_facts(snapshot, meant, render_time.server, is_read_only=settings.read_only)


def preflight_lines(facts: PreflightFacts, found: Preflight) -> list[str]:
    """Return a line for each checked item; the last line is the verdict."""
    size = max(len(item.name) for item in found.items)
    lines = []
    for item in found.items:
        lines.append(f"{item.mark.value.ljust(5)}  {item.name.ljust(size)}  {item.finding}")
        if item.advice:
            lines.append(f"{' ' * (size + 9)}{item.advice}")
    return [*lines, "", f"{safe(facts.event.name or facts.event.id, 60)}: {found.verdict}"]


def preflight_object(facts: PreflightFacts, found: Preflight) -> dict[str, Any]:
    """Return the items and the verdict as JSON."""
    return {
        "schema": schema_name("event preflight"),
        "event": {"id": facts.event.id, "name": facts.event.name},
        "go": found.is_go,
        "items": [
            {"name": item.name, "mark": item.mark, "finding": item.finding, "advice": item.advice or None}
            for item in found.items
        ],
    }
