"""Places of the grid. Each event stays in its place while it is on the wall."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import ceil
from typing import NamedTuple

from livedeck.monitor import EventState
from livedeck.presentation import events
from livedeck.text.names import name_order

_COUNTS = (12, 18, 24, 32, 40, 60, 80, 100, 120, 160, 200)
"""Possible numbers of places in a grid; also all multiples of the last one. Free places are for later events."""

MIN_CELLS = 20
"""Minimum width of a place in cells, including the gap beside it."""

_ASPECT = 6.0
"""Width divided by height of the ideal place, in cells, for name, numbers and chart below each other."""


class Seats:
    """Places of the events on one wall.

    At first, events get places in the order of their names. A later event gets the first free place. No event moves.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._count = 0

    def clear(self) -> None:
        """Drop all places, because the wall has no grid now."""
        self._places, self._count = {}, 0

    def seat(self, states: Sequence[EventState]) -> list[EventState | None]:
        """Give a place to each event. Return the places in order: the event of each, or None for a free place."""
        living = {state.id for state in states}
        self._places = {id_: place for id_, place in self._places.items() if id_ in living}
        taken = {*self._places.values()}
        free = (place for place in count() if place not in taken)
        newcomers = [state for state in states if state.id not in self._places]
        for state in sorted(newcomers, key=lambda state: (name_order(events.name(state)), state.id)):
            self._places[state.id] = next(free)
        self._count = max(self._count, _places_for(max(self._places.values(), default=0) + 1))
        seats: list[EventState | None] = [None] * self._count
        for state in states:
            seats[self._places[state.id]] = state
        return seats


def _places_for(needed: int) -> int:
    return next((places for places in _COUNTS if places >= needed), ceil(needed / _COUNTS[-1]) * _COUNTS[-1])


class SeatPlan(NamedTuple):
    """Arrangement of the places: columns and rows on a page, height of a row in lines, and number of pages."""

    columns: int
    rows: int
    row_lines: int
    pages: int

    @property
    def page_seats(self) -> int:
        """Number of places on a page."""
        return self.columns * self.rows


def plan_seats(seats: int, cells: int, lines: int) -> SeatPlan:
    """Return the plan with the fewest pages. Of these plans, the largest places win, then the widest."""
    max_columns = max(1, (cells + 1) // MIN_CELLS)
    pages = ceil(seats / (max_columns * max(1, lines)))
    on_page = ceil(seats / pages)
    plans = [
        SeatPlan(columns, rows, lines // rows, pages)
        for columns in range(1, max_columns + 1)
        if (rows := ceil(on_page / columns)) <= lines
    ]
    return max(plans, key=lambda plan: (min(cells / plan.columns, plan.row_lines * _ASPECT), -plan.columns))
