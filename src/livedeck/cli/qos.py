"""`livedeck qos EVENT`: the samples of one event, once or as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import click

from livedeck import wording
from livedeck.cli import objects, samples
from livedeck.cli.build import SystemClock, make_api
from livedeck.cli.choosing import chosen
from livedeck.cli.exits import DONE, run
from livedeck.cli.following import Follower
from livedeck.cli.options import SPAN, given, platform
from livedeck.client import Event
from livedeck.monitor import Reading
from livedeck.settings import load

Form = Literal["table", "json", "csv"]

A_LOOK = 60.0
"""Seconds of samples that a person is shown who asks for no others."""


@click.command
@click.argument("event", metavar="EVENT")
@click.option("--follow", is_flag=True, help="Go on: every new sample once, until ctrl-c.")
@click.option("--json", "form", flag_value="json", help="One JSON object; with --follow one line a sample.")
@click.option("--csv", "form", flag_value="csv", help="A header and a row a sample.")
@click.option("--last", type=SPAN, metavar="TIME", help="So much of the stream's end: 90s, 15m, 2h.")
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, event: str, follow: bool, form: Form | None, last: float | None, **flags: Any
) -> None:
    """Print the QoS samples of EVENT: an id, a name, or the beginning of either that fits one event alone.

    Without --last: all that the platform keeps, as JSON or CSV; the last minute for people, and before --follow.
    Rates are bit/s and frames/s, times ISO 8601 UTC; what was not measured is empty or null, and never 0.
    """

    async def work() -> int:
        settings, clock = load(**given(ctx, flags)), SystemClock()
        async with make_api(settings) as api:
            found = await chosen(api, event)
            follower = Follower(api, found, clock, settings)
            if follow:
                return await followed(follower, form or "table", A_LOOK if last is None else last)
            return await report(follower, form or "table", last)

    ctx.exit(run(work))


async def report(follower: Follower, form: Form, last: float | None) -> int:
    """Print what there is. Returns the exit code."""
    event = follower.event
    await follower.ask()
    shown = list(samples.since(follower.readings, A_LOOK if last is None and form == "table" else last))
    if form == "json":
        click.echo(objects.line(_object(follower, shown)))
        return DONE
    click.echo("\n".join([_head(form), *_lines(form, event, shown)]))
    if not shown:
        click.echo(f"livedeck qos: {_name(event)} has no samples: {_why_none(event)}", err=True)
    elif form == "table":
        age = wording.age(follower.age() or 0.0)
        click.echo(f"\n{len(shown)} samples of {_name(event)}, the newest {age} old ({follower.freshness().value})")
    return DONE


async def followed(follower: Follower, form: Form, last: float) -> int:
    """Print every sample once, as it comes, until somebody ends it. Raises NotFound where the event goes away."""
    if form != "json":
        click.echo(_head(form))
    event = follower.event
    async for fresh in follower.news(last, _say(event)):
        click.echo("\n".join(_lines(form, event, fresh)))
    return DONE


def _say(event: Event) -> Callable[[str], None]:
    return lambda words: click.echo(f"livedeck qos: {_name(event)}: {words}", err=True)


def _head(form: Form) -> str:
    return ",".join(samples.FIELDS) if form == "csv" else samples.HEAD


def _lines(form: Form, event: Event, readings: Iterable[Reading]) -> list[str]:
    if form == "json":
        return [objects.line({"event_id": event.id, **samples.as_object(one)}) for one in readings]
    return [samples.csv_row(one) if form == "csv" else samples.row(one) for one in readings]


def _object(follower: Follower, shown: list[Reading]) -> dict[str, Any]:
    """`age`: seconds of the newest sample; `left_out`: samples that could not be used (no time, or a future one)."""
    event, age = follower.event, follower.age()
    return {
        "event": {"id": event.id, "name": event.name},
        "stream": None if event.stream is None else {"id": event.stream.id, "status": event.stream.status},
        "as_of": samples.stamp(follower.now()),
        "freshness": follower.freshness().value,
        "age": None if age is None else round(age, 3),
        "left_out": follower.left_out,
        "samples": [samples.as_object(one) for one in shown],
    }


def _name(event: Event) -> str:
    return wording.safe(event.name or event.id, 80)


def _why_none(event: Event) -> str:
    return "no stream is scheduled" if event.stream is None else "its stream has sent none"
