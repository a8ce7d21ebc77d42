"""Three collectors, 300 events: each of them, Redis and the way to it die in turn, and the platform counts."""

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
    assert before_the_split.sent_twice == 0  # the one that tells may be the one that is cut off: engine.md, "Apart"
