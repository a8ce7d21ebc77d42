"""Laws of event changes: equality of values, evidence of a new stream, reasons of a refusal, and words for a state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from livedeck.client import Event, Unreachable
from livedeck.monitor import BroadcastState, EventState, HealthAssessment, Phase, QosState
from livedeck.operations.events import (
    EDIT_FORM,
    CompleteEvent,
    EventTarget,
    EventView,
    ScheduleStream,
    describe_state,
    edit_entries,
    has_values,
    unlike,
)
from livedeck.operations.names import Named, id_end, word_to_type
from livedeck.operations.schema import FieldKind
from livedeck.presentation.render_time import RenderTime
from operations.rig import rig
from operations.samples import SAMPLES

START = datetime(2026, 3, 1, 18, tzinfo=UTC)
PRESETS = ("1080p", "720p", "480p")


def event(stream_id: str | None = None, starts: datetime = START, **fields: object) -> Event:
    stream = {"id": stream_id, "status": "pending", "started_at": starts.isoformat()} if stream_id else None
    return Event.model_validate({"id": "e1", "name": "Choir", "stream": stream, **fields})


@pytest.mark.parametrize("presets", [*permutations(PRESETS)])
def test_qualities_are_the_same_in_any_order_and_not_with_another_one(presets: tuple[str, ...]) -> None:
    shown = event(video={"presets": [*presets]})
    assert has_values(shown, {"video.presets": PRESETS})
    assert unlike(shown, {"video.presets": PRESETS[:2]}) == ("video.presets",)
    assert unlike(shown, {"video.presets": (*PRESETS[:2], "240p")}) == ("video.presets",)
    assert edit_entries(shown, None)["video.presets"] == presets


def test_what_the_platform_did_not_send_is_as_in_an_empty_form_and_only_a_yes_or_no_is_unknown() -> None:
    entries = edit_entries(Event(id="e1"), None)
    assert entries == EDIT_FORM.empty()
    unknown = {name for name, entry in entries.items() if entry is None}
    assert unknown == {field.name for field in EDIT_FORM.fields if field.kind is FieldKind.FLAG}


def rows_of(shown: Event) -> Any:
    return edit_entries(shown, None)["restreams"]


def test_the_form_has_every_field_of_a_restream() -> None:
    fields = {"id": "r1", "name": "Relay", "url": "rtmp://a.example/app", "description": "backup", "enabled": False}
    (row,) = rows_of(event(restreams=[fields]))
    assert {name: row[name] for name in fields} == fields
    (empty,) = rows_of(event(restreams=[{}]))
    assert {empty[name] for name in ("id", "name", "url", "key", "description")} == {""}


async def test_only_another_stream_at_the_sent_time_proves_that_it_was_scheduled() -> None:
    async with rig() as platform:
        operation = await SAMPLES["event.schedule"](platform)
    assert isinstance(operation, ScheduleStream)
    operation = replace(operation, started_at=START)
    none, old, new = EventView(event()), EventView(event("old")), EventView(event("new"))
    assert operation.shows(none, new)
    assert operation.shows(old, new)
    assert not operation.shows(old, old)
    assert not operation.shows(old, none)
    assert not operation.shows(old, None)
    assert not operation.shows(old, EventView(event("new", START + timedelta(seconds=2))))


async def test_a_schedule_replaces_a_stream_only_if_there_is_one() -> None:
    async with rig() as platform:
        operation = await SAMPLES["event.schedule"](platform)
    assert "replaces" not in operation.effect(EventView(event()))
    assert operation.effect(EventView(event("s1"))).endswith(" It replaces the current one.")


async def test_a_refusal_names_the_scheduled_stream_only_if_it_is_the_reason() -> None:
    async with rig() as platform:
        operation = await SAMPLES["event.schedule"](platform)
    assert isinstance(operation, ScheduleStream)
    away = Unreachable("cannot be reached", "refused")
    assert operation.refusal_text(away, EventView(event("old"))) == "cannot be reached"


@pytest.mark.parametrize(
    ("tally", "seconds", "said"),
    [
        (BroadcastState.SCHEDULED, -1, "Scheduled, starts in 00:01"),
        (BroadcastState.SCHEDULED, -90, "Scheduled, starts in 01:30"),
        (BroadcastState.LATE, 0, "Late for 00:00"),
        (BroadcastState.LATE, 90, "Late for 01:30"),
        (BroadcastState.COMPLETED, 90, "Completed"),
        (BroadcastState.DRAFT, None, "Draft"),
    ],
)
def test_a_state_is_described_with_the_time_to_its_start_or_since(
    tally: BroadcastState, seconds: float | None, said: str
) -> None:
    started = None if seconds is None else START - timedelta(seconds=seconds)
    state = EventState(event(), START, Phase(tally, started), QosState(), HealthAssessment())
    assert describe_state(state, RenderTime(START, START, stale=False)) == said


def test_an_event_without_a_name_is_confirmed_by_the_end_of_its_id() -> None:
    nameless = Event(id="5d1c8f00-0000-4000-8000-0000001a2b3c")
    operation = CompleteEvent(EventTarget.of_event(nameless))
    named = Named(nameless.id, operation.real_name(EventView(nameless)))
    assert word_to_type(named, ()) == id_end(nameless.id) == "1a2b3c"
