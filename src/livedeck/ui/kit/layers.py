"""Screens that keep running under a dialog. Each change is sent only once, and a closed screen is freed.

The module uses private names of Textual (decisions.md, "Private Textual names"): `Screen._compositor_refresh`,
`Screen._on_timer_update`, `Compositor.update_widgets`, `Compositor._dirty_regions`, `Widget._exchange_repaint_regions`,
`Widget._set_dirty` and `StylesCache`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import dropwhile, islice
from typing import Generic, TypeVar

from textual._styles_cache import StylesCache
from textual.geometry import Region
from textual.screen import Screen

R = TypeVar("R")


class LayeredScreen(Screen[R], Generic[R]):
    """Screen that keeps running and sends its changes while another screen lies over it."""

    def on_unmount(self) -> None:
        """Free the lines of the closed screen: Textual's cache of colours by widget would keep them."""
        StylesCache.get_inner_outer.cache_clear()

    def _compositor_refresh(self) -> None:
        """Refresh, and remove the regions that the screen in front has taken over.

        With Textual's method, the covered screen keeps these regions and passes more and more of them on at each
        message. A screen between both keeps its old lines, so the picture freezes under two dialogs.
        """
        regions = tuple(self._compositor._dirty_regions)  # noqa: SLF001  Compositor, of this screen alone
        super()._compositor_refresh()
        if self.app.screen is self:
            return
        self._exchange_repaint_regions()
        above = dropwhile(lambda screen: screen is not self, self.app.screen_stack[:-1])
        for screen in islice(above, 1, None):
            if regions and isinstance(screen, LayeredScreen):
                screen.draw_anew(regions)

    def draw_anew(self, regions: Iterable[Region]) -> None:
        """Draw these regions anew in the next frame of the screen in front, which hands them on already."""
        self._set_dirty(*regions)
        self._exchange_repaint_regions()

    def _on_timer_update(self) -> None:
        """Paint the frame, with the changes of all widgets.

        Textual forgets the changes of a dialog if the screen behind it has handed over regions in the same frame.
        """
        if self._repaint_required:
            self._compositor.update_widgets(self._dirty_widgets)
        super()._on_timer_update()
