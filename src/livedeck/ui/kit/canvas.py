"""Base classes of widgets that paint lines of styled segments, and send only changed cells to the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from rich.segment import Segment as RichSegment
from rich.style import Style
from textual import events, on
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from livedeck.text.outside import Shown
from livedeck.text.segments import Link, Pixels, Role, ShadedLine, changed_ranges, link_at, render
from livedeck.ui.kit import themes

MIN_GAP = 20
"""Minimum number of unchanged cells that separate two changes in a line.

Changes with fewer cells between them are sent as one, because moving the cursor takes as many bytes as those cells.
"""

RenderedLine = list[tuple[Shown, Role]]


class Inks(dict[Role, Style]):
    """Cache of the theme's styles on a base style, by role. Styles of pixels are not kept."""

    def __init__(self, theme: str, base: Style) -> None:
        super().__init__()
        self.theme, self.base = theme, base

    def __missing__(self, role: Role) -> Style:
        if isinstance(role, Pixels):
            return themes.pixel_style(role)
        self[role] = style = self.base + themes.style(self.theme, role)
        return style


class StyledWidget(Widget):
    """Widget that paints segments in the styles of the current theme.

    A click on a segment whose role is a `Link` posts `Followed`.
    """

    class Followed(Message):
        """Click on a link. `widget`: widget of the link."""

        def __init__(self, link: Link, widget: Widget) -> None:
            super().__init__()
            self.link, self.widget = link, widget

    base = Style()
    """Style of the widget when the compositor last requested its lines."""

    def __init__(self, *children: Widget, **names: Any) -> None:
        super().__init__(*children, **names)
        self._rendered: dict[int, tuple[ShadedLine, int, RenderedLine]] = {}  # by row: line, width, and its cells
        self._inks = Inks("", Style())
        self._strips: tuple[object, list[Strip]] | None = None

    def line_at(self, y: int) -> ShadedLine:  # noqa: ARG002  each widget overrides it
        """Return the line at row `y` of the widget."""
        return []

    def link_at(self, x: int, y: int) -> Link | None:
        """Return the link at a cell of the widget; None if there is none."""
        return link_at(self.line_at(y), x)

    _pressed_link: Link | None = None

    @on(events.MouseDown)
    def press_link(self, event: events.MouseDown) -> None:
        """Remember the pressed link, because another link may be under the pointer when the button is released."""
        self._pressed_link = self.link_at(int(event.x), int(event.y))

    @on(events.Click)
    def follow_link(self) -> None:
        if link := self._pressed_link:
            self.post_message(self.Followed(link, self))

    def refresh_regions(self, regions: Iterable[Region]) -> int:
        """Refresh the regions, and return their number."""
        changed = list(regions)
        if changed:
            self.refresh(*changed)
        return len(changed)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Request a new picture of these regions, or of the whole widget."""
        self._strips = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Forget the last picture: a style has changed."""
        self._strips = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a region.

        At each change of the screen the compositor calls this for all widgets, so an unchanged widget returns its last
        lines. The style of the widget is resolved once, while Textual would resolve it for each line.
        """
        looks = crop, self.size, self.app.theme, self.background_colors
        if self._strips is None or self._strips[0] != looks:
            self.base = self.rich_style
            self._strips = looks, super().render_lines(crop)
        return self._strips[1]

    def changed_regions(self, row: int, before: ShadedLine, after: ShadedLine, width: int) -> list[Region]:
        """Return the regions of the row that differ between the two lines."""
        if before == after:
            return []
        ranges = changed_ranges(self._cells_of(row, before, width), self._cells_of(row, after, width), MIN_GAP)
        return [Region(start, row, end - start, 1) for start, end in ranges]

    def to_strip(self, row: int, line: ShadedLine, width: int, base: Style) -> Strip:
        """Return the line of a row as a strip of exactly `width` cells over the style `base`.

        An ellipsis marks a cut.
        """
        theme, inks = self.app.theme, self._inks
        if inks.base is not base or inks.theme != theme:
            inks = self._inks = Inks(theme, base)
        return Strip([RichSegment(text, inks[role]) for text, role in self._cells_of(row, line, width)], width)

    def _cells_of(self, row: int, line: ShadedLine, width: int) -> RenderedLine:
        """Return the line as it is drawn. Keeps the result until the row shows another line or has another width."""
        last = self._rendered.get(row)
        if last is None or last[0] is not line or last[1] != width:
            last = self._rendered[row] = line, width, render(line, width)
        return last[2]


class Canvas(StyledWidget):
    """Widget with the content of `draw`. Only changed cells are sent to the terminal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: Sequence[ShadedLine] = []
        self._drawing: Sequence[ShadedLine] | None = None
        self._drawn_size = Size(0, 0)

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002  each canvas overrides it
        """Return the content for a size in cells and lines.

        Without a change, a canvas may return the object of its last drawing, which saves the comparison.
        """
        return []

    def repaint(self) -> int:
        """Draw again, refresh the changed regions, and return their number."""
        width, height = self.size
        if not width or not height:
            self._drawing = None  # the next picture may have the old size, but other content
            return 0
        drawing = self.draw(width, height)
        if drawing is self._drawing:
            return 0
        before, self._lines = self._lines, drawing[:height]
        is_whole = self._drawing is None
        self._drawing, self._drawn_size = drawing, self.size
        if is_whole:
            self.refresh()
            return height
        return self.refresh_regions(
            region
            for row in range(height)
            for region in self.changed_regions(row, _line_at(before, row), self.line_at(row), width)
        )

    def on_resize(self) -> None:
        """Draw for the new size, unless the first picture was drawn for this size already."""
        if self._drawing is None or self._drawn_size != self.size:
            self._drawing = None
            self.repaint()

    def line_at(self, y: int) -> ShadedLine:
        return _line_at(self._lines, y)

    def render_line(self, y: int) -> Strip:
        """Return one line of the last drawing. Draws first if the message about a new size has not arrived yet."""
        if self.size and (self._drawing is None or self._drawn_size != self.size):
            self._drawing, self._drawn_size = self.draw(*self.size), self.size
            self._lines = self._drawing[: self.size.height]
        return self.to_strip(y, self.line_at(y), self.size.width, self.base)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines of the content, which is the height if the stylesheet sets `auto`."""
        return len(self.draw(width, viewport.height))


def _line_at(lines: Sequence[ShadedLine], row: int) -> ShadedLine:
    return lines[row] if row < len(lines) else []
