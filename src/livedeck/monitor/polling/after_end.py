"""Polls of samples after a stream's end (monitoring.md, "Samples after the end").

The platform measures the last minute of a stream only after its end. A deck that starts later has no samples of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.client import Forbidden, QosSamples, RateLimited, Rejected, ServerFault, Unauthorized
from livedeck.monitor.history import History, StreamKey
from livedeck.monitor.model.records import CollectedStream
from livedeck.monitor.model.state import BroadcastState, EventState
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import PollResult
from livedeck.monitor.polling.schedule import PollKey, PollSpec
from livedeck.record import Record

_RANK = 3
"""Rank in the schedule: after all events that are on air or waiting."""

_PASSING = (Unauthorized, Forbidden, RateLimited, ServerFault)
"""Errors after which a retry may succeed: they do not prove that the platform has no samples."""


class _Pending(Record):
    """Stream to poll after its end.

    `end`: end of the stream. `newest`: time of its newest received sample (both epoch s, server clock). `tries`: number
    of tries so far. `due`: time of the next try (monotonic s).
    """

    stream: StreamKey
    end: float
    newest: float
    tries: int
    due: float


class EndedStreams:
    """Completed streams whose samples may be incomplete; none without a history, because nothing would be stored."""

    def __init__(self, cadence: Cadence, history: History | None) -> None:
        self._cadence, self._history = cadence, history
        self._pending: dict[str, _Pending] = {}
        self._closed: set[StreamKey] = set()  # streams that were collected or given up
        self._news: list[CollectedStream] = []  # streams collected since the last `record`

    async def update(self, states: Iterable[EventState], now: datetime, monotonic: float) -> None:
        """Add streams that have ended, except streams that another deck of the history has collected.

        `now`: server time. `monotonic`: this machine's monotonic seconds.
        """
        if self._history is None:
            return
        ended: dict[str, _Pending] = {}
        for state in states:
            pending = self._find(state, now, monotonic)
            if pending and pending.stream not in self._closed:
                ended[state.id] = pending
        news = any(event_id not in self._pending or entry.due <= monotonic for event_id, entry in ended.items())
        if news:
            since = now - timedelta(seconds=self._cadence.after_end_watch + max(self._cadence.after_end))
            self._closed |= {StreamKey(*record.key) for record in await self._history.collected_streams(since)}
        self._pending = {key: entry for key, entry in ended.items() if entry.stream not in self._closed}

    def schedule(self, monotonic: float) -> dict[PollKey, PollSpec]:
        """Return the calls due now."""
        spec = PollSpec(self._cadence.qos, _RANK)
        return {event_id: spec for event_id, entry in self._pending.items() if entry.due <= monotonic}

    def record(self) -> None:
        """Record which streams were collected, after the history received their samples."""
        if self._history:
            for record in self._news:
                self._history.record_collected(record)
            self._news.clear()

    def ingest(self, result: PollResult, now: datetime) -> None:
        """Take a result: remove its stream if it is complete or no try is left, else plan the next try."""
        entry = self._pending.get(str(result.key))
        if entry is None or entry.due > result.monotonic:
            return
        times = result.payload.time if isinstance(result.payload, QosSamples) else array("d")
        waits = self._cadence.after_end[entry.tries + 1 :]
        if waits and not self._is_final(result, entry, now.timestamp()):
            newest, due = max(times, default=entry.newest), result.monotonic + waits[0]
            self._pending[entry.stream.event_id] = replace(entry, newest=newest, tries=entry.tries + 1, due=due)
            return
        del self._pending[entry.stream.event_id]
        self._closed.add(entry.stream)
        self._news.append(CollectedStream(result.at, *entry.stream, len(times)))

    def _find(self, state: EventState, now: datetime, monotonic: float) -> _Pending | None:
        """Return the ended stream of a recently completed event; None without one."""
        stream = state.event.stream
        if state.phase.tally is not BroadcastState.COMPLETED or stream is None or not stream.id:
            return None
        key, before = StreamKey(state.id, stream.id), self._pending.get(state.id)
        if before and before.stream == key:
            return before
        end = (stream.finished_at or now).timestamp()
        age = now.timestamp() - end
        if age > self._cadence.after_end_watch:
            return None
        newest = state.qos.readings.time[-1] if len(state.qos.readings) else 0.0
        return _Pending(key, end, newest, 0, monotonic + max(0.0, self._cadence.after_end[0] - age))

    def _is_final(self, result: PollResult, entry: _Pending, now: float) -> bool:
        """Return whether no more samples are expected.

        This is so if the samples reach the stream's end, the last poll brought no new samples, or the platform has
        none.
        """
        payload = result.payload
        if isinstance(payload, Rejected):
            return not isinstance(payload, _PASSING)
        if not isinstance(payload, QosSamples) or not len(payload):
            return False
        newest = max(payload.time)
        is_settled = now - entry.end >= max(self._cadence.after_end[:2])
        return is_settled or newest <= entry.newest or newest >= entry.end - self._cadence.after_end_gap
