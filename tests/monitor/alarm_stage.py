"""Events with the findings of a test, and an alarm engine that takes them step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from livedeck.monitor import (
    Alarm,
    AlarmChange,
    AlarmKey,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    Finding,
    Grade,
    Health,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Severity,
    Thresholds,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from monitor.stage import NOW, model

WELL = ConnectionStatus(ConnectionState.OK, NOW - timedelta(hours=1), as_of=NOW)
BLIND = ConnectionStatus(ConnectionState.BLIND, NOW, reason="no answer", as_of=NOW)
RULES = Thresholds().attention


def finding(kind: str, severity: Severity = Severity.WARNING, actual: str = "bad", **fields: Any) -> Finding:
    """Return a finding of that severity."""
    return replace(Finding(kind, severity, actual, "good"), **fields)


def critical(kind: str = "BLACKOUT", **fields: Any) -> Finding:
    """Return a critical finding."""
    return finding(kind, Severity.CRITICAL, **fields)


def state(
    *findings: Finding, name: str = "one", tally: BroadcastState = BroadcastState.ON_AIR, grade: Grade = Grade.POOR
) -> EventState:
    """Return an event with these findings, whose encoder sends. With QOS_STALE, its calls have failed for a minute."""
    phase = Phase(tally, ingest=Ingest(IngestState.RECEIVING))
    is_stale = any(each.kind == "QOS_STALE" for each in findings)
    qos = QosState(failing_since=NOW - timedelta(seconds=60) if is_stale else None)
    return EventState(model(id=name), NOW, phase, qos, HealthAssessment(Health(grade=grade), findings))


class Watcher:
    """Alarm engine with passing time: `look` is one step, some seconds after the last."""

    def __init__(self, restored: Iterable[Alarm] = (), now: datetime = NOW) -> None:
        self.engine, self.now = AlarmEngine(Thresholds()), now
        self.engine.restore(restored, now)
        self.states: tuple[EventState, ...] = ()
        self.changes: list[AlarmChange] = []
        self.log: list[AlarmChange] = []
        self.alert_count = 0

    def look(
        self, *states: EventState, after: float = 0.0, link: ConnectionStatus | None = None, fault: str = ""
    ) -> tuple[Alarm, ...]:
        """Step the engine and return the active alarms, most urgent first. The link works by default."""
        self.now += timedelta(seconds=after)
        link = link or replace(WELL, as_of=self.now)
        self.states = states
        changes, bells, log = self.engine.step(MonitorState(states, link, self.now, fault))
        self.changes += changes
        self.log += log
        self.alert_count += len(bells)
        return self.shown

    def every(self, seconds: float, times: int, *states: EventState) -> None:
        """Look `times` times at the same states."""
        for _ in range(times):
            self.look(*states, after=seconds)

    def do(self, action: Callable[[Alarm], Alarm | None], kind: str, event: str = "one") -> None:
        """Act on an alarm as a person does."""
        assert self.engine.handle(AlarmKey(event, kind), action, self.now)

    def alarm(self, kind: str, event: str = "one", target: str = "") -> Alarm:
        """Return an alarm in any state."""
        return self.engine.alarms[AlarmKey(event, kind, target)]

    @property
    def shown(self) -> tuple[Alarm, ...]:
        """Return the active alarms."""
        return tuple(alarm for alarm in self.engine.ordered(self.states) if alarm.active)

    @property
    def inactive(self) -> tuple[Alarm, ...]:
        """Return the alarms that need no attention now."""
        return self.engine.inactive(self.now)

    def transitions(self, kind: str, event: str = "one") -> list[str]:
        """Look again and return the transitions of an alarm, including the last action of a person."""
        self.look(*self.states)
        return [change.transition.value for change in self.changes if change.alarm.key[:2] == (event, kind)]


def kinds(alarms: Iterable[Alarm]) -> list[str]:
    """Return the kinds of alarms, in their order."""
    return [alarm.kind for alarm in alarms]
