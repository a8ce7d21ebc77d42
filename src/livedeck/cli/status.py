"""`livedeck status`: one look at the platform, printed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from livedeck import wording
from livedeck.cli.build import SystemClock, make_api, make_monitor
from livedeck.cli.exits import run
from livedeck.cli.options import given, platform
from livedeck.monitor import Alarm, EventState, LinkState, Snapshot
from livedeck.settings import Settings, load
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, clip, fit, plain, width
from livedeck.ui.renderables.moment import Moment

PATIENCE = 15.0
"""Seconds to wait for a judged sample of every event on air."""

NAME_CELLS = 40

HEADS = ("TALLY", "INGEST", "HEALTH", "VIDEO", "AUDIO", "FPS", "T-/ELAPSED", "EVENT", "WRONG")


@click.command
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, **flags: Any) -> None:
    """Print what is on air and what is wrong, and leave.

    Waits until every event on air has a judged sample. Exit code 1 when the platform cannot be reached.
    """

    async def work() -> int:
        return await report(load(**given(ctx, flags)), as_json=as_json)

    ctx.exit(run(work))


async def report(settings: Settings, *, as_json: bool) -> int:
    """Print the status of that platform. Returns the exit code."""
    async with make_api(settings) as api:
        snapshot = await make_monitor(api).settled(PATIENCE)
    moment = Moment.of(snapshot, SystemClock().now())
    if as_json:
        click.echo(json.dumps(as_object(snapshot, moment), ensure_ascii=False))
    elif snapshot.link.as_of is not None:
        click.echo(table(snapshot, moment))
    if snapshot.link.state is LinkState.OK:
        return 0
    click.echo(f"livedeck: the platform at {settings.base_url} cannot be watched: {snapshot.link.why}", err=True)
    return 1


def table(snapshot: Snapshot, moment: Moment) -> str:
    """The status for people: a line an event, worst first, what is wrong with it at its end."""
    rows = [[[(head, Ink.HEAD)] for head in HEADS], *(_row(state, moment) for state in snapshot.events)]
    sizes = [max(width(row[column]) for row in rows) for column in range(len(HEADS))]
    right = {"VIDEO", "AUDIO", "FPS", "T-/ELAPSED"}
    lines = [
        "  ".join(
            plain(fit(cell, size, right=head in right)) for cell, size, head in zip(row, sizes, HEADS, strict=True)
        ).rstrip()
        for row in rows
    ]
    link = snapshot.link
    age = "no data" if link.as_of is None else f"as of {link.as_of:%Y-%m-%d %H:%M:%S}Z"
    return "\n".join([*lines, "", f"{len(snapshot.events)} events, {len(snapshot.alarms)} alarms, {age}"])


def _row(state: EventState, moment: Moment) -> list[Line]:
    wrong = "; ".join(f"{one.kind} {one.actual}" for one in state.verdict.findings)
    return [
        [(plain(cells.tally(state, moment)).strip(), Ink.TEXT)],
        cells.ingest(state, moment),
        cells.health(state, moment),
        cells.video(state, moment),
        cells.audio(state, moment),
        cells.fps(state, moment),
        [(cells.clock(state, moment), Ink.TEXT)],
        clip([(cells.name(state), Ink.TEXT)], NAME_CELLS),
        [(wording.safe(wrong), Ink.TEXT)],
    ]


def as_object(snapshot: Snapshot, moment: Moment) -> dict[str, Any]:
    """The status for programs. Times are ISO 8601 UTC, rates bit/s, ages and lengths seconds; null is not known."""
    link = snapshot.link
    return {
        "as_of": _iso(link.as_of),
        "link": {
            "state": link.state.value,
            "since": _iso(link.since),
            "why": link.why,
            "round_trip": link.round_trip,
            "skew": link.skew,
        },
        "events": [_event(state, moment) for state in snapshot.events],
        "alarms": [_alarm(one) for one in snapshot.alarms],
    }


def _event(state: EventState, moment: Moment) -> dict[str, Any]:
    phase, health, last = state.phase, state.verdict.health, state.qos.readings.last
    sample = None
    if last is not None:
        sample = {**last._asdict(), "time": _iso(datetime.fromtimestamp(last.time, moment.server.tzinfo))}
        sample["age"] = round(moment.server.timestamp() - last.time, 3)
    return {
        "id": state.id,
        "name": state.event.name,
        "as_of": _iso(state.as_of),
        "tally": phase.tally.value,
        "mark": _iso(phase.mark),
        "ingest": {
            "state": phase.ingest.state.value,
            "since": _iso(phase.ingest.since),
            "window_ends": _iso(phase.ingest.window_ends),
        },
        "health": {
            "score": health.score,
            "grade": health.grade.value,
            "component": health.component,
            "detail": health.detail,
        },
        "findings": [
            {
                "kind": one.kind,
                "severity": one.severity.value,
                "actual": one.actual,
                "expected": one.expected,
                "since": _iso(one.since),
            }
            for one in state.verdict.findings
        ],
        "qos": {
            "freshness": state.qos.freshness.value,
            "as_of": _iso(state.qos.as_of),
            "cadence": state.qos.cadence,
            "error": state.qos.error,
        },
        "last_sample": sample,
    }


def _alarm(one: Alarm) -> dict[str, Any]:
    return {
        "event_id": one.event_id or None,
        "kind": one.kind,
        "severity": one.severity.value,
        "since": _iso(one.since),
        "subject": one.subject,
        "actual": one.actual,
        "expected": one.expected,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
