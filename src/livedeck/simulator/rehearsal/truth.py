"""Truth of a scenario: its faults, the expected alarms and answers, and the changes that came, with their times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from livedeck.simulator.engine.clock import format_epoch, format_timestamp
from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.engine.pattern import pattern_words
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.timeline import Playback
from livedeck.simulator.engine.world import World
from livedeck.simulator.rehearsal import scenarios
from livedeck.simulator.rehearsal.changes import changes_of
from livedeck.simulator.rehearsal.scenario import Answer, Expected, Scenario


def truth_of(world: World, entries: Iterable[Entry] | None = None) -> Document | None:
    """Return the scenario in play as it ran, in the form of the control API; None without one.

    `entries`: requests to take the changes from; None for those of the journal.
    """
    scenario, playback = scenarios.playing(world), world.timeline.playback
    if scenario is None or playback is None:
        return None
    progress: Any = world.timeline.progress(world.now())
    changes = changes_of(world.journal.after(0) if entries is None else entries, scenario, world.tokens())
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "hash": _hash(scenario),
        "seed": world.seed(),
        "began": progress["began"],
        "ends": progress["ends"],
        "now": world.timestamp(),
        "answers": [_answer(row, playback) for row in scenario.answers],
        "alarms": [_alarm(row, playback) | {"shown": row.shown} for row in scenario.alarms],
        "refused": [_refused(scenario, step) for step in progress["steps"] if step["state"] == "refused"],
        "changes": [asdict(change) | {"at": format_timestamp(change.at)} for change in changes],
        "dropped": 0 if entries is not None else world.journal.dropped,
    }


def _hash(scenario: Scenario) -> str:
    """Return the hash of a scenario and its workspace. Of a shipped workspace, only the name is in the hash."""
    played = {"scenario": scenario.table, "workspace": scenario.template or scenario.workspace}
    return sha256(json.dumps(played, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _alarm(row: Expected, playback: Playback) -> Document:
    return {
        "alarm": row.kind,
        "event": row.event,
        "target": row.target,
        "since": format_epoch(playback.began_at + row.since),
        "until": None if row.until is None else format_epoch(playback.began_at + row.until),
    }


def _answer(row: Answer, playback: Playback) -> Document:
    return _alarm(row.alarm, playback) | {
        "target": row.target,
        "severity": row.alarm.severity or None,
        "acknowledge": asdict(row.acknowledge),
        "action": asdict(row.action) if row.action else None,
        "note": row.note,
        "asks": pattern_words(row.request) if row.request else row.note,
    }


def _refused(scenario: Scenario, step: Mapping[str, Any]) -> Document:
    event = str(scenario.table["steps"][step["step"]].get("event", ""))
    return {
        "at": step["at"],
        "step": str(step["does"]),
        "event": "" if event == "*" else event,
        "reason": str(step["reason"]),
    }
