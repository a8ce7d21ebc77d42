"""Log of a play: every alarm, with its beginning, its end and its state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from livedeck.monitor import Alarm, AlarmKey, Diagnosis, Readings, Severity, Snapshot
from livedeck.simulator import Scenario


@dataclass(slots=True)
class AlarmSpan:
    """Alarm from beginning to end, in seconds of the play; `until` is None if it remains.

    `read`: seconds for which it was active; 0 if a parent hid it all the time. `severity`: its highest. `diagnoses`:
    every diagnosis that it had, in order.
    """

    kind: str
    event: str
    target: str
    since: float
    until: float | None = None
    read: float = 0.0
    severity: Severity = Severity.INFO
    flapping: bool = False
    diagnoses: list[Diagnosis] = field(default_factory=list)

    def __str__(self) -> str:
        who = " ".join(filter(None, [self.event or "the deck", self.target]))
        until = "" if self.until is None else f"{self.until:.0f}"
        return f"{self.kind} of {who}, {self.severity}, {self.since:.0f} to {until} s, read for {self.read:.0f} s"

    def add(self, alarm: Alarm, seconds: float) -> None:
        """Add the state of the alarm, and the seconds for which it lasted."""
        self.read += seconds if alarm.active else 0.0
        self.severity = min(self.severity, alarm.severity, key=lambda severity: severity.rank)
        self.flapping = self.flapping or alarm.flapping
        if alarm.active and alarm.diagnosis not in self.diagnoses:
            self.diagnoses.append(alarm.diagnosis)


@dataclass(slots=True)
class Log:
    """Alarms of a play in the order of their beginnings, and every snapshot with its second of the play."""

    scenario: Scenario
    spans: list[AlarmSpan] = field(default_factory=list)
    snapshots: list[tuple[float, Snapshot]] = field(default_factory=list)
    _present: dict[AlarmKey, AlarmSpan] = field(default_factory=dict)
    _alarms: dict[AlarmKey, Alarm] = field(default_factory=dict)

    def note(self, snapshot: Snapshot, at: float) -> None:
        """Add a snapshot, `at` seconds into the play."""
        lasted = at - self.snapshots[-1][0] if self.snapshots else 0.0
        for key, alarm in self._alarms.items():
            self._present[key].add(alarm, lasted)
        self.snapshots.append((at, _light(snapshot)))
        self._alarms = {alarm.key: alarm for alarm in (*snapshot.alarms, *snapshot.quiet) if alarm.present}
        for key in [key for key in self._present if key not in self._alarms]:
            self._present.pop(key).until = at
        for key in self._alarms.keys() - self._present.keys():
            self._present[key] = _begun(self._alarms[key], at)
            self.spans.append(self._present[key])


_NONE = Readings()


def _light(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without its samples, because many plays are kept."""
    events = tuple(replace(state, qos=replace(state.qos, readings=_NONE), episodes=()) for state in snapshot.events)
    return replace(snapshot, events=events, changes=())


def _begun(alarm: Alarm, at: float) -> AlarmSpan:
    return AlarmSpan(alarm.kind, alarm.subject if alarm.event_id else "", alarm.target_name, at)
