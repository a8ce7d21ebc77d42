"""A cached result equals a new computation."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Snapshot
from livedeck.presentation.events import EVENTS
from livedeck.presentation.preflight import DuePreflights, is_due
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import RowCells, layout, row_line
from ui.wall_stage import evening


def test_a_result_is_used_again_for_the_same_objects_and_equal_values_only() -> None:
    calls, memory = list[int](), Remembered[int]()
    one, other = [1], [1]

    def make() -> int:
        calls.append(len(calls))
        return len(calls)

    inputs = ((one, "a"), (one, "a"), (other, "a"), (other, "b"), (one, "b"))
    assert [memory.get((subject,), value, make) for subject, value in inputs] == [1, 1, 2, 3, 4]
    assert memory.get((), "b", make) == 5


def later(snapshot: Snapshot, seconds: float, *, stale: bool = False) -> RenderTime:
    return RenderTime.from_snapshot(snapshot, EVENING + timedelta(seconds=seconds), watched=not stale)


async def test_a_row_drawn_second_by_second_is_the_row_drawn_at_once() -> None:
    """No column that calls itself steady changes with time, and all change with what else a paint depends on."""
    snapshot, random = await evening(), Random(1)
    layouts = [layout(EVENTS.columns, cells) for cells in (160, 90, 60)]
    for state in snapshot.events:
        cells, columns, seconds = RowCells(state), layouts[0], 0.0
        for _ in range(40):
            seconds += random.choice((0.5, 1.0, 60.0, 4000.0))
            columns = random.choice(layouts) if random.random() < 0.2 else columns
            at = replace(later(snapshot, seconds, stale=random.random() < 0.2), blink_on=random.random() < 0.5)
            assert cells.line(at, columns) == row_line(state, at, columns)


async def test_the_checks_that_are_due_are_found_among_the_first_starts() -> None:
    snapshot = await evening()
    due = DuePreflights(is_read_only=True)
    found = set[str]()
    for minutes in range(-600, 3000, 61):
        now = snapshot.at + timedelta(minutes=minutes)
        ids = [*due.at(snapshot, now)]
        assert ids == [state.id for state in snapshot.events if is_due(state, now)]
        found.update(ids)
    assert len(found) > 1
