"""`livedeck past convert`: a recording becomes a snapshot that `livedeck serve` plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import click

from livedeck.atomic_file import AtomicFile, resolve_target
from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.options import FORCE
from livedeck.cli.output import echo
from livedeck.monitor import Readings
from livedeck.monitor.history import StreamKey
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.history.foreign import in_thread
from livedeck.monitor.judging import AlarmSpan
from livedeck.monitor.recorded_show import read_show
from livedeck.simulator import (
    DEFAULT_TOKEN,
    Expected,
    RecordedEvent,
    RecordedSample,
    RecordedShow,
    SimulatorError,
    write_show,
)
from livedeck.text.values import safe, size


@click.command
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@options.output(required=True, type=click.Path(path_type=Path))
@FORCE
@click.pass_context
def convert_command(ctx: click.Context, /, *, path: Path, output: Path, force: bool) -> None:
    """Convert a recording or a history into a snapshot of the simulator: `livedeck serve --snapshot SHOW.tar`.

    The simulator then lists the recorded events, changes them at the recorded times, and serves the recorded samples;
    gaps stay gaps. Keys, links and chat messages are no part of a recording: the simulator makes others.
    """
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists already; add --force to replace it")
    resolve_target(output)

    async def work() -> int:
        try:
            echo(await in_thread(partial(convert, path, output, replace=force)))
        except (StorageError, SimulatorError) as error:
            echo(safe(f"livedeck past convert: {error}", 1000), err=True)
            return FAULT
        return DONE

    ctx.exit(run(work))


def convert(path: Path, output: Path, *, replace: bool) -> str:
    """Write the snapshot, and return its content in words. Raises StorageError, SimulatorError, OSError."""
    recorded = read_show(path)
    names = {change.event_id: change.fields.get("name", "") for change in recorded.events if change.fields}
    show = RecordedShow(
        title=f"Recording {path.name}",
        since=recorded.since,
        until=recorded.until,
        events=[RecordedEvent(*change) for change in recorded.events],
        samples=_samples(recorded.streams),
        alarms=[_expected(span, recorded.since.timestamp(), names) for span in recorded.alarms],
    )
    with AtomicFile(output, replace=replace) as file:
        write_show(show, file.path, DEFAULT_TOKEN)
        count = sum(map(len, recorded.streams.values()))
        content = f"{size(file.path.stat().st_size)}, {len(names)} events, {count:,} samples"
    return f"{output}: {content}, {show.since:%Y-%m-%d %H:%M:%S} to {show.until:%H:%M:%S}Z"


def _samples(streams: Mapping[StreamKey, Readings]) -> Iterator[RecordedSample]:
    for key, readings in streams.items():
        for row in map(readings.__getitem__, range(len(readings))):
            yield key.stream_id, round(row.time * 1000), row.video, row.audio, row.fps, row.status


def _expected(span: AlarmSpan, began: float, names: Mapping[str, str]) -> Expected:
    return Expected(
        span.key.kind,
        names.get(span.key.event_id, ""),
        span.since.timestamp() - began,
        span.until.timestamp() - began if span.until else None,
        target=span.target_name,
        severity=span.severity.value,
    )
