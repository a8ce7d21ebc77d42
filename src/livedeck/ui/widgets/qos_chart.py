"""The quality of one event over time."""

from __future__ import annotations

from livedeck.monitor import EventState
from livedeck.ui.renderables import qos_view
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.inked import Canvas


class QosChart(Canvas):
    """Three curves and the status strip; drawn again only when samples, span, size or trust changed."""

    def __init__(self) -> None:
        super().__init__()
        self._state: EventState | None = None
        self._moment: Moment | None = None
        self.span = qos_view.RANGES[1][1]
        self._drawn_for: tuple[object, ...] = ()

    def show(self, state: EventState | None, moment: Moment, span: float) -> None:
        """Paint `span` seconds of this event."""
        self._state, self._moment, self.span = state, moment, span
        wanted = (
            state and (state.id, state.qos, state.verdict, state.phase.ingest.state, state.doubtful),
            moment.stale,
            span,
            self.size,
        )
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:
        if self._state is None or self._moment is None:
            return [[(" no event selected: choose one on the Events screen", Ink.DIM)]]
        return qos_view.view(self._state, self._moment, self.span, width, height)
