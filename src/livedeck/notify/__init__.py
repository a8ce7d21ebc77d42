"""notify TELLS. Which alarms call whom, once, by what message; what must not be lost is in its spool."""

from __future__ import annotations

from livedeck.notify.groups import RATE_WINDOW, Board, Box, EventInfo, Life, Outcome, Plan, State, Told, step, withheld
from livedeck.notify.heartbeat import Heartbeat, Vitals, failure
from livedeck.notify.message import Beginning, Entry, Message, Status
from livedeck.notify.notifier import Notifier, Storage
from livedeck.notify.routes import Case, CaseEvent, Hours, Route, reasons_against
from livedeck.notify.spool import (
    DEAD,
    DEAD_KEPT,
    KEPT,
    SEEN_EACH,
    SENT,
    WAITING,
    NotOnDutyError,
    OutdatedError,
    Spool,
    Spooled,
    SpoolError,
    moved,
    only_notifier,
    spool_path,
)
from livedeck.notify.targets import AppriseMissing, AppriseTarget, Delivery, Post, Target, Webhook
from livedeck.notify.texts import Sender, compose

__all__ = [
    "DEAD",
    "DEAD_KEPT",
    "KEPT",
    "RATE_WINDOW",
    "SEEN_EACH",
    "SENT",
    "WAITING",
    "AppriseMissing",
    "AppriseTarget",
    "Beginning",
    "Board",
    "Box",
    "Case",
    "CaseEvent",
    "Delivery",
    "Entry",
    "EventInfo",
    "Heartbeat",
    "Hours",
    "Life",
    "Message",
    "NotOnDutyError",
    "Notifier",
    "Outcome",
    "OutdatedError",
    "Plan",
    "Post",
    "Route",
    "Sender",
    "Spool",
    "SpoolError",
    "Spooled",
    "State",
    "Status",
    "Storage",
    "Target",
    "Told",
    "Vitals",
    "Webhook",
    "compose",
    "failure",
    "moved",
    "only_notifier",
    "reasons_against",
    "spool_path",
    "step",
    "withheld",
]
