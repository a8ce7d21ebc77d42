"""Widgets that paint lines of styled segments, and send only what changed to the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment as RichSegment
from rich.style import Style
from textual import events, on
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from livedeck.text.segments import Link, ShadedLine, changed_ranges, link_at, render
from livedeck.ui.kit import themes

MIN_GAP = 20
"""Unchanged cells between two changes that are sent again: moving the cursor and setting a colour cost as much."""


class StyledWidget(Widget):
    """A widget that paints segments in the styles that the theme in force gives their roles.

    A click on a segment whose role is a `Link` is told as `Followed`.
    """

    class Followed(Message):
        """A link was clicked. `widget`: where it stands."""

        def __init__(self, link: Link, widget: Widget) -> None:
            super().__init__()
            self.link, self.widget = link, widget

    base = Style()
    """The style of the widget itself, as it was when the compositor asked last."""

    def line_at(self, y: int) -> ShadedLine:  # noqa: ARG002  each widget overrides it
        """What is drawn in that line of the widget."""
        return []

    def link_at(self, x: int, y: int) -> Link | None:
        """Where a click on that cell of the widget leads; None: nowhere."""
        return link_at(self.line_at(y), x)

    _pressed_link: Link | None = None

    @on(events.MouseDown)
    def press_link(self, event: events.MouseDown) -> None:
        """Remember the words that are pressed: others may stand there by the time the button is released."""
        self._pressed_link = self.link_at(int(event.x), int(event.y))

    @on(events.Click)
    def follow_link(self) -> None:
        """A click on words that lead somewhere goes there."""
        if link := self._pressed_link:
            self.post_message(self.Followed(link, self))

    def refresh_regions(self, regions: Iterable[Region]) -> int:
        """Have these regions sent to the terminal. Returns how many there are."""
        changed = list(regions)
        if changed:
            self.refresh(*changed)
        return len(changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region. Resolves the style of the widget once, where Textual would for each line."""
        self.base = self.rich_style
        return super().render_lines(crop)

    def to_strip(self, line: ShadedLine, width: int, base: Style) -> Strip:
        """The line as a strip of exactly `width` cells over the style `base`; a cut is marked."""
        theme = self.app.theme
        cells = render(line, width)
        return Strip([RichSegment(text, base + themes.style(theme, role)) for text, role in cells], width)


class Canvas(StyledWidget):
    """A widget whose whole content is `draw`; only cells that differ from what is shown are sent to the terminal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: Sequence[ShadedLine] = []

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002  each canvas overrides it
        """The content for that size."""
        return []

    def repaint(self) -> int:
        """Draw again and refresh the regions that changed. Returns how many there are."""
        width, height = self.size
        if not width or not height:
            return 0
        before, self._lines = self._lines, self.draw(width, height)[:height]
        return self.refresh_regions(
            region
            for row in range(height)
            for region in changed_regions(row, _line_at(before, row), self.line_at(row), width)
        )

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._lines = []
        self.repaint()
        self.refresh()

    def line_at(self, y: int) -> ShadedLine:
        return _line_at(self._lines, y)

    def render_line(self, y: int) -> Strip:
        """One line of what was drawn last."""
        return self.to_strip(self.line_at(y), self.size.width, self.base)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """The number of lines that it draws, for a height of `auto`."""
        return len(self.draw(width, viewport.height))


def changed_regions(row: int, before: ShadedLine, after: ShadedLine, width: int) -> list[Region]:
    """The regions of that row in which the two lines differ."""
    if before == after:
        return []
    ranges = changed_ranges(render(before, width), render(after, width), MIN_GAP)
    return [Region(start, row, end - start, 1) for start, end in ranges]


def _line_at(lines: Sequence[ShadedLine], row: int) -> ShadedLine:
    return lines[row] if row < len(lines) else []
