"""`livedeck record`: watch without a screen, and write all of it into one file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click

from livedeck.atomic_file import resolve_target
from livedeck.cli.exit_codes import code_of_link, run
from livedeck.cli.history import write_recording
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import merge_flags, platform, time_span
from livedeck.cli.output import echo
from livedeck.cli.signals import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.monitor import ConnectionState, History, Monitor, Snapshot
from livedeck.settings import load

_KEPT_DAYS = 3650.0
"""Nothing grows too old while it is recorded."""


@click.command
@click.argument("words", metavar="[EVENT]...", nargs=-1)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", required=True, help="Where to.")
@click.option("--for", "length", type=time_span, metavar="TIME", help="For so long: 15m, 2h. Else until ctrl-c.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, words: tuple[str, ...], output: Path, length: float | None, force: bool, **flags: Any
) -> None:
    """Watch these events, or all, without a screen, and write a recording that `livedeck replay` opens anywhere.

    EVENT: an id, a name, or the beginning of either. The whole workspace is judged, and these events are written. What
    is seen is in FILE.part until the end, by --for or ctrl-c; what a killed command leaves there the next one goes on
    with.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        part = output.with_name(f"{output.name}.part")
        async with make_api(settings) as api:
            ids = [(await lookup_event(api, word)).id for word in words]
            history = await History.open(part, SystemClock().now(), retention_days=_KEPT_DAYS)
            monitor = make_monitor(api, settings=settings, history=history)
            echo(f"recording into {output}; {'ctrl-c ends it earlier' if length else 'ctrl-c ends it'}", err=True)
            last = await _watch(monitor, history, length)
        await history.close()
        if last.link.as_of is None:
            return code_of_link(last.link)
        return await asyncio.to_thread(_finish, part, output, ids, replace=force)

    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already; --force replaces it")
    resolve_target(output)  # better now than at the end of the recording
    ctx.exit(run(lambda: cancel_on_signals(work)))


def _finish(part: Path, output: Path, event_ids: Sequence[str], *, replace: bool) -> int:
    """Write the recording, and remove what it was made of. Returns the exit code."""
    code = write_recording(part, output, event_ids, replace=replace)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{part}{suffix}").unlink(missing_ok=True)
    return code


async def _watch(monitor: Monitor, history: History, length: float | None) -> Snapshot:
    """Listen until the time is over or somebody ends it; on standard error what keeps it from recording."""
    last, told = None, ("", "")
    try:
        async with asyncio.timeout(length), aclosing(monitor.snapshots()) as snapshots:
            async for last in snapshots:
                state = last.link.state
                link = "" if state in {ConnectionState.OK, ConnectionState.CONNECTING} else last.link.reason
                if (link, history.fault) != told:
                    told = link, history.fault
                    problem = "; ".join(filter(None, told))
                    echo(f"livedeck record: {problem or 'all is recorded again'}", err=True)
    except TimeoutError:
        pass
    except asyncio.CancelledError:
        if last is None:
            raise
    assert last is not None  # the first snapshot comes at once
    return last
