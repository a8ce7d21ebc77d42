"""Faults of the last hour, above the board: onsets, bars, and the time of the last clearance. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from livedeck.monitor import Severity, Snapshot
from livedeck.presentation.alarms import all_alarms
from livedeck.presentation.qos import BARS, Axis
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, merge_neighbours
from livedeck.text.values import compact_duration

HOUR = 3600.0
TICK_SECONDS = 600
LABEL_CELLS = 13

MIN_TOP = 4
"""Minimum number of faults at full height of the bars, so that the bar of a single fault is low."""

_ROLES = {Severity.CRITICAL: StyleRole.CRITICAL_MARK, Severity.WARNING: StyleRole.LIMIT}
"""Severities that count as faults, and their colours."""


class _Fault(NamedTuple):
    """Fault of an event, with times in epoch s of the server clock. `until`: infinite while the fault is open."""

    severity: Severity
    since: float
    until: float


def _faults(snapshot: Snapshot, render_time: RenderTime) -> list[_Fault]:
    """Return the faults of all samples, then the faults that only an alarm shows. Omits severity INFO."""
    faults, in_samples = list[_Fault](), set()
    for state in snapshot.events:
        for episode in state.episodes:
            until = episode.until.timestamp() if episode.until else inf
            in_samples.add((state.id, episode.kind, episode.target))
            faults.append(_Fault(episode.severity, episode.since.timestamp(), until))
    for alarm in all_alarms(snapshot):
        if alarm.key not in in_samples:
            until = inf if alarm.is_ongoing else render_time.to_server(alarm.changed).timestamp()
            faults.append(_Fault(alarm.severity, render_time.to_server(alarm.since).timestamp(), until))
    return [fault for fault in faults if fault.severity in _ROLES]


def hour_lines(snapshot: Snapshot, render_time: RenderTime, cells: int) -> list[Line]:
    """Return three lines: times, faults that began, and faults that were open. Each cell shows a span of time."""
    now = render_time.server.timestamp()
    axis = Axis.ending_at(now, HOUR, max(1, cells - LABEL_CELLS - 1))
    began: list[list[Severity]] = [[] for _ in range(axis.columns)]
    present: list[list[Severity]] = [[] for _ in range(axis.columns)]
    for fault in _faults(snapshot, render_time):
        first, last = axis.column_of(fault.since), axis.column_of(min(fault.until, now))
        if 0 <= first < axis.columns:
            began[first].append(fault.severity)
        for column in range(max(0, first), min(last + 1, axis.columns)):
            present[column].append(fault.severity)
    return [
        [(f"{' last hour':<{LABEL_CELLS}}", StyleRole.HEAD), (_times(axis), StyleRole.DIM)],
        [(f"{' began':<{LABEL_CELLS}}", StyleRole.HEAD), *_bars(began)],
        [(f"{' open':<{LABEL_CELLS}}", StyleRole.HEAD), *_bars(present)],
    ]


def _times(axis: Axis) -> str:
    text = [" "] * axis.columns
    at = (int(axis.start) // TICK_SECONDS + 1) * TICK_SECONDS
    while at < axis.end:
        label, column = f"{datetime.fromtimestamp(at, UTC):%H:%M}", axis.column_of(at)
        if column + len(label) <= axis.columns:
            text[column : column + len(label)] = label
        at += TICK_SECONDS
    return "".join(text)


def _bars(columns: list[list[Severity]]) -> Line:
    """Return a bar for each column, in the colour of the column's worst fault; a thin line for no faults."""
    top = max(MIN_TOP, *(len(column) for column in columns))
    cells: Line = []
    for column in columns:
        worst = min(column, key=lambda severity: severity.rank, default=None)
        glyph = BARS[-(-len(column) * len(BARS) // top) - 1] if column else "▁"
        cells.append((glyph, _ROLES[worst] if worst else StyleRole.BAND))
    return merge_neighbours(cells)


def clear_text(snapshot: Snapshot, render_time: RenderTime) -> str:
    """Return the text shown while no alarm is open: last clearance, number of today's faults, and the longest."""
    midnight = render_time.server.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    past = [fault for fault in _faults(snapshot, render_time) if fault.until < inf]
    if not past:
        return "✓ No open alarms, and none in the last 5 min"
    since = datetime.fromtimestamp(max(fault.until for fault in past), UTC)
    today = [fault.until - fault.since for fault in past if fault.since >= midnight]
    noun = "fault" if len(today) == 1 else "faults"
    counted = f" {len(today)} {noun} today, longest {compact_duration(max(today))}." if today else ""
    return f"✓ All clear since {since:%H:%M:%S}Z.{counted}"
