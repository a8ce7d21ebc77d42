"""One event's samples, asked for again and again: each sample once, and a word whenever they cannot be believed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Literal

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.options import given, lookup_event, platform, time_span
from livedeck.cli.wiring import SystemClock, make_api
from livedeck.client import Api, ApiError, Event, NotFound, Rejected
from livedeck.monitor import Clock, Freshness, Reading, Readings
from livedeck.monitor.polling.connection import skew
from livedeck.monitor.signal.series import cadence, count_future, merge, sample_freshness
from livedeck.presentation import serialization
from livedeck.presentation.qos import SAMPLE_HEAD, newest_readings, sample_text
from livedeck.settings import Settings, load
from livedeck.text import values
from livedeck.text.times import timestamp


class Follower:
    """What is known of one event's samples. `left_out`: how many of the last answer could not be used."""

    def __init__(self, api: Api, event: Event, clock: Clock, settings: Settings) -> None:
        self.event, self.readings, self.left_out = event, Readings(), 0
        self._api, self._clock, self._pace = api, clock, settings.polling_cadence()
        self._thresholds = settings.thresholds_of(event.id)
        self._skew, self._failures, self._told = 0.0, 0, Freshness.FRESH

    async def ask(self) -> None:
        """Learn what the platform has now. Raises ApiError."""
        brought = await self._api.qos.get(self.event.id)
        self._skew = skew(self._api.timings, self._skew, self._thresholds)
        until = self.now() + self._thresholds.ahead
        self.left_out = brought.dropped + count_future(brought, until)
        self.readings = merge(self.readings, brought, until=until)

    async def news(self, last: float, say: Callable[[str], None]) -> AsyncIterator[list[Reading]]:
        """The samples of the last so many seconds, and then each new one once. Never ends but by NotFound.

        `say` is told once when the platform fails or the samples grow stale, and once when that is over.
        """
        printed: frozenset[float] | None = None
        while True:
            pause = await self._try(say)
            if not self._failures:
                known = newest_readings(self.readings, last if printed is None else None)
                fresh = [one for one in known if printed is None or one.time not in printed]
                printed = frozenset(self.readings.time)
                if fresh:
                    yield fresh
            self._tell(say)
            await self._clock.sleep(pause)

    def now(self) -> float:
        """Epoch seconds by the platform's clock."""
        return self._clock.now().timestamp() + self._skew

    def age(self) -> float | None:
        """Seconds since the newest sample, None where there is none."""
        newest = self.readings.last
        return None if newest is None else max(0.0, self.now() - newest.time)

    def freshness(self) -> Freshness:
        """How far the samples tell of now."""
        age = self.age()
        return Freshness.NEVER if age is None else sample_freshness(age, cadence(self.readings), self._thresholds)

    async def _try(self, say: Callable[[str], None]) -> float:
        """Ask once. Returns the seconds to wait before the next time."""
        try:
            await self.ask()
        except NotFound:
            raise
        except ApiError as error:
            self._failures += 1
            if self._failures == 1:
                say(f"{error}; trying again")
            steps = self._pace.backoff
            asked = error.retry_after if isinstance(error, Rejected) else None
            return max(asked or 0.0, steps[min(self._failures, len(steps)) - 1])
        if self._failures:
            say("the platform answers again")
        self._failures = 0
        return self._pace.qos_focus

    def _tell(self, say: Callable[[str], None]) -> None:
        """Say it where the samples went stale, came back, or never were there."""
        state = self.freshness()
        if state is Freshness.LATE or state is self._told:
            return
        if state is Freshness.STALE:
            say(f"STALE: no new sample for {values.age(self.age() or 0.0)}")
        elif state is Freshness.NEVER:
            say("no samples yet")
        else:
            say("samples come again" if self._told is Freshness.STALE else "the first samples")
        self._told = state


OutputFormat = Literal["table", "json", "csv"]


DEFAULT_SPAN = 60.0

"""Seconds of samples that a person is shown who asks for no others."""


@click.command
@click.argument("event", metavar="EVENT")
@click.option("--follow", is_flag=True, help="Go on: every new sample once, until ctrl-c.")
@click.option("--json", "form", flag_value="json", help="One JSON object; with --follow one line a sample.")
@click.option("--csv", "form", flag_value="csv", help="A header and a row a sample.")
@click.option("--last", type=time_span, metavar="TIME", help="So much of the stream's end: 90s, 15m, 2h.")
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, event: str, follow: bool, form: OutputFormat | None, last: float | None, **flags: Any
) -> None:
    """Print the QoS samples of EVENT: an id, a name, or the beginning of either that fits one event alone.

    Without --last: all that the platform keeps, as JSON or CSV; the last minute for people, and before --follow.
    Rates are bit/s and frames/s, times ISO 8601 UTC; what was not measured is empty or null, and never 0.
    """

    async def work() -> int:
        settings, clock = load(**given(ctx, flags)), SystemClock()
        async with make_api(settings) as api:
            found = await lookup_event(api, event)
            follower = Follower(api.without_retry() if follow else api, found, clock, settings)
            if follow:
                return await followed(follower, form or "table", DEFAULT_SPAN if last is None else last)
            return await report(follower, form or "table", last)

    ctx.exit(run(work))


async def report(follower: Follower, form: OutputFormat, last: float | None) -> int:
    """Print what there is. Returns the exit code."""
    event = follower.event
    await follower.ask()
    shown = list(newest_readings(follower.readings, DEFAULT_SPAN if last is None and form == "table" else last))
    if form == "json":
        click.echo(serialization.to_json(_object(follower, shown)))
        return DONE
    click.echo("\n".join([_head(form), *_lines(form, event, shown)]))
    if not shown:
        click.echo(f"livedeck qos: {_name(event)} has no samples: {_why_none(event)}", err=True)
    elif form == "table":
        age = values.age(follower.age() or 0.0)
        click.echo(f"\n{len(shown)} samples of {_name(event)}, the newest {age} old ({follower.freshness().value})")
    return DONE


async def followed(follower: Follower, form: OutputFormat, last: float) -> int:
    """Print every sample once, as it comes, until somebody ends it. Raises NotFound where the event goes away."""
    if form != "json":
        click.echo(_head(form))
    event = follower.event
    async for fresh in follower.news(last, _say(event)):
        click.echo("\n".join(_lines(form, event, fresh)))
    return DONE


def _say(event: Event) -> Callable[[str], None]:
    return lambda words: click.echo(f"livedeck qos: {_name(event)}: {words}", err=True)


def _head(form: OutputFormat) -> str:
    return ",".join(serialization.SAMPLE_FIELDS) if form == "csv" else SAMPLE_HEAD


def _lines(form: OutputFormat, event: Event, readings: Iterable[Reading]) -> list[str]:
    if form == "json":
        return [serialization.to_json({"event_id": event.id, **serialization.sample_object(one)}) for one in readings]
    return [serialization.sample_csv_row(one) if form == "csv" else sample_text(one) for one in readings]


def _object(follower: Follower, shown: list[Reading]) -> dict[str, Any]:
    """`age`: seconds of the newest sample; `left_out`: samples that could not be used (no time, or a future one)."""
    event, age = follower.event, follower.age()
    return {
        "event": {"id": event.id, "name": event.name},
        "stream": None if event.stream is None else {"id": event.stream.id, "status": event.stream.status},
        "as_of": timestamp(follower.now()),
        "freshness": follower.freshness().value,
        "age": None if age is None else round(age, 3),
        "left_out": follower.left_out,
        "samples": [serialization.sample_object(one) for one in shown],
    }


def _name(event: Event) -> str:
    return values.safe(event.name or event.id, 80)


def _why_none(event: Event) -> str:
    return "no stream is scheduled" if event.stream is None else "its stream has sent none"
