"""Messages for a target that is no longer in the settings, on an event loop where nothing waits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from golden.player import Clock
from golden.warp import Warp
from livedeck.notify import DEAD, WAITING, Message, Notifier, Spool, Spooled, Target
from notify.test_notifier import NO, PLAN, YES, Receiver, tell

HOUR = 3600


def played(path: Path, hours: float, refused: int) -> tuple[list[Spooled], list[str], list[Message]]:
    """Play a target that refuses a message, leaves the settings for some hours, and returns.

    Then it refuses once more, and a person retries the message. Returns the messages in the file, the failures, and the
    messages that the target got.
    """

    async def run() -> tuple[list[Spooled], list[str], list[Message]]:
        found, failed = list[Spooled](), list[str]()

        async def go_on(targets: Mapping[str, Target], seconds: float, *, is_new: bool = False) -> None:
            notifier = Notifier(PLAN, targets, Spool(path), Clock(), Random(1))
            await notifier.open()
            sending = asyncio.create_task(notifier.run())
            if is_new:
                await tell(notifier, "one")
            else:
                await notifier.revive()
            await asyncio.sleep(seconds)
            sending.cancel()
            failed.append(notifier.failure.reason)
            await notifier.close()
            spool = Spool(path, reads=True)
            found.extend(spooled for state in (WAITING, DEAD) for spooled in spool.messages(state))
            spool.close()

        await go_on({"ops": Receiver([NO])} if refused else {}, 2, is_new=True)
        await go_on({"other": Receiver([YES])}, hours * HOUR)
        back = Receiver([NO])
        await go_on({"ops": back}, 60)
        return found, failed, [message for _, message in back.asked]

    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(run())


@pytest.mark.parametrize("refused", [0, 2])
def test_what_waits_for_a_target_that_is_gone_is_given_up_as_any_other_is(tmp_path: Path, refused: int) -> None:
    (first, gone, again), (_, failed, _), back = played(tmp_path / "spool", 24.1, refused)
    assert (first.state, first.tries) == (WAITING, refused)
    assert (gone.message, gone.state, gone.tries) == (first.message, DEAD, refused)
    assert gone.answer == "no such target in the settings"
    assert failed == "1 dead letter: see `livedeck notify dead list`"
    assert (back, again.state, again.tries, again.answer) == ([first.message], DEAD, 1, "503")


def test_until_then_it_waits_for_its_target_to_come_back(tmp_path: Path) -> None:
    (first, gone, again), (_, failed, _), back = played(tmp_path / "spool", 23.9, 0)
    assert (first.state, gone.state, again.state, failed) == (WAITING, WAITING, WAITING, "")
    assert {message.key for message in back} == {first.message.key}
