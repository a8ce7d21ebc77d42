"""Counts and durations of requests by operation, for livedeck's own metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from livedeck.client.http.errors import ApiError
from livedeck.client.http.timing import ClientTiming

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the duration buckets, in seconds."""

MAX_OPERATIONS = 80
"""Maximum number of operations with counts of their own; further ones count as `OTHER`. The client has fewer."""

OTHER = "other"
OK, CANCELLED = "ok", "cancelled"


@dataclass(slots=True)
class Durations:
    """Durations of requests.

    `counts`: number of requests in each bucket of `BOUNDS`, and above. `seconds`: sum of the durations.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a request that took `seconds`."""
        self.counts[sum(bound < seconds for bound in BOUNDS)] += 1
        self.seconds += seconds


class RequestCounts:
    """Counters of requests. Each try counts, so a read that is tried three times counts as three.

    `results`: (operation, result) -> tries; a result is `ok`, `cancelled` or the name of the error in lower case.
    `durations`: operation -> durations, without cancelled tries.
    """

    def __init__(self) -> None:
        self.results = Counter[tuple[str, str]]()
        self.durations: dict[str, Durations] = {}

    @contextmanager
    def counting(self, operation: str, timing: ClientTiming) -> Iterator[None]:
        """Count the block as a try of the operation."""
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
