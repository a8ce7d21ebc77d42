"""`livedeck past check`, `vacuum`, `prune`, `salvage` and `export`: maintenance of the history file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, USAGE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import FORCE, YES, formats, history, is_confirmed, is_interactive, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.past.asking import past_moment, stretch
from livedeck.cli.wiring import SystemClock
from livedeck.monitor.history import maintenance, recording
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.history.foreign import in_thread
from livedeck.monitor.history.maintenance import FileReport, KnownEvent, Pruning
from livedeck.monitor.history.salvage import WORDS, counted_rows, salvage
from livedeck.operations.nouns import NotMatched, match
from livedeck.settings import SettingsError, load
from livedeck.text.times import isoformat_utc
from livedeck.text.values import safe, size

if TYPE_CHECKING:
    from livedeck.presentation.documents import HistoryFile

T = TypeVar("T")

_WORDS = {**WORDS, "event": "events", "stream": "streams"}


@click.command
@formats("table", "json")
@history()
@platform
@click.pass_context
def check_command(ctx: click.Context, /, *, output_format: str, path: Path | None, **flags: Any) -> None:
    """Check the whole history file: integrity, size, the events in it, rows that cannot be read.

    Changes nothing; decks may keep running. Exit code 6 if the file is damaged, 1 if it cannot be opened.
    """

    def work(path: Path) -> int:
        report = maintenance.verify(path)
        echo_json(_report_object(report)) if output_format == "json" else echo("\n".join(_report_lines(report)))
        return DONE if report.is_sound else NOT_SO

    _run(ctx, flags, path, work)


def _report_object(report: FileReport) -> HistoryFile:
    return {
        "schema": schema_name("past check"),
        "path": str(report.path),
        "size": report.size,
        "free": report.free,
        "version": report.schema,
        "rows": {**report.rows},
        "unreadable_rows": {**report.rotten},
        "faults": [*report.faults],
        "sound": report.is_sound,
        "events": [
            {
                "id": span.event.id,
                "name": span.event.name,
                "streams": [
                    {
                        "id": stream.stream_id,
                        "first": isoformat_utc(stream.first),
                        "last": isoformat_utc(stream.last),
                        "samples": stream.samples,
                    }
                    for stream in span.streams
                ],
            }
            for span in report.spans
        ],
    }


def _report_lines(report: FileReport) -> list[str]:
    lines = [f"{report.path}: {size(report.size)}, {size(report.free)} of it free, schema {report.schema}"]
    lines.append(f"kept: {_counted(report.rows) or 'nothing'}")
    for span in report.spans:
        for stream in span.streams:
            since, until = (f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z" for at in (stream.first, stream.last))
            lines.append(f"  {safe(span.event.name, 40)}  {since} to {until}  {stream.samples:,} samples")
    lines += [f"cannot be read: {_rotten(report.rotten)}"] if report.rotten else []
    lines += [f"damaged: {fault}" for fault in report.faults]
    lines.append("the file is sound" if report.is_sound else _advice(report))
    return lines


def _advice(report: FileReport) -> str:
    if report.faults:
        return "a deck that meets the damage sets the file aside, starts a new one and copies all readable rows"
    return "commands skip these rows, or fail if they need one; `livedeck past salvage` copies the readable rows"


def _counted(rows: Any) -> str:
    return ", ".join(counted_rows(rows[table], words) for table, words in _WORDS.items() if rows.get(table))


def _rotten(rows: Mapping[str, int]) -> str:
    others = sum(count for table, count in rows.items() if table not in _WORDS)
    return ", ".join(filter(None, [_counted(rows), counted_rows(others, "other rows") if others else ""]))


@click.command
@history()
@platform
@click.pass_context
def vacuum_command(ctx: click.Context, /, *, path: Path | None, **flags: Any) -> None:
    """Release the free space in the file: after `past prune`, or after a lower `retention_days`.

    Decks may keep running; their writes wait meanwhile. Needs twice the size of the file free on its disk, and in the
    folder for temporary files.
    """

    def work(path: Path) -> int:
        before, after = maintenance.vacuum(path)
        echo(f"{path}: {size(before)} before, {size(after)} now")
        return DONE

    _run(ctx, flags, path, work)


@click.command
@click.option(
    "--before", type=past_moment, metavar="DATE", help="Delete the data before this time, such as 2026-11-01 or -7d."
)
@click.option("--event", "words", metavar="EVENT", help="Delete the data of this event.")
@YES
@history()
@platform
@click.pass_context
def prune_command(
    ctx: click.Context, /, *, before: datetime | None, words: str | None, yes: bool, path: Path | None, **flags: Any
) -> None:
    """Delete data older than DATE, the data of one event, or the older data of that event.

    Shows what it would delete, and asks. `retention_days` of the settings deletes old data by itself.
    """
    if before is None and words is None:
        raise click.UsageError("name what to delete: --before DATE, --event EVENT, or both")

    def work(path: Path) -> int:
        event = _find_event(path, words) if words else None
        pruning = Pruning(before, event.id if event else None)
        counted = _counted(maintenance.count_pruned(path, pruning))
        if not counted:
            echo("nothing to delete")
            return DONE
        of_event = f" of {safe(event.name, 60)}" if event else ""
        of_time = f" before {before:%Y-%m-%d %H:%M}Z" if before else ""
        echo(f"to be deleted: all data{of_event}{of_time}: {counted}", err=True)
        if not yes and not is_interactive():
            echo("No terminal to confirm at. Add --yes.", err=True)
            return USAGE
        if not yes and not is_confirmed("Delete them?"):
            echo("nothing was deleted", err=True)
            return NOT_SO
        echo(f"deleted: {_counted(maintenance.prune(path, pruning))}; `livedeck past vacuum` releases its space")
        return DONE

    _run(ctx, flags, path, work)


@click.command
@click.argument("damaged", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@history()
@platform
@click.pass_context
def salvage_command(ctx: click.Context, /, *, damaged: Path, path: Path | None, **flags: Any) -> None:
    """Copy all readable rows of FILE, a damaged history, into the history; a deck does so by itself.

    FILE stays unchanged, and no row is copied twice. Exit code 6 if rows or pages are lost, if the
    salvage stops early, or if FILE is no history.
    """

    def work(path: Path) -> int:
        if path.exists() and path.samefile(damaged):
            raise click.UsageError(
                f"{damaged} is the history in use: a deck salvages it by itself; name another target with --history"
            )
        found = salvage(damaged, path, SystemClock().now())
        echo(found.text)
        return NOT_SO if found.lost or found.unreadable or found.fault else DONE

    _run(ctx, flags, path, work)


@click.command
@click.argument("words", metavar="[EVENT]...", nargs=-1)
@stretch
@options.output(required=True, type=click.Path(path_type=Path))
@FORCE
@history()
@platform
@click.pass_context
def export_command(
    ctx: click.Context,
    /,
    *,
    words: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    output: Path,
    force: bool,
    path: Path | None,
    **flags: Any,
) -> None:
    """Write a recording of these events, or of all, from the history: one file for `livedeck past replay`.

    It has samples, states, alarms, alarm actions, silences and the log, but no secrets. EVENT: an id, a name, or the
    beginning of either. Start an hour before the time in question, because detection learns the
    baseline from that hour.
    """

    def work(path: Path) -> int:
        ids = [_find_event(path, word).id for word in words]
        return write_recording(path, output, ids, since=since, until=until, replace=force)

    _run(ctx, flags, path, work)


def write_recording(path: Path, output: Path, event_ids: Sequence[str], **options: Any) -> int:
    """Write a recording of the history at `path` and print its content. Returns the exit code.

    `options`: those of `recording.export`.
    """
    try:
        made = recording.export(path, output, event_ids=event_ids, **options)
    except FileExistsError:
        raise SettingsError(f"{output} exists already; add --force to replace it") from None
    echo(f"{output}: {size(made.size)}, {_counted(made.rows) or 'nothing'}")
    return DONE


def _find_event(path: Path, words: str) -> KnownEvent:
    """Return the event of the history that the words name. Raises UsageError."""
    try:
        event: KnownEvent = match(maintenance.known_events(path), words, "event", lambda event: event.name)
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    return event


_NOT_THE_COLLECTORS = "livedeck: this is the history of this machine; the collector's history is on its own machine"


def _run(ctx: click.Context, flags: dict[str, Any], path: Path | None, work: Callable[[Path], int]) -> None:
    """Run the work in a thread, on `path`, else on the history of the settings. Print a fault of the file."""

    async def go() -> int:
        settings = load(**merge_flags(ctx, flags))
        chosen = path or settings.history_file()
        if chosen is None:
            raise SettingsError("no history is kept: see `history` in the settings")
        if path is None and settings.collector_urls:
            echo(_NOT_THE_COLLECTORS, err=True)
        try:
            return await in_thread(partial(work, chosen))
        except StorageError as error:
            echo(f"livedeck: {error}", err=True)
            return FAULT

    ctx.exit(run(go))
