"""Chart data from the history. During a query the screen shows the data in memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from livedeck.monitor import EventState, Marker, NotReadError
from livedeck.presentation.qos import Axis
from livedeck.presentation.time_series import TimeSeries, from_history, needs_history

if TYPE_CHECKING:
    from textual.worker import WorkType

    from livedeck.ui.shell.screen import BaseScreen

STALE_COLUMNS = 4
"""Maximum number of columns that the axis moves before the history is queried again."""


class _Request(NamedTuple):
    """Last request to the history."""

    event_id: str
    stream_id: str
    axis: Axis


class HistoryQuery:
    """Chart data from the history, queried in a worker of the screen; empty without a history.

    `group`: group of the worker. A new query cancels the previous query of the same group. `fault`: reason why the last
    query failed; empty if it did not.
    """

    def __init__(self, screen: BaseScreen, group: str = "past") -> None:
        self._screen, self._group = screen, group
        self._series: tuple[tuple[str, str], TimeSeries] | None = None
        self._markers: dict[str, tuple[Marker, ...]] = {}
        self._request: _Request | None = None
        self.fault = ""

    def series(self, state: EventState, axis: Axis) -> TimeSeries | None:
        """Return the loaded data of the event's current stream; None if none are loaded.

        Missing data are queried, and the screen is painted when they arrive.
        """
        stream = state.event.stream
        request = _Request(state.id, (stream.id if stream else None) or "", axis)
        if self._screen.ctx.records is not None and request.stream_id and self._is_stale(state, request):
            self._request = request
            self._screen.run_worker(self._work(request), group=self._group, exclusive=True)
        return self._series[1] if self._series and self._series[0] == request[:2] else None

    def markers(self, event_id: str) -> tuple[Marker, ...]:
        """Return the loaded markers of an event."""
        return self._markers.get(event_id, ())

    def invalidate(self) -> None:
        """Drop the markers, because a marker was added. The next paint queries the history again."""
        self._request = None
        self._markers.clear()

    def forget(self) -> None:
        """Drop all loaded data, because the deck shows a different time now."""
        self.invalidate()
        self._series = None

    def _is_stale(self, state: EventState, request: _Request) -> bool:
        last = self._request if self._request and self._request[:2] == request[:2] else None
        if state.id not in self._markers:
            return last is None
        if not needs_history(request.axis, state.qos.readings):
            return False
        if last is None or last.axis.step != request.axis.step:
            return True
        return abs(request.axis.start - last.axis.start) >= STALE_COLUMNS * request.axis.step

    def _work(self, request: _Request) -> WorkType[None]:
        """Return a function that makes the query's coroutine. A worker that is cancelled early never calls it."""
        return partial(self._query, request)

    async def _query(self, request: _Request) -> None:
        history, axis = self._screen.ctx.records, request.axis
        assert history is not None
        try:
            markers = await history.whole(history.markers(request.event_id))
            buckets = await history.whole(history.series(*request[:2], axis.start, axis.end, axis.halved().columns))
        except NotReadError as error:
            self.fault, self._request = str(error), None
            return
        if history is not self._screen.ctx.records:
            return  # the screen shows a different time now
        self._markers[request.event_id], self.fault = markers, ""
        self._series = request[:2], from_history(axis, buckets)
        self._screen.refresh_all()
