"""Messages are sent in their order, again and again, and never lost; on an event loop where nothing waits."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from golden.player import START, Clock
from golden.warp import Warp
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, NotifyFault, Severity, Snapshot
from livedeck.notify import (
    DEAD,
    SENT,
    WAITING,
    Delivery,
    Message,
    Notifier,
    NotOnDutyError,
    Outcome,
    OutdatedError,
    Plan,
    Route,
    Spool,
    SpoolError,
    Target,
    only_notifier,
)
from notify.stage import Desk, acknowledged, alarm, over

YES, NO = Delivery(is_taken=True, answer="200"), Delivery(is_taken=False, answer="503")
REFUSED = Delivery(is_taken=False, answer="400", is_refused=True)
PLAN = Plan((Route("ops", "ops"),))


@dataclass
class Receiver:
    """Target with a list of replies, the last one repeated. It records the time and message of each try."""

    answers: list[Delivery]
    clock: Clock = field(default_factory=Clock)
    asked: list[tuple[float, Message]] = field(default_factory=list)

    async def send(self, message: Message) -> Delivery:
        """Return the next reply."""
        self.asked.append((self.clock.monotonic(), message))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def snapshot(*alarms: Alarm) -> Snapshot:
    """Return a snapshot with these alarms, now."""
    now = Clock().now()
    return Snapshot(1, now, ConnectionStatus(ConnectionState.OK, START, as_of=now), alarms=alarms)


def play(
    path: Path,
    receiver: Target,
    work: Callable[[Notifier], Coroutine[Any, Any, None]],
    make: Callable[[Path], Spool] = Spool,
) -> None:
    """Run a notifier of that spool in virtual time during some work."""

    async def run() -> None:
        notifier = Notifier(PLAN, {"ops": receiver}, make(path), Clock(), Random(1))
        await notifier.open()
        sending = asyncio.create_task(notifier.run())
        await work(notifier)
        sending.cancel()
        await notifier.close()

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(run())


async def tell(notifier: Notifier, *events: str) -> None:
    """Give the notifier lasting alarms of these events."""
    begun = [alarm(event, since=Clock().now(), changed=Clock().now()) for event in events]
    await notifier.take(snapshot(*begun))
    await asyncio.sleep(6)
    await notifier.take(snapshot(*begun))


def test_what_is_not_taken_is_tried_again_under_its_key_after_ever_longer_waits(tmp_path: Path) -> None:
    receiver = Receiver([NO] * 14 + [YES])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(4000)
        assert notifier.waiting_since is None

    play(tmp_path / "spool", receiver, work)
    moments = [at for at, _ in receiver.asked]
    waits = [after - before for before, after in pairwise(moments)]
    ideal = [min(300.0, 2.0**number) for number in range(14)]
    assert all(0.8 * full <= wait <= 1.2 * full for wait, full in zip(waits, ideal, strict=True))
    assert len(set(waits)) == len(waits)  # jitter
    assert len({message.key for _, message in receiver.asked}) == 1


def test_a_receiver_that_asks_for_time_is_given_it(tmp_path: Path) -> None:
    receiver = Receiver([Delivery(is_taken=False, answer="429", retry_after=120.0), YES])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(200)

    play(tmp_path / "spool", receiver, work)
    (first, _), (second, _) = receiver.asked
    assert second - first == pytest.approx(120.0)


def test_order_is_kept_and_one_that_is_refused_for_good_is_in_nobodys_way(tmp_path: Path) -> None:
    receiver = Receiver([NO, NO, REFUSED, NO, YES])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await notifier.take(snapshot(alarm("two", since=Clock().now())))
        await asyncio.sleep(6)
        await notifier.take(snapshot(alarm("two", since=Clock().now())))
        await asyncio.sleep(60)
        assert "1 dead letter" in notifier.failure.reason
        assert notifier.results == {("ops", "not taken"): 2, ("ops", "given up"): 1, ("ops", "taken"): 1}

    play(tmp_path / "spool", receiver, work)
    assert [message.title for _, message in receiver.asked] == ["CRIT NO_INGEST ONE"] * 4 + ["CRIT NO_INGEST TWO"]
    assert [bool(message.payload) for _, message in receiver.asked] == [True, True, True, False, True]  # as plain text
    spool = Spool(tmp_path / "spool", reads=True)
    assert [spooled.answer for spooled in spool.messages(DEAD)] == ["400"]
    assert len(spool.messages(SENT)) == 1
    spool.close()


def test_criticals_go_before_other_messages_of_a_target_but_before_none_about_the_same_alarm(tmp_path: Path) -> None:
    receiver = Receiver([NO])

    async def work(notifier: Notifier) -> None:
        for name, severity in ("soft", Severity.WARNING), ("grown", Severity.WARNING), ("last", Severity.WARNING):
            present.append(alarm(name, severity=severity, since=Clock().now(), changed=Clock().now()))
            for _ in range(7):
                await notifier.take(snapshot(*present))
                await asyncio.sleep(1)
        present[1] = replace(present[1], severity=Severity.CRITICAL, changed=Clock().now())
        present.append(alarm("loud", since=Clock().now(), changed=Clock().now()))
        for _ in range(7):
            await notifier.take(snapshot(*present))
            await asyncio.sleep(1)
        receiver.answers, tried = [YES], len(receiver.asked)
        await asyncio.sleep(300)
        taken.extend(message.title for _, message in receiver.asked[tried:])

    present, taken = list[Alarm](), list[str]()
    play(tmp_path / "spool", receiver, work)
    assert taken == [
        "WARN NO_INGEST GROWN",
        "CRIT 2 alarms: NO_INGEST GROWN, NO_INGEST LOUD",
        "WARN NO_INGEST SOFT",
        "WARN NO_INGEST LAST",
    ]


def test_what_is_given_up_is_a_failure_at_once(tmp_path: Path) -> None:
    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(1)
        assert notifier.failure == NotifyFault("1 dead letter: see `livedeck notify dead list`", False)

    play(tmp_path / "spool", Receiver([REFUSED]), work)


def test_after_a_day_it_is_given_up_and_a_person_may_have_it_tried_again(tmp_path: Path) -> None:
    receiver = Receiver([NO])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(290)
        assert notifier.failure.reason == ""
        await asyncio.sleep(11)
        assert notifier.failure == NotifyFault("ops has taken nothing since 09:00:05Z", True)
        await asyncio.sleep(25 * 3600)
        count = len(receiver.asked)
        await asyncio.sleep(3600)
        assert len(receiver.asked) == count
        receiver.answers = [YES]
        other = Spool(tmp_path / "spool")
        assert other.revive() == 1
        other.close()
        await asyncio.sleep(61)
        assert notifier.failure.reason == ""

    play(tmp_path / "spool", receiver, work)
    assert receiver.asked[-1][0] - receiver.asked[0][0] > timedelta(days=1).total_seconds()
    assert len({message.key for _, message in receiver.asked}) == 1


def test_what_waits_is_sent_by_the_next_one_that_starts_and_told_no_second_time(tmp_path: Path) -> None:
    silent, other = Receiver([NO]), Receiver([YES])

    async def begin(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(1)

    async def go_on(notifier: Notifier) -> None:
        standing = alarm("one", since=START)
        for _ in range(30):
            await notifier.take(snapshot(standing))
            await asyncio.sleep(5)

    play(tmp_path / "spool", silent, begin)
    play(tmp_path / "spool", other, go_on)
    assert [message for _, message in other.asked] == [silent.asked[0][1]]


def test_what_waits_is_called_back_by_an_answer_and_goes_out_under_its_key_when_that_runs_out(tmp_path: Path) -> None:
    receiver = Receiver([NO])
    standing = alarm("one", since=START, changed=START)

    async def answer(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(2)
        await notifier.take(snapshot(acknowledged(standing)))
        count = len(receiver.asked)
        await asyncio.sleep(1800)
        assert len(receiver.asked) == count > 0
        assert (notifier.waiting, notifier.waiting_since) == (0, None)

    async def restart(notifier: Notifier) -> None:
        count = len(receiver.asked)
        receiver.answers = [YES]
        await asyncio.sleep(60)  # the platform says nothing yet
        await notifier.take(snapshot(acknowledged(standing)))
        await asyncio.sleep(50)
        assert len(receiver.asked) == count
        await notifier.take(snapshot(standing))
        await asyncio.sleep(1)
        assert len(receiver.asked) == count + 1

    play(tmp_path / "spool", receiver, answer)
    play(tmp_path / "spool", receiver, restart)
    assert len({message.key for _, message in receiver.asked}) == 1


@pytest.mark.parametrize("tried", [0, 2], ids=["before it was tried", "after it was tried"])
def test_what_is_over_while_it_is_answered_and_waits_is_told_to_nobody_nor_is_its_end(
    tmp_path: Path, tried: int
) -> None:
    receiver = Receiver([NO])
    standing = alarm("one", since=START, changed=START)
    taken_back: list[str] = []

    class Noted(Spool):
        def keep(self, outcome: Outcome, now: datetime, offset: float = 0.0) -> None:
            """What is taken back is told once."""
            taken_back.extend(outcome.withdrawn)
            super().keep(outcome, now, offset)

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(tried)
        await notifier.take(snapshot(acknowledged(standing)))
        await asyncio.sleep(3)
        count, receiver.answers = len(receiver.asked), [YES]
        for _ in range(60):
            await notifier.take(snapshot(over(acknowledged(standing))))
            await asyncio.sleep(5)
        assert len(receiver.asked) == count

    play(tmp_path / "spool", receiver, work, Noted)
    spool = Spool(tmp_path / "spool", reads=True)
    assert [spool.messages(state) for state in (WAITING, SENT, DEAD)] == [(), (), ()]
    assert len(taken_back) == 1
    spool.close()


def test_what_the_disk_does_not_take_is_sent_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver([YES])

    async def work(notifier: Notifier) -> None:
        with monkeypatch.context() as full:
            full.setattr(Spool, "_transaction", _refuse)
            await tell(notifier, "one")
            await asyncio.sleep(120)
            assert notifier.fault == "the disk is full"
        await notifier.take(snapshot(alarm("one", since=START)))
        assert notifier.fault == ""

    play(tmp_path / "spool", receiver, work)
    assert len(receiver.asked) == 1
    spool = Spool(tmp_path / "spool", reads=True)  # which knows it as soon as the disk takes it
    assert (len(spool.messages(SENT)), spool.messages(WAITING)) == (1, ())


def _refuse(_: Spool) -> Any:
    raise SpoolError("the disk is full")


def test_of_one_history_there_is_one_notifier(tmp_path: Path) -> None:
    refused = pytest.raises(SpoolError, match="another process sends notifications")
    with only_notifier(tmp_path / "spool"), refused, only_notifier(tmp_path / "spool"):
        pass
    with only_notifier(tmp_path / "spool"):
        pass


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "spool") as db:
        db.execute("CREATE TABLE other (x)")
    db.close()
    with pytest.raises(SpoolError, match="another program"):
        Spool(tmp_path / "spool")


def test_what_is_under_way_is_not_taken_back_and_its_end_is_told(tmp_path: Path) -> None:
    receiver = Receiver([YES])
    standing = alarm("one", since=START, changed=START)

    class Slow:
        async def send(self, message: Message) -> Delivery:
            """It takes it, after four minutes."""
            await asyncio.sleep(240)
            return await receiver.send(message)

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(1)
        await notifier.take(snapshot(acknowledged(standing)))
        for _ in range(200):
            await notifier.take(snapshot(over(acknowledged(standing))))
            await asyncio.sleep(5)

    play(tmp_path / "spool", Slow(), work)
    assert [message.title.split(" after ")[0] for _, message in receiver.asked] == [
        "CRIT NO_INGEST ONE",
        "RESOLVED NO_INGEST ONE",
    ]


def test_tries_are_counted_over_restarts(tmp_path: Path) -> None:
    receiver = Receiver([NO])

    async def begin(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(5)

    async def go_on(notifier: Notifier) -> None:
        receiver.answers = [YES]
        await asyncio.sleep(5)
        assert notifier.waiting == 0

    play(tmp_path / "spool", receiver, begin)
    play(tmp_path / "spool", receiver, go_on)
    spool = Spool(tmp_path / "spool", reads=True)
    assert [spooled.tries for spooled in spool.messages(SENT)] == [len(receiver.asked)]
    assert len(receiver.asked) > 2
    spool.close()


def test_what_was_sent_is_not_sent_again_where_that_cannot_be_written(tmp_path: Path) -> None:
    receiver = Receiver([YES])

    class Unmarked(Spool):
        def mark(
            self, key: str, state: str, tries: int, answer: str, *, is_taken: bool = False, receipt: str = ""
        ) -> None:
            """The disk is full by then."""
            del key, state, tries, answer, is_taken, receipt
            raise SpoolError("the disk is full")

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(300)

    play(tmp_path / "spool", receiver, work, Unmarked)
    assert len(receiver.asked) == 1


class Shared(Spool):
    """Storage that several processes share, as one of them sees it. `refuses`: its next refusal."""

    refuses: SpoolError | None = None
    is_elsewhere = is_away = False

    @property
    def is_on_duty(self) -> bool:
        """Return whether this process notifies."""
        return not self.is_elsewhere

    def keep(self, outcome: Outcome, now: datetime, offset: float = 0.0) -> None:
        """Store the outcome, or refuse once."""
        refusal, self.refuses = self.refuses, None
        if refusal:
            raise refusal
        super().keep(outcome, now, offset)

    def may_send(self, key: str) -> bool:
        """Return whether this process may send: not if another one notifies, or if the storage is away."""
        if self.is_away:
            raise SpoolError("the disk is away")
        return super().may_send(key) and not self.is_elsewhere


def test_who_finds_that_another_one_has_told_meanwhile_tells_it_no_second_time(tmp_path: Path) -> None:
    receiver, spool = Receiver([YES]), Shared(tmp_path / "spool")
    standing = alarm("one", since=START, changed=START)

    async def work(notifier: Notifier) -> None:
        await notifier.take(snapshot(standing))
        await asyncio.sleep(4)
        desk, other = Desk(now=START), Spool(tmp_path / "spool")
        desk.put(standing)
        (told,) = desk.watch(6)
        other.keep(Outcome(desk.state, (told,)), desk.now)
        other.mark(told.key, SENT, 1, "200")
        other.close()
        spool.refuses = OutdatedError()
        for _ in range(20):
            assert await notifier.take(snapshot(standing)) == ()
            await asyncio.sleep(5)

    play(tmp_path / "spool", receiver, work, lambda _: spool)
    assert receiver.asked == []


def test_who_is_not_on_duty_any_more_sends_nothing_and_begins_anew_when_it_is(tmp_path: Path) -> None:
    receiver, spool = Receiver([YES]), Shared(tmp_path / "spool")
    standing = alarm("one", since=START, changed=START)

    async def work(notifier: Notifier) -> None:
        await notifier.take(snapshot(standing))
        await asyncio.sleep(4)
        spool.refuses = NotOnDutyError()
        assert await notifier.take(snapshot(standing)) == ()
        spool.is_elsewhere = True
        await asyncio.sleep(60)
        assert await notifier.take(snapshot(standing)) == ()
        assert (receiver.asked, notifier.waiting, notifier.fault) == ([], 0, "")
        spool.is_elsewhere = False
        await notifier.take(snapshot(standing))
        await asyncio.sleep(6)
        await notifier.take(snapshot(standing))
        await asyncio.sleep(1)

    play(tmp_path / "spool", receiver, work, lambda _: spool)
    assert [message.title for _, message in receiver.asked] == ["CRIT NO_INGEST ONE"]


def test_what_another_one_has_sent_by_then_is_not_sent(tmp_path: Path) -> None:
    receiver, spool = Receiver([YES]), Shared(tmp_path / "spool")

    async def work(notifier: Notifier) -> None:
        before = START - timedelta(seconds=10)
        assert await notifier.take(snapshot(alarm("one", since=before, changed=before)))
        spool.is_elsewhere = True  # before its sender has turned to it
        await asyncio.sleep(20)
        assert (receiver.asked, notifier.waiting) == ([], 0)

    play(tmp_path / "spool", receiver, work, lambda _: spool)


def test_what_was_sent_from_memory_is_known_as_sent_when_it_is_kept(tmp_path: Path) -> None:
    receiver, spool = Receiver([YES]), Shared(tmp_path / "spool")
    standing = alarm("one", since=START, changed=START)

    async def work(notifier: Notifier) -> None:
        await notifier.take(snapshot(standing))
        await asyncio.sleep(4)
        spool.refuses = SpoolError("the disk is full")
        spool.is_away = True
        await notifier.take(snapshot(standing))
        await asyncio.sleep(6)
        assert len(receiver.asked) == 1
        await notifier.take(snapshot(standing))

    play(tmp_path / "spool", receiver, work, lambda _: spool)
    reader = Spool(tmp_path / "spool", reads=True)
    assert (len(reader.messages(SENT)), reader.messages(WAITING)) == (1, ())
    reader.close()


def test_the_waits_of_one_message_are_not_those_of_the_next(tmp_path: Path) -> None:
    receiver = Receiver([NO] * 6 + [YES, NO, YES])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(100)
        await tell(notifier, "two")
        await asyncio.sleep(100)

    play(tmp_path / "spool", receiver, work)
    moments = [at for at, _ in receiver.asked]
    assert moments[6] - moments[5] > 20
    assert moments[8] - moments[7] < 1.5


def test_nobody_is_given_more_than_an_hour(tmp_path: Path) -> None:
    receiver = Receiver([Delivery(is_taken=False, answer="503", retry_after=10 * 86_400.0), YES])

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(3700)

    play(tmp_path / "spool", receiver, work)
    (first, _), (second, _) = receiver.asked
    assert second - first == pytest.approx(3600.0)
