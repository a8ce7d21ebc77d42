"""The most that each thing may cost, in calls or other counts that repeat. Change a limit only with its reason.

A limit is the measured value and a tenth. A test measures with `counting.counted` and passes its figure to `check`.
"""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """A limit, and the reason for its height."""

    most: float
    reason: str


LIMITS = {
    "calls a key, 100 rows": Limit(34_000, "table, charts and the five widgets that a key paints"),
    "calls a key, 10,000 rows": Limit(34_000, "the same: only what is visible costs"),
    "calls a key, 10,000 rows to 100": Limit(1.1, "no key goes through all rows"),
    "calls a second of a still deck": Limit(
        32_500, "clocks, ages and two signs that blink; each paint asks all widgets"
    ),
    "refreshes a key": Limit(1, "a key changes the screen once"),
    "pictures of the selected event in a burst of keys": Limit(1, "only the last one is seen"),
}


def check(name: str, value: float) -> None:
    """Fail if that costs more than its limit."""
    limit = LIMITS[name]
    assert value <= limit.most, f"{name}: {value:,.2f}, at most {limit.most:,.2f} ({limit.reason})"
