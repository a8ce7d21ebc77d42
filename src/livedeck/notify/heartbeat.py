"""The dead man's switch: a call to an outside service each minute, while all is well (notifications.md, "Heartbeat").

Without it nobody notices that the collector itself died.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import structlog

from livedeck.monitor import Clock
from livedeck.notify.targets import Answer, Post, is_success, words_of
from livedeck.text.secrets import masked_line

EACH = 60.0
"""Seconds between two beats."""

_log: Any = structlog.get_logger("livedeck.notify")

_TURNED, _ANSWERED, _SENT = timedelta(seconds=30), timedelta(seconds=90), timedelta(minutes=5)


class Vitals(NamedTuple):
    """What a beat stands for. `turned_at`: the last look at the alarms; `answered_at`: the platform's last answer;
    `waiting_since`: of the oldest message that is not sent; `history_fault`: why the history is not written."""

    turned_at: datetime
    answered_at: datetime | None
    waiting_since: datetime | None = None
    history_fault: str = ""


def failure(vitals: Vitals, now: datetime) -> str:
    """Why all is not well, in words; empty where it is."""
    if now - vitals.turned_at > _TURNED:
        return f"the collector has not looked at the alarms since {vitals.turned_at:%H:%M:%S}Z"
    if vitals.answered_at is None or now - vitals.answered_at > _ANSWERED:
        since = f" since {vitals.answered_at:%H:%M:%S}Z" if vitals.answered_at else ""
        return f"the platform has not answered{since}"
    if vitals.waiting_since and now - vitals.waiting_since > _SENT:
        return f"a message waits since {vitals.waiting_since:%H:%M:%S}Z"
    return vitals.history_fault


class Heartbeat:
    """Calls that address each minute while all is well, else its `/fail` with the reason. `taken_at`: when it was last
    answered with 2xx that all is well; `tell`: is told that nobody answers so, and that it is well again."""

    def __init__(
        self,
        post: Post,
        address: str,
        vitals: Callable[[], Vitals],
        clock: Clock,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._post, self._address, self._vitals, self._clock, self._tell = post, address, vitals, clock, tell
        self._is_failing = False
        self.taken_at: datetime | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._clock.sleep(EACH)
            if reason := failure(self._vitals(), self._clock.now()):
                self._note(await self._post("POST", f"{self._address.rstrip('/')}/fail", {}, _body(reason)))
                continue
            answer = await self._post("GET", self._address, {}, b"")
            self._note(answer)
            if is_success(answer.status):
                self.taken_at = self._clock.now()

    def _note(self, answer: Answer) -> None:
        """Say the first failure, and its end: nobody else hears of them."""
        was_failing, self._is_failing = self._is_failing, not is_success(answer.status)
        if self._is_failing and not was_failing:
            why = masked_line(words_of(answer), 300)
            _log.warning("the heartbeat is not taken", says=why)
            self._tell(f"the heartbeat is not taken: {why}")
        elif was_failing and not self._is_failing:
            _log.info("the heartbeat is taken again")
            self._tell("the heartbeat is taken again")


def _body(reason: str) -> bytes:
    return masked_line(reason, 100).encode()
