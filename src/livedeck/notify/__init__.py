"""Notifications: which alarms reach which people. Each message is sent at least once; the spool keeps the state."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from livedeck.monitor import Case, CaseEvent
from livedeck.notify.kinds import OPTIONS, TARGETS, Given, Means, TargetKind
from livedeck.notify.routes import GROUPINGS, Level, Route, reasons_against
from livedeck.notify.templates import FIELDS, Template, check_template
from livedeck.text.hours import Hours

if TYPE_CHECKING:
    from livedeck.notify.groups import (
        RATE_WINDOW,
        Board,
        Box,
        EventInfo,
        Life,
        Notified,
        Outcome,
        Plan,
        State,
        step,
        withheld,
    )
    from livedeck.notify.heartbeat import Heartbeat, Vitals, failure
    from livedeck.notify.message import NOTIFY_FAILING, Beginning, Entry, Message, Open, Status
    from livedeck.notify.notifier import Notifier, Storage
    from livedeck.notify.services import Alertmanager, PagerDuty, Slack, SlackHook, Teams
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
    from livedeck.notify.targets import (
        AppriseTarget,
        CheckedTarget,
        Delivery,
        Post,
        Refreshing,
        Target,
        TargetError,
        Webhook,
    )
    from livedeck.notify.texts import Sender, compose

__all__ = [
    "DEAD",
    "DEAD_KEPT",
    "FIELDS",
    "GROUPINGS",
    "KEPT",
    "NOTIFY_FAILING",
    "OPTIONS",
    "RATE_WINDOW",
    "SEEN_EACH",
    "SENT",
    "TARGETS",
    "WAITING",
    "Alertmanager",
    "AppriseTarget",
    "Beginning",
    "Board",
    "Box",
    "Case",
    "CaseEvent",
    "CheckedTarget",
    "Delivery",
    "Entry",
    "EventInfo",
    "Given",
    "Heartbeat",
    "Hours",
    "Level",
    "Life",
    "Means",
    "Message",
    "NotOnDutyError",
    "Notified",
    "Notifier",
    "Open",
    "Outcome",
    "OutdatedError",
    "PagerDuty",
    "Plan",
    "Post",
    "Refreshing",
    "Route",
    "Sender",
    "Slack",
    "SlackHook",
    "Spool",
    "SpoolError",
    "Spooled",
    "State",
    "Status",
    "Storage",
    "Target",
    "TargetError",
    "TargetKind",
    "Teams",
    "Template",
    "Vitals",
    "Webhook",
    "check_template",
    "compose",
    "failure",
    "moved",
    "only_notifier",
    "reasons_against",
    "spool_path",
    "step",
    "withheld",
]

_PARTS = ("groups", "heartbeat", "message", "notifier", "services", "spool", "targets", "texts")
"""Modules that are imported at the first use of one of their names.

The settings and the first frame of a deck need only `kinds` and `routes`.
"""


def __getattr__(name: str) -> Any:
    """Import the module of a name at the first use of the name."""
    if name in __all__:
        for part in _PARTS:
            module = import_module(f"{__name__}.{part}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
