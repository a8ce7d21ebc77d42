"""The events table as lines: which columns fit a width, the head, and a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from livedeck.monitor import EventState
from livedeck.ui.renderables import buckets, cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.spark import spark, strip

RECENT = 300.0
"""Seconds that the sparkline and its status strip cover."""

HEADROOM = 1.5
"""A sparkline's top over its highest value: bars of neighbouring rows must not run into one wall."""

SPARK_CELLS = 10
NAME_CELLS = 16
"""Below this an event's name cannot be told from its neighbour's: columns go before the name does."""

GAP = 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, its cells, its place in line to be dropped (0 never), and what it says."""

    head: str
    cells: int
    rank: int
    say: Callable[[EventState, Moment], Line]
    right: bool = False


def _name(state: EventState, _: Moment) -> Line:
    return [(cells.name(state), cells.title_ink(state))]


def _clock(state: EventState, moment: Moment) -> Line:
    return [(cells.clock(state, moment), Ink.TEXT if state.phase.tally.owes_bits else Ink.DIM)]


def _recent(state: EventState, moment: Moment) -> Line:
    return [*recent_video(state, moment, SPARK_CELLS), (" ", Ink.TEXT), *recent_status(state, moment, SPARK_CELLS)]


def recent_video(state: EventState, moment: Moment, columns: int) -> Line:
    """The last five minutes of video as bars; blank where the event has no samples."""
    axis = buckets.axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, Ink.TEXT)]
    readings = state.qos.readings
    values = buckets.columns(axis, readings, readings.video)
    top = HEADROOM * max((value.high for value in values if value), default=0.0)
    return spark(values, top, Ink.STALE if cells.doubtful(state, moment) else Ink.VIDEO)


def recent_status(state: EventState, moment: Moment, columns: int) -> Line:
    """The status strip of the same five minutes."""
    axis = buckets.axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, Ink.TEXT)]
    looks = buckets.statuses(axis, state.qos.readings)
    if cells.doubtful(state, moment):
        return [("".join(look.glyph if look else " " for look in looks), Ink.STALE)]
    return strip(looks)


EVENT = Column("EVENT", NAME_CELLS, 0, _name)
COLUMNS = (
    Column(" TALLY", 13, 0, cells.tally),
    EVENT,
    Column("T-/ELAPSED", 11, 1, _clock, right=True),
    Column("INGEST", 10, 3, cells.ingest),
    Column("HEALTH", 16, 0, cells.health),
    Column("VIDEO", 6, 4, cells.video, right=True),
    Column("AUDIO", 5, 6, cells.audio, right=True),
    Column("FPS", 5, 5, cells.fps, right=True),
    Column("LAST 5 MIN", 2 * SPARK_CELLS + 1, 8, _recent),
    Column("OUT", 4, 7, cells.outputs, right=True),
)


def layout(width: int) -> list[tuple[Column, int]]:
    """The columns that fit and the cells of each; what is left over goes to the event's name."""
    kept = list(COLUMNS)
    while _needed(kept) > width and any(column.rank for column in kept):
        kept.remove(max(kept, key=lambda column: column.rank))
    spare = max(0, width - _needed(kept))
    return [(column, column.cells + (spare if column is EVENT else 0)) for column in kept]


def _needed(kept: list[Column]) -> int:
    return sum(column.cells + GAP for column in kept)


def head(columns: list[tuple[Column, int]]) -> Line:
    """The names of the columns."""
    line: Line = []
    for column, size in columns:
        line += [*fit([(column.head, Ink.HEAD)], size, right=column.right), (" " * GAP, Ink.TEXT)]
    return line


def row(state: EventState, moment: Moment, columns: list[tuple[Column, int]]) -> Line:
    """One event."""
    line: Line = []
    for column, size in columns:
        cell = fit(column.say(state, moment), size, right=column.right, ellipsis=True)
        line += [*cell, (" " * GAP, Ink.TEXT)]
    return line
