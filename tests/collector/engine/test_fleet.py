"""Three collectors and 300 events: each collector, Redis and the connection to it fail in turn; the platform counts."""

from __future__ import annotations

import pytest

from collector.engine.fleet import INTERVAL, TTL, trial
from collector.engine.servers import skip_without_redis


@pytest.mark.slow
def test_nothing_is_unasked_for_long_nothing_stale_is_taken_and_all_is_told_once() -> None:
    skip_without_redis()
    rows = [*trial(300)]
    assert len(rows) == 9
    for row in rows:
        assert row.longest <= TTL + INTERVAL, row
        assert (row.stale, row.under_two_keys) == (0, 0), row
    before_the_split = rows[4]
    # In the split, the notifier itself may be cut off, and then notifies twice: engine.md, "Without Redis".
    assert before_the_split.sent_twice == 0
