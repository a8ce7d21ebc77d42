"""Any value in a reply leaves the monitor running: readable data is shown, and the other events are judged."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from client.test_validation import anything, paths, replaced
from livedeck.monitor import Snapshot
from livedeck.presentation import events
from livedeck.presentation.connection import missing_text
from livedeck.presentation.event_detail import short_lines
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import snapshot_object, to_json
from livedeck.presentation.table import layout, row_line
from livedeck.text.segments import ShadedLine, plain
from livedeck.ui.events.view import cockpit_lines
from monitor.stage import NOW, Deck, Stage, event
from trials import trials
from virtual_clock import VirtualClock

EVENTS = [event(f"e{number}", restreams=[{"id": "r", "name": "CDN", "enabled": True}]) for number in range(4)]
LIST_PLACES = sorted(paths(EVENTS), key=repr)
SAMPLE_PLACES = [(index, *rest) for index in (-1, -2, -40) for rest in ((), ("time",), ("status",), ("frame_rate",))]
SECRET = "the-value-itself"


class OddStage(Stage):
    """Stage with odd values at some places in the samples of `e0`. `e2` has no encoder, and `e3` an odd status."""

    def __init__(self, rows: list[Any], changes: list[tuple[tuple[Any, ...], object]]) -> None:
        super().__init__(VirtualClock(), *rows)
        self.changes, self.unsent, self.odd = changes, {"e2"}, {"e3"}

    def _answer(self, what: str) -> tuple[int, dict[str, str], Any]:
        status, headers, body = super()._answer(what)
        if what == "e0":
            for (index, *rest), other in self.changes:
                if not rest:
                    body["data"][index] = other
                elif isinstance(body["data"][index], dict):
                    body["data"][index][rest[0]] = other
        return status, headers, body


async def watched(rows: list[Any], changes: list[tuple[tuple[Any, ...], object]]) -> Snapshot:
    """Return the snapshot after 20 s of such replies."""
    one = Deck(OddStage(rows, changes))
    try:
        return await one.until(20)
    finally:
        await one.close()


def alarms_of(snapshot: Snapshot, event_id: str) -> list[tuple[str, str, str]]:
    """Return kind, severity and state of the event's alarms."""
    return sorted((alarm.kind, alarm.severity, alarm.state) for alarm in snapshot.alarms if alarm.event_id == event_id)


def shown(snapshot: Snapshot) -> str:
    """Return the whole text that any screen shows of the snapshot."""
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    columns = layout(events.EVENTS.columns, 120)
    lines: list[ShadedLine] = [row_line(state, render_time, columns) for state in snapshot.events]
    lines += [line for state in snapshot.events for line in cockpit_lines(state, render_time, 76, 40)]
    lines += [line for state in snapshot.events for line in short_lines(state, render_time, 80)]
    words = [missing_text(snapshot), to_json(snapshot_object(snapshot, render_time))]
    return "\n".join([*map(plain, lines), *words])


changed_list = st.lists(st.tuples(st.sampled_from(LIST_PLACES), anything), max_size=20)
changed_samples = st.lists(st.tuples(st.sampled_from(SAMPLE_PLACES), anything), max_size=12)


@pytest.fixture
async def normal() -> Snapshot:
    """Return the snapshot of a deck whose platform sends nothing odd."""
    return await watched(copy.deepcopy(EVENTS), [])


@trials(50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(changed_list, changed_samples)
async def test_whatever_stands_in_the_answers_what_can_be_read_is_shown_and_the_other_events_keep_their_alarms(
    normal: Snapshot, changes: list[tuple[tuple[Any, ...], object]], of_samples: list[tuple[tuple[Any, ...], object]]
) -> None:
    rows: list[Any] = copy.deepcopy(EVENTS)
    touched = {path[0] for path, other in changes if replaced(rows, path, other)}
    snapshot = await watched(rows, of_samples)
    ids = {row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"]}
    assert ids <= {state.id for state in snapshot.events}
    for number in range(len(EVENTS)):
        if number not in touched and (number or not of_samples):
            assert alarms_of(snapshot, f"e{number}") == alarms_of(normal, f"e{number}")
    assert shown(snapshot)


async def test_an_event_with_an_odd_field_carries_a_sign_and_the_field_is_named_without_its_value() -> None:
    rows = [event("e0", reconnect_window=[SECRET]), event("e1"), {"id": [SECRET]}]
    snapshot = await watched(rows, [((-1, "frame_rate"), SECRET)])
    render_time = RenderTime.from_snapshot(snapshot, NOW)
    odd, whole = (snapshot.find(event_id) for event_id in ("e0", "e1"))
    assert odd
    assert whole
    assert (plain(events.name_cell(odd, render_time)), plain(events.name_cell(whole, render_time))) == (
        "≠ odd e0",
        "e1",
    )
    text = shown(snapshot)
    assert "≠ 1 of 2  reconnect_window should be a valid integer, not a list of 1" in text
    assert "1 event could not be read and cannot be shown" in text
    told = snapshot_object(snapshot, render_time)
    faults = {entry["id"]: entry["faults"] for entry in told["events"]}
    came = [("reconnect_window", "a list of 1"), ("qos.frame_rate", "something else (1x)")]
    assert [(fault["field"], fault["actual"]) for fault in faults["e0"]] == came
    assert (faults["e1"], told["unreadable"]) == ([], 1)
    assert SECRET not in text + json.dumps(told)
