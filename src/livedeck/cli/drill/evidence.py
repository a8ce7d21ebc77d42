"""Evidence of a drill: the simulator's scenario and journal joined with the history of the deck."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from livedeck.cli.drill.watch import DrillWatch
from livedeck.drill import truth
from livedeck.drill.truth import Change, Evidence, ExpectedAlarm, Refused, Timing, Truth
from livedeck.monitor import HistoryReader, Severity
from livedeck.simulator import Answer, Scenario, Simulator, changes_of


def truth_of(scenario: Scenario, seed: int, progress: Mapping[str, Any]) -> Truth:
    """Return the scenario as it ran. `progress`: its position, as the control API shows it."""
    began = datetime.fromisoformat(progress["began"])

    def after(seconds: float) -> datetime:
        return began + timedelta(seconds=seconds)

    return Truth(
        scenario=scenario.name,
        title=scenario.title,
        hash=_hash(scenario),
        seed=seed,
        began=began,
        ends=datetime.fromisoformat(progress["ends"]),
        answers=tuple(_answer(row, began) for row in scenario.answers),
        alarms=tuple(
            ExpectedAlarm(
                row.kind,
                row.event,
                row.target,
                after(row.since),
                None if row.until is None else after(row.until),
                row.shown,
            )
            for row in scenario.alarms
        ),
        refused=tuple(_refused(scenario, step) for step in progress["steps"] if step["state"] == "refused"),
    )


def _hash(scenario: Scenario) -> str:
    """Return the fingerprint of a scenario; a shipped workspace counts by its name."""
    played = {"scenario": scenario.table, "workspace": scenario.template or scenario.workspace}
    return sha256(json.dumps(played, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _answer(row: Answer, began: datetime) -> truth.Answer:
    alarm, action = row.alarm, row.action
    return truth.Answer(
        alarm=alarm.kind,
        event=alarm.event,
        target=row.target,
        since=began + timedelta(seconds=alarm.since),
        until=None if alarm.until is None else began + timedelta(seconds=alarm.until),
        severity=Severity(alarm.severity) if alarm.severity else None,
        acknowledge=Timing(row.acknowledge.par, row.acknowledge.limit),
        action=Timing(action.par, action.limit) if action else None,
        note=row.note,
        asks=json.dumps(row.request, ensure_ascii=False) if row.request else row.note,
    )


def _refused(scenario: Scenario, step: Mapping[str, Any]) -> Refused:
    event = str(scenario.table["steps"][step["step"]].get("event", ""))
    at = datetime.fromisoformat(step["at"])
    return Refused(at, str(step["does"]), "" if event == "*" else event, str(step["reason"]))


async def gather(simulator: Simulator, watch: DrillWatch, path: Path, ended: datetime, person: str) -> Evidence:
    """Return the evidence of a drill that has ended.

    Args:
        simulator: The platform.
        watch: Watch over the drill.
        path: History of the deck, which is no longer written.
        ended: End of the drill on the simulator's clock.
        person: Name of the person if no act says it.
    """
    scenario = simulator.scenario
    assert scenario is not None, "a drill plays a scenario"
    reader = HistoryReader(path, is_strict=True)
    since = datetime.fromisoformat(str(simulator.progress()["began"])) - timedelta(days=1)
    records, events = await reader.alarm_log(since), await reader.events()
    acts = truth.acts_of(await reader.answer_log(since))
    changes = changes_of(watch.entries, scenario, [simulator.token, simulator.other_workspace.token])
    return Evidence(
        truth=truth_of(scenario, simulator.seed, simulator.progress()),
        ended=ended,
        raised=truth.raised_of(records, {event.event_id: event.name for event in events}),
        acts=acts,
        changes=tuple(
            Change(
                change.at,
                change.does,
                change.event,
                change.is_carried_out,
                change.answers,
                change.is_allowed,
                ends_show=change.ends_event and truth.was_on_air(events, change.event_id, change.at),
            )
            for change in changes
        ),
        starved=tuple(watch.starved),
        by=acts[0].by if acts else person,
    )
