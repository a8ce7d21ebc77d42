"""`livedeck past record` and `livedeck past replay`: make and open a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from livedeck.atomic_file import resolve_target
from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, code_of_link, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import DURATION, FORCE, appearance, merge_flags, platform, rehearsal
from livedeck.cli.output import echo
from livedeck.cli.past.asking import past_moment
from livedeck.cli.past.file import write_recording
from livedeck.cli.process import cancel_on_signals, end_on_interrupt
from livedeck.cli.wiring import SystemClock, follow_clock, make_monitor, make_paced_api
from livedeck.environment import no_screen_reason
from livedeck.monitor import ConnectionState, History, Monitor, PastError, Snapshot
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.history.foreign import check_whole, in_thread
from livedeck.monitor.judging import AlarmSpan, Comparison, Judgement, judge
from livedeck.monitor.polling.poller import wait_first
from livedeck.settings import load
from livedeck.text.values import safe

_KEPT_DAYS = 3650.0
"""Retention of a recording in days, so long that nothing in it expires."""


@click.command
@click.argument("words", metavar="[EVENT]...", nargs=-1)
@options.output(required=True, type=click.Path(path_type=Path))
@DURATION
@FORCE
@platform
@rehearsal
@click.pass_context
def record_command(
    ctx: click.Context, /, *, words: tuple[str, ...], output: Path, duration: float | None, force: bool, **flags: Any
) -> None:
    """Watch these events, or all, without a screen, and write a recording for `livedeck past replay`.

    EVENT: an id, a name, or the beginning of either. Judges the whole workspace, but writes only these events. Ends
    after --duration or at ctrl-c. FILE.part holds the data until then. If the command is killed, run it again to
    continue FILE.part.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        part = output.with_name(f"{output.name}.part")
        async with AsyncExitStack() as stack:
            clock = await follow_clock(settings, stack)
            api = await stack.enter_async_context(make_paced_api(settings, clock))
            ids = [(await lookup_event(api, word)).id for word in words]
            history = await History.open(part, (clock or SystemClock()).now(), retention_days=_KEPT_DAYS)
            monitor = make_monitor(api, clock, settings=settings, history=history)
            ends = [clock.until_fault()] if clock else []
            ends += [monitor.clock.sleep(duration)] if duration is not None else []
            echo(f"recording into {output}; {'ctrl-c ends it earlier' if duration else 'ctrl-c ends it'}", err=True)
            last = await _watch(monitor, history, ends)
        await history.close()
        if last.link.as_of is None:
            return code_of_link(last.link)
        code = await asyncio.to_thread(_finish, part, output, ids, replace=force)
        if clock and clock.fault:
            echo(f"livedeck past record: {clock.fault}; the recording ends before that", err=True)
            return code or FAULT
        return code

    if output.exists() and not force:
        raise click.UsageError(f"{output} exists already; add --force to replace it")
    resolve_target(output)  # so that a wrong path fails now, not at the end
    ctx.exit(run(lambda: cancel_on_signals(work)))


def _finish(part: Path, output: Path, event_ids: Sequence[str], *, replace: bool) -> int:
    """Write the recording and remove FILE.part. Returns the exit code."""
    code = write_recording(part, output, event_ids, replace=replace)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{part}{suffix}").unlink(missing_ok=True)
    return code


async def _watch(monitor: Monitor, history: History, ends: Sequence[Coroutine[Any, Any, object]]) -> Snapshot:
    """Watch until one of `ends` is done or a signal arrives. Returns the last snapshot.

    Problems are printed on standard error.
    """
    last: Snapshot | None = None

    async def show() -> None:
        nonlocal last
        printed = ("", "")
        async with aclosing(monitor.snapshots()) as snapshots:
            async for last in snapshots:
                state = last.link.state
                link = "" if state in {ConnectionState.OK, ConnectionState.CONNECTING} else last.link.why
                if (link, history.fault) != printed:
                    printed = link, history.fault
                    problem = "; ".join(filter(None, printed))
                    echo(f"livedeck past record: {problem or 'recording again'}", err=True)

    try:
        await wait_first(show(), *ends)
    except asyncio.CancelledError:
        if last is None:
            raise
    assert last is not None  # the first snapshot comes at once
    return last


@click.command
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--judge", "is_judged", is_flag=True, help="Compare the recorded alarms with those that livedeck would raise now."
)
@options.at(type=past_moment)
@appearance
@click.pass_context
def replay_command(ctx: click.Context, /, *, path: Path, is_judged: bool, at: datetime | None, **flags: Any) -> None:
    """Open a recording or a history in the deck, without account, token or network. The file stays unchanged.

    The deck begins at the start of the recording, or at the time of --at. --judge runs the detector over the recorded
    samples with the limits of this machine's settings, and compares the alarms: kind, onset, end, severity. Exit code 6
    if any alarm differs, or if no recorded alarm could be compared. Alarms about the deck's own machine and link are
    not compared.
    """

    async def work() -> int:
        try:
            return await (_judge(path) if is_judged else _show(path, at, merge_flags(ctx, flags)))
        except (StorageError, PastError) as error:
            echo(f"livedeck past replay: {error}", err=True)
            return FAULT

    ctx.exit(run(work, is_screen=not is_judged))


async def _show(path: Path, at: datetime | None, flags: dict[str, Any]) -> int:
    """Run the deck on the recording at `path`. Returns the exit code. Raises StorageError, PastError."""
    if reason := no_screen_reason():
        echo(f"livedeck past replay: {reason}; --judge prints the alarms", err=True)
        return FAULT
    await in_thread(partial(check_whole, path))
    from livedeck.cli.deck import show_past

    return await show_past(load(theme=flags.get("theme"), ascii=flags.get("ascii")), path, at)


async def _judge(path: Path) -> int:
    end_on_interrupt()
    settings = load()
    judgement = await judge(path, settings.limits_in_force(), settings.polling_cadence())
    if judgement is None:
        echo(f"livedeck past replay: {path} has no samples to judge", err=True)
        return FAULT
    echo("\n".join(judgement_lines(judgement)))
    is_compared = any(comparison.then for comparison in judgement.alarms)
    return NOT_SO if judgement.differs or (judgement.left_out and not is_compared) else DONE


def judgement_lines(judgement: Judgement) -> list[str]:
    """Return a line for each compared alarm, then a line with the totals."""
    lines = [_line(comparison) for comparison in judgement.alarms]
    differing = sum(bool(comparison.differences) for comparison in judgement.alarms)
    span = f"{judgement.since:%Y-%m-%d %H:%M:%S} to {_moment(judgement.until)}"
    same = len(judgement.alarms) - differing
    reasons = {
        "of kinds that a recording cannot show": judgement.unjudged,
        "begun before the recording": judgement.begun_before,
        "begun at the very end": judgement.begun_last,
        "of restreams that were away for less than two polls": judgement.between_polls,
    }
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
    left_out = f"; not compared: {why}" if why else ""
    return [*lines, f"{span}: {same} same, {differing} different{left_out}"]


def _line(comparison: Comparison) -> str:
    span = comparison.then or comparison.today
    assert span is not None
    words = "; ".join(comparison.differences)
    return f"{'different' if words else 'same':9}  {_span_text(span)}{f': {words}' if words else ''}"


def _span_text(span: AlarmSpan) -> str:
    who = " ".join(safe(name, 60) for name in (span.subject, span.target_name) if name)
    until = f"to {_moment(span.until)}" if span.until else "to the end"
    return f"{span.key.kind} of {who}, {span.severity}, {span.since:%H:%M:%S} {until}"


def _moment(at: datetime) -> str:
    return f"{at:%H:%M:%S}Z"
