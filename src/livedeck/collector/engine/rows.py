"""Synchronisation of people's alarm actions, silences, rulings and intents between the histories of the collectors.

Each row has a uid and is stored once. The monitor finds the row in the history, like a row of another deck on the same
machine (monitoring.md, "Shared alarms").
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from livedeck.collector.engine.engine import Engine
from livedeck.collector.engine.packets import Row, decode_row, encode_row
from livedeck.collector.engine.shared import KEPT_ROWS, SharedStore, SharedStoreError, UnreadableLog
from livedeck.monitor import AlarmAction, Clock, History, HistoryReader, IntentRecord, Silence

_LOOK_SECONDS = 0.3
"""Seconds between two passes, so that an action reaches all collectors within a second."""

_ROWS = "said"

_INTENT_AGE = timedelta(minutes=2)
_ENDS_KEPT = timedelta(days=31)
"""Time for which the end of a silence is sent again; no silence lasts longer."""

_AT_ONCE = 100
_MAX_ROWS = 20_000


class SharedRows:
    """Exchanges rows of people's actions: sends new rows of the history to other collectors, and stores theirs.

    `history`: history of this collector. `reader`: further reader of the history's file, with its own cursor.
    """

    def __init__(
        self, engine: Engine, store: SharedStore, history: History, reader: HistoryReader, clock: Clock
    ) -> None:
        self._engine, self._store, self._history, self._reader = engine, store, history, reader
        self._clock, self._again_at = clock, clock.now()
        self._rows: dict[str, str] = {}  # uid -> row of the last day
        self._unsent: dict[str, str] = {}
        self._forgotten, self._unreadable = 0, UnreadableLog()

    async def run(self) -> None:
        """Send and receive rows until cancelled."""
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            await self._send()  # before receiving, so that Redis does not return rows that are not marked as sent
            await self._receive()

    async def _send(self) -> None:
        since = self._clock.now() - timedelta(seconds=KEPT_ROWS)
        rows: list[Row] = [*await self._reader.new_alarm_actions(), *await self._reader.new_rulings()]
        rows += await self._reader.new_silences()
        rows += await self._reader.intents(self._clock.now() - _INTENT_AGE)
        if self._engine.forgotten != self._forgotten:
            self._forgotten, self._again_at = self._engine.forgotten, self._clock.now()
            self._unsent = dict(self._rows)
        await self._send_silences_again()
        for row in rows:
            uid, text = encode_row(row)
            is_running = isinstance(row, Silence) and row.ends_at >= self._clock.now()
            if (is_running or row.at >= since) and uid not in self._rows:
                self._rows[uid] = self._unsent[uid] = text
        for uid in [*self._rows][:-_MAX_ROWS]:
            del self._rows[uid]
        try:
            while self._unsent:
                part = dict([*self._unsent.items()][:_AT_ONCE])
                await self._store.say(part)
                self._unsent = {uid: text for uid, text in self._unsent.items() if uid not in part}
        except SharedStoreError as error:
            self._engine.note(_ROWS, error)  # the rows wait for Redis
        else:
            self._engine.note(_ROWS)

    async def _send_silences_again(self) -> None:
        """Send the silences of the last 31 days twice a day, ended ones too, because Redis keeps rows for a day only.

        A collector that was away for over a day may have a silence without its end.
        """
        now = self._clock.now()
        if now < self._again_at:
            return
        self._again_at = now + timedelta(seconds=KEPT_ROWS / 2)
        self._unsent |= dict(map(encode_row, await self._reader.silence_log(now - _ENDS_KEPT)))

    async def _receive(self) -> None:
        for text in self._engine.take_rows():
            try:
                row = decode_row(text)
            except ValueError as error:
                self._unreadable.log("row of a person", error)
                continue
            uid, _ = encode_row(row)
            is_late = isinstance(row, IntentRecord) and row.at < self._clock.now() - _INTENT_AGE
            if uid in self._rows or is_late:
                continue
            self._rows[uid] = text
            if isinstance(row, AlarmAction):
                self._history.record_alarm_action(row)
            elif isinstance(row, Silence):
                self._history.record_silence(row)
            elif isinstance(row, IntentRecord):
                await self._history.record_intent(replace(row, pid=0))  # its own collector records the outcome
            else:
                await self._history.record_ruling(row)
