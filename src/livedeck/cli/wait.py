"""`livedeck wait`: return once an event is what a script waits for."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, NOT_SO, code_of_link, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import merge_flags, platform, time_span
from livedeck.cli.output import echo
from livedeck.cli.signals import cancel_on_signals
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import BroadcastState, EventState, Grade, Monitor, Severity, Snapshot
from livedeck.settings import load
from livedeck.text.values import safe

GOALS = ("on-air", "healthy", "completed")


@click.command
@click.argument("event", metavar="EVENT")
@click.option("--until", "goal", type=click.Choice(GOALS), required=True, help="What to wait for.")
@click.option("--timeout", type=time_span, default="10m", show_default=True, metavar="TIME", help="90s, 15m or 2h.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but faults.")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str, goal: str, timeout: float, quiet: bool, **flags: Any) -> None:
    """Return once EVENT is on air, healthy (on air, with a good picture and no fault), or completed.

    EVENT: an id, a name, or the beginning of either that fits one event alone. Exit code 6 where it is not so in time,
    and 4 where the platform could not be asked then.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
            monitor = make_monitor(api, settings=settings)
            return await wait_for_goal(monitor, target.id, goal, timeout, is_quiet=quiet)

    ctx.exit(run(lambda: cancel_on_signals(work)))


async def wait_for_goal(monitor: Monitor, event_id: str, goal: str, seconds: float, *, is_quiet: bool) -> int:
    """Wait until that event is so. Returns the exit code."""
    seen: list[Snapshot] = []
    monitor.set_focus(event_id)

    async def follow() -> int:
        told = ""
        async with aclosing(monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                seen[:] = [snapshot]
                state = snapshot.find(event_id)
                if state is None and snapshot.link.as_of is not None and snapshot.link.state.is_answering:
                    echo("livedeck wait: the event is gone", err=True)
                    return NOT_SO
                if state is None:
                    continue
                text = describe(state)
                if text != told and not is_quiet:
                    echo(f"livedeck wait: {text}", err=True)
                told = text
                if is_reached(state, goal):
                    return DONE
                if state.phase.tally is BroadcastState.COMPLETED:
                    echo(f"livedeck wait: it is over, and will not be {goal}", err=True)
                    return NOT_SO
        return NOT_SO

    try:
        return await asyncio.wait_for(follow(), seconds)
    except TimeoutError:
        echo(f"livedeck wait: not {goal} after {seconds:g} s", err=True)
        code = code_of_link(seen[0].link) if seen else NOT_SO
        return code or NOT_SO


def is_reached(state: EventState, goal: str) -> bool:
    """Whether the event is what is waited for."""
    if goal == "completed":
        return state.phase.tally is BroadcastState.COMPLETED
    if state.phase.tally is not BroadcastState.ON_AIR:
        return False
    has_fault = any(finding.severity is not Severity.INFO for finding in state.assessment.findings)
    return goal == "on-air" or (state.assessment.health.grade is Grade.GOOD and not has_fault)


def describe(state: EventState) -> str:
    """What it is now: `Choir, hall B: ON AIR, 100 GOOD`."""
    health = state.assessment.health
    score = f", {health.score} {health.grade}" if health.score is not None else ""
    faults = ", ".join(finding.kind for finding in state.assessment.findings)
    return f"{safe(state.event.name or state.id, 60)}: {state.phase.tally}{score}{f', {faults}' if faults else ''}"
