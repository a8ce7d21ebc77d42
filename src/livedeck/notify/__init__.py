"""notify TELLS. Which alarms call whom, once, by what message; what must not be lost is in its spool."""

from __future__ import annotations

from livedeck.notify.groups import Board, EventInfo, Plan, State, step
from livedeck.notify.message import Entry, Message, Status
from livedeck.notify.routes import Case, Hours, Route, reasons_against
from livedeck.notify.spool import DEAD, SENT, WAITING, Spool, Spooled, SpoolError, only_notifier, spool_path
from livedeck.notify.texts import Sender, compose

__all__ = [
    "DEAD",
    "SENT",
    "WAITING",
    "Board",
    "Case",
    "Entry",
    "EventInfo",
    "Hours",
    "Message",
    "Plan",
    "Route",
    "Sender",
    "Spool",
    "SpoolError",
    "Spooled",
    "State",
    "Status",
    "compose",
    "only_notifier",
    "reasons_against",
    "spool_path",
    "step",
]
