"""The way from a deck to the collector that watches for it: frozen values. All times are by the collector's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.model.alarm import AlarmKey


class AttachmentState(StrEnum):
    """What the way is good for now. LISTING: nothing is known of it yet, or all is asked anew; RESUMING: it broke a
    moment ago; SILENT: it has told nothing for 12 s; REFUSED: it refuses to; ALONE: this deck asks the platform by
    itself."""

    LISTING = "listing"
    WATCHING = "watching"
    RESUMING = "resuming"
    SILENT = "silent"
    REFUSED = "refused"
    ALONE = "polling alone"


@dataclass(frozen=True, slots=True)
class Attachment:
    """How a deck hangs on its collector. `host`: which one is asked; `since`: when `state` began; `heard_at`: when it
    told anything last, None: never. `reason`: why it is not heard, in words; empty where it is.

    `skew`: seconds that this machine's clock is ahead of the collector's; 0 while that is under 2 s. `unshared`: alarms
    that were answered here, which the collector does not know of yet. `told`: what became of such answers since the
    snapshot before, in words.

    `actor`: whose token is taken there, and `may`: what it may (`read`, `act`); empty where that is not known. `own`:
    the alarms of this deck alone, which it answers by itself.
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
        """Why nothing can be answered through the collector now, in words; empty where it can, where this deck keeps
        answers until it is back, and of alarms that are its own."""
        if self.is_alone or self.own & {*keys}:
            return ""
        if self.is_silent:
            word = (
                "refuses this deck"
                if self.state is AttachmentState.REFUSED
                else f"is silent since {self.since:%H:%M:%S}Z"
            )
            return f"waits for the collector, which {word}"
        if self.may in {"", "act"}:
            return ""
        return f"needs a token that may act: that of {self.actor} may {self.may}"

    @property
    def is_silent(self) -> bool:
        """Whether nothing that is shown is believed."""
        return self.state in {AttachmentState.SILENT, AttachmentState.REFUSED}

    @property
    def is_alone(self) -> bool:
        """Whether this deck asks the platform by itself."""
        return self.state is AttachmentState.ALONE


class Silence(NamedTuple):
    """The collector tells nothing since then (this machine's clock): why, in words."""

    since: datetime
    reason: str
