"""One line on standard error that says how far an export is, and is gone when it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, TextIO, get_args
from zoneinfo import ZoneInfo

import click

from livedeck.cli.exit_codes import DONE, FAULT, code_of_error, run
from livedeck.cli.options import given, lookup_event, platform, time_zone, timestamp
from livedeck.cli.signals import cancel_on_signals
from livedeck.cli.wiring import make_api, make_history
from livedeck.client import (
    Api,
    ChatExport,
    ChatFormat,
    Event,
    ExportProgress,
    FileFault,
    MessageFilter,
    Rejected,
    plain_name,
)
from livedeck.monitor import KnownStream, StreamRecord, current_stream, known_streams
from livedeck.presentation import chat_export
from livedeck.settings import Settings, load
from livedeck.text import values

_PAUSE = 0.2

"""Seconds between two drawings."""


class ProgressLine:
    """Draws on a terminal, and nowhere else. `timer`: seconds that never run backwards."""

    def __init__(self, terminal: TextIO, timer: Callable[[], float]) -> None:
        self._terminal, self._timer = terminal, timer
        self._shown, self._drawn = terminal.isatty(), float("-inf")
        self._width = 0

    def __call__(self, progress: ExportProgress) -> None:
        """Draw it, unless the last one is too young."""
        if self._shown and self._timer() - self._drawn >= _PAUSE:
            self._drawn = self._timer()
            self._draw(", ".join(chat_export.progress_parts(progress)))

    def clear(self) -> None:
        """Leave the line empty, for what comes next."""
        if self._width:
            self._draw("")
            self._terminal.write("\r")
            self._terminal.flush()
            self._width = 0

    def _draw(self, text: str) -> None:
        self._terminal.write(f"\r{text.ljust(self._width)}")
        self._terminal.flush()
        self._width = len(text)


FORMATS: tuple[ChatFormat, ...] = get_args(ChatFormat)


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """Where the bytes go. `path`: a file, or with --all a folder; None: a name of our own. `pipe`: stdout instead."""

    path: Path | None
    pipe: bool
    force: bool


@click.group
def command() -> None:
    """The chat of an event's streams."""


@command.command("export")
@click.argument("event", metavar="EVENT")
@click.option("--stream", metavar="ID", help="That stream; without it the current one.")
@click.option("--all", "every", is_flag=True, help="Every stream that the platform, a recording or the history names.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what -o ends in, else json.")
@click.option("--from", "since", type=timestamp, metavar="MOMENT", help="Written then or later: 2026-11-21T18:00.")
@click.option("--to", "until", type=timestamp, metavar="MOMENT", help="Written before that.")
@click.option("--user", "users", multiple=True, metavar="NAME", help="Written by them: user name or external id.")
@click.option("--admins", is_flag=True, help="Written by administrators.")
@click.option("--search", default="", metavar="TEXT", help="Holds that text, in any case.")
@click.option("--tz", "zone", type=time_zone, metavar="ZONE", help="Write times so, and read --from and --to so. [UTC]")
@click.option("--safe-csv", is_flag=True, help="Put a ' before cells that a spreadsheet would compute, and count them.")
@click.option("-o", "--output", metavar="PATH|-", help="A file, with --all a folder, or - for standard output.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@platform
@click.pass_context
def export(ctx: click.Context, /, *, event: str, stream: str | None, every: bool, force: bool, **flags: Any) -> None:
    """Export the chat of EVENT: an id, a name, or the beginning of either that fits one event alone.

    json, csv and txt are written byte for byte as the platform sends them, unless only some messages, another time zone
    or safe cells are asked for. A file has its name once it is whole: an export that ends before leaves none.
    """
    output = flags.pop("output")
    target = ExportTarget(None if output in {None, "-"} else Path(output), output == "-", force)
    wanted = ordered(flags, target)
    check(target, wanted, stream, every=every)

    async def work() -> int:
        settings = load(**given(ctx, flags))
        async with make_api(settings) as api:
            found = await lookup_event(api, event)
            streams = await meant(api, found, stream, settings if every else None)
            return await exported(api, found, streams, wanted, target, every=every)

    ctx.exit(run(lambda: cancel_on_signals(work)))


def ordered(flags: dict[str, Any], target: ExportTarget) -> ChatExport:
    """What the flags ask for, of no event yet; takes them out of the flags."""
    zone: ZoneInfo | None = flags.pop("zone")
    since, until = (_aware(flags.pop(name), zone) for name in ("since", "until"))
    if since and until and since >= until:
        raise click.UsageError("--from should be before --to")
    suffix = target.path.suffix[1:].lower() if target.path else ""
    by_name: ChatFormat = next((one for one in FORMATS if one == suffix), "json")
    form: ChatFormat = flags.pop("form") or by_name
    sieve = MessageFilter(since, until, flags.pop("users"), flags.pop("admins"), flags.pop("search"))
    safe = flags.pop("safe_csv")
    if safe and form != "csv":
        raise click.UsageError(f"--safe-csv is for --format csv, not {form}")
    return ChatExport("", "", form, sieve, zone, safe)


def _aware(moment: datetime | None, zone: ZoneInfo | None) -> datetime | None:
    return moment.replace(tzinfo=zone or UTC) if moment and moment.tzinfo is None else moment


def check(target: ExportTarget, wanted: ChatExport, stream: str | None, *, every: bool) -> None:
    """Raise UsageError for what does not go together."""
    if every and stream:
        raise click.UsageError("--stream names one stream and --all means every one: leave out one of them")
    if every and target.pipe:
        raise click.UsageError("--all writes a file for each stream: give -o a folder")
    if target.pipe and sys.stdout.isatty():
        advice = "write to a file with -o, or to a pipe"
        raise click.UsageError(
            f"a chat may hold codes that a terminal obeys, and {wanted.format} is for files: {advice}"
        )


async def meant(api: Api, event: Event, stream: str | None, every: Settings | None) -> list[KnownStream]:
    """The streams that are to be exported; may be none. `every`: settings that name the history to search for more.

    Those that were found are said on standard error.
    """
    if stream:
        return [KnownStream(stream, "named")]
    if every is None:
        now = await current_stream(api, event)
        return [now] if now else []
    streams = [*await known_streams(api, event, await _remembered(every, event))]
    _say(f"known streams of {_name(event)}: {', '.join(map(str, streams)) or 'none'}")
    return streams


async def _remembered(settings: Settings, event: Event) -> tuple[StreamRecord, ...]:
    path = settings.history_file()
    if path is None or not path.exists():  # none is begun here
        return ()
    async with make_history(settings) as history:
        if history is None:
            return ()
        found = await history.streams(event.id)
        if history.fault:
            _say(f"the history was not read: {history.fault}")
        return found


async def exported(
    api: Api, event: Event, streams: list[KnownStream], wanted: ChatExport, target: ExportTarget, *, every: bool
) -> int:
    """Export them. Returns the exit code. With --all what fails of one does not keep the others. Raises ApiError."""
    if not streams:
        _say(f"{_name(event)} has no stream now: name an earlier one with --stream, or look for them with --all")
        return FAULT
    code, written = DONE, set[Path]()
    for stream in streams:
        to = target.path
        if to is None or every:
            to = (to or Path()) / f"{plain_name(event.name or event.id)}-{plain_name(stream.id)}.{wanted.format}"
        one = replace(wanted, event_id=event.id, stream_id=stream.id)
        try:
            await _one(api, one, replace(target, path=to, force=target.force and to not in written))
        except (Rejected, FileFault) as error:
            if not every:
                raise
            _say(f"{stream}: {error}")
            code = code_of_error(error)
        written.add(to)
    return code


async def _one(api: Api, wanted: ChatExport, target: ExportTarget) -> None:
    line = ProgressLine(sys.stderr, monotonic)
    try:
        if target.pipe or target.path is None:
            with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as pipe:  # noqa: ASYNC230  a number
                done = await api.chat.export(wanted, pipe, progress=line)
        else:
            done = await api.chat.export(wanted, target.path, replace=target.force, progress=line)
    finally:
        line.clear()
    size, *more = chat_export.result_parts(wanted, done)
    to = "standard output" if target.pipe else values.safe(str(target.path), 200)
    _say("; ".join([f"{size}, to {to}", *more]))


def _name(event: Event) -> str:
    return values.safe(event.name or event.id, 60)


def _say(words: str) -> None:
    click.echo(f"livedeck: {words}", err=True)
