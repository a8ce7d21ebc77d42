"""Commands that read objects: list, get, restreams and download."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, UNREACHABLE, run
from livedeck.cli.formats import Output, check_columns, output_options, print_item, print_list
from livedeck.cli.lookup import EVENT_HELP, argument_names, find_named, remember_names
from livedeck.cli.options import FORCE_TWICE, QUIET, merge_flags, platform
from livedeck.cli.output import TransferLine, echo, echo_calendar
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_history, written_history
from livedeck.client import Api, ApiError, ContentKind, Event, Incomplete, NotFound, Secret, plain_name
from livedeck.monitor import EventRecord, KnownMaterial, NotReadError
from livedeck.monitor.detection.phase import derive
from livedeck.monitor.evidence.ends import Doubts
from livedeck.monitor.polling.on_demand import MaterialCache
from livedeck.operations.nouns import RECORDINGS, RESTREAMS, Found, Known, Noun, Rows
from livedeck.presentation.calendar import CALENDAR_DAYS, PACKAGE_NEEDED, calendar_text, entries_of_gone, entry_of
from livedeck.presentation.json_schema import FAULTS, model_fields
from livedeck.presentation.serialization import fault_object, shortfall_object
from livedeck.settings import Settings, load
from livedeck.text.secrets import mask_secrets
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.presentation.documents import Fault


class Remembered(NamedTuple):
    """Objects that the history of this machine knows.

    `on_air`: returns the ids of events on air a moment ago. `events`: returns the records for a calendar.
    """

    materials: Known
    on_air: Callable[[], Awaitable[tuple[str, ...]]]
    events: Callable[[], Awaitable[tuple[EventRecord, ...]]]


Work = Callable[[Api, Sequence[str], Remembered, Output], Awaitable[int]]
"""Function that does the work of a command and returns the exit code.

Its arguments are the client, the typed names, the objects that the history knows, and the requested output.
"""

CALENDAR = "ics"
"""Format that prints the events as a calendar."""

_ON_AIR_FOR = timedelta(minutes=10)
"""Maximum age of the newest sample of an event that counts as on air (monitoring.md, "Missing events")."""


def list_command(noun: Noun) -> click.Command:
    """Make the command `list`: every object, or those of an owner."""
    owner = (noun.owner,) if noun.owner else ()

    async def work(api: Api, words: Sequence[str], remembered: Remembered, output: Output) -> int:
        found = await find_named(noun, api, words, remembered.materials)
        is_material = noun.name == "material"
        owner = found.owner
        rows = Rows(await remembered.materials(owner.id)) if is_material else await noun.read_all(api, owner)
        if is_material and not rows.items:
            echo("livedeck: materials unknown: no endpoint lists them, and this machine's history has none", err=True)
        if noun.name == "event":
            rows = await with_unlisted(api, rows, await remembered.on_air())
            remember_names(rows.items)
            if output.format == CALENDAR:
                _print_calendar(noun, rows, await remembered.events())
                return _tell_gaps(noun, rows)
        return print_rows(f"{noun.path} list", noun, rows, [object_of(noun, item) for item in rows.items], output)

    of = f" of a {noun.owner.lower()}" if noun.owner else ""
    of += " that this machine knows; the platform does not list them" if noun.name == "material" else ""
    text = f"List the {noun.noun}s{of}. Every format except the table has the token for --if-unchanged."
    more = (CALENDAR,) if noun.name == "event" else ()
    return _reading_command("list", noun, owner, text, work, *more)


async def with_unlisted(api: Api, rows: Rows, on_air: Iterable[str]) -> Rows:
    """Return the list of events, and add existing events that it lacks although they were on air a moment ago."""
    served, unanswered = list[Event](), 0
    for event_id in Doubts().missing({event.id for event in rows.items}, on_air):
        try:
            served.append(await api.events.get(event_id))
        except NotFound:
            continue
        except ApiError:
            unanswered += 1
    unlisted = tuple(event.id for event in served)
    return replace(rows, items=(*rows.items, *served), unlisted=unlisted, unanswered=unanswered)


def _print_calendar(noun: Noun, rows: Rows, records: Sequence[EventRecord]) -> None:
    """Print events as a calendar. `records`: records of events in the history of this machine."""
    now = SystemClock().now()
    entries = [entry for event in rows.items if (entry := entry_of(event, derive(event, None, now)))]
    if not rows.gaps(noun):  # otherwise a missing event proves nothing
        entries += entries_of_gone(records, {event.id for event in rows.items})
    try:
        echo_calendar(calendar_text(entries, now))
    except ImportError:
        raise click.UsageError(PACKAGE_NEEDED) from None


def get_command(noun: Noun) -> click.Command:
    """Make the command `get`: one object with every field."""

    async def work(api: Api, words: Sequence[str], remembered: Remembered, output: Output) -> int:
        found = await find_named(noun, api, words, remembered.materials)
        item = await noun.read(api, found.owner, found.item)
        print_item(f"{noun.path} get", object_of(noun, item), output)
        tell_faults(noun, [item])
        return DONE

    text = f"Print the {noun.noun} with every field, and the token for --if-unchanged."
    return _reading_command("get", noun, noun.arguments, text, work)


def videos_command() -> click.Command:
    """Make the command `video list`: the recordings of an event, the only videos that the platform lists."""
    text = "List the recordings of EVENT. Other commands take the id of a recording as VIDEO."
    return _rows_command("list", RECORDINGS, "video list", text)


def restreams_command() -> click.Command:
    """Make the command `event restreams`: the restreams of an event, with masked keys."""
    text = "List the restreams of EVENT, with masked keys."
    return _rows_command("restreams", RESTREAMS, "event restreams", text)


def _rows_command(name: str, noun: Noun, path: str, text: str) -> click.Command:
    async def work(api: Api, words: Sequence[str], remembered: Remembered, output: Output) -> int:
        found = await find_named(noun, api, words, remembered.materials)
        rows = await noun.read_all(api, found.owner)
        items = [{**noun.as_object(item), "faults": faults_of(noun, item)} for item in rows.items]
        return print_rows(path, noun, rows, items, output)

    return _reading_command(name, noun, noun.arguments[:1], text, work)


def noun_fields(noun: Noun) -> dict[str, Any]:
    """Return the fields of the noun's JSON, each with its JSON Schema."""
    return {**model_fields(noun.model), **noun.extra_fields, "token": {"type": "string"}, "faults": FAULTS}


def object_of(noun: Noun, item: Any) -> dict[str, Any]:
    """Return the object as JSON, with its token and the faults of its unreadable fields."""
    return {**noun.as_object(item), "token": noun.fingerprint(item), "faults": faults_of(noun, item)}


def faults_of(noun: Noun, item: Any) -> list[Fault]:
    """Return the faults of the object's unreadable fields, as JSON."""
    return [fault_object(fault) for fault in noun.faults(item)]


def print_rows(command: str, noun: Noun, rows: Rows, items: Sequence[dict[str, Any]], output: Output) -> int:
    """Print a list and, on standard error, the rows that were left out or not received.

    Returns the exit code (commands.md, "Unreadable data").
    """
    faults = [fault_object(fault) for fault in rows.unreadable]
    lacks: dict[str, Any] = {"unreadable": faults, "shortfall": shortfall_object(rows.shortfall)}
    if noun.name == "event":
        lacks["unlisted"] = rows.unlisted
    print_list(command, items, noun.columns, output, lacks)
    tell_faults(noun, rows.items)
    return _tell_gaps(noun, rows)


def _tell_gaps(noun: Noun, rows: Rows) -> int:
    """Print on standard error the rows that were left out or not received. Returns the exit code."""
    gaps = rows.gaps(noun)
    for gap in gaps:
        echo(f"livedeck: {gap}", err=True)
    return UNREACHABLE if gaps else DONE


def tell_faults(noun: Noun, items: Iterable[Any]) -> None:
    """Print on standard error which fields of the items could not be read."""
    odd = [(item, faults) for item in items if (faults := noun.faults(item))]
    if not odd:
        return
    item, (fault, *_) = odd[0]
    name = safe(noun.called(item) or item.id, 60)
    rest = f"; {len(odd)} {noun.noun}s have unreadable fields, see `faults` of --json" if len(odd) > 1 else ""
    echo(f"livedeck: {name}: could not be read: {mask_secrets(str(fault))}{rest}", err=True)


class ReadingCommand(click.Command):
    """Command that reads. `columns`: possible values of --columns."""

    columns: tuple[str, ...] = ()


def _reading_command(
    name: str, noun: Noun, arguments: tuple[str, ...], text: str, work: Work, *more: str
) -> click.Command:
    """Make a command that reads. `more`: formats besides the usual ones."""

    def callback(ctx: click.Context, /, **flags: Any) -> None:
        words = [flags.pop(argument.lower()) for argument in arguments]
        output = Output.take(flags)
        if output.format == CALENDAR and output.columns:
            raise click.UsageError("--columns: a calendar has no columns")
        check_columns(output, [*noun_fields(noun)])

        async def read() -> int:
            settings = load(**merge_flags(ctx, flags))
            async with AsyncExitStack() as stack:
                api = await stack.enter_async_context(make_api(settings))
                remembered = Remembered(
                    known_materials(settings, stack), partial(_on_air, settings), partial(_recorded, settings)
                )
                return await work(api, words, remembered, output)

        ctx.exit(run(read))

    help_text = f"{text}\n\n{EVENT_HELP}" if "EVENT" in arguments else text
    decorated = click.pass_context(callback)
    command = click.command(name, help=help_text, cls=ReadingCommand)(
        output_options(platform(decorated), noun.columns, *more)
    )
    command.columns = tuple(noun_fields(noun))
    command.params[:0] = argument_names(arguments)
    return command


async def _on_air(settings: Settings) -> tuple[str, ...]:
    """Return the ids of the events that were on air a moment ago, by the history of this machine."""
    reader = written_history(settings)
    if reader is None:
        return ()
    try:
        return await reader.whole(reader.on_air_since(SystemClock().now() - _ON_AIR_FOR))
    except NotReadError as error:
        echo(f"livedeck: {error}. So it is unknown whether the list lacks an event on air.", err=True)
        return ()


async def _recorded(settings: Settings) -> tuple[EventRecord, ...]:
    """Return the event records in the calendar's time range, from the history of this machine.

    Raises NotReadError.
    """
    reader = written_history(settings)
    return await reader.whole(reader.events(SystemClock().now() - CALENDAR_DAYS)) if reader else ()


def known_materials(settings: Settings, stack: AsyncExitStack) -> Known:
    """Return a function that finds the materials of a video in the history of this machine.

    It opens the history on first use; the stack closes it.
    """

    async def materials_of(video_id: str) -> tuple[KnownMaterial, ...]:
        path = settings.history_file()
        if path is None or not path.exists():  # reading must not create a history
            return ()
        history = await stack.enter_async_context(make_history(settings))
        return await MaterialCache(history, SystemClock()).materials(video_id, None)

    return materials_of


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """File of an object. `name`: name on the platform. `kind`: kind of content. `size`: bytes; None if unknown."""

    link: Secret | str
    name: str
    kind: ContentKind
    size: int | None = None


async def _subtitle_file(api: Api, found: Found) -> RemoteFile:
    track = await api.subtitles.get(found.owner.id, found.item.id)
    if not track.url or not track.url.reveal():
        raise Incomplete(f"download {safe(found.item.id, 40)}: it has no file yet")
    return RemoteFile(track.url, track.file_name or f"{track.language or 'track'}.vtt", "subtitles")


async def _poster_file(api: Api, found: Found) -> RemoteFile:
    poster = await api.posters.get(found.owner.id, found.item.id)
    if not poster.original:
        raise Incomplete(f"download {safe(found.item.id, 40)}: the platform names no picture")
    return RemoteFile(poster.original, f"{found.item.id}.png", "picture")


async def _material_file(api: Api, found: Found) -> RemoteFile:
    material: KnownMaterial = found.item
    name = material.file_name or material.title or material.id
    return RemoteFile(await api.materials.link(material.id), name, "file", material.size)


FILES = {"subtitle": _subtitle_file, "poster": _poster_file, "material": _material_file}
"""Noun -> function that returns the file of an object."""


def download_command(noun: Noun) -> click.Command:
    """Make the command `download`: save the file of an object."""
    arguments = noun.arguments

    def callback(ctx: click.Context, /, *, output: str | None, force: int, quiet: bool, **flags: Any) -> None:
        words = [flags.pop(argument.lower()) for argument in arguments]

        async def work() -> int:
            settings = load(**merge_flags(ctx, flags))
            async with AsyncExitStack() as stack:
                api = await stack.enter_async_context(make_api(settings))
                found = await find_named(noun, api, words, known_materials(settings, stack))
                return await _download(noun, api, found, output, force=force, quiet=quiet)

        ctx.exit(run(lambda: cancel_on_signals(work)))

    text = (
        f"Download the file of the {noun.noun}.\n\nWithout -o it is written into the current folder, under the name "
        "that the platform gives. The file gets its name once it is complete."
    )
    decorated = options.output("PATH")(FORCE_TWICE(QUIET(platform(click.pass_context(callback)))))
    command = click.command("download", help=text)(decorated)
    command.params[:0] = argument_names(arguments)
    return command


def _destination(output: str, name: str) -> Path:
    path = Path(output).expanduser()
    return path / name if path.is_dir() else path


async def _download(noun: Noun, api: Api, found: Found, output: str | None, *, force: int, quiet: bool) -> int:
    file = await FILES[noun.name](api, found)
    path = _destination(output or ".", plain_name(file.name, noun.noun))
    line = TransferLine(f"download {safe(file.name, 40)}")
    try:
        size = await api.cdn.save(
            file.link,
            path,
            f"download {safe(file.name, 60)}",
            kind=file.kind,
            name=file.name,
            size=file.size,
            replace=force > 0,
            unchecked=force > 1,
            progress=line,
        )
    finally:
        line.clear()
    if not quiet:
        echo(f"livedeck: {size:,} bytes in {path}", err=True)
    return DONE
