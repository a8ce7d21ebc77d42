"""`livedeck event chat`: the chat of an event's streams in a file, a folder or a pipe."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import IO, Any
from zoneinfo import ZoneInfo

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, USAGE, code_of_error, error_text, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import FORCE_TWICE, merge_flags, platform, time_range, time_zone, timestamp
from livedeck.cli.output import ProgressLine, echo
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.wiring import make_api, written_history
from livedeck.client import (
    CHAT_FORMATS,
    Api,
    ChatExport,
    ChatFormat,
    Event,
    ExportResult,
    FileFault,
    MessageFilter,
    Rejected,
    Unproved,
    plain_name,
)
from livedeck.monitor import KnownStream, NotReadError, StreamRecord, current_stream, known_streams
from livedeck.presentation.chat_export import progress_parts, result_parts
from livedeck.settings import Settings, load
from livedeck.text import values

FORMATS = tuple(CHAT_FORMATS)


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """Target of the exported bytes.

    `path`: a file, or with --all-streams a folder; None for a generated name. `pipe`: write to standard output instead.
    `force`: how often --force was given. Given once, it replaces existing files; given twice, it also accepts a
    response that is not proved to be the log.
    """

    path: Path | None
    pipe: bool
    force: int


@click.command
@click.argument("event", metavar="EVENT")
@click.option("--stream", metavar="ID", help="Export this stream instead of the current one.")
@click.option(
    "--all-streams", is_flag=True, help="Export every stream that the platform, a recording or the history names."
)
@click.option("--format", "chat_format", type=click.Choice(FORMATS), help="Format of the output.")
@time_range({"type": timestamp}, {"type": timestamp})
@click.option(
    "--user", "users", multiple=True, metavar="NAME", help="Export messages of this user: name or external id."
)
@click.option("--admins", is_flag=True, help="Export messages of administrators.")
@click.option("--search", default="", metavar="TEXT", help="Export messages with this text, ignoring case.")
@click.option("--tz", "zone", type=time_zone, metavar="ZONE", help="Time zone of the output, --from and --to. [UTC]")
@click.option(
    "--safe-csv",
    is_flag=True,
    help="Put a ' before cells that a spreadsheet would run as formulas, and count these cells.",
)
@options.output("PATH|-")
@FORCE_TWICE
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, event: str, stream: str | None, all_streams: bool, force: int, **flags: Any
) -> None:
    """Export the chat of EVENT to a file, a folder (--all-streams) or standard output (-).

    EVENT: an id, a name, or the beginning of either, if unambiguous. Times are ISO 8601: 2026-11-21T18:00.
    The default format is that of the suffix of -o, or json. json, csv and txt are written byte for byte as the platform
    sends them. Filters, another time zone and safe cells change that. An interrupted export leaves no
    file. --force replaces a file, but only by a response that is proved to be the log; --force twice accepts any
    complete response.
    """
    output = flags.pop("output")
    target = ExportTarget(None if output in {None, "-"} else Path(output), output == "-", force)
    export = export_from_flags(flags, target, all_streams=all_streams)
    check_usage(target, export, stream, all_streams=all_streams)

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            found = await lookup_event(api, event)
            streams = await select_streams(api, found, stream, settings if all_streams else None)
            return await export_streams(api, found, streams, export, target, all_streams=all_streams)

    ctx.exit(run(lambda: cancel_on_signals(work)))


def export_from_flags(flags: dict[str, Any], target: ExportTarget, *, all_streams: bool) -> ChatExport:
    """Remove the export flags from `flags` and return them as a ChatExport without an event. Raises UsageError."""
    zone: ZoneInfo | None = flags.pop("zone")
    since, until = (_aware(flags.pop(name), zone) for name in ("since", "until"))
    if since and until and since >= until:
        raise click.UsageError("--from should be before --to")
    suffix = target.path.suffix[1:].lower() if target.path else ""
    default: ChatFormat = next((name for name in FORMATS if name == suffix), "json")
    chosen: ChatFormat | None = flags.pop("chat_format")
    if suffix and suffix != default and not chosen and not all_streams:
        _print_note(f".{values.safe(suffix, 20)} is not a format: writing json; choose another with --format")
    chat_format = chosen or default
    messages = MessageFilter(since, until, flags.pop("users"), flags.pop("admins"), flags.pop("search"))
    safe_csv = flags.pop("safe_csv")
    if safe_csv and chat_format != "csv":
        raise click.UsageError(f"--safe-csv is for --format csv, not {chat_format}")
    return ChatExport("", "", chat_format, messages, zone, safe_csv)


def _aware(time: datetime | None, zone: ZoneInfo | None) -> datetime | None:
    return time.replace(tzinfo=zone or UTC) if time and time.tzinfo is None else time


def check_usage(target: ExportTarget, export: ChatExport, stream: str | None, *, all_streams: bool) -> None:
    """Raise UsageError for flags that exclude each other."""
    if all_streams and stream:
        raise click.UsageError("--stream and --all-streams exclude each other")
    if all_streams and target.pipe:
        raise click.UsageError("--all-streams writes a file for each stream: give -o a folder")
    if target.pipe and sys.stdout.isatty():
        advice = "write to a file with -o, or to a pipe"
        raise click.UsageError(
            f"{export.format} is not printed, because a chat may contain terminal control codes: {advice}"
        )


async def select_streams(api: Api, event: Event, stream: str | None, history: Settings | None) -> list[KnownStream]:
    """Return the streams to export; the list may be empty.

    `history`: settings whose history is searched for earlier streams; None for the current stream only. Prints the
    found streams on standard error.
    """
    if stream:
        return [KnownStream(stream, "named")]
    if history is None:
        current = await current_stream(api, event)
        return [current] if current else []
    streams = [*await known_streams(api, event, await _streams_of_history(history, event))]
    _print_note(f"known streams of {_name(event)}: {', '.join(map(str, streams)) or 'none'}")
    return streams


async def _streams_of_history(settings: Settings, event: Event) -> tuple[StreamRecord, ...]:
    reader = written_history(settings)
    try:
        return await reader.whole(reader.streams(event.id)) if reader else ()
    except NotReadError as error:
        _print_note(f"{error}. Earlier streams may be missing.")
        return ()


async def export_streams(
    api: Api, event: Event, streams: list[KnownStream], export: ChatExport, target: ExportTarget, *, all_streams: bool
) -> int:
    """Export the streams. Returns the exit code. With --all-streams it continues after a failure. Raises ApiError."""
    if not streams:
        which, advice = ("that is known", "") if all_streams else ("now", ", or look for them with --all-streams")
        _print_note(f"{_name(event)} has no stream {which}: name an earlier one with --stream{advice}")
        return USAGE
    code, written = DONE, set[Path]()
    for stream in streams:
        path = target.path
        if path is None or all_streams:
            name = f"{plain_name(event.name or event.id)}-{plain_name(stream.id)}.{export.format}"
            path = (path or Path()) / name
        stream_export = replace(export, event_id=event.id, stream_id=stream.id)
        try:
            await _export_stream(
                api, stream_export, replace(target, path=path, force=0 if path in written else target.force)
            )
        except (Rejected, FileFault, Unproved) as error:
            if not all_streams:
                raise
            _print_note(f"{stream}: {error_text(error)}")
            code = code_of_error(error)
        written.add(path)
    return code


async def _export_stream(api: Api, export: ChatExport, target: ExportTarget) -> None:
    line = ProgressLine(sys.stderr, monotonic)

    async def write(to: Path | IO[bytes]) -> ExportResult:
        return await api.chat.export(
            export,
            to,
            replace=target.force > 0,
            unchecked=target.force > 1,
            progress=lambda done: line.show(progress_parts(done)),
        )

    try:
        if target.pipe or target.path is None:
            with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as pipe:  # noqa: ASYNC230  a number
                result = await write(pipe)
        else:
            result = await write(target.path)
    finally:
        line.clear()
    size, *notes = result_parts(export, result)
    destination = "standard output" if target.pipe else values.safe(str(target.path), 200)
    _print_note("; ".join([f"{size}, to {destination}", *notes]))


def _name(event: Event) -> str:
    return values.safe(event.name or event.id, 60)


def _print_note(text: str) -> None:
    echo(f"livedeck: {text}", err=True)
