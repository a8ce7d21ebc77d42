"""Connection of a deck to its collector: frozen values. All times are by the collector's clock."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.model.alarm import AlarmKey
from livedeck.record import Record


class AttachmentState(StrEnum):
    """State of the connection to the collector.

    LISTING: the complete state is awaited, for the first time or again. RESUMING: the connection broke a moment ago.
    SILENT: no message for 12 s. REFUSED: the collector refuses this deck. ALONE: this deck polls the platform itself.

    """

    LISTING = "listing"
    WATCHING = "watching"
    RESUMING = "resuming"
    SILENT = "silent"
    REFUSED = "refused"
    ALONE = "polling alone"


class Attachment(Record):
    """A deck's attachment to its collector.

    `host`: the collector in use; `since`: start of `state`; `heard_at`: time of the collector's last message, None
    before the first. `reason`: why the collector is silent, in words, or empty.

    `skew`: seconds that this machine's clock is ahead of the collector's; 0 while under 2 s. `unshared`: alarms with
    actions that the collector has not received yet. `told`: results of such actions, in words, learnt since the last
    snapshot.

    `actor`: owner of the token; `may`: the token's permission (`read`, `act`); both empty if unknown. `own`: alarms of
    this deck alone, which it handles without the collector.
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

        Also empty for alarms of this deck alone, and if this deck keeps actions until the collector is back.

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
