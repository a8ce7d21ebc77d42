"""Delay of critical alarms from their announcement to the POST, over real HTTP, on an event loop where nobody waits."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

from golden.player import Clock
from golden.warp import Warp
from livedeck.monitor import Alarm, AlarmKey, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import Message
from notify.stage import alarm
from notify.warped import Sink, notifying, watch

EACH, STEADY, BURST = 10, 60, 240
"""Seconds between two critical alarms, their number, and the number of those that begin together after them."""


def percentile(values: list[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    return sorted(values)[round(share * (len(values) - 1))]


def test_no_critical_waits_longer_than_fifteen_seconds_in_a_flood(tmp_path: Path) -> None:
    announced: dict[str, float] = {}
    present: dict[AlarmKey, Alarm] = {}

    def begin(name: str, severity: Severity = Severity.CRITICAL) -> None:
        now = Clock().now()
        begun = alarm(name, "PACKET_LOSS", severity, since=now, changed=now)
        present[begun.key] = begun
        announced[name] = Clock().monotonic()

    async def play() -> Sink:
        sink = Sink()
        async with notifying(tmp_path / "spool", {"ops": sink}) as notifier:
            for number in range(STEADY):
                begin(f"steady-{number}")
                begin(f"warning-{number}", Severity.WARNING)
                await watch(notifier, present, EACH)
            for number in range(BURST):
                begin(f"burst-{number}")
            await watch(notifier, present, 60)
        return sink

    with asyncio.Runner(loop_factory=Warp) as runner:
        sink = runner.run(play())

    arrived = dict[str, float]()
    for post in sink.posts:
        for entry in post.json["alarms"]:
            arrived.setdefault(entry["event_id"], post.at)
    delays = {name: at - announced[name] for name, at in arrived.items() if not name.startswith("warning")}
    named = [name for name in delays if name.startswith("burst")]
    values = [*delays.values()]
    table = Counter(f"{delay:.0f} s" for delay in values)
    print(f"{len(sink.posts)} posts; {dict(sorted(table.items()))}; worst {max(values):.1f} s")  # noqa: T201
    assert percentile(values, 0.99) <= 10
    assert max(values) <= 15
    assert len(delays) - len(named) == STEADY
    (burst,) = (post.json for post in sink.posts if post.json["truncated"])
    assert len(named) + int(burst["truncated"]) == BURST
    assert burst["title"] == "CRIT 240 x PACKET_LOSS"
    assert "Flood: " in burst["text"]


def test_a_group_waits_for_no_further_snapshot(tmp_path: Path) -> None:
    sink, made = Sink(), list[Message]()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}) as notifier:
            now = Clock().now()
            link = ConnectionStatus(ConnectionState.OK, now, as_of=now)
            standing = alarm("one", severity=Severity.WARNING, since=now, changed=now)
            await notifier.take(Snapshot(1, now, link, alarms=(standing,)))
            await asyncio.sleep(8)
            worse = replace(standing, severity=Severity.CRITICAL)
            at = Clock().monotonic()
            made.extend(await notifier.take(Snapshot(2, Clock().now(), link, alarms=(worse,))))
            await asyncio.sleep(8)
            assert [(post.title, post.at - at < 6.5) for post in sink.posts[1:]] == [("CRIT NO_INGEST ONE", True)]
            made.extend(await notifier.take(Snapshot(3, Clock().now(), link, alarms=(worse,))))

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(work())
    assert [message.title for message in made] == ["WARN NO_INGEST ONE", "CRIT NO_INGEST ONE"]
