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
        """Refresh. A covered screen passes its changes to the screen in front, then drops them.

        Textual keeps them, so a covered screen would pass on all earlier changes again at each message. And a screen
        between both would keep its old lines, so the picture would freeze under two dialogs.
        """
        regions = tuple(self._compositor._dirty_regions)  # noqa: SLF001  no public name
        super()._compositor_refresh()
        if self.app.screen is self:
            return
        self._exchange_repaint_regions()
        above = dropwhile(lambda screen: screen is not self, self.app.screen_stack[:-1])
        for screen in islice(above, 1, None):
            if regions and isinstance(screen, LayeredScreen):
                screen.draw_anew(regions)

    def draw_anew(self, regions: Iterable[Region]) -> None:
        """Draw these regions of a covered screen anew in the next frame of the screen in front."""
        self._set_dirty(*regions)
        self._exchange_repaint_regions()

    def _on_timer_update(self) -> None:
        """Paint the frame, with the changes of all widgets.

        Textual would forget the changes of a dialog if the screen behind it had sent changes in the same frame.
        """
        if self._repaint_required:
            self._compositor.update_widgets(self._dirty_widgets)
        super()._on_timer_update()
