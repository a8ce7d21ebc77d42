"""Forty encoders are cut at once and come back: every reader gets the incident first."""

from __future__ import annotations

from pathlib import Path

import pytest

from breadth import slow_rows
from golden.player import watched
from golden.test_incident import OUTAGE
from livedeck.collector.protocol import wire
from livedeck.monitor import AlarmTransition, Snapshot
from livedeck.monitor.published.codec import encode
from livedeck.notify import Board, Plan, Route, State, step
from livedeck.presentation.alarm_text import ShownChanges, change_lines

CUT, PROVEN = 20.0, 12.0
"""Second of the cut, and about how many seconds it takes to prove it for the first encoder."""


@pytest.mark.parametrize(("workspace", "seed"), [("forty", 1), *slow_rows(*(("forty", seed) for seed in range(2, 6)))])
def test_the_incident_is_the_first_line_for_everybody(tmp_path: Path, workspace: str, seed: int) -> None:
    scenario = tmp_path / "outage.toml"
    scenario.write_text(OUTAGE.format(workspace=workspace))
    snapshots = watched(scenario, seed)
    shown = ShownChanges()
    lines = [line for _, snapshot in snapshots for line in change_lines(shown.news(snapshot))]
    assert "PLATFORM" in lines[0]
    assert [line for line in lines if "  raised  " in line] == lines[:1]
    assert all("PLATFORM" in line for line in lines), "the end of what the incident hid is no news"
    at, first = next((at, snapshot) for at, snapshot in snapshots if snapshot.alarms)
    assert [alarm.kind for alarm in first.alarms] == ["PLATFORM"]
    assert at <= CUT + PROVEN + 15
    assert {alarm.kind for _, snapshot in snapshots for alarm in snapshot.alarms} == {"PLATFORM"}
    assert {key.kind for _, snapshot in snapshots for key in snapshot.bells} == {"PLATFORM"}
    assert at_reader([snapshot for _, snapshot in snapshots]) == "PLATFORM"
    assert {entry for entry in notified(snapshots) if not entry.startswith("RESOLVED")} == {"CRIT PLATFORM"}
    true = [change for _, snapshot in snapshots for change in snapshot.true_changes]
    assert (true[0].alarm.kind, true[0].transition) == ("RECONNECTING", AlarmTransition.RAISED), "the log has it all"


def at_reader(snapshots: list[Snapshot]) -> str:
    """Return the kind of the first change that a reader of the collector decodes."""
    before = encode(snapshots[0])
    held = wire.Held.listed(
        wire.Listing(schema=wire.SCHEMA, id="1", now=0, values=before.values, samples={}, by="", may="")
    )
    for snapshot in snapshots[1:]:
        after = encode(snapshot, before)
        held, before = held.changed(wire.delta(before, after)), after
        assert held.snapshot.true_changes == snapshot.true_changes
        if held.snapshot.changes:
            return held.snapshot.changes[0].alarm.kind
    return ""


def notified(snapshots: list[tuple[float, Snapshot]]) -> list[str]:
    """Return severity and kind of each message on a route."""
    plan, state, titles = Plan((Route("ops", "ops"),)), State(), list[str]()
    for _, snapshot in snapshots:
        state, messages, _ = step(plan, state, Board.of(snapshot), snapshot.at)
        titles += [" ".join(message.title.split()[:2]) for message in messages]
    return titles
