"""`livedeck event qos`: the samples of one event, once or as they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Literal

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import FOLLOW, PLOT, formats, merge_flags, platform, time_span
from livedeck.cli.output import echo, echo_json, echo_lines
from livedeck.cli.wiring import SystemClock, known_unit, make_api
from livedeck.client import Api, ApiError, Event, NotFound, Rejected
from livedeck.environment import terminal
from livedeck.monitor import Clock, Freshness, Reading, Readings
from livedeck.monitor.detection.units import UnitEvidence, in_bits, judge_unit
from livedeck.monitor.history import StreamKey
from livedeck.monitor.polling.connection import skew
from livedeck.monitor.signal.series import cadence, merge, sample_freshness, times_until
from livedeck.presentation.qos import SAMPLE_HEAD, newest_readings, sample_text
from livedeck.presentation.serialization import SAMPLE_FIELDS, sample_csv_row, sample_object, to_json
from livedeck.settings import Settings, load
from livedeck.text import values
from livedeck.text.times import timestamp

OutputFormat = Literal["table", "json", "csv", "plot"]

PLOT_SPAN = 900.0
"""Seconds of stored samples that --plot draws, unless --last is given."""

DEFAULT_SPAN = 60.0
"""Seconds of stored samples that a table prints, and that --follow prints first, unless --last is given."""


@click.command
@click.argument("event", metavar="EVENT")
@FOLLOW
@formats("table", "json", "csv", has_plot=True)
@click.option(
    "--last", type=time_span, metavar="TIME", help="Print the newest samples, going back this far: 90s, 15m, 2h."
)
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, event: str, follow: bool, output_format: OutputFormat, last: float | None, **flags: Any
) -> None:
    """Print the QoS samples of EVENT, once or as they arrive.

    EVENT: an id, a name, or the beginning of either, if unambiguous. Without --last, JSON and CSV have every
    stored sample; the table and --follow begin with the last minute, and --plot draws the last 15 min. Rates are in
    bit/s and frames/s, times in ISO 8601 UTC. Missing values are empty or null, never 0. With --follow, JSON has a line
    for each sample.
    """
    if follow and output_format == PLOT:
        raise click.UsageError("--plot draws once: leave out --follow")

    async def work() -> int:
        settings, clock = load(**merge_flags(ctx, flags)), SystemClock()
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
            follower = QosFollower(api.without_retry() if follow else api, target, clock, settings)
            if follow:
                span = DEFAULT_SPAN if last is None else last
                return await follow_samples(follower, output_format, span)
            return await print_samples(follower, output_format, last)

    ctx.exit(run(work))


class QosFollower:
    """Polls the samples of one event. `left_out`: number of unusable samples in the last reply.

    `unit_question`: question about the unit of the bit rates, or empty. Until it is answered, the bit rates are
    missing.
    """

    def __init__(self, api: Api, event: Event, clock: Clock, settings: Settings) -> None:
        self.event, self.readings, self.left_out = event, Readings(), 0
        self.unit_question, self._evidence = "", UnitEvidence()
        self._settings, self._known_unit = settings, settings.rate_unit
        self._api, self._clock, self._cadence = api, clock, settings.polling_cadence()
        self._thresholds = settings.limits_in_force().of(event)
        self._skew, self._failures, self._reported = 0.0, 0, Freshness.FRESH

    async def poll(self) -> None:
        """Merge the current samples of the platform. Raises ApiError."""
        answer = await self._api.qos.get(self.event.id)
        self._skew = skew(self._api.timings, self._skew, self._thresholds)
        until = self.now() + self._thresholds.ahead
        self.left_out = answer.dropped + len(answer) - len(times_until(answer, until))
        stream, is_first = self.event.stream, not self._evidence.looks
        self._evidence = self._evidence.after(self.event.id, stream.id if stream else None, answer)
        verdict = judge_unit(self._settings.rate_unit, self._known_unit, self._evidence)
        if self._known_unit is None and (is_first or verdict.is_doubtful):
            sent = {StreamKey(self.event.id, stream.id or ""): answer} if stream else {}
            self._known_unit = await known_unit(self._settings, self._api.host, sent)
            verdict = judge_unit(self._settings.rate_unit, self._known_unit, self._evidence)
        self.unit_question = verdict.question
        self.readings = merge(self.readings, in_bits(answer, verdict), until=until)

    async def new_readings(self, last: float, report: Callable[[str], None]) -> AsyncIterator[list[Reading]]:
        """Yield the samples of the last `last` seconds, then each new sample once. Ends only by raising NotFound.

        `report`: called with a text once when the platform fails or the samples grow stale, and once at recovery.
        """
        yielded: frozenset[float] | None = None
        asked = ""
        while True:
            pause = await self._poll_or_back_off(report)
            if self.unit_question and not asked:
                report(self.unit_question)
            asked = self.unit_question
            if not self._failures:
                readings = newest_readings(self.readings, last if yielded is None else None)
                fresh = [reading for reading in readings if yielded is None or reading.time not in yielded]
                yielded = frozenset(self.readings.time)
                if fresh:
                    yield fresh
            self._report_freshness(report)
            await self._clock.sleep(pause)

    def now(self) -> float:
        """Return the time of the platform's clock, in epoch seconds."""
        return self._clock.now().timestamp() + self._skew

    def age(self) -> float | None:
        """Return the seconds since the newest sample; None if there is none."""
        newest = self.readings.last
        return None if newest is None else max(0.0, self.now() - newest.time)

    def freshness(self) -> Freshness:
        """Return how fresh the samples are."""
        age = self.age()
        return Freshness.NEVER if age is None else sample_freshness(age, cadence(self.readings), self._thresholds)

    async def _poll_or_back_off(self, report: Callable[[str], None]) -> float:
        """Poll once. Returns the seconds to wait before the next poll."""
        try:
            await self.poll()
        except NotFound:
            raise
        except ApiError as error:
            self._failures += 1
            if self._failures == 1:
                report(f"{error}; retrying")
            steps = self._cadence.backoff
            retry_after = error.retry_after if isinstance(error, Rejected) else None
            step = min(steps[min(self._failures, len(steps)) - 1], self._cadence.probe)  # no more often than a probe
            return max(retry_after or 0.0, step)
        if self._failures:
            report("the platform responds again")
        self._failures = 0
        return self._cadence.qos_focus

    def _report_freshness(self, report: Callable[[str], None]) -> None:
        """Report, once for each change, that the samples went stale, came back, or never existed."""
        freshness = self.freshness()
        if freshness is Freshness.LATE or freshness is self._reported:
            return
        if freshness is Freshness.STALE:
            report(f"STALE: no new sample for {values.age(self.age() or 0.0)}")
        elif freshness is Freshness.NEVER:
            report("no samples yet")
        else:
            report("samples arrive again" if self._reported is Freshness.STALE else "the first samples")
        self._reported = freshness


async def print_samples(follower: QosFollower, output_format: OutputFormat, last: float | None) -> int:
    """Print the stored samples. Returns the exit code."""
    event = follower.event
    await follower.poll()
    if follower.unit_question:
        echo(f"livedeck event qos: {follower.unit_question}", err=True)
    if output_format == PLOT:
        print_plot(follower, PLOT_SPAN if last is None else last)
        return DONE
    span = DEFAULT_SPAN if last is None and output_format == "table" else last
    readings = list(newest_readings(follower.readings, span))
    if output_format == "json":
        echo_json(_samples_object(follower, readings))
        return DONE
    echo("\n".join([_head(output_format), *_lines(output_format, event, readings)]))
    if not readings:
        echo(f"livedeck event qos: {_name(event)} has no samples: {_reason_without_samples(event)}", err=True)
    elif output_format == "table":
        echo(f"\n{len(readings)} samples of {_name(event)}, the newest {_age(follower)}")
    return DONE


def print_plot(follower: QosFollower, seconds: float) -> None:
    """Print the curves of the last `seconds`."""
    event, samples, stream = follower.event, follower.readings, follower.event.stream
    if not len(samples):
        echo(f"no samples of {_name(event)}: {_reason_without_samples(event)}; whether a signal arrives is unknown")
        return
    from livedeck.cli.event.qos_plot import qos_plot

    now = follower.now()
    as_of = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S}Z"
    echo(f"{_name(event)}, as of {as_of}, the newest sample {_age(follower)}")
    is_over = stream is not None and (stream.status == "finished" or stream.finished_at is not None)
    is_stale = follower.freshness() is Freshness.STALE
    echo_lines(qos_plot(samples, seconds, terminal().columns, now=None if is_over else now, is_stale=is_stale))


def _reason_without_samples(event: Event) -> str:
    return "no stream is scheduled" if event.stream is None else "the platform sent no samples for the event's stream"


def _age(follower: QosFollower) -> str:
    return f"{values.age(follower.age() or 0.0)} old ({follower.freshness().value})"


async def follow_samples(follower: QosFollower, output_format: OutputFormat, last: float) -> int:
    """Print every sample once, as it arrives, until ctrl-c. Raises NotFound if the event is deleted."""

    def report(text: str) -> None:
        echo(f"livedeck event qos: {_name(follower.event)}: {text}", err=True)

    if output_format != "json":
        echo(_head(output_format))
    async for readings in follower.new_readings(last, report):
        echo("\n".join(_lines(output_format, follower.event, readings)))
    return DONE


def _head(output_format: OutputFormat) -> str:
    return ",".join(SAMPLE_FIELDS) if output_format == "csv" else SAMPLE_HEAD


def _lines(output_format: OutputFormat, event: Event, readings: Iterable[Reading]) -> list[str]:
    if output_format == "json":
        return [to_json({"event_id": event.id, **sample_object(reading)}) for reading in readings]
    return [sample_csv_row(reading) if output_format == "csv" else sample_text(reading) for reading in readings]


def _samples_object(follower: QosFollower, readings: Iterable[Reading]) -> dict[str, Any]:
    """Return the samples as JSON.

    `age`: seconds since the newest sample. `left_out`: number of samples without a time or with a future time.
    """
    event, age = follower.event, follower.age()
    return {
        "event": {"id": event.id, "name": event.name},
        "stream": None if event.stream is None else {"id": event.stream.id, "status": event.stream.status},
        "as_of": timestamp(follower.now()),
        "freshness": follower.freshness().value,
        "age": None if age is None else round(age, 3),
        "left_out": follower.left_out,
        "samples": [sample_object(reading) for reading in readings],
    }


def _name(event: Event) -> str:
    return values.safe(event.name or event.id, 80)
