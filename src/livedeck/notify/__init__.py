"""notify TELLS. Which alarms call whom, once, by what message; what must not be lost is in its spool."""

from __future__ import annotations

from livedeck.notify.groups import Board, EventInfo, Plan, State, step
from livedeck.notify.heartbeat import Heartbeat, Vitals, failure
from livedeck.notify.message import Entry, Message, Status
from livedeck.notify.notifier import Notifier
from livedeck.notify.routes import Case, CaseEvent, Hours, Route, reasons_against
from livedeck.notify.spool import DEAD, SENT, WAITING, Spool, Spooled, SpoolError, only_notifier, spool_path
from livedeck.notify.targets import AppriseMissing, AppriseTarget, Delivery, Post, Target, Webhook
from livedeck.notify.texts import Sender, compose

__all__ = [
    "DEAD",
    "SENT",
    "WAITING",
    "AppriseMissing",
    "AppriseTarget",
    "Board",
    "Case",
    "CaseEvent",
    "Delivery",
    "Entry",
    "EventInfo",
    "Heartbeat",
    "Hours",
    "Message",
    "Notifier",
    "Plan",
    "Post",
    "Route",
    "Sender",
    "Spool",
    "SpoolError",
    "Spooled",
    "State",
    "Status",
    "Target",
    "Vitals",
    "Webhook",
    "compose",
    "failure",
    "only_notifier",
    "reasons_against",
    "spool_path",
    "step",
]
