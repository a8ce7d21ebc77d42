"""`livedeck history`: what the decks of this machine saw, and the file in which they keep it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, USAGE, run
from livedeck.cli.options import CommandGroup, is_interactive, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.past.asking import FILE, past_moment, stretch
from livedeck.cli.past.telling import show_command
from livedeck.cli.wiring import SystemClock
from livedeck.monitor.history import maintenance, recording
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.history.foreign import in_thread
from livedeck.monitor.history.maintenance import FileReport, KnownEvent, Pruning
from livedeck.monitor.history.salvage import WORDS, salvage
from livedeck.operations.nouns import NotMatched, match
from livedeck.settings import SettingsError, load
from livedeck.text.values import safe, size

T = TypeVar("T")

_WORDS = {**WORDS, "event": "events", "stream": "streams"}


class HistoryGroup(CommandGroup):
    """A group whose first word may be an event: then it is that of `show`, where there is such a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it. Raises UsageError."""
        if "show" in self.commands and args[0] not in self.commands:
            args = ["show", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=HistoryGroup)
def command() -> None:
    """What the decks of this machine saw: print what happened on an event, look after the file, take a recording out.

    \b
    livedeck history "Main stage" --from "yesterday 21:00" --to "yesterday 21:15"
    """


command.add_command(show_command)


@command.command("verify")
@FILE
@platform
@click.pass_context
def verify_command(ctx: click.Context, /, *, path: Path | None, **flags: Any) -> None:
    """Look through the whole file: its integrity, its size, what is kept of which event, rows that cannot be read.

    Changes nothing; decks may go on. Exit code 6 where something is wrong with it, 1 where it cannot be opened.
    """

    def work(path: Path) -> int:
        report = maintenance.verify(path)
        echo("\n".join(_report_lines(report)))
        return DONE if report.is_sound else NOT_SO

    _run(ctx, flags, path, work)


def _report_lines(report: FileReport) -> list[str]:
    lines = [f"{report.path}: {size(report.size)}, {size(report.free)} of it free, schema {report.schema}"]
    lines.append(f"kept: {_counted(report.rows) or 'nothing'}")
    for span in report.spans:
        for stream in span.streams:
            since, until = (f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z" for at in (stream.first, stream.last))
            lines.append(f"  {safe(span.event.name, 40)}  {since} to {until}  {stream.samples:,} samples")
    lines += [f"cannot be read: {_rotten(report.rotten)}"] if report.rotten else []
    lines += [f"damaged: {fault}" for fault in report.faults]
    lines.append("it is sound" if report.is_sound else _advice(report))
    return lines


def _advice(report: FileReport) -> str:
    if report.faults:
        return "a deck that meets the damage sets the file aside, begins a new one and copies what can be read"
    return (
        "such rows are passed over, or named by the command that needs them; `livedeck history salvage` copies the rest"
    )


def _counted(rows: Any) -> str:
    return ", ".join(f"{rows[table]:,} {words}" for table, words in _WORDS.items() if rows.get(table))


def _rotten(rows: Mapping[str, int]) -> str:
    others = sum(count for table, count in rows.items() if table not in _WORDS)
    return ", ".join(filter(None, [_counted(rows), f"{others:,} other rows" if others else ""]))


@command.command("vacuum")
@FILE
@platform
@click.pass_context
def vacuum_command(ctx: click.Context, /, *, path: Path | None, **flags: Any) -> None:
    """Give back what is free in the file: after `prune`, or after a lower `retention_days`.

    Decks may go on; what they write meanwhile waits. It needs twice the size of the file free on its disk, and in the
    folder for temporary files.
    """

    def work(path: Path) -> int:
        before, after = maintenance.vacuum(path)
        echo(f"{path}: {size(before)} before, {size(after)} now")
        return DONE

    _run(ctx, flags, path, work)


@command.command("prune")
@click.option("--before", type=past_moment, metavar="DATE", help="What is older: 2026-11-01, or -7d.")
@click.option("--event", "words", metavar="EVENT", help="What is known of that event.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@FILE
@platform
@click.pass_context
def prune_command(
    ctx: click.Context, /, *, before: datetime | None, words: str | None, yes: bool, path: Path | None, **flags: Any
) -> None:
    """Delete what is older than DATE, what is known of one event, or of that event what is older.

    Says first what would go, and asks. The retention of the settings does the same by itself.
    """
    if before is None and words is None:
        raise click.UsageError("say what is to go: --before DATE, --event EVENT, or both")

    def work(path: Path) -> int:
        event = _find_event(path, words) if words else None
        pruning = Pruning(before, event.id if event else None)
        counted = _counted(maintenance.count_pruned(path, pruning))
        if not counted:
            echo("nothing of that is kept")
            return DONE
        of_event = f" of {safe(event.name, 60)}" if event else ""
        of_time = f" before {before:%Y-%m-%d %H:%M}Z" if before else ""
        echo(f"to be deleted, all{of_event}{of_time}: {counted}", err=True)
        if not yes and not is_interactive():
            echo("nobody can be asked here: add --yes", err=True)
            return USAGE
        if not yes and not _is_confirmed():
            echo("nothing was deleted", err=True)
            return NOT_SO
        echo(f"deleted: {_counted(maintenance.prune(path, pruning))}; `livedeck history vacuum` gives its room back")
        return DONE

    _run(ctx, flags, path, work)


def _is_confirmed() -> bool:
    echo("Delete them? [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


@command.command("salvage")
@click.argument("damaged", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@FILE
@platform
@click.pass_context
def salvage_command(ctx: click.Context, /, *, damaged: Path, path: Path | None, **flags: Any) -> None:
    """Copy what can be read of FILE, a damaged history, into the history; a deck does so by itself.

    FILE stays as it is, and nothing is copied twice. Exit code 6 where something was lost.
    """

    def work(path: Path) -> int:
        if path.exists() and path.samefile(damaged):
            raise click.UsageError(f"{damaged} is the history itself: a deck sets it aside, or name another --file")
        found = salvage(damaged, path, SystemClock().now())
        echo(found.text)
        return NOT_SO if found.lost or found.unreadable or found.fault else DONE

    _run(ctx, flags, path, work)


@command.command("export")
@click.argument("words", metavar="[EVENT]...", nargs=-1)
@stretch
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", required=True, help="Where to.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@FILE
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
    """Write a recording: what is known of these events, or of all, in one file that `livedeck replay` opens anywhere.

    Samples, states, alarms, answers and the log; no secrets. EVENT: an id, a name, or the beginning of either. Begin an
    hour before what matters: detection learns from it what is usual.
    """

    def work(path: Path) -> int:
        ids = [_find_event(path, word).id for word in words]
        return write_recording(path, output, ids, since=since, until=until, replace=force)

    _run(ctx, flags, path, work)


def write_recording(path: Path, output: Path, event_ids: Sequence[str], **options: Any) -> int:
    """Write a recording of that history, as `recording.export`, and say what is in it. Returns the exit code."""
    try:
        made = recording.export(path, output, event_ids=event_ids, **options)
    except FileExistsError:
        raise SettingsError(f"{output} is there already; --force replaces it") from None
    echo(f"{output}: {size(made.size)}, {_counted(made.rows) or 'nothing'}")
    return DONE


def _find_event(path: Path, words: str) -> KnownEvent:
    """The event of that history that is meant. Raises UsageError."""
    try:
        event: KnownEvent = match(maintenance.known_events(path), words, "event", lambda event: event.name)
    except NotMatched as error:
        raise click.UsageError(str(error)) from None
    return event


_NOT_THE_COLLECTORS = (
    "livedeck: this is the history of this machine; what the collector keeps is looked after on its own"
)


def _run(ctx: click.Context, flags: dict[str, Any], path: Path | None, work: Callable[[Path], int]) -> None:
    """Do that with the history of the settings or with `path`, in a thread; a fault of the file is told in a line."""

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
