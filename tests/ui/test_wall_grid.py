"""Laws of a wall with more events than tiles: events keep their places, and faults are on every page."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
import pytest_asyncio

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import AlarmState, EventState, Severity, Snapshot
from livedeck.presentation.events import Standing, standing
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Shade, StyleRole, plain, width
from livedeck.text.values import compact_duration
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.cells import cell_lines
from livedeck.ui.wallboard.layout import WallLayout
from livedeck.ui.wallboard.model import wall_model
from livedeck.ui.wallboard.seats import Seats, plan_seats
from ui.wall_stage import STILL, evening, lines, many, says, text

SIZES = ((80, 24), (120, 40), (160, 45), (240, 67))
FILLS = {StyleRole.CRITICAL, StyleRole.WARNING_CHIP, StyleRole.LOSS, StyleRole.KEY_20, StyleRole.KEY_50}


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def _standing(known: Snapshot, stands: Standing) -> list[EventState]:
    at = RenderTime.from_snapshot(known, EVENING)
    return [state for state in known.events if standing(state, at) is stands]


def _named(state: EventState, number: int, name: str) -> EventState:
    event = state.event.model_copy(update={"id": f"{state.id}-{number}", "name": name})
    return replace(state, event=event)


def _crowd(known: Snapshot, good: int, bad: int) -> Snapshot:
    """Return a snapshot with `good` healthy events and `bad` critical ones, without alarms."""
    states = [(_standing(known, Standing.BAD), "Fault", bad), (_standing(known, Standing.GOOD), "Stage", good)]
    events = tuple(
        _named(models[number % len(models)], number, f"{name} {number + 1}")
        for models, name, count in states
        for number in range(count)
    )
    return replace(known, events=events, alarms=())


@pytest.mark.parametrize("count", [10, 24, 60, 200])
@pytest.mark.parametrize("size", SIZES)
def test_every_event_has_one_place_on_one_page(known: Snapshot, size: tuple[int, int], count: int) -> None:
    model = wall_model(_crowd(known, count, 0), RenderTime.from_snapshot(known, EVENING))
    layout = WallLayout(STILL, model, (size[0] - 1, size[1] - 1), DrawCache(), Seats())
    pages = [text(layout.draw(page)) for page in range(layout.pages)]
    found = [name for page in pages for name in re.findall(r"Stage \d+", page)]
    assert sorted(found) == sorted({str(state.event.name) for state in model.states})


def test_no_place_is_given_twice_and_none_moves_while_its_event_lives(known: Snapshot) -> None:
    """Whoever comes and goes, in any order; free places are given to those who come."""
    random, seats = Random(1), Seats()
    states = list(_crowd(known, 150, 0).events)
    present: list[EventState] = states[:20]
    places: dict[str, int] = {}
    for _ in range(200):
        seated = seats.seat(present)
        now = {state.id: place for place, state in enumerate(seated) if state}
        assert sorted(now) == sorted(state.id for state in present)
        assert {id_: places[id_] for id_ in now if id_ in places} == {id_: now[id_] for id_ in now if id_ in places}
        places = now
        absent = [state for state in states if state.id not in now]
        present = [state for state in present if random.random() > 0.1] + random.sample(absent, random.randint(0, 3))
        random.shuffle(present)
    assert len(seats.seat(present)) < 100


def test_places_are_given_in_the_order_of_names_with_numbers_as_numbers(known: Snapshot) -> None:
    seated = Seats().seat(tuple(reversed(_crowd(known, 12, 0).events)))
    assert [str(state.event.name) for state in seated if state] == [f"Stage {number}" for number in range(1, 13)]


@pytest.mark.parametrize("size", SIZES)
def test_a_fault_moves_no_cell(known: Snapshot, size: tuple[int, int]) -> None:
    """Nor does its end: the lines over the grid are as many whatever is wrong."""
    seats, calm = Seats(), _crowd(known, 40, 0)
    before = lines(calm, size, seats=seats)
    bad = _standing(known, Standing.BAD)[0]
    hit = replace(bad, event=calm.events[7].event)
    after = lines(replace(calm, events=(*calm.events[:7], hit, *calm.events[8:])), size, seats=seats)
    again = lines(calm, size, seats=seats)
    first = next(row for row, line in enumerate(before) if "in a fixed place" in plain(line))
    names = re.compile(r"Stage \d+")
    for old, new in zip(before[first:], after[first:], strict=True):
        assert [(name.start(), name[0]) for name in names.finditer(plain(old))] == [
            (name.start(), name[0]) for name in names.finditer(plain(new))
        ]
    assert text(before) == text(again)
    assert text(before) != text(after)


@pytest.mark.parametrize("count", [24, 200])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_wrong_is_on_every_page_in_words_and_since_when(
    known: Snapshot, size: tuple[int, int], count: int
) -> None:
    crowd = replace(many(known, count), alarms=known.alarms)
    first = wall_model(crowd, RenderTime.from_snapshot(known, EVENING))
    pages = WallLayout(STILL, first, (size[0] - 1, size[1] - 1), DrawCache(), Seats()).pages
    assert pages > 1 or (size, count) != ((80, 24), 200)
    worst = next(alarm for alarm in known.alarms if alarm.severity is Severity.CRITICAL and alarm.event_id)
    since = compact_duration((EVENING - worst.since).total_seconds())
    areas = []
    for page in range(pages):
        drawn = lines(crowd, size, page=page)
        words = text(drawn)
        assert worst.kind.replace("_", " ") in words
        assert since in words
        assert any(says(drawn[row:], worst.subject) for row in range(20))
        areas.append(words[words.index("✖ CRIT") : words.index("in a fixed place")].splitlines()[:-1])
    assert all(area == areas[0] for area in areas)


@pytest.mark.parametrize("bad", [1, 5, 9, 17, 60])
@pytest.mark.parametrize("size", SIZES)
def test_of_more_faults_than_lines_none_is_silent(known: Snapshot, size: tuple[int, int], bad: int) -> None:
    """Each is in words, or counted where there is no room for its words."""
    drawn = lines(_crowd(known, 20, bad), size)
    first = next(row for row, line in enumerate(drawn) if "in a fixed place" in plain(line))
    area = text(drawn[:first])
    more = re.search(r" and +✖ (\d+) bad", area)
    assert area.count("✖ CRIT") + (int(more[1]) if more else 0) == bad


@pytest.mark.parametrize("height", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("cells", [20, 26, 40, 80])
def test_a_cell_fills_its_place_and_only_a_fault_is_filled(known: Snapshot, cells: int, height: int) -> None:
    at = RenderTime.from_snapshot(known, EVENING)
    for state in (*known.events, None):
        drawn = cell_lines(state, at, (cells, height), DrawCache())
        assert [width(line) for line in drawn] == [cells] * height
        inks = {role.ink if isinstance(role, Shade) else role for line in drawn for _, role in line}
        is_wrong = state is not None and standing(state, at) in {Standing.BAD, Standing.WATCH}
        assert bool(inks & FILLS) is is_wrong


def test_nothing_wrong_is_said_and_what_comes_next(known: Snapshot) -> None:
    drawn = lines(_crowd(known, 24, 0), (160, 45))
    assert any(says(drawn[row:], "✓ nothing is wrong") for row in range(20))
    stopped = lines(_crowd(known, 24, 0), (160, 45), fault="KeyError")
    assert not any(says(stopped[row:], "nothing is wrong") for row in range(20))


def test_what_is_over_is_told_over_the_grid_for_a_while(known: Snapshot) -> None:
    first = next(alarm for alarm in known.alarms if alarm.event_id)
    crowd = _crowd(known, 12, 0)
    over = replace(first, event_id=crowd.events[0].id, state=AlarmState.RETURNED, present=False, changed=EVENING)
    drawn = text(lines(replace(crowd, alarms=(over,)), (160, 45)))
    assert over.kind in drawn
    assert "cleared, not acknowledged" in drawn


@pytest.mark.parametrize("seats", [1, 9, 12, 40, 41, 200, 1000])
def test_a_plan_holds_every_place(seats: int) -> None:
    for cells in (20, 79, 119, 159, 239):
        for height in (1, 5, 13, 22, 40):
            plan = plan_seats(seats, cells, height)
            assert plan.page_seats * plan.pages >= seats
            assert plan.rows * plan.row_lines <= height
            assert cells // plan.columns >= 19
