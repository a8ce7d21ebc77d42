"""The panel of the selected alarm."""

from __future__ import annotations

from livedeck.monitor import Alarm
from livedeck.ui.renderables.alarm_rows import detail
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.inked import Canvas


class AlarmPanel(Canvas):
    """Why, what viewers see of it, and what to do."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Alarm, Moment] | None = None

    def show(self, alarm: Alarm | None, moment: Moment) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = None if alarm is None else (alarm, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no alarm selected", Ink.DIM)]]
        return detail(*self._shown)
