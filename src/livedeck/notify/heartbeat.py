"""Heartbeat: a call to an outside service each minute while all is well (notifications.md, "Heartbeat").

Without heartbeats nobody would notice that the collector itself died.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.log import Log
from livedeck.monitor import Clock
from livedeck.notify.targets import Post, Reply, is_success, words_of
from livedeck.text.secrets import masked_line

EACH = 60.0
"""Seconds between two heartbeats."""

_log = Log("livedeck.notify")

_TURNED, _ANSWERED, _SENT = timedelta(seconds=30), timedelta(seconds=90), timedelta(minutes=5)

_INTERVALS = 2
"""Intervals of the event list that may pass without a usable reply, because without events only the list is polled."""


class Vitals(NamedTuple):
    """State that a heartbeat reports.

    `turned_at`: time of the last look at the alarms. `answered_at`: time of the platform's last usable reply.
    `waiting_since`: time of the oldest unsent message. `history_fault`: why the history is not written, or empty.
    `interval`: seconds between two polls of the event list.
    """

    turned_at: datetime
    answered_at: datetime | None
    waiting_since: datetime | None = None
    history_fault: str = ""
    interval: float = 0.0


def failure(vitals: Vitals, now: datetime) -> str:
    """Return what is wrong, in words; empty if all is well."""
    if now - vitals.turned_at > _TURNED:
        return f"the collector has not looked at the alarms since {vitals.turned_at:%H:%M:%S}Z"
    answered = max(_ANSWERED, timedelta(seconds=_INTERVALS * vitals.interval))
    if vitals.answered_at is None or now - vitals.answered_at > answered:
        since = f" since {vitals.answered_at:%H:%M:%S}Z" if vitals.answered_at else ""
        return f"no usable reply from the platform{since}"
    if vitals.waiting_since and now - vitals.waiting_since > _SENT:
        return f"a message has been waiting since {vitals.waiting_since:%H:%M:%S}Z"
    return vitals.history_fault


class Heartbeat:
    """Calls an address each minute while all is well, otherwise the `/fail` below it with the reason.

    `taken_at`: time of the last heartbeat that got a 2xx. `report`: takes a line when heartbeats begin to fail or
    succeed again.
    """

    def __init__(
        self,
        post: Post,
        address: str,
        vitals: Callable[[], Vitals],
        clock: Clock,
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._post, self._address, self._vitals, self._clock, self._report = post, address, vitals, clock, report
        self._is_failing = False
        self.taken_at: datetime | None = None

    async def run(self) -> None:
        """Send heartbeats until cancelled."""
        while True:
            await self._clock.sleep(EACH)
            if reason := failure(self._vitals(), self._clock.now()):
                self._note(await self._post("POST", f"{self._address.rstrip('/')}/fail", {}, _body(reason)))
                continue
            reply = await self._post("GET", self._address, {}, b"")
            self._note(reply)
            if is_success(reply.status):
                self.taken_at = self._clock.now()

    def _note(self, reply: Reply) -> None:
        """Report the first failure and the first success after it."""
        was_failing, self._is_failing = self._is_failing, not is_success(reply.status)
        if self._is_failing and not was_failing:
            why = masked_line(words_of(reply), 300)
            _log.warning("heartbeat failed", reason=why)
            self._report(f"heartbeat failed: {why}")
        elif was_failing and not self._is_failing:
            _log.info("heartbeat works again")
            self._report("heartbeat works again")


def _body(reason: str) -> bytes:
    return masked_line(reason, 100).encode()
