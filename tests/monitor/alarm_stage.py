"""Events with the findings that a test wants, and an alarm engine that is given them moment by moment."""

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
    """Something wrong, critical or not as told."""
    return replace(Finding(kind, severity, actual, "good"), **fields)


def critical(kind: str = "BLACKOUT", **fields: Any) -> Finding:
    """Something wrong that nobody may miss."""
    return finding(kind, Severity.CRITICAL, **fields)


def state(
    *findings: Finding, name: str = "one", tally: BroadcastState = BroadcastState.ON_AIR, grade: Grade = Grade.POOR
) -> EventState:
    """An event with those findings, its encoder heard."""
    phase = Phase(tally, ingest=Ingest(IngestState.RECEIVING))
    return EventState(model(id=name), NOW, phase, QosState(), HealthAssessment(Health(grade=grade), findings))


class Watcher:
    """An alarm engine before which time passes: `look` is one step, some seconds after the last."""

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
        """The alarms that a person must read now, most urgent first. The link is well unless told otherwise."""
        self.now += timedelta(seconds=after)
        link = link or replace(WELL, as_of=self.now)
        self.states = states
        changes, bells, log = self.engine.step(MonitorState(states, link, self.now, fault))
        self.changes += changes
        self.log += log
        self.alert_count += len(bells)
        return self.shown

    def every(self, seconds: float, times: int, *states: EventState) -> None:
        """Look so many times, at the same."""
        for _ in range(times):
            self.look(*states, after=seconds)

    def do(self, action: Callable[[Alarm], Alarm | None], kind: str, event: str = "one") -> None:
        """What a person does to that alarm."""
        assert self.engine.handle(AlarmKey(event, kind), action, self.now)

    def alarm(self, kind: str, event: str = "one", target: str = "") -> Alarm:
        """That alarm, wherever it stands."""
        return self.engine.alarms[AlarmKey(event, kind, target)]

    @property
    def shown(self) -> tuple[Alarm, ...]:
        """What a person must read now."""
        return tuple(alarm for alarm in self.engine.ordered(self.states) if alarm.active)

    @property
    def inactive(self) -> tuple[Alarm, ...]:
        """What needs nobody now."""
        return self.engine.inactive(self.now)

    def transitions(self, kind: str, event: str = "one") -> list[str]:
        """Of that alarm, the last thing that a person did to it included."""
        self.look(*self.states)
        return [change.transition.value for change in self.changes if change.alarm.key[:2] == (event, kind)]


def kinds(alarms: Iterable[Alarm]) -> list[str]:
    """Their kinds, in their order."""
    return [alarm.kind for alarm in alarms]
