"""Parts that the commands on the past share: history, event, time range. None sends a request to the platform."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import FAULT, run
from livedeck.cli.options import PLATFORM_NAMES, command_words, history, merge_flags, platform, time_range
from livedeck.cli.output import echo
from livedeck.cli.process import end_on_interrupt
from livedeck.cli.wiring import SystemClock, open_records
from livedeck.environment import terminal
from livedeck.monitor import EventRecord, HistoryReader, HistoryReads
from livedeck.monitor.history.database import StorageError
from livedeck.operations.nouns import NotMatched, match
from livedeck.report.recorded import completions, latest_events
from livedeck.report.spans import Span
from livedeck.settings import Settings, load
from livedeck.text.times import TimeReference, parse

_AROUND = timedelta(minutes=5)
"""Margin before and after a show."""

_LONGEST_SHOW = timedelta(hours=12)
"""Maximum length of a show.

A --to without a day is the first such time after --from. If that is in the future and the range is longer than a show,
--to is the last such time before now.
"""


def past_moment(text: str, after: datetime | None = None) -> datetime:
    """Parse a time of the past as people type it; a day means its beginning. Raises click.BadParameter.

    `after`: if given, a time without a day means the first such time after this moment.
    """
    is_day = re.fullmatch(r"\d{4}-\d\d-\d\d|today|yesterday", text)
    reference = TimeReference(SystemClock().now(), past=True, after=after)
    try:
        return parse(f"{text} 00:00" if is_day else text, reference)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} {error}") from None


def _end(ctx: click.Context, _: click.Parameter, text: str | None) -> datetime | None:
    """Return the end of a time range. Raises click.BadParameter if it is not after the start."""
    since: datetime | None = ctx.params.get("since")
    until = past_moment(text, since) if text else None
    if text and since and until and until > SystemClock().now() and until - since > _LONGEST_SHOW:
        until = past_moment(text)  # the first 17:00 after 18:00 is tomorrow's
    if since and until and since >= until:
        raise click.BadParameter(f"{_read(until)} is not after --from, {_read(since)}")
    return until


def _read(at: datetime) -> str:
    """Return a parsed time as text for an error: `read as 2026-11-21 18:00:00Z`."""
    return f"read as {at:%Y-%m-%d %H:%M:%S}Z"


stretch = time_range({"type": past_moment, "is_eager": True}, {"callback": _end})
"""Decorator that adds --from and --to, for times of the past."""


def past_command(
    *formats: str, has_range: bool = True, has_plot: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a command that prints the past: --from and --to, --format, --plot, --history, the platform.

    The decorated function receives the settings in force and its own arguments, and returns the `work` of `with_past`.
    """

    def decorate(make: Callable[..., Callable[[Past], Awaitable[int]]]) -> Callable[..., Any]:
        @click.pass_context
        @wraps(make)
        def callback(ctx: click.Context, /, *, path: Path | None, **values: Any) -> None:
            flags = {name: values.pop(name) for name in PLATFORM_NAMES}
            settings = load(**merge_flags(ctx, flags))
            work = make(settings=settings, **values)
            ctx.exit(run(lambda: with_past(settings, command_words(ctx), work, path)))

        decorated: Callable[..., Any] = options.formats(*formats, has_plot=has_plot)(history()(platform(callback)))
        return stretch(decorated) if has_range else decorated

    return decorate


class _Named(NamedTuple):
    """Id and name of an event, for the search by words."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Past:
    """Recorded events and their reader.

    `events`: the last record of each event. `now`: time by the clock of the recording process.
    """

    reader: HistoryReads
    events: tuple[EventRecord, ...]
    now: datetime

    def event(self, words: str) -> EventRecord:
        """Return the event that the words name; it may be deleted. Raises UsageError if no event, or several, fit."""
        candidates = [_Named(record.event_id, record.name) for record in self.events]
        try:
            found: _Named = match(candidates, words, "event", lambda named: named.name)
        except NotMatched as error:
            raise click.UsageError(f"in the history {error}") from None
        return next(record for record in self.events if record.event_id == found.id)

    def names(self) -> dict[str, str]:
        """Return the last known name of each event, by its id."""
        return {record.event_id: record.name or record.event_id for record in self.events}

    def span(self, since: datetime | None, until: datetime | None, otherwise: Span) -> Span:
        """Return the typed time range, cut off at the present; `otherwise` if none was typed.

        Raises UsageError.
        """
        if since is None and until is None:
            return otherwise
        if since and since >= self.now:
            raise click.UsageError(f"--from, {_read(since)}, is in the future: now is {self.now:%Y-%m-%d %H:%M:%S}Z")
        end = min(until or self.now, self.now)
        return Span(since or min(otherwise.since, end - timedelta(hours=1)), end)

    async def last_show(self, event: EventRecord) -> Span:
        """Return the time range of the event's last show, with some minutes around it.

        If the event was never on air, the range is the last hour.
        """
        records = await self.reader.events(event_id=event.event_id)
        shows = [record for record in records if record.started_at and (_was_on_air(record) or record.is_completed)]
        if not shows or shows[-1].started_at is None:
            return Span(self.now - timedelta(hours=1), self.now)
        started = shows[-1].started_at
        planned = shows[-1].scheduled
        start = min(started, planned) if planned and abs(planned - started) < _SAME_SHOW else started
        end = (
            shows[-1].finished_at
            or completions(records).get(shows[-1].stream_id)
            or await self._last_seen(records[-1], start)
        )
        return Span(start - _AROUND, min(self.now, end + _AROUND))

    async def _last_seen(self, last: EventRecord, since: datetime) -> datetime:
        """Return the last time after `since` at which the event was watched."""
        if last.is_gone:
            return last.at
        return max([last.at, *(watch.until for watch in await self.reader.watched(since, self.now))])


_SAME_SHOW = timedelta(hours=2)
"""Maximum time between planned and actual start of a show. A planned start further away belongs to another show."""


def _was_on_air(record: EventRecord) -> bool:
    return record.tally.expects_signal


async def with_past(
    settings: Settings, command: str, work: Callable[[Past], Awaitable[int]], path: Path | None = None
) -> int:
    """Open the records (see `open_records`) and return the exit code of `work` on them.

    Prints an error if the file is missing or cannot be read. Raises SettingsError, CollectorError.
    """
    end_on_interrupt()
    async with open_records(settings, path) as reader:
        if isinstance(reader, HistoryReader) and not reader.path.exists():
            echo(
                f"livedeck {command}: there is no history at {reader.path} yet: a running deck or collector writes it",
                err=True,
            )
            return FAULT
        try:
            events = await latest_events(reader)
            now = SystemClock().now() if isinstance(reader, HistoryReader) else reader.now
            return await work(Past(reader, events, now or SystemClock().now()))
        except StorageError as error:
            echo(f"livedeck {command}: {error}", err=True)
            return FAULT


def width() -> int | None:
    """Return the number of columns of the terminal; None in a pipe."""
    return terminal().columns if sys.stdout.isatty() else None


def print_lines(lines: Sequence[str]) -> None:
    """Print the lines."""
    echo("\n".join(lines))
