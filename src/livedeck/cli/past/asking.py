"""What the commands that read the past share: where it is, the event, the stretch of time. None asks the platform."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from livedeck.cli.exit_codes import FAULT
from livedeck.cli.output import echo
from livedeck.cli.process import end_on_interrupt
from livedeck.cli.wiring import SystemClock, open_records
from livedeck.environment import terminal
from livedeck.monitor import EventRecord, HistoryReader, HistoryReads
from livedeck.monitor.history.database import StorageError
from livedeck.operations.nouns import NotMatched, match
from livedeck.report.recorded import latest_events
from livedeck.report.spans import Span
from livedeck.settings import Settings
from livedeck.text.times import TimeReference, parse

Command = TypeVar("Command", bound=Callable[..., Any])

MOMENT_HELP = "21:04, yesterday 21:04, 2026-11-21T21:04, -15m; in the time zone of this machine"

_AROUND = timedelta(minutes=5)
"""Before and after a show that is told."""


def past_moment(text: str, after: datetime | None = None) -> datetime:
    """A moment of the past, as people type it, or a day: its beginning. `after`: a time of day is the first such after
    then. Raises click.BadParameter."""
    is_day = re.fullmatch(r"\d{4}-\d\d-\d\d|today|yesterday", text)
    reference = TimeReference(SystemClock().now(), past=True, after=after)
    try:
        return parse(f"{text} 00:00" if is_day else text, reference)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} {error}") from None


def _end(ctx: click.Context, _: click.Parameter, text: str | None) -> datetime | None:
    """The end of a stretch, which is behind its beginning. Raises click.BadParameter."""
    since: datetime | None = ctx.params.get("since")
    until = past_moment(text, since) if text else None
    if since and until and since >= until:
        raise click.BadParameter(f"{_read(until)} is not after --from, {_read(since)}")
    return until


def _read(at: datetime) -> str:
    """A moment that was typed, as it was understood."""
    return f"read as {at:%Y-%m-%d %H:%M:%S}Z"


_STRETCH = (
    click.option(
        "--from", "since", type=past_moment, is_eager=True, metavar="TIME", help=f"From then on: {MOMENT_HELP}."
    ),
    click.option(
        "--to", "until", callback=_end, metavar="TIME", help="Until before then, after --from. [default: now]"
    ),
)


def stretch(command: Command) -> Command:
    """Add --from and --to."""
    for option in reversed(_STRETCH):
        command = option(command)
    return command


FILE = click.option(
    "--file", "path", type=click.Path(path_type=Path), metavar="FILE", help="Another history than that of the settings."
)


class _Named(NamedTuple):
    """An event as `match` looks for it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Past:
    """What is asked: `reader`, what each event was like last, and `now` by the clock of whoever keeps it."""

    reader: HistoryReads
    events: tuple[EventRecord, ...]
    now: datetime

    def event(self, words: str) -> EventRecord:
        """The event that is meant, though no list has it any more. Raises UsageError, which lists several."""
        known = [_Named(record.event_id, record.name) for record in self.events]
        try:
            found: _Named = match(known, words, "event", lambda named: named.name)
        except NotMatched as error:
            raise click.UsageError(f"in the history {error}") from None
        return next(record for record in self.events if record.event_id == found.id)

    def names(self) -> dict[str, str]:
        """What each event was called last, by its id."""
        return {record.event_id: record.name or record.event_id for record in self.events}

    def span(self, since: datetime | None, until: datetime | None, otherwise: Span) -> Span:
        """What was typed, as far as it is past; `otherwise` where nothing was. Raises UsageError."""
        if since is None and until is None:
            return otherwise
        if since and since >= self.now:
            raise click.UsageError(f"--from, {_read(since)}, is not past: it is {self.now:%Y-%m-%d %H:%M:%S}Z")
        end = min(until or self.now, self.now)
        return Span(since or min(otherwise.since, end - timedelta(hours=1)), end)

    async def last_show(self, event: EventRecord) -> Span:
        """When that event was on air last, with some minutes around it; the last hour where it never was."""
        records = await self.reader.events(event_id=event.event_id)
        shows = [record for record in records if record.started_at and (_was_on_air(record) or record.is_completed)]
        if not shows or shows[-1].started_at is None:
            return Span(self.now - timedelta(hours=1), self.now)
        started = shows[-1].started_at
        planned = shows[-1].scheduled
        start = min(started, planned) if planned and abs(planned - started) < _SAME_SHOW else started
        end = shows[-1].finished_at or await self._last_seen(records[-1], start)
        return Span(start - _AROUND, min(self.now, end + _AROUND))

    async def _last_seen(self, last: EventRecord, since: datetime) -> datetime:
        """Until when somebody watched that event after `since`."""
        if last.is_gone:
            return last.at
        return max([last.at, *(watch.until for watch in await self.reader.watched(since, self.now))])


_SAME_SHOW = timedelta(hours=2)
"""A plan that is farther from the start was of another show."""


def _was_on_air(record: EventRecord) -> bool:
    return record.tally.expects_signal


async def with_past(
    settings: Settings, command: str, work: Callable[[Past], Awaitable[int]], path: Path | None = None
) -> int:
    """The exit code of `work` on what is known of the past (see `open_records`). A file that cannot be read is said.

    Raises SettingsError, CollectorError.
    """
    end_on_interrupt()
    async with open_records(settings, path) as reader:
        if isinstance(reader, HistoryReader) and not reader.path.exists():
            echo(f"livedeck {command}: there is no history at {reader.path} yet: a deck that runs writes it", err=True)
            return FAULT
        try:
            events = await latest_events(reader)
            now = SystemClock().now() if isinstance(reader, HistoryReader) else reader.now
            return await work(Past(reader, events, now or SystemClock().now()))
        except StorageError as error:
            echo(f"livedeck {command}: {error}", err=True)
            return FAULT


def width() -> int | None:
    """Cells of the terminal; None in a pipe."""
    return terminal().columns if sys.stdout.isatty() else None


def print_lines(lines: Sequence[str]) -> None:
    """Print these."""
    echo("\n".join(lines))
