"""What the monitor said during a play: every alarm that came and went, when, and how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from livedeck.monitor import Alarm, AlarmKey, Diagnosis, Readings, Severity, Snapshot
from livedeck.simulator import Scenario


@dataclass(slots=True)
class AlarmSpan:
    """An alarm from its coming to its going, in seconds of the play; `until` is None for one that stayed.

    `read`: seconds for which a person had to read it; 0 where a parent said it all along. `severity`: the loudest that
    it was. `diagnoses`: what it ever said of cause, viewers and advice, in that order.
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
        """Add how it stands, and for how many seconds it stood so."""
        self.read += seconds if alarm.active else 0.0
        self.severity = min(self.severity, alarm.severity, key=lambda severity: severity.rank)
        self.flapping = self.flapping or alarm.flapping
        if alarm.active and alarm.diagnosis not in self.diagnoses:
            self.diagnoses.append(alarm.diagnosis)


@dataclass(slots=True)
class Log:
    """The alarms of a play in the order of their coming, and every snapshot with its second of the play."""

    scenario: Scenario
    spans: list[AlarmSpan] = field(default_factory=list)
    snapshots: list[tuple[float, Snapshot]] = field(default_factory=list)
    _present: dict[AlarmKey, AlarmSpan] = field(default_factory=dict)
    _alarms: dict[AlarmKey, Alarm] = field(default_factory=dict)

    def note(self, snapshot: Snapshot, at: float) -> None:
        """Take in one snapshot, `at` seconds into the play."""
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
    """Without the samples: plays are many, and kept."""
    events = tuple(replace(state, qos=replace(state.qos, readings=_NONE), episodes=()) for state in snapshot.events)
    return replace(snapshot, events=events, changes=())


def _begun(alarm: Alarm, at: float) -> AlarmSpan:
    return AlarmSpan(alarm.kind, alarm.subject if alarm.event_id else "", alarm.target_name, at)
