"""Widgets that show lines: given ones, in as many rows as they need, or those that a function draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from livedeck.text.segments import Line, ShadedLine
from livedeck.ui.kit.canvas import Canvas


class LinesWidget(Canvas):
    """Shows the lines that it is given; as high as their number, hidden while there are none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._content: Sequence[ShadedLine] = []

    def show(self, lines: Sequence[ShadedLine]) -> None:
        """Show these lines instead of the former ones."""
        if len(lines) != len(self._content):
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
        self._content = lines
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return self._content


class DetailPanel(Canvas):
    """Shows the lines that a function draws for its width; in a panel of one selected item."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw_lines: Callable[[int], list[Line]] = lambda _: []

    def show(self, draw_lines: Callable[[int], list[Line]]) -> None:
        """Show what this function draws."""
        self._draw_lines = draw_lines
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._draw_lines(width)
