"""`livedeck status`: one look at the platform, printed."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import code_of_link, run
from livedeck.cli.options import given, platform
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation import events, serialization
from livedeck.presentation.alarms import alarm_text
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, load
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, clip, fit, plain, width

TIMEOUT = 15.0

"""Seconds to wait for a judged sample of every event on air."""


NAME_CELLS = 40


HEADS = ("TALLY", "INGEST", "HEALTH", "VIDEO", "AUDIO", "FPS", "T-/ELAPSED", "EVENT", "WRONG")


@click.command
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, **flags: Any) -> None:
    """Print what is on air and what is wrong, and leave.

    Waits until every event on air has a judged sample.
    """

    async def work() -> int:
        return await report(load(**given(ctx, flags)), as_json=as_json)

    ctx.exit(run(work))


async def report(settings: Settings, *, as_json: bool) -> int:
    """Print the status of that platform. Returns the exit code."""
    async with make_api(settings) as api:
        snapshot = await make_monitor(api, settings=settings).wait_ready(TIMEOUT)
    moment = RenderTime.from_snapshot(snapshot, SystemClock().now())
    if as_json:
        click.echo(serialization.to_json(serialization.snapshot_object(snapshot, moment)))
    elif snapshot.link.as_of is not None:
        click.echo(table(snapshot, moment))
    code = code_of_link(snapshot.link)
    if code:
        click.echo(f"livedeck: the platform at {settings.base_url} cannot be watched: {snapshot.link.reason}", err=True)
    return code


def table(snapshot: Snapshot, moment: RenderTime) -> str:
    """The status for people: a line an event, worst first, what is wrong with it at its end."""
    rows = [[[(head, StyleRole.HEAD)] for head in HEADS], *(_row(state, moment) for state in snapshot.events)]
    sizes = [max(width(row[column]) for row in rows) for column in range(len(HEADS))]
    right = {"VIDEO", "AUDIO", "FPS", "T-/ELAPSED"}
    lines = [
        "  ".join(
            plain(fit(cell, size, right=head in right)) for cell, size, head in zip(row, sizes, HEADS, strict=True)
        ).rstrip()
        for row in rows
    ]
    alarms = [line for alarm in snapshot.alarms for line in alarm_text(alarm, moment)]
    return "\n".join([*lines, "", *([*alarms, ""] if alarms else []), summary(snapshot)])


def summary(snapshot: Snapshot) -> str:
    """How much there is, and of when: `12 events, 6 alarms, as of 2026-11-20 21:14:07Z`."""
    as_of = snapshot.link.as_of
    age = "no data" if as_of is None else f"as of {as_of:%Y-%m-%d %H:%M:%S}Z"
    flood = " (FLOOD: more than a person can follow)" if snapshot.flood else ""
    return f"{len(snapshot.events)} events, {len(snapshot.alarms)} alarms{flood}, {age}"


def _row(state: EventState, moment: RenderTime) -> list[Line]:
    wrong = "; ".join(f"{one.kind} {one.actual}" for one in state.assessment.findings)
    return [
        [(plain(events.tally(state, moment)).strip(), StyleRole.TEXT)],
        events.ingest(state, moment),
        events.health(state, moment),
        events.video(state, moment),
        events.audio(state, moment),
        events.fps(state, moment),
        [(events.clock(state, moment), StyleRole.TEXT)],
        clip([(events.name(state), StyleRole.TEXT)], NAME_CELLS),
        [(values.safe(wrong), StyleRole.TEXT)],
    ]
