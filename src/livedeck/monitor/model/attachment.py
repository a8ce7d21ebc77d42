"""Connection of a deck to its collector, as frozen values. All times are by the collector's clock."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.model.alarm import AlarmKey
from livedeck.record import Record


class AttachmentState(StrEnum):
    """State of the connection to the collector.

    LISTING: the deck waits for the complete state. RESUMING: the connection has just broken. SILENT: no message for
    12 s. REFUSED: the collector refuses this deck. ALONE: this deck polls the platform itself.
    """

    LISTING = "listing"
    WATCHING = "watching"
    RESUMING = "resuming"
    SILENT = "silent"
    REFUSED = "refused"
    ALONE = "polling alone"


class Attachment(Record):
    """Attachment of a deck to its collector.

    `host`: host of the collector. `since`: start of `state`. `heard_at`: time of the collector's last message; None
    before the first. `reason`: reason for the collector's silence, in words, or empty. `skew`: lead of this machine's
    clock over the collector's in seconds; 0 below 2 s.

    `unshared`: alarms with actions that the collector has not received yet. `outcomes`: outcomes of such actions, in
    words, since the last snapshot. `actor`: owner of the token. `may`: right of the token (`read`, `act`); both empty
    if unknown. `own`: alarms of this deck alone, which it handles without the collector.
    """

    state: AttachmentState
    host: str
    since: datetime
    heard_at: datetime | None = None
    reason: str = ""
    skew: float = 0.0
    unshared: tuple[AlarmKey, ...] = ()
    outcomes: tuple[str, ...] = ()
    actor: str = ""
    may: str = ""
    own: frozenset[AlarmKey] = frozenset()

    def refusal(self, *keys: AlarmKey) -> str:
        """Return the reason, in words, why an action on these alarms is not possible now; empty if it is possible.

        It is always possible for alarms of this deck alone, and while this deck polls by itself.
        """
        if self.is_alone or self.own & {*keys}:
            return ""
        if self.is_silent:
            word = (
                "refuses this deck"
                if self.state is AttachmentState.REFUSED
                else f"has been silent since {self.since:%H:%M:%S}Z"
            )
            return f"needs the collector, which {word}"
        if self.may in {"", "act"}:
            return ""
        return f"needs a token with the right act: the token of {self.actor} has the right {self.may}"

    @property
    def is_silent(self) -> bool:
        """True if nothing on the screen can be trusted."""
        return self.state in {AttachmentState.SILENT, AttachmentState.REFUSED}

    @property
    def is_alone(self) -> bool:
        """True if this deck polls the platform itself."""
        return self.state is AttachmentState.ALONE


class Silence(NamedTuple):
    """Silence of the collector: start (this machine's clock) and reason in words."""

    since: datetime
    reason: str
