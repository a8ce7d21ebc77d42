"""Output of `livedeck status`: the present state of the platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from livedeck.cli.exit_codes import UNREACHABLE, code_of_link
from livedeck.cli.output import echo, echo_json, echo_lines
from livedeck.cli.wiring import SystemClock, open_watch, written_history
from livedeck.environment import terminal
from livedeck.monitor import PATIENCE, EventState, HistoryReads, NotReadError, OpenChange, Snapshot
from livedeck.presentation import events
from livedeck.presentation.alarm_text import alarm_text
from livedeck.presentation.connection import missing_text
from livedeck.presentation.event_detail import doubt_text
from livedeck.presentation.open_changes import ADVICE, open_change_object, open_change_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import snapshot_object
from livedeck.settings import Settings
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, clip, fit, plain, width
from livedeck.text.values import counted, evidence_text

TIMEOUT = 15.0
"""Seconds to wait until every event on air has been judged."""

MAX_NAME_WIDTH = 40
"""Maximum width of a name, in terminal cells."""

HEADS = ("TALLY", "INGEST", "HEALTH", "VIDEO", "AUDIO", "FPS", "T-/ELAPSED", "EVENT", "WRONG")
RIGHT_ALIGNED = frozenset({"VIDEO", "AUDIO", "FPS", "T-/ELAPSED"})


async def print_status(settings: Settings, *, as_json: bool, has_plot: bool = False, patience: float = PATIENCE) -> int:
    """Print the status of the platform. Returns the exit code.

    `has_plot`: add the video curve of each event on air. `patience`: maximum seconds of polling late streams again.
    """
    async with open_watch(settings) as watch:
        snapshot = await watch.feed.wait_ready(TIMEOUT, patience)
        render_time = RenderTime.from_snapshot(snapshot, watch.feed.clock.now())
    changes, unread = await recorded_changes(written_history(settings))
    changes = changes if settings.history_file() else None
    if as_json:
        echo_json(status_object(snapshot, render_time, changes, watch.unread))
    else:
        if snapshot.link.as_of is not None:
            echo(status_table(snapshot, render_time))
            if has_plot:
                from livedeck.cli.status_plot import status_plot

                echo("")
                echo_lines(status_plot(snapshot, render_time, terminal().columns))
        echo(open_changes_text(changes or (), SystemClock().now()), nl=False)
    if unread:
        echo(f"livedeck: {unread}. So changes with an unknown outcome are not listed.", err=True)
    if watch.unread:
        echo(f"livedeck: {watch.unread}", err=True)
    for change in snapshot.rule_changes:
        echo(f"livedeck: {change.text}", err=True)
    code = code_of_link(snapshot.link)
    if code:
        where = "" if snapshot.attachment else f" at {settings.base_url}"
        echo(f"livedeck: the platform{where} cannot be watched: {snapshot.link.why}", err=True)
    elif not snapshot.is_whole:
        echo(f"livedeck: {missing_text(snapshot)}", err=True)
    return code or (0 if snapshot.is_whole else UNREACHABLE)


async def recorded_changes(history: HistoryReads | None) -> tuple[Sequence[OpenChange] | None, str]:
    """Return the open changes and an empty text; None and the reason if they cannot be read."""
    try:
        return await history.whole(history.open_changes()) if history else (), ""
    except NotReadError as error:
        return None, str(error)


def status_object(
    snapshot: Snapshot, render_time: RenderTime, changes: Sequence[OpenChange] | None, unread: str
) -> dict[str, Any]:
    """Return the status as JSON. `changes`: open changes; None if unknown. `unread`: as in `Watch.unread`."""
    listed = None if changes is None else [*map(open_change_object, changes)]
    return {**snapshot_object(snapshot, render_time), "open_changes": listed, "unread": unread or None}


def open_changes_text(changes: Sequence[OpenChange], now: datetime) -> str:
    """Return a line for each change with an unknown outcome, then advice; empty without such changes."""
    lines = [f"? {change.intent.id[:8]} {open_change_text(change, now)}" for change in changes]
    advice = [f"  {ADVICE}", "  once you have checked the platform: livedeck change close ID"]
    return "".join(f"{line}\n" for line in (["", *lines, *advice] if lines else []))


def status_table(snapshot: Snapshot, render_time: RenderTime) -> str:
    """Return the status as a table: a line for each event, worst first; its faults at the end of the line."""
    rows = [[[(head, StyleRole.HEAD)] for head in HEADS], *(_row(state, render_time) for state in snapshot.events)]
    widths = [max(width(row[column]) for row in rows) for column in range(len(HEADS))]
    alarms = [line for alarm in snapshot.alarms for line in alarm_text(alarm, render_time, snapshot)]
    lines = [_row_text(row, widths) for row in rows]
    left_out = [missing] if (missing := missing_text(snapshot)) else []
    return "\n".join([*lines, "", *([*alarms, ""] if alarms else []), *left_out, summary(snapshot)])


def _row_text(row: Iterable[Line], widths: Iterable[int]) -> str:
    cells = zip(row, widths, HEADS, strict=True)
    return "  ".join(plain(fit(cell, size, right=head in RIGHT_ALIGNED)) for cell, size, head in cells).rstrip()


def summary(snapshot: Snapshot) -> str:
    """Return the counts and their time: `12 events, 6 alarms, as of 2026-11-20 21:14:07Z`.

    If the list is incomplete, the known events are counted. Before the first reply there is nothing to count.
    """
    as_of = snapshot.link.as_of
    if as_of is None:
        return "no data: alarms unknown"
    flood = " (FLOOD: more than a person can follow)" if snapshot.flood else ""
    hint = "" if snapshot.is_whole else " known"
    events = counted(len(snapshot.events), "event")
    return f"{events}{hint}, {counted(len(snapshot.alarms), 'alarm')}{flood}, as of {as_of:%Y-%m-%d %H:%M:%S}Z"


def _row(state: EventState, render_time: RenderTime) -> list[Line]:
    findings = [f"{finding.kind} {evidence_text(finding)}" for finding in state.assessment.findings]
    unlisted = [] if state.is_listed else [events.UNLISTED]
    doubt = [text] if (text := events.doubt_of_encoder(state, render_time)) else []
    doubt += [doubt_text(state, render_time)] if events.is_doubtful(state, render_time) and not findings else []
    wrong = "; ".join([*doubt, *unlisted, *findings, *(f"unreadable {fault}" for fault in events.faults(state))])
    return [
        [(plain(events.tally(state, render_time)).strip(), StyleRole.TEXT)],
        events.ingest(state, render_time),
        events.health(state, render_time),
        events.video(state, render_time),
        events.audio(state, render_time),
        events.fps(state, render_time),
        [(events.clock(state, render_time), StyleRole.TEXT)],
        clip([(events.name(state), StyleRole.TEXT)], MAX_NAME_WIDTH),
        [(values.safe(wrong), StyleRole.TEXT)],
    ]
