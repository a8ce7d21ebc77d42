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
        self._stale = False

    def show(self, one: Any, *, stale: bool) -> None:
        """Paint this one; None where there is none to select. `stale`: it is not to be believed any more."""
        self._shown, self._stale = one, stale
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return panel(self._shown, width, stale=self._stale)
