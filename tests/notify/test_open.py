"""Each onset that a target took has one end there: over real HTTP, with kills, poison and changed routes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from breadth import slow
from golden.player import Clock
from golden.warp import Warp
from livedeck.monitor import Alarm, AlarmKey, Severity
from livedeck.notify import DEAD, WAITING, Route, Spool
from notify.stage import acknowledged, alarm
from notify.warped import Sink, notifying, watch


def run(work: Coroutine[Any, Any, None]) -> None:
    """Do the work in virtual time."""
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(work)


def begun(name: str, severity: Severity = Severity.CRITICAL) -> dict[AlarmKey, Alarm]:
    """Return an alarm that begins now."""
    made = alarm(name, severity=severity, since=Clock().now(), changed=Clock().now())
    return {made.key: made}


def open_at(path: Path) -> list[tuple[str, str, str]]:
    """Return the open incidents of the file: target, route and dedup key."""
    spool = Spool(path, reads=True)
    found = [(known.target, known.route, known.dedup_key) for known in spool.opens()]
    spool.close()
    return found


@pytest.mark.parametrize("later", [(Route("renamed", "ops"),), (Route("other", "boss"),)], ids=["renamed", "removed"])
@pytest.mark.parametrize("is_restarted", [True, False], ids=["cleared before the restart", "cleared after it"])
def test_the_end_goes_to_a_target_whose_route_has_gone(
    tmp_path: Path, later: tuple[Route, ...], *, is_restarted: bool
) -> None:
    ops, boss, path = Sink(), Sink(), tmp_path / "spool"

    async def work() -> None:
        sinks = {"ops": ops, "boss": boss}
        async with notifying(path, sinks, Route("ops", "ops")) as notifier:
            present = begun("one")
            await watch(notifier, present, 20)
            ((target, route, key),) = open_at(path)
            assert (target, route, key) == ("ops", "ops", ops.posts[0].json["alarms"][0]["dedup_key"])
        async with notifying(path, sinks, *later) as notifier:
            if not is_restarted:
                await watch(notifier, present, 20)
            await watch(notifier, {}, 300)

    run(work())
    told = [(post.json["status"], post.json["alarms"][0]["dedup_key"]) for post in ops.posts]
    firing = {key for status, key in told if status == "firing"}
    assert [status for status, _ in told].count("resolved") == len(firing) == 1
    assert {key for _, key in told} == firing
    assert told[-1][0] == "resolved"
    assert open_at(path) == []


def test_a_beginning_that_nobody_knows_any_more_gets_an_end_that_claims_no_time(tmp_path: Path) -> None:
    ops, path = Sink(), tmp_path / "spool"

    async def work() -> None:
        async with notifying(path, {"ops": ops}) as notifier:
            await watch(notifier, begun("one"), 20)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM life")
            db.execute("DELETE FROM notified")
        async with notifying(path, {"ops": ops}) as notifier:
            begin = Clock().monotonic()
            await watch(notifier, {}, 300)
            assert ops.posts[-1].at - begin < 5

    run(work())
    firing, end = (post.json for post in ops.posts)
    assert (end["status"], end["title"]) == ("resolved", "RESOLVED NO_INGEST ONE")
    assert end["text"].startswith("ONE: NO_INGEST began 09:00:00 UTC, cleared 09:00:20 UTC or earlier\n")
    assert firing["alarms"][0]["dedup_key"] == end["alarms"][0]["dedup_key"]


def test_an_alarm_that_is_present_gets_no_end_though_its_state_was_lost(tmp_path: Path) -> None:
    ops, path = Sink(), tmp_path / "spool"

    async def work() -> None:
        async with notifying(path, {"ops": ops}) as notifier:
            present = begun("one")
            await watch(notifier, present, 20)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM life")
            db.execute("DELETE FROM notified")
        async with notifying(path, {"ops": ops}) as notifier:
            await watch(notifier, present, 300)

    run(work())
    assert {post.json["status"] for post in ops.posts} == {"firing"}


def test_without_ends_on_a_route_nothing_is_open(tmp_path: Path) -> None:
    ops, path = Sink(), tmp_path / "spool"

    async def work() -> None:
        async with notifying(path, {"ops": ops}, Route("ops", "ops", resolved=False)) as notifier:
            await watch(notifier, begun("one"), 20)
            await watch(notifier, {}, 300)

    run(work())
    assert [post.json["status"] for post in ops.posts] == ["firing"]
    assert open_at(path) == []


def test_an_end_waits_for_its_target_longer_than_a_day(tmp_path: Path) -> None:
    ops, path = Sink(), tmp_path / "spool"

    async def work() -> None:
        async with notifying(path, {"ops": ops}) as notifier:
            await watch(notifier, begun("one"), 20)
            ops.answer = lambda _: (503, "")
            await watch(notifier, {}, 200)
            await asyncio.sleep(timedelta(hours=30).total_seconds())
            ops.answer = lambda _: (200, "")
            await watch(notifier, {}, 400)

    run(work())
    assert [post.json["status"] for post in ops.posts if post.status == 200] == ["firing", "resolved"]


@dataclass
class Course:
    """Alarms that come, get worse, are acknowledged and clear, by chance."""

    chance: Random
    alarms: dict[AlarmKey, Alarm] = field(default_factory=dict)
    count: int = 0

    def turn(self) -> None:
        """Change an alarm at random."""
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            self.count += 1
            self.alarms |= begun(f"event-{self.count}", self.chance.choice((Severity.CRITICAL, Severity.WARNING)))
        for key, known in [*self.alarms.items()]:
            act, now = self.chance.random(), Clock().now()
            if act < 0.04:
                self.alarms[key] = acknowledged(known, now)
            elif act < 0.14:
                del self.alarms[key]


ROUTES = (
    (Route("ops", "ops"), Route("boss", "boss", Severity.CRITICAL)),
    (Route("renamed", "ops"), Route("boss", "boss", Severity.CRITICAL)),
    (Route("ops", "ops"),),
)


def is_poison(body: str, seed: int) -> bool:
    """Return whether the receiver refuses that body for good."""
    return body.startswith("{") and '"last"' not in body and sha256(f"{seed}{body}".encode()).digest()[0] < 20


@pytest.mark.parametrize("kills", [40, *slow(200)])
@pytest.mark.parametrize("seed", [1, 2])
def test_after_every_kill_each_beginning_that_was_taken_has_one_end(tmp_path: Path, seed: int, kills: int) -> None:
    chance, path = Random(seed), tmp_path / "spool"
    sinks = {name: Sink(lambda body: (500 if is_poison(body, seed) else 200, "")) for name in ("ops", "boss")}
    course = Course(chance)

    async def work() -> None:
        for _ in range(kills):
            async with notifying(path, sinks, *chance.choice(ROUTES)) as notifier:
                for _ in range(chance.randint(1, 12)):
                    course.turn()
                    await watch(notifier, course.alarms, chance.randint(1, 15))
                watching = asyncio.create_task(watch(notifier, course.alarms, 30))
                await asyncio.sleep(chance.random() * 8)  # killed wherever it is
                watching.cancel()
        async with notifying(path, sinks, *ROUTES[0]) as notifier:
            for _ in range(240):
                await watch(notifier, {}, 1)
                await asyncio.sleep(29)
            await watch(notifier, begun("last"), 20)  # shows whether a message that is left is poison
            await watch(notifier, {}, 300)

    run(work())
    spool = Spool(path, reads=True)
    dead = [spooled.message for spooled in spool.messages(DEAD)]
    assert spool.messages(WAITING) == ()
    spool.close()
    assert open_at(path) == []
    counts = dict[str, tuple[int, int]]()
    for name, sink in sinks.items():
        counts[name] = told(sink, {life for message in dead if message.target == name for life in message.ends})
    print(f"{kills} kills, {course.count} alarms, dead letters: {len(dead)}, begun and ended: {counts}")  # noqa: T201


def told(sink: Sink, given_up: set[str]) -> tuple[int, int]:
    """Check what a target took, and return how many alarms began there and how many ended.

    A target of two routes learns of each alarm by both of them.
    """
    seen, begun, ended = set[str](), set[str](), defaultdict[str, list[str]](list)
    for post in sink.posts:
        if post.status != 200 or not post.json or post.headers["idempotency-key"] in seen:
            continue
        seen.add(post.headers["idempotency-key"])
        assert post.json["truncated"] == 0
        for entry in post.json["alarms"]:
            if post.json["status"] == "resolved":
                ended[entry["life"]].append(post.json["route"])
            else:
                assert entry["life"] not in ended, "it begins after its end"
                begun.add(entry["life"])
    assert {life for life, routes in ended.items() if len(routes) > len({*routes})} == set()
    assert begun <= {*ended} | given_up
    return len(begun), len(ended)
