"""A widget that shows lines and takes as many rows as they need."""

from __future__ import annotations

from livedeck.text.segments import Line
from livedeck.ui.kit.canvas import Canvas


class LinesWidget(Canvas):
    """Shows the lines that it is given; as high as their number, hidden while there are none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._content: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Show these lines instead of the former ones."""
        if len(lines) != len(self._content):
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
        self._content = lines
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._content
