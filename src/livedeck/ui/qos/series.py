"""The history's part of a chart, queried while the screen shows what is in memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from livedeck.monitor import EventState, Marker
from livedeck.presentation.qos import Axis
from livedeck.presentation.time_series import TimeSeries, from_history, needs_history

if TYPE_CHECKING:
    from textual.worker import WorkType

    from livedeck.ui.shell.screen import BaseScreen

STALE_COLUMNS = 4
"""The history is queried again when the axis has moved by so many columns."""


class _Request(NamedTuple):
    """What the history was last asked for."""

    event_id: str
    stream_id: str
    axis: Axis


class HistoryQuery:
    """The history's part of a chart, queried in a worker of the screen; empty where there is no history.

    `group`: of the worker; a new query ends the one before it.
    """

    def __init__(self, screen: BaseScreen, group: str = "past") -> None:
        self._screen, self._group = screen, group
        self._series: tuple[tuple[str, str], TimeSeries] | None = None
        self._markers: dict[str, tuple[Marker, ...]] = {}
        self._request: _Request | None = None

    def series(self, state: EventState, axis: Axis) -> TimeSeries | None:
        """What is known now of that event's current stream; queries what is missing and paints it when it comes."""
        stream = state.event.stream
        request = _Request(state.id, (stream.id if stream else None) or "", axis)
        if self._screen.ctx.records is not None and request.stream_id and self._is_stale(state, request):
            self._request = request
            self._screen.run_worker(self._work(request), group=self._group, exclusive=True)
        return self._series[1] if self._series and self._series[0] == request[:2] else None

    def markers(self, event_id: str) -> tuple[Marker, ...]:
        """The markers of that event."""
        return self._markers.get(event_id, ())

    def invalidate(self) -> None:
        """Query again at the next paint: a marker was added."""
        self._request = None
        self._markers.clear()

    def forget(self) -> None:
        """Let go of all that was queried: another time is shown."""
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
        """The query, begun by its worker: of one that is overtaken before that nothing is left."""
        return partial(self._query, request)

    async def _query(self, request: _Request) -> None:
        history, axis = self._screen.ctx.records, request.axis
        assert history is not None
        markers = await history.markers(request.event_id)
        buckets = await history.series(*request[:2], axis.start, axis.end, axis.halved().columns)
        if history is not self._screen.ctx.records:
            return  # another time is shown by now
        self._markers[request.event_id] = markers
        self._series = request[:2], from_history(axis, buckets)
        self._screen.refresh_all()
