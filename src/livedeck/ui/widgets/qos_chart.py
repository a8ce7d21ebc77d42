"""The quality of one event over time."""

from __future__ import annotations

from livedeck.monitor import EventState
from livedeck.ui.renderables import qos_view
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.plot import GUTTER, Marked
from livedeck.ui.renderables.stretch import Stretch
from livedeck.ui.widgets.inked import Canvas


class QosChart(Canvas):
    """Three curves and the status strip; drawn again only when what they show, size or trust changed."""

    def __init__(self) -> None:
        super().__init__()
        self._state: EventState | None = None
        self._moment: Moment | None = None
        self._shown: Stretch | None = None
        self._marked = Marked()
        self._empty = ""
        self._drawn_for: tuple[object, ...] = ()

    @property
    def columns(self) -> int:
        """How many columns a curve has."""
        return max(8, self.size.width - GUTTER - 1)

    def show(
        self, state: EventState | None, moment: Moment, shown: Stretch | None, marked: Marked, empty: str = ""
    ) -> None:
        """Paint that stretch of this event; `empty` says why there is none."""
        self._empty = empty
        self._state, self._moment, self._shown, self._marked = state, moment, shown, marked
        wanted = (
            state and (state.id, state.qos, state.verdict, state.phase.ingest.state, state.doubtful),
            moment.stale,
            shown,
            marked,
            empty,
            self.size,
        )
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:
        if self._state is None or self._moment is None:
            return [[(f" {self._empty}", Ink.DIM)]]
        if self._shown is None or self._shown.empty:
            return qos_view.empty(self._state)
        return qos_view.view(self._state, self._moment, self._shown, self._marked, width=width, height=height)
