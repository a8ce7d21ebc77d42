"""The panel of the selected stream."""

from __future__ import annotations

from livedeck.monitor import EventState
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.stream_panel import Recordings, panel
from livedeck.ui.widgets.inked import Canvas


class StreamPanel(Canvas):
    """Where the stream goes, and what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[EventState, Recordings | None, Moment] | None = None

    def show(self, state: EventState | None, known: Recordings | None, moment: Moment) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = None if state is None else (state, known, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no stream selected", Ink.DIM)]]
        state, known, moment = self._shown
        return panel(state, known, moment, width)
