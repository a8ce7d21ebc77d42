"""Requests that went out, counted and timed by what they do: numbers for whoever watches the watcher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from livedeck.client.http.errors import ApiError
from livedeck.client.http.timing import ClientTiming

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: a duration is counted under the first of them that it does not exceed."""

MAX_OPERATIONS = 80
"""What is counted apart; more than the client has. What else comes is counted as `OTHER`."""

OTHER = "other"
OK, CANCELLED = "ok", "cancelled"


@dataclass(slots=True)
class Durations:
    """How long requests took: how many lie under each of `BOUNDS`, the last number those over all; and all seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[sum(bound < seconds for bound in BOUNDS)] += 1
        self.seconds += seconds


class RequestCounts:
    """Every try is one: a read that is tried three times has asked the platform three times.

    `results`: by operation and result, which is `ok`, `cancelled` or the name of the error in lower case. `durations`:
    by operation; of what was cancelled there is none.
    """

    def __init__(self) -> None:
        self.results = Counter[tuple[str, str]]()
        self.durations: dict[str, Durations] = {}

    @contextmanager
    def counting(self, operation: str, timing: ClientTiming) -> Iterator[None]:
        """Count what happens within as one try of it."""
        if operation not in self.durations and len(self.durations) >= MAX_OPERATIONS:
            operation = OTHER
        durations, started_at, result = self.durations.setdefault(operation, Durations()), timing.timer(), CANCELLED
        try:
            yield
            result = OK
        except ApiError as error:
            result = type(error).__name__.lower()
            raise
        finally:
            self.results[operation, result] += 1
            if result != CANCELLED:
                durations.add(timing.timer() - started_at)
