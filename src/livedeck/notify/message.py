"""Messages, and their entries, one for each alarm. Both are frozen, and stored as JSON in the spool."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from livedeck.monitor import AlarmKey, Severity
from livedeck.record import Record
from livedeck.text.secrets import masked
from livedeck.text.values import MASK

_WORDS = ("event", "part", "actual", "expected", "cause", "viewers", "advice", "airing", "acknowledged", "title")
"""Fields with texts from the platform or from people."""

MAX_PLAIN = 300
"""Maximum number of characters of a message as plain text."""

NOTIFY_FAILING = "NOTIFY_FAILING"
"""Kind of alarm that waits for no group and no allowance, because it says that other messages do not arrive."""

NOT_NOTIFIED = -1
"""The stage of an alarm without a notification."""

_LINK_PLACE = re.compile(rf"(\n *Acknowledge: )?{MASK}([0-9a-f]{{8}})")
"""Pattern of the place for a link that acknowledges an alarm, with its label."""


class Status(StrEnum):
    """The subject of a message, most urgent first."""

    FIRING = "firing"
    ESCALATED = "escalated"
    REPEATED = "repeated"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    TEST = "test"


BEGINNINGS = frozenset({Status.FIRING, Status.ESCALATED, Status.REPEATED})
"""Statuses of messages about alarms that are present."""


class Entry(Record):
    """An alarm in a message, as it was when the entry was made.

    Attributes:
        status: Subject of the message.
        life: Identity of the alarm from onset to end.
        stage: Number that grows with the alarm: by severity first, then by its own stage.
        event_id: Id of the event; empty for an alarm of no event.
        kind: Kind of the alarm.
        target: Affected part of the event, as in the key of the alarm.
        severity: Severity of the alarm.
        event: Name of the event.
        part: Name of the affected part.
        actual: Actual value, in words.
        expected: Expected value, in words.
        since: Onset of the alarm.
        seconds: Duration of the alarm so far.
        cause: Probable cause.
        viewers: Effect on viewers.
        advice: Advice.
        airing: Time since which the event is on air, or its planned start, in words.
        others: Kinds of the other alarms of the event.
        affected: Names of the events of an incident.
        on_air: Number of events on air.
        acknowledged: Person who has acknowledged the alarm, or whose acknowledgement expired.
        is_cleared: The alarm cleared before its message could go out.
        stage_before: Stage in the previous notification to the same target.
        is_undated: The time of the end is unknown: `seconds` after the onset at the latest.
        title: Title of a message about this alarm alone; set in a composed message.
        link: Your page about the event; set in a composed message.
        project: Id of the project or folder of the event.
        acknowledge: Link that acknowledges the alarm; set during a try, and never stored.
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
    is_cleared: bool = False
    stage_before: int = NOT_NOTIFIED
    is_undated: bool = False
    title: str = ""
    link: str = ""
    project: str = ""
    acknowledge: str = ""

    @property
    def key(self) -> AlarmKey:
        """The key of the alarm."""
        return AlarmKey(self.event_id, self.kind, self.target)

    @property
    def incident(self) -> str:
        """The kind of the incident; empty for an alarm of one event or of the deck."""
        return self.kind if self.affected else ""

    @property
    def is_urgent(self) -> bool:
        """True if the entry has news of a present critical alarm, or of NOTIFY_FAILING; it then needs no allowance."""
        is_news = self.status in {Status.FIRING, Status.ESCALATED} and not self.is_cleared
        return is_news and (self.severity is Severity.CRITICAL or self.kind == NOTIFY_FAILING)

    def as_end(self, seconds: float, *, is_undated: bool = False) -> Entry:
        """Return the entry for the end of the alarm, `seconds` after its onset."""
        return Entry(
            Status.RESOLVED,
            self.life,
            self.stage,
            *self.key,
            self.severity,
            self.event,
            self.part,
            "",
            "",
            self.since,
            seconds,
            is_undated=is_undated,
            project=self.project,
        )

    def to_json(self) -> str:
        """Return the entry as JSON for the spool, with secrets masked and without its link."""
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name != "acknowledge"}
        words = {name: masked(values[name]) for name in _WORDS}
        return json.dumps({**values, **words, "since": self.since.isoformat()})

    @classmethod
    def from_json(cls, text: str) -> Entry:
        """Read an entry from the text of `to_json`. Raises ValueError, KeyError, TypeError."""
        values: dict[str, Any] = json.loads(text)
        values |= {"status": Status(values["status"]), "severity": Severity(values["severity"])}
        values |= {name: tuple(values[name]) for name in ("others", "affected")}
        return cls(**values | {"since": datetime.fromisoformat(values["since"])})


class Beginning(NamedTuple):
    """An alarm that a message reports as present: its life, and the alarm's stage in the previous notification.

    `dedup_key`, `entry`: the alarm's key for receivers, and its entry as JSON; empty if no end must be sent.
    """

    life: str
    stage_before: int
    dedup_key: str = ""
    entry: str = ""


class Open(Record):
    """An alarm whose beginning a target took, and whose end it has not taken yet.

    `route`: route of the message about the beginning. `entry`: entry of the alarm in this message. `receipt`: name that
    the target gave to this message; empty if it gives none.
    """

    target: str
    life: str
    dedup_key: str
    route: str
    entry: Entry
    receipt: str = ""


class Message(Record):
    """A message to a target.

    Attributes:
        key: Key of the message, the same for every try.
        route: Name of the route.
        target: Name of the target.
        at: Time at which the message was made.
        status: Subject of the message.
        title: Title.
        text: Text for people.
        payload: JSON of the webhook; empty for plain text.
        beginnings: Alarms that the message reports as present.
        ends: Lives of the alarms whose end the message reports.
        is_urgent: The message has urgent news (`Entry.is_urgent`), so it goes before other messages of its target.
        acknowledged: Lives of the alarms that the message reports as acknowledged.
        opened: Alarms that are open at the target at the time of a try; not stored.
        entries: Entries of a message about several alarms, as JSON.
    """

    key: str
    route: str
    target: str
    at: datetime
    status: Status
    title: str
    text: str
    payload: str
    beginnings: tuple[Beginning, ...] = ()
    ends: tuple[str, ...] = ()
    is_urgent: bool = False
    acknowledged: tuple[str, ...] = ()
    opened: tuple[Open, ...] = ()
    entries: tuple[str, ...] = ()

    @property
    def alarms(self) -> frozenset[str]:
        """Ids of the alarms of the message. All lives of an alarm have the same id."""
        lives = (*self.ends, *self.acknowledged, *(beginning.life for beginning in self.beginnings))
        return frozenset(life.rpartition("/")[0] for life in lives)

    @property
    def opens(self) -> tuple[Open, ...]:
        """The alarms that are open at the target once it has taken the message."""
        return tuple(
            Open(self.target, beginning.life, beginning.dedup_key, self.route, Entry.from_json(beginning.entry))
            for beginning in self.beginnings
            if beginning.entry
        )

    def as_plain_text(self) -> Message:
        """Return the message as short plain text, under a key of its own, for a receiver that refuses the original."""
        title = self.title[:MAX_PLAIN]
        plain = replace(self, payload="").linked({})
        return replace(plain, key=f"{self.key}-text", text=plain.text[: MAX_PLAIN - len(title) - 1])

    def linked(self, links: Mapping[str, str]) -> Message:
        """Return the message for a try, with links that acknowledge its alarms. `links`: life -> link.

        Removes a place without a link, together with its label.
        """
        lives = {_digest(beginning.life): beginning.life for beginning in self.beginnings}

        def fill(place: re.Match[str]) -> str:
            if (life := lives.get(place[2])) is None:
                return place[0]
            link = links.get(life, "")
            return f"{place[1] or ''}{link}" if link else ""

        text = _LINK_PLACE.sub(fill, self.text)
        if not self.payload or (not links and text == self.text):
            return replace(self, text=text)
        payload = json.loads(self.payload)
        payload["text"] = text
        for alarm in payload["alarms"]:
            alarm["acknowledge"] = links.get(alarm["life"], "")
        beginnings = tuple(
            beginning._replace(entry=_with_link(beginning.entry, links.get(beginning.life, "")))
            for beginning in self.beginnings
        )
        return replace(self, text=text, payload=json.dumps(payload, ensure_ascii=False), beginnings=beginnings)


def _with_link(entry: str, link: str) -> str:
    return json.dumps({**json.loads(entry), "acknowledge": link}) if entry else ""


def link_place(life: str) -> str:
    """Return the text that stands for the link of an alarm. Each try puts a new link there, which is never stored."""
    return f"{MASK}{_digest(life)}"


def _digest(life: str) -> str:
    return sha256(life.encode(errors="replace")).hexdigest()[:8]
