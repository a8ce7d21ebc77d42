"""Messages that a receiver refuses, over real HTTP, are skipped, kept as dead letters, and block no other message."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from breadth import slow_rows
from golden.player import Clock
from golden.warp import Warp
from livedeck.monitor import Alarm, AlarmKey, ConnectionState, ConnectionStatus, Severity, Thresholds
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.notify import DEAD, SENT, WAITING, Notifier, Route, Spool
from notify.stage import alarm, over
from notify.warped import Post, Sink, notifying, watch

STATUSES = [400, 405, 409, 410, 413, 415, 422, 451]


def played(path: Path, work: Callable[[Notifier, Sink], Coroutine[Any, Any, None]], sink: Sink) -> Sink:
    """Do some work with a notifier of one target, in virtual time."""

    async def run() -> None:
        async with notifying(path, {"ops": sink}) as notifier:
            await work(notifier, sink)

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(run())
    return sink


class Board:
    """Alarms by key."""

    def __init__(self) -> None:
        self.alarms: dict[AlarmKey, Alarm] = {}

    def begin(self, name: str, severity: Severity = Severity.CRITICAL) -> None:
        """Begin an alarm now."""
        begun = alarm(name, severity=severity, since=Clock().now(), changed=Clock().now())
        self.alarms[begun.key] = begun

    def end(self, name: str) -> None:
        """Clear the alarm."""
        key = alarm(name).key
        self.alarms[key] = over(self.alarms[key], Clock().now())


def refuses(name: str, status: int = 500, asked: str = "") -> Callable[[str], tuple[int, str]]:
    """Return replies that refuse the JSON of an event for good, and take everything else."""
    return lambda body: (status, asked) if f'"{name}"' in body else (200, "")


def in_file(path: Path, state: str) -> list[tuple[str, int, str]]:
    """Return the messages of the file in that state: title, tries and reply."""
    spool = Spool(path, reads=True)
    found = [(each.message.title, each.tries, each.answer) for each in spool.messages(state)]
    spool.close()
    return found


def test_a_message_that_is_refused_for_ever_is_stepped_over_and_sent_as_plain_text(tmp_path: Path) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in ("poison", "one", "two"):
            board.begin(name)
            await watch(notifier, board.alarms, 6)
        await watch(notifier, board.alarms, 60)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(refuses("poison")))
    tries = [post for post in sink.posts if post.status == 500]
    third = tries[2].at
    assert len(tries) == 3
    assert sink.taken == ["CRIT NO_INGEST ONE", "CRIT NO_INGEST POISON", "CRIT NO_INGEST TWO"]
    assert max(post.at for post in sink.posts) - third <= 15
    (plain,) = (post for post in sink.posts if not post.json)
    assert plain.body.startswith("CRIT NO_INGEST POISON\nPOISON: no samples, since ")
    assert len(plain.body) <= 300
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.headers["idempotency-key"] != tries[0].headers["idempotency-key"]
    assert in_file(tmp_path / "spool", DEAD) == [("CRIT NO_INGEST POISON", 3, "500; taken as plain text")]


def test_a_message_that_comes_while_a_refused_one_waits_is_tried_at_once(tmp_path: Path) -> None:
    board, begun = Board(), list[float]()

    async def work(notifier: Notifier, _: Sink) -> None:
        board.begin("poison")
        await watch(notifier, board.alarms, 1500)
        board.begin("one")
        begun.append(Clock().monotonic())
        await watch(notifier, board.alarms, 10)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(refuses("poison")))
    (taken,) = (post.at for post in sink.posts if post.title == "CRIT NO_INGEST ONE")
    assert taken - begun[0] <= 6


def test_several_refused_messages_in_a_row_hold_nothing_up(tmp_path: Path) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in ("poison-1", "poison-2", "poison-3", "one", "two", "three"):
            board.begin(name)
            await watch(notifier, board.alarms, 6)
        await watch(notifier, board.alarms, 300)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(lambda body: (500, "") if '"poison-' in body else (200, "")))
    assert {post.title for post in sink.posts if post.status == 200 and post.json} == {
        "CRIT NO_INGEST ONE",
        "CRIT NO_INGEST TWO",
        "CRIT NO_INGEST THREE",
    }
    assert len(in_file(tmp_path / "spool", DEAD)) == 3


def test_a_target_that_is_down_loses_nothing_and_keeps_its_order(tmp_path: Path) -> None:
    board, down = Board(), [True]

    async def work(notifier: Notifier, sink: Sink) -> None:
        for number in range(5):
            board.begin(f"event-{number}")
            await watch(notifier, board.alarms, 6)
        await watch(notifier, board.alarms, 1200)
        assert not sink.taken
        down.clear()
        await watch(notifier, board.alarms, 400)

    sink = played(tmp_path / "spool", work, Sink(lambda _: (503, "") if down else (200, "")))
    assert sink.taken == [f"CRIT NO_INGEST EVENT-{number}" for number in range(5)]
    assert in_file(tmp_path / "spool", DEAD) == []
    assert len([post for post in sink.posts if post.status == 503]) <= 40


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_that_refuses_for_good_is_tried_once_and_then_as_plain_text(tmp_path: Path, status: int) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        board.begin("poison")
        await watch(notifier, board.alarms, 20)

    sink = played(tmp_path / "spool", work, Sink(refuses("poison", status)))
    assert [bool(post.json) for post in sink.posts] == [True, False]
    assert in_file(tmp_path / "spool", DEAD) == [("CRIT NO_INGEST POISON", 1, f"{status}; taken as plain text")]


@pytest.mark.parametrize("status", [401, 403, 404, 408, 425, 429, 500, 503])
def test_a_status_that_may_pass_is_tried_again(tmp_path: Path, status: int) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        board.begin("poison")
        await watch(notifier, board.alarms, 60)

    sink = played(tmp_path / "spool", work, Sink(refuses("poison", status)))
    assert len(sink.posts) > 3
    assert in_file(tmp_path / "spool", DEAD) == []
    assert len(in_file(tmp_path / "spool", WAITING)) == 1


def test_no_probe_breaks_the_wait_that_a_receiver_asks_for(tmp_path: Path) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in ("poison", "one"):
            board.begin(name)
            await watch(notifier, board.alarms, 6)
        await watch(notifier, board.alarms, 400)

    sink = played(tmp_path / "spool", work, Sink(refuses("poison", 503, "60")))
    moments = [post.at for post in sink.posts[:4]]
    assert all(after - before >= 60 for before, after in pairwise(moments))
    assert sink.posts[3].title == "CRIT NO_INGEST ONE"


def test_no_beginning_is_told_as_plain_text_after_its_end(tmp_path: Path) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        board.begin("poison")
        await watch(notifier, board.alarms, 60)
        board.end("poison")
        await watch(notifier, board.alarms, 200)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(lambda body: (500, "") if '"firing"' in body else (200, "")))
    assert sink.taken == ["RESOLVED NO_INGEST POISON after 60 s"]
    assert len(in_file(tmp_path / "spool", DEAD)) == len(in_file(tmp_path / "spool", SENT)) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda _: (503, ""), [(5 * 60, "CRIT NOTIFY_FAILING notifier")]),
        (refuses("one", 400), [(0, "WARN NOTIFY_FAILING notifier")]),
        (lambda _: (400, ""), [(0, "WARN NOTIFY_FAILING notifier"), (5 * 60, "CRIT NOTIFY_FAILING notifier")]),
    ],
    ids=["a target that is down", "a dead letter", "a target that refuses everything"],
)
def test_another_target_learns_at_once_of_a_target_that_fails(
    tmp_path: Path, answer: Callable[[str], tuple[int, str]], told: list[tuple[float, str]]
) -> None:
    board, engine, failed = Board(), AlarmEngine(Thresholds()), list[float]()
    ops, boss = Sink(answer), Sink()

    async def run() -> None:
        routes = Route("ops", "ops"), Route("boss", "boss", kinds=("NOTIFY_FAILING",))
        async with notifying(tmp_path / "spool", {"ops": ops, "boss": boss}, *routes) as notifier:
            board.begin("one")
            for _ in range(400):
                await watch(notifier, {**board.alarms, **engine.alarms}, 1)
                now = Clock().now()
                failed.extend([Clock().monotonic()] if ops.posts and not failed else [])
                link = ConnectionStatus(ConnectionState.OK, now, as_of=now)
                engine.step(MonitorState((), link, now, notify_fault=notifier.failure))

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(run())
    assert [post.title for post in boss.posts] == [title for _, title in told]
    for post, (after, _) in zip(boss.posts, told, strict=True):
        assert post.at - failed[0] - after <= 15


def keys_of(posts: Iterable[Post]) -> Counter[str]:
    """Count the events in the messages of a receiver."""
    return Counter(entry["event_id"] for post in posts for entry in post.json.get("alarms", []))


@pytest.mark.parametrize(
    ("status", "place", "has_other"),
    [(400, 17, False), (500, 0, True), (500, 0, False), (500, 19, True), *slow_rows((400, 0, True), (500, 19, False))],
)
def test_alarms_that_share_a_message_with_a_refused_one_are_told_without_it(
    tmp_path: Path, status: int, place: int, has_other: bool
) -> None:
    board = Board()
    names = [f"event-{number:02}" for number in range(20)]
    poison = names[place]

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in names:
            board.begin(name)
        await watch(notifier, board.alarms, 7)
        if has_other:
            board.begin("other")
        await watch(notifier, board.alarms, 30)
        board.begin("later")
        await watch(notifier, board.alarms, 60)
        assert notifier.waiting == 0
        for name in names:
            board.end(name)
        await watch(notifier, board.alarms, 30)
        board.end("later")
        await watch(notifier, board.alarms, 200)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(refuses(poison, status)))
    together = [
        post for post in sink.posts if len(post.json.get("alarms", [])) == 20 and post.json["status"] == "firing"
    ]
    last = together[min(2, len(together) - 1)]
    begun = [post for post in sink.posts if post.status == 200 and post.json and post.json["status"] == "firing"]
    told = keys_of(begun)
    assert told == dict.fromkeys([*({*names} - {poison}), "later", *(["other"] if has_other else [])], 1)
    assert max(post.at for post in begun if "other" not in post.body and "later" not in post.body) - last.at <= 15
    letters = in_file(tmp_path / "spool", DEAD)
    assert {title for title, *_ in letters if title.startswith("CRIT")} == {f"CRIT NO_INGEST {poison.upper()}"}


def test_ends_that_share_a_message_with_a_refused_alarm_do_not_wait_behind_its_beginning(tmp_path: Path) -> None:
    """Nothing else is left to prove that the target works."""
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in ("one", "two"):
            board.begin(name)
        await watch(notifier, board.alarms, 60)
        for name in ("poison", "foul"):
            board.begin(name)
        await watch(notifier, board.alarms, 60)
        for name in ("poison", "one", "two"):
            board.end(name)
        await watch(notifier, board.alarms, 400)

    def answer(body: str) -> tuple[int, str]:
        return (500, "") if '"poison"' in body or '"foul"' in body else (200, "")

    sink = played(tmp_path / "spool", work, Sink(answer))
    ended = {
        found["event_id"]
        for post in sink.posts
        if post.status == 200 and post.json and post.json["status"] == "resolved"
        for found in post.json["alarms"]
    }
    assert ended == {"one", "two"}
    first = next(post.at for post in sink.posts if post.json and post.json["status"] == "resolved")
    assert max(post.at for post in sink.posts if post.status == 200 and post.json) - first <= 15


def test_a_target_that_is_down_gets_the_shared_message_whole(tmp_path: Path) -> None:
    board, down = Board(), [True]

    async def work(notifier: Notifier, _: Sink) -> None:
        for number in range(20):
            board.begin(f"event-{number:02}")
        await watch(notifier, board.alarms, 400)
        down.clear()
        await watch(notifier, board.alarms, 400)

    sink = played(tmp_path / "spool", work, Sink(lambda _: (503, "") if down else (200, "")))
    (taken,) = [post for post in sink.posts if post.status == 200]
    assert len(taken.json["alarms"]) == 20


def test_no_alarm_is_told_after_its_end_when_its_message_is_split(tmp_path: Path) -> None:
    board = Board()

    async def work(notifier: Notifier, _: Sink) -> None:
        for name in ("poison", "one", "two"):
            board.begin(name)
        await watch(notifier, board.alarms, 60)
        for name in ("poison", "one", "two"):
            board.end(name)
        await watch(notifier, board.alarms, 200)
        assert notifier.waiting == 0

    sink = played(tmp_path / "spool", work, Sink(lambda body: (500, "") if '"firing"' in body else (200, "")))
    states = [post.json["status"] for post in sink.posts if post.status == 200 and post.json]
    assert "firing" not in states
    plain = [post.title for post in sink.posts if post.status == 200 and not post.json]
    first_end = next(post.at for post in sink.posts if post.status == 200 and post.json)
    assert [post.title for post in sink.posts if not post.json and post.at > first_end] == []
    assert plain == []


def test_a_split_message_survives_a_restart_under_the_same_keys(tmp_path: Path) -> None:
    board, keys = Board(), list[set[str]]()

    for _ in range(2):

        async def work(notifier: Notifier, _: Sink) -> None:
            if not board.alarms:
                for name in ("poison", "one", "two", "three"):
                    board.begin(name)
            await watch(notifier, board.alarms, 6)
            spool = Spool(tmp_path / "spool", reads=True)
            keys.append({each.message.key for state in (WAITING, SENT, DEAD) for each in spool.messages(state)})
            spool.close()

        played(tmp_path / "spool", work, Sink(refuses("poison", 400)))
    assert len(keys[0]) == 4
    assert keys[0] <= keys[1]
