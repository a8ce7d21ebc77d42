"""Range of time: a frozen value."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Range of time."""

    since: float
    until: float

    @property
    def seconds(self) -> float:
        return self.until - self.since
