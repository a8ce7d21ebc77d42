"""What is told: an entry for each alarm, and the message that holds them. Frozen, and as JSON in the spool."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from livedeck.monitor import AlarmKey, Severity
from livedeck.text.secrets import masked

_WORDS = ("event", "part", "actual", "expected", "cause", "viewers", "advice", "airing", "acknowledged")
"""Fields that hold words of the platform's and of persons."""

UNTOLD = -1
"""The stage of what nobody was told of."""


class Status(StrEnum):
    """What a message is about, the most urgent first."""

    FIRING = "firing"
    ESCALATED = "escalated"
    RESOLVED = "resolved"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Entry:
    """One alarm in a message, as it stood then. `life`: its identity from onset to end; `stage`: how far it had grown.

    `seconds`: how long it stood. `airing`: on air since when, or when it starts. `others`: kinds of the other alarms of
    the event. `affected`: names of the events of an incident; `on_air`: how many might have been. `acknowledged`: who
    had promised to act, and let it run out. `is_over`: it ended before it could be told. `stage_before`: at which its
    reader was told of it before.
    """

    status: Status
    life: str
    stage: int
    event_id: str
    kind: str
    target: str
    severity: Severity
    event: str
    part: str
    actual: str
    expected: str
    since: datetime
    seconds: float
    cause: str = ""
    viewers: str = ""
    advice: str = ""
    airing: str = ""
    others: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    on_air: int = 0
    acknowledged: str = ""
    is_over: bool = False
    stage_before: int = UNTOLD

    @property
    def key(self) -> AlarmKey:
        """Of the alarm."""
        return AlarmKey(self.event_id, self.kind, self.target)

    @property
    def incident(self) -> str:
        """The kind of the incident that it is; empty for an alarm of one event or of the deck."""
        return self.kind if self.affected else ""

    def to_json(self) -> str:
        """As the spool keeps it: no secret in its words."""
        words = {name: masked(getattr(self, name)) for name in _WORDS}
        return json.dumps({**asdict(self), **words, "since": self.since.isoformat()})

    @classmethod
    def from_json(cls, text: str) -> Entry:
        """What `to_json` made. Raises ValueError, KeyError, TypeError."""
        values: dict[str, Any] = json.loads(text)
        values |= {"status": Status(values["status"]), "severity": Severity(values["severity"])}
        values |= {name: tuple(values[name]) for name in ("others", "affected")}
        return cls(**values | {"since": datetime.fromisoformat(values["since"])})


class Beginning(NamedTuple):
    """An alarm that a message says stands: its life, and at which stage its reader was told of it before."""

    life: str
    stage_before: int


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to a target. `key`: the same for every try; `payload`: the webhook's JSON. `beginnings`: the alarms
    that it says stand; none where it tells their end."""

    key: str
    route: str
    target: str
    at: datetime
    status: Status
    title: str
    text: str
    payload: str
    beginnings: tuple[Beginning, ...] = ()
