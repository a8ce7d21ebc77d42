"""A widget that shows lines and takes as many rows as they need."""

from __future__ import annotations

from livedeck.text.segments import Line
from livedeck.ui.kit.canvas import Canvas


class LinesWidget(Canvas):
    """Lines that were drawn elsewhere; as high as they are many, gone while there are none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._given: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Take these lines in place of the former."""
        if len(lines) != len(self._given):
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
        self._given = lines
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._given
