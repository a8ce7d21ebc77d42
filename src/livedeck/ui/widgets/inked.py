"""A widget that paints lines of inked spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, difference, fit


class Inked(Widget):
    """Resolves inks to the styles that app.tcss gives them, once a theme."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{ink}" for ink in Ink}

    def __init__(self, *children: Widget, **options: Any) -> None:
        super().__init__(*children, **options)
        self._inks: dict[Ink, Style] = {}

    def notify_style_update(self) -> None:
        """The theme or a class changed: what was resolved is void."""
        self._inks.clear()
        super().notify_style_update()

    def ink(self, ink: Ink) -> Style:
        """The style of an ink in this widget, its background left to the line where it has none of its own."""
        if ink not in self._inks:
            self._inks[ink] = self.get_component_rich_style(f"ink--{ink}", partial=True)
        return self._inks[ink]

    def mark(self, regions: Iterable[Region | None]) -> int:
        """Have these regions sent to the terminal. Returns how many they are."""
        marked = [region for region in regions if region]
        if marked:
            self.refresh(*marked)
        return len(marked)

    def painted(self, line: Sequence[tuple[str, Ink]], width: int, base: Style) -> Strip:
        """The line as a strip of exactly `width` cells over the style `base`; what is cut off is marked."""
        return Strip([Segment(text, base + self.ink(ink)) for text, ink in fit(line, width, ellipsis=True)], width)


class Canvas(Inked):
    """A widget whose whole content is `draw`; only lines that differ from what is shown are sent to the terminal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: list[Line] = []

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002  the face of every canvas
        """The content for that size. To be given by each canvas."""
        return []

    def repaint(self) -> int:
        """Draw again and mark the lines that changed. Returns how many they are."""
        width, height = self.size
        if not width or not height:
            return 0
        lines = self.draw(width, height)[:height]
        changed = [changes(row, _at(self._lines, row), _at(lines, row), width) for row in range(height)]
        self._lines = lines
        return self.mark(changed)

    def on_resize(self) -> None:
        """Another size is another drawing."""
        self._lines = []
        self.repaint()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of what was drawn last."""
        return self.painted(_at(self._lines, y), self.size.width, self.rich_style)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As high as what it draws, for those whose height is `auto`."""
        return len(self.draw(width, viewport.height))


def changes(row: int, old: Line, new: Line, width: int) -> Region | None:
    """The part of that row of a widget in which two lines differ."""
    unlike = difference(fit(old, width, ellipsis=True), fit(new, width, ellipsis=True))
    return None if unlike is None else Region(unlike[0], row, unlike[1] - unlike[0], 1)


def _at(lines: Sequence[Line], row: int) -> Line:
    return lines[row] if row < len(lines) else []
