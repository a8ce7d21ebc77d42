"""Widgets for lines of text: given lines, or lines that a function draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from livedeck.presentation.remembered import Remembered
from livedeck.text.segments import Line, Link, ShadedLine, StyleRole, clip, fit, fit_height, width
from livedeck.ui.kit.canvas import Canvas


class LinesWidget(Canvas):
    """Widget that shows given lines. Its height is the number of lines; without lines it is hidden."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._content: Sequence[ShadedLine] = []

    def show(self, lines: Sequence[ShadedLine]) -> None:
        if len(lines) != len(self._content):
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
            self._drawing = None  # the new layout paints all of it
        self._content = lines
        self.repaint()

    @property
    def content(self) -> Sequence[ShadedLine]:
        return self._content

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return [*self._content]


class DetailPanel(Canvas):
    """Panel with lines about a selected item. A function draws them for the width of the panel."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw_lines: Callable[[int], Sequence[ShadedLine]] = lambda _: []

    def show(self, draw_lines: Callable[[int], Sequence[ShadedLine]]) -> None:
        """Replace the function that draws the lines for a width."""
        self._draw_lines = draw_lines
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return self._draw_lines(width)


DrawLines = Callable[[int, int], Sequence[ShadedLine]]
"""Function that draws the content of a frame, for a width in cells and a number of lines."""


class FramedPanel(Canvas):
    """Panel with a rounded frame, a title at the left, and a key or a count at the right.

    A narrow panel omits the right side. A click beside links runs the panel's command.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._title, self._right, self._command = "", "", ""
        self._draw_lines: DrawLines = lambda _width, _height: []
        self._framed: Remembered[list[ShadedLine]] = Remembered()
        self._rows: tuple[int, list[tuple[ShadedLine, ShadedLine]]] = 0, []  # width; each line without and with frame

    def show(self, title: str, right: str, draw_lines: DrawLines, command: str = "") -> None:
        """Replace title, right side and the function that draws in the frame.

        `command`: command that a click runs; empty if a click does nothing.
        """
        self._title, self._right, self._draw_lines, self._command = title, right, draw_lines, command
        self.repaint()

    def link_at(self, x: int, y: int) -> Link | None:
        return super().link_at(x, y) or (Link(StyleRole.TEXT, self._command) if self._command else None)

    def draw(self, width: int, height: int) -> list[ShadedLine]:
        inner, rows = max(0, width - FRAME_CELLS), max(0, height - FRAME_LINES)
        content = self._draw_lines(inner, rows)
        frame = self._title, self._right, width, height
        return self._framed.get((content,), frame, lambda: self._frame(content, width, inner, rows))

    def _frame(self, content: Sequence[ShadedLine], width: int, inner: int, rows: int) -> list[ShadedLine]:
        """Return the content in its frame. Unchanged lines stay the same objects."""
        lines = fit_height(content, rows)
        before = self._rows[1] if self._rows[0] == width else []
        kept = [
            old if old and old[0] == line else (line, _beside(line, inner))
            for line, old in zip_longest(lines, before[:rows])
        ]
        self._rows = width, kept
        return [
            _top(self._title, self._right, width),
            *(framed for _, framed in kept),
            [("╰" + "─" * max(0, width - 2) + "╯", StyleRole.RULE)],
        ]


def _beside(line: ShadedLine, cells: int) -> ShadedLine:
    """Return a line with the frame's border at both ends."""
    return [_SIDE, _BLANK, *fit(line, cells, ellipsis=True), _BLANK, _SIDE]


_SIDE, _BLANK = ("│", StyleRole.RULE), (" ", StyleRole.TEXT)

FRAME_CELLS, FRAME_LINES = 4, 2
"""Cells and lines that a frame takes: a border and a blank at each end of a line; the lines at top and bottom."""


def _top(title: str, right: str, cells: int) -> Line:
    name = clip([(f" {title} ", StyleRole.STRONG)], max(0, cells - 4))
    end: Line = [(f" {right} ", StyleRole.DIM)] if right else []
    free = cells - 4 - width(name) - width(end)
    if free < 1:
        end, free = [], cells - 4 - width(name)
    return [("╭─", StyleRole.RULE), *name, ("─" * free, StyleRole.RULE), *end, ("─╮", StyleRole.RULE)]
