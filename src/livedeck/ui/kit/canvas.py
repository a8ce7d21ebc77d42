"""A widget that paints lines of inked spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from livedeck.text.segments import Line, StyleRole, changed_ranges, fit
from livedeck.ui.kit import themes

SKIPPED = 20

"""Cells that did not change and are yet sent, where they lie between two that did."""


class StyledWidget(Widget):
    """Resolves inks to the styles that the theme in force gives them."""

    base = Style()
    """The style of the widget itself, as it was when the compositor asked last."""

    def ink(self, ink: StyleRole) -> Style:
        """The style of an ink in the theme in force, its ground left to the line where it has none of its own."""
        return themes.style(self.app.theme, ink)

    def mark(self, regions: Iterable[Region]) -> int:
        """Have these regions sent to the terminal. Returns how many they are."""
        marked = list(regions)
        if marked:
            self.refresh(*marked)
        return len(marked)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines as the compositor asks for them, all at once: Textual works out a widget's style anew at each look."""
        self.base = self.rich_style
        return super().render_lines(crop)

    def painted(self, line: Sequence[tuple[str, StyleRole]], width: int, base: Style) -> Strip:
        """The line as a strip of exactly `width` cells over the style `base`; what is cut off is marked."""
        theme = self.app.theme
        cells = fit(line, width, ellipsis=True)
        return Strip([Segment(text, base + themes.style(theme, ink)) for text, ink in cells], width)


class Canvas(StyledWidget):
    """A widget whose whole content is `draw`; only cells that differ from what is shown are sent to the terminal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: list[Line] = []

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002  the face of every canvas
        """The content for that size. To be given by each canvas."""
        return []

    def repaint(self) -> int:
        """Draw again and mark the parts of lines that changed. Returns how many they are."""
        width, height = self.size
        if not width or not height:
            return 0
        lines = self.draw(width, height)[:height]
        changed = [changes(row, _at(self._lines, row), _at(lines, row), width) for row in range(height)]
        self._lines = lines
        return self.mark(part for parts in changed for part in parts)

    def on_resize(self) -> None:
        """Another size is another drawing."""
        self._lines = []
        self.repaint()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of what was drawn last."""
        return self.painted(_at(self._lines, y), self.size.width, self.base)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As high as what it draws, for those whose height is `auto`."""
        return len(self.draw(width, viewport.height))


def changes(row: int, old: Line, new: Line, width: int) -> list[Region]:
    """The parts of that row that differ; to move the cursor and set a colour costs as much as some twenty cells."""
    if old == new:
        return []
    before, after = fit(old, width, ellipsis=True), fit(new, width, ellipsis=True)
    return [Region(start, row, end - start, 1) for start, end in changed_ranges(before, after, SKIPPED)]


def _at(lines: Sequence[Line], row: int) -> Line:
    return lines[row] if row < len(lines) else []
