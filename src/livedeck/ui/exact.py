"""What is sent to the terminal: the cells that changed and no others.

Textual sends a changed part of a widget from the widget's left edge on. A widget that is as wide as the screen would so
repeat everything to the left of each clock: twenty times what the second changed (performance.md, 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip


class ExactUpdate(ChopsUpdate):
    """The same update, each part from its own first cell on."""

    @classmethod
    def of(cls, update: ChopsUpdate) -> ExactUpdate:
        """That update, exactly."""
        return cls(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        sent: list[str] = []
        for y, start, end in self.spans:
            for until, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                first, last = max(x, start), min(until, end)
                if strip is not None and first < last:
                    sent.append(Control.move_to(first, y).segment.text)
                    sent.append(strip.crop(first - x, last - x).simplify().render(console))
        return "".join(sent)


class PartsUpdate(CompositorUpdate):
    """Strips, each for a part of one line of the screen."""

    def __init__(self, parts: Sequence[tuple[Region, Strip]]) -> None:
        self._parts = parts

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        moved = ((Control.move_to(region.x, region.y).segment.text, strip) for region, strip in self._parts)
        return "".join(f"{move}{strip.render(console)}" for move, strip in moved)

    def __rich__(self) -> str:
        """Nothing: it is for terminals alone."""
        return ""


class ExactApp(App[int]):
    """An app of which nothing is sent that did not change."""

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Textual's way to the terminal."""
        exact = ExactUpdate.of(renderable) if isinstance(renderable, ChopsUpdate) else renderable
        super()._display(screen, exact)

    def send(self, parts: Sequence[tuple[Region, Strip]]) -> None:
        """Have these parts of lines on the terminal at once: Textual would wait for a sixtieth of a second."""
        _, ground = self.screen.background_colors
        for each in self.get_line_filters():
            parts = [(region, strip.apply_filter(each, ground)) for region, strip in parts]
        if parts:
            self._display(self.screen, PartsUpdate(parts))
