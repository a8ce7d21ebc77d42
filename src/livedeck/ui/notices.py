"""What the deck said: shown for a while above the keys, kept in the history of notifications."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from livedeck import wording
from livedeck.monitor import Severity
from livedeck.ui.renderables.cells import SEVERITIES
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment

SHOWN = {Severity.INFO: 6.0, Severity.WARNING: 12.0, Severity.CRITICAL: 30.0}
"""Seconds that a notice stands above the keys."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that was said, when (this machine's clock) and how loud."""

    at: datetime
    severity: Severity
    text: str


def line(notices: tuple[Notice, ...], moment: Moment) -> list[Line]:
    """The last notice while it is news; no line afterwards."""
    if not notices or moment.since(notices[-1].at) >= SHOWN[notices[-1].severity]:
        return []
    glyph, word, ink = SEVERITIES[notices[-1].severity]
    return [[(f" {glyph} {word} ", ink), (wording.safe(notices[-1].text), Ink.STRONG)]]
