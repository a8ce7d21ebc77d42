"""Alarms for tests, and the pure part of a notifier that takes them step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from livedeck.monitor import Alarm, AlarmKey, AlarmState, Diagnosis, NotWatched, Severity
from livedeck.notify import Board, EventInfo, Message, Plan, Route, State, Status, step

NOW = datetime(2026, 11, 21, 20, 14, 5, tzinfo=UTC)  # a Saturday


def alarm(event: str = "one", kind: str = "NO_INGEST", severity: Severity = Severity.CRITICAL, **fields: Any) -> Alarm:
    """Return an alarm that began at `NOW`, by default. The name of its event is its id in capitals."""
    values: dict[str, Any] = {"actual": "no samples", "expected": "samples", "since": NOW, "changed": NOW} | fields
    diagnosis = Diagnosis("the encoder is off", "nothing", "call the venue")
    return Alarm(event, kind, severity, subject=event.upper() or "platform", diagnosis=diagnosis, **values)


def acknowledged(standing: Alarm, at: datetime = NOW) -> Alarm:
    """Return the alarm, acknowledged by a person."""
    return replace(
        standing, state=AlarmState.ACKNOWLEDGED, needs_ack=False, changed=at, acknowledged_at=at, answered_by="anna@x:1"
    )


def over(standing: Alarm, at: datetime = NOW) -> Alarm:
    """Return the alarm, cleared."""
    return replace(standing, state=AlarmState.RETURNED, present=False, changed=at)


class Desk:
    """Notifier with a plan: `look` is one step, some seconds after the last. `told`: all messages."""

    def __init__(self, *routes: Route, now: datetime = NOW) -> None:
        self.plan, self.now, self.state = Plan(routes or (Route("ops", "ops"),)), now, State()
        self.alarms: dict[AlarmKey, Alarm] = {}
        self.stops: tuple[NotWatched, ...] = ()
        self.told: list[Message] = []

    def put(self, *alarms: Alarm) -> None:
        """Set these alarms from now on."""
        self.alarms |= {alarm.key: alarm for alarm in alarms}

    def look(self, after: float = 0.0, *, is_known: bool = True) -> list[Message]:
        """Step, and return the new messages."""
        self.now += timedelta(seconds=after)
        events = {key.event_id: EventInfo(key.event_id.upper(), is_on_air=True) for key in self.alarms if key.event_id}
        board = Board([*self.alarms.values()], events, is_known, stops=self.stops)
        self.state, messages, _ = step(self.plan, self.state, board, self.now)
        self.told += messages
        assert len({message.key for message in self.told}) == len(self.told)
        return list(messages)

    def watch(self, seconds: float, each: float = 1.0) -> list[Message]:
        """Return the messages of the next `seconds`."""
        return [message for _ in range(round(seconds / each)) for message in self.look(each)]


class Pager:
    """Receiver without code of livedeck, at each target.

    `firing` and `escalated` open an incident, and `resolved` closes it. The key of an incident is the key of an alarm
    or its life.
    """

    def __init__(self) -> None:
        self.keys = set[tuple[str, tuple[str, ...]]]()
        self.lives = set[tuple[str, str]]()

    def take(self, messages: Iterable[Message]) -> None:
        """Take the messages in this order."""
        for message in messages:
            body = json.loads(message.payload)
            keys = {(message.target, tuple(entry["key"])) for entry in body["alarms"]}
            lives = {(message.target, entry["life"]) for entry in body["alarms"]}
            is_cleared = body["status"] == Status.RESOLVED
            self.keys = self.keys - keys if is_cleared else self.keys | keys
            self.lives = self.lives - lives if is_cleared else self.lives | lives


def titles(messages: Iterable[Message]) -> list[str]:
    """Return the titles of messages."""
    return [message.title for message in messages]
