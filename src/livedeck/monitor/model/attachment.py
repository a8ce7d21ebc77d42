"""Connection of a deck to its collector: frozen values. All times are by the collector's clock."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.model.alarm import AlarmKey
from livedeck.record import Record


class AttachmentState(StrEnum):
    """State of the connection to the collector.

    LISTING: nothing is known yet, or everything is read anew. RESUMING: it broke a moment ago. SILENT: nothing came for
    12 s. REFUSED: the collector refuses. ALONE: this deck polls the platform itself.

    """

    LISTING = "listing"
    WATCHING = "watching"
    RESUMING = "resuming"
    SILENT = "silent"
    REFUSED = "refused"
    ALONE = "polling alone"


class Attachment(Record):
    """A deck's attachment to its collector.

    `host`: the collector in use; `since`: start of `state`; `heard_at`: its last message, None before the first.
    `reason`:
    reason for its silence in words, or empty.

    `skew`: seconds that this machine's clock is ahead of the collector's; 0 while under 2 s. `unshared`: alarms with
    actions that the collector has not received yet. `told`: results of such actions since the last snapshot, in words.

    `actor`: owner of the token, and `may`: its permission (`read`, `act`); empty if unknown. `own`: alarms of this deck
    alone, which it handles itself.
    """

    state: AttachmentState
    host: str
    since: datetime
    heard_at: datetime | None = None
    reason: str = ""
    skew: float = 0.0
    unshared: tuple[AlarmKey, ...] = ()
    told: tuple[str, ...] = ()
    actor: str = ""
    may: str = ""
    own: frozenset[AlarmKey] = frozenset()

    def refusal(self, *keys: AlarmKey) -> str:
        """Return why no alarm action can go through the collector now, in words; empty if it can.

        Also empty if this deck keeps actions until the collector is back, and for alarms of this deck alone.

        """
        if self.is_alone or self.own & {*keys}:
            return ""
        if self.is_silent:
            word = (
                "refuses this deck"
                if self.state is AttachmentState.REFUSED
                else f"has been silent since {self.since:%H:%M:%S}Z"
            )
            return f"waits for the collector, which {word}"
        if self.may in {"", "act"}:
            return ""
        return f"needs a token that may act: that of {self.actor} may {self.may}"

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
