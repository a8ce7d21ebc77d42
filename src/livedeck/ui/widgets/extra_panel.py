"""The panel of what is selected on a Videos screen."""

from __future__ import annotations

from typing import Any

from livedeck.ui.renderables.extra_panel import panel
from livedeck.ui.renderables.lines import Line
from livedeck.ui.widgets.inked import Canvas


class ExtraPanel(Canvas):
    """A video, a poster, a track, a cue, an annotation or a material in full."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Any = None

    def show(self, one: Any) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = one
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return panel(self._shown, width)
