"""The hours around now show when each event was, is and will be on air, and when it had a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from livedeck.client import Event
from livedeck.monitor import BroadcastState, Episode, EventState, Finding, HealthAssessment, Phase, QosState, Severity
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.timeline import Today
from livedeck.text.segments import FILLED, Link, Role, StyleRole, plain, width

NOW = datetime(2026, 11, 20, 21, 14, tzinfo=UTC)
FRESH = RenderTime(NOW, NOW, stale=False)
STALE = RenderTime(NOW, NOW, stale=True)
WIDTH, HEIGHT = 120, 9


def state(name: str, tally: BroadcastState, minutes: float, *, elapsed: float | None = None) -> EventState:
    """Return an event whose reference time is `minutes` after now."""
    phase = Phase(tally, NOW + timedelta(minutes=minutes), elapsed=elapsed)
    return EventState(Event(id=name, name=name), NOW, phase, QosState(as_of=NOW), HealthAssessment())


ON_AIR = state("Choir", BroadcastState.ON_AIR, -60)
PLANNED = state("Evening news", BroadcastState.SCHEDULED, 30)
OVER = state("Rehearsal", BroadcastState.COMPLETED, -90, elapsed=1800)
TOMORROW = state("Concert", BroadcastState.SCHEDULED, 60 * 30)


def faulty(event: EventState, severity: Severity) -> EventState:
    """Return the event with a fault of the last ten minutes."""
    found = Finding("PACKET_LOSS", severity, "loss", "no loss")
    episode = Episode("PACKET_LOSS", severity, "", NOW - timedelta(minutes=10), None, "loss", "no loss")
    return replace(event, assessment=replace(event.assessment, findings=(found,)), episodes=(episode,))


def test_every_line_is_as_wide_as_asked_and_now_stands_in_one_column_of_all_rows() -> None:
    head, *rows = Today().lines([ON_AIR, PLANNED, OVER], FRESH, WIDTH, HEIGHT)
    assert {width(line) for line in (head, *rows)} == {WIDTH}
    assert "21:14" in plain(head)
    columns = {plain(row).index("┃") for row in rows}
    assert len(columns) == 1
    assert abs(columns.pop() - plain(head).index("21:14") - 2) <= 1


def test_what_is_wrong_comes_first_then_what_is_next_what_is_well_what_is_over() -> None:
    bad, doubted = faulty(state("Bad", BroadcastState.ON_AIR, -30), Severity.CRITICAL), faulty(ON_AIR, Severity.WARNING)
    well = state("Harbour", BroadcastState.ON_AIR, -300)
    rows = Today().lines([OVER, well, PLANNED, doubted, bad, TOMORROW], FRESH, WIDTH, HEIGHT)[1:]
    assert [plain(row).split(" ")[0] for row in rows] == ["Bad", "Choir", "Evening", "Harbour", "Rehearsal"]
    assert "+3 more" in Today().title([OVER, well, PLANNED, doubted, bad, TOMORROW], 2, FRESH)


def rows_of(states: Sequence[EventState], render_time: RenderTime) -> list[list[tuple[str, Role]]]:
    """Return the rows of these events; a click anywhere on a row leads to its event."""
    rows = Today().lines(states, render_time, WIDTH, HEIGHT)[1:]
    assert {role.command for row in rows for _, role in row if isinstance(role, Link)} == {"row.select"}
    return [[(text, role.role if isinstance(role, Link) else role) for text, role in row] for row in rows]


@pytest.mark.parametrize(("severity", "sign"), [(Severity.CRITICAL, "✖"), (Severity.WARNING, "▲")])
def test_a_fault_begins_with_its_filled_sign_and_no_other_cell_of_a_row_is_filled(
    severity: Severity, sign: str
) -> None:
    (row,) = rows_of([faulty(ON_AIR, severity)], FRESH)
    (fault,) = [segment for segment in row if sign in segment[0]]
    assert fault == (sign, StyleRole.CRITICAL if severity is Severity.CRITICAL else StyleRole.WARNING_FILL)
    assert plain(row).index("━") < plain(row).index(sign) < plain(row).index("┃")
    assert not [segment for segment in row if segment != fault and segment[1] in FILLED]


def test_nothing_looks_good_on_stale_data() -> None:
    rows = rows_of([ON_AIR, PLANNED, faulty(ON_AIR, Severity.CRITICAL)], STALE)
    roles = {role for row in rows for _, role in row}
    assert not roles & {StyleRole.BAR_OK, StyleRole.INFO, StyleRole.CRITICAL}
