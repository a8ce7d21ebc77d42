"""Laws of the evidence, against the history of a deck that watched the simulator."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from golden.player import record
from livedeck.drill.grade import grade
from livedeck.drill.truth import Answer, Evidence, ExpectedAlarm, Timing, Truth, acts_of, raised_of, was_on_air
from livedeck.monitor import (
    ActionKind,
    AlarmAction,
    AlarmChange,
    AlarmKey,
    AlarmRecord,
    AlarmTransition,
    BroadcastState,
    EventRecord,
    HistoryReader,
    Severity,
)
from notify.stage import alarm

EVER = datetime.fromtimestamp(0, UTC)


@pytest.mark.parametrize("scenario", ["restream-down", "encoder-drop-inside-window"])
def test_the_history_of_a_deck_has_the_alarm_of_each_row(tmp_path: Path, scenario: str) -> None:
    path = tmp_path / "history.livedeck"
    log = record(scenario, 1, path)

    async def read() -> tuple[tuple[EventRecord, ...], Evidence]:
        reader = HistoryReader(path)
        records, events = await reader.alarm_log(EVER), await reader.events(EVER, datetime.max.replace(tzinfo=UTC))
        names = {event.event_id: event.name for event in events}
        began = min(event.at for event in events)
        rows = tuple(
            ExpectedAlarm(
                row.kind,
                row.event,
                row.target,
                began + timedelta(seconds=row.since),
                None if row.until is None else began + timedelta(seconds=row.until),
                row.shown,
            )
            for row in log.scenario.alarms
        )
        answers = tuple(
            Answer(row.alarm, row.event, row.target, row.since, row.until, None, Timing(30, 60))
            for row in rows
            if row.shown
        )
        ends = began + timedelta(seconds=log.scenario.lasts)
        truth = Truth(scenario, log.scenario.title, "0", 1, began, ends, answers, rows)
        return events, Evidence(truth, ends, raised_of(records, names))

    events, evidence = asyncio.run(read())
    graded = grade(evidence)
    assert graded.incidents
    assert all(incident.raised for incident in graded.incidents)
    assert (graded.score, graded.missed, graded.false) == (0.0, (), ())
    event_id = evidence.raised[0].key.event_id
    assert was_on_air(events, event_id, evidence.raised[0].at)
    assert not was_on_air(events, event_id, EVER)


def test_a_deleted_or_completed_event_is_not_on_air() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    later = at + timedelta(minutes=1)
    on_air = EventRecord(at, "a", "Gala", BroadcastState.LOST)
    completed = EventRecord(later, "a", "Gala", BroadcastState.COMPLETED)
    gone = EventRecord(later, "a", "Gala", BroadcastState.ON_AIR, is_gone=True)
    for last in (completed, gone):
        records = (last, on_air)
        assert (was_on_air(records, "a", at), was_on_air(records, "a", later)) == (True, False)
        assert not was_on_air(records, "b", at)


def test_an_alarm_is_shown_when_it_is_announced_before_its_next_raise() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)

    def record(seconds: float, turn: AlarmTransition = AlarmTransition.RAISED) -> AlarmRecord:
        return AlarmRecord.of(AlarmChange(at + timedelta(seconds=seconds), turn, alarm()))

    log = [record(0), record(60), record(120)]
    announced = [record(3, AlarmTransition.NOTED), record(5), record(125)]
    shown = [(raised.at, raised.shown) for raised in raised_of(log, {}, announced)]
    seconds = [((raised - at).total_seconds(), found and (found - at).total_seconds()) for raised, found in shown]
    assert seconds == [(0, 5), (60, None), (120, 125)]


def test_acts_are_acknowledgements_and_notes_with_their_person() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    key = AlarmKey("a", "AUDIO_LOST")
    actions = [
        AlarmAction(str(number), key, at, kind, at + timedelta(seconds=9 - number), "anna@desk:7", Severity.CRITICAL)
        for number, kind in enumerate(ActionKind)
    ]
    acts = acts_of(actions)
    assert [act.at for act in acts] == sorted(act.at for act in acts)
    assert {act.by for act in acts} == {"anna@desk"}
    assert [act.note for act in acts] == ["", None, None]  # latest of `ActionKind` first
