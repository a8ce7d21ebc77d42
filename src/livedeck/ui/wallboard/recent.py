"""The last five minutes of an event, drawn once for each answer of the platform and not once a second."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from math import ceil
from operator import is_
from typing import Any, TypeVar

from livedeck.monitor import EventState
from livedeck.ui.renderables import buckets, cells
from livedeck.ui.renderables.buckets import Bucket
from livedeck.ui.renderables.event_rows import HEADROOM, RECENT
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.spark import BARS, strip

T = TypeVar("T")

COLUMNS = 60
"""Steps of the five minutes at most: with a sample every 2 s narrower ones would have gaps that nobody made."""


class Recent:
    """Keeps what was drawn of each event while nothing new came; draws its video as bars over its status strip."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[object, object, Any]] = {}
        self._rows: dict[int, tuple[int, tuple[Line, ...], Line]] = {}

    def once(self, name: tuple[str, str], subject: object, given: object, make: Callable[[], T]) -> T:
        """What `make` made of that very subject (the same object: to compare its numbers would cost what is to be
        saved) and the rest that was given. `name`: of what, and the event's id.
        """
        kept = self._kept.get(name)
        if kept is None or kept[0] is not subject or kept[1] != given:
            kept = self._kept[name] = subject, given, make()
        made: T = kept[2]
        return made

    def lines(self, state: EventState, moment: Moment, width: int, height: int) -> list[Line]:
        """`height` lines, the last one the strip; narrower than `width` where the steps do not fill it."""
        doubtful, qos = cells.doubtful(state, moment), state.qos
        given = (qos.as_of, width, height, doubtful)
        make = partial(_drawn, state, moment, (width, height), doubtful=doubtful)
        return self.once(("bars", state.id), qos.readings, given, make)

    def beside(self, row: int, parts: tuple[Line, ...], cells: int) -> Line:
        """These lines beside each other, filled to so many cells; the very line of last time, if they are the very same
        as in that row then.
        """
        kept = self._rows.get(row)
        if kept is None or kept[0] != cells or len(kept[1]) != len(parts) or not all(map(is_, kept[1], parts)):
            line = fit([span for part in parts for span in part], cells)
            kept = self._rows[row] = cells, parts, line
        return kept[2]

    def forget(self, but: Collection[str]) -> None:
        """Keep the drawings of these events alone."""
        self._kept = {name: kept for name, kept in self._kept.items() if name[1] in but}


def _drawn(state: EventState, moment: Moment, room: tuple[int, int], *, doubtful: bool) -> list[Line]:
    wide = max(1, ceil(room[0] / COLUMNS))
    axis = buckets.axis_of(state, moment, RECENT, room[0] // wide)
    if axis is None or room[0] <= 0:
        return [[] for _ in range(room[1])]
    readings = state.qos.readings
    values = [one for one in buckets.columns(axis, readings, readings.video) for _ in range(wide)]
    looks = [one for one in buckets.statuses(axis, readings) for _ in range(wide)]
    ink = Ink.STALE if doubtful else Ink.VIDEO
    status = strip(looks)
    if doubtful:
        status = [(text, Ink.STALE) for text, _ in status]
    return [*_bars(values, room[1] - 1, ink), status]


def _bars(values: list[Bucket | None], lines: int, ink: Ink) -> list[Line]:
    """Bars from zero to over the highest value, by the lowest value of each step so that a dip shows."""
    top = HEADROOM * max((value.high for value in values if value), default=0.0)
    steps = len(BARS) * lines
    levels = [None if one is None else max(1, round(one.low / top * steps)) if top else 1 for one in values]
    return [[("".join(_cell(level, row) for level in levels), ink)] for row in range(lines - 1, -1, -1)]


def _cell(level: int | None, row: int) -> str:
    """The part of a bar of `level` eighths in the row that is `row` lines above the lowest."""
    filled = 0 if level is None else level - row * len(BARS)
    return " " if filled <= 0 else BARS[min(filled, len(BARS)) - 1]
