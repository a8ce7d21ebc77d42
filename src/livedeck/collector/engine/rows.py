"""What persons answer, rule and intend, brought from the history of one collector into that of the others.

Each row has a uid and is kept once, in whatever order it comes; the monitor finds it in its history, as it finds what
another deck of its machine wrote (monitoring.md, "Shared alarms").
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from livedeck.collector.engine.engine import Engine
from livedeck.collector.engine.packets import Row, decode_row, encode_row
from livedeck.collector.engine.shared import KEPT_ROWS, PassedOver, SharedStore, SharedStoreError
from livedeck.monitor import AlarmAnswer, Clock, History, HistoryReader, IntentRecord

_LOOK_SECONDS = 0.3
"""Between two looks: with that of the monitor an answer is known everywhere within a second."""

_SAID = "said"

_INTENT_AGE = timedelta(minutes=2)
_AT_ONCE = 100
_MAX_KNOWN = 20_000


class SharedRows:
    """`history`: of this collector; `reader`: a second look into its file, with a cursor of its own."""

    def __init__(
        self, engine: Engine, store: SharedStore, history: History, reader: HistoryReader, clock: Clock
    ) -> None:
        self._engine, self._store, self._history, self._reader = engine, store, history, reader
        self._clock = clock
        self._known: dict[str, str] = {}  # of the last day, by uid
        self._unsaid: dict[str, str] = {}
        self._forgotten, self._passed_over = 0, PassedOver()

    async def run(self) -> None:
        """Bring and take, until cancelled."""
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            await self._bring()  # first: what this history has is not to be kept again when a day of it comes
            await self._take()

    async def _bring(self) -> None:
        since = self._clock.now() - timedelta(seconds=KEPT_ROWS)
        rows: list[Row] = [*await self._reader.new_answers(), *await self._reader.new_rulings()]
        rows += await self._reader.intents(self._clock.now() - _INTENT_AGE)
        for row in rows:
            uid, text = encode_row(row)
            if row.at >= since and uid not in self._known:
                self._known[uid] = self._unsaid[uid] = text
        if self._engine.forgotten != self._forgotten:
            self._forgotten, self._unsaid = self._engine.forgotten, dict(self._known)
        for uid in [*self._known][:-_MAX_KNOWN]:
            del self._known[uid]
        try:
            while self._unsaid:
                part = dict([*self._unsaid.items()][:_AT_ONCE])
                await self._store.say(part)
                self._unsaid = {uid: text for uid, text in self._unsaid.items() if uid not in part}
        except SharedStoreError as error:
            self._engine.note(_SAID, error)  # they wait for it
        else:
            self._engine.note(_SAID)

    async def _take(self) -> None:
        for text in self._engine.take_rows():
            try:
                row = decode_row(text)
            except ValueError as error:
                self._passed_over.tell("what a person said", error)
                continue
            uid, _ = encode_row(row)
            is_late = isinstance(row, IntentRecord) and row.at < self._clock.now() - _INTENT_AGE
            if uid in self._known or is_late:
                continue
            self._known[uid] = text
            if isinstance(row, AlarmAnswer):
                self._history.record_answer(row)
            elif isinstance(row, IntentRecord):
                await self._history.record_intent(replace(row, pid=0))  # its end is kept where it began
            else:
                await self._history.record_ruling(row)
