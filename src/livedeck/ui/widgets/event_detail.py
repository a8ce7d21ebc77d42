"""The panel of the selected event."""

from __future__ import annotations

from livedeck.monitor import EventState
from livedeck.ui.renderables.detail import detail
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.inked import Canvas


class EventDetail(Canvas):
    """What the selected event is, gets, sends and suffers from."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[EventState, Moment] | None = None

    def show(self, state: EventState | None, moment: Moment) -> None:
        """Paint this event; None where there is none to select."""
        self._shown = None if state is None else (state, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no event selected", Ink.DIM)]]
        state, moment = self._shown
        return detail(state, moment, width)
