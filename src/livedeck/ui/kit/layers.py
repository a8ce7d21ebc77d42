"""Screens that keep running under a dialog, where their changes are sent only once.

The module uses two private names of Textual (decisions.md, "Private Textual names"): `Screen._compositor_refresh` and
`Widget._exchange_repaint_regions`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import Screen

R = TypeVar("R")


class LayeredScreen(Screen[R], Generic[R]):
    """A screen that keeps running and sends its changes while another screen lies over it."""

    def _compositor_refresh(self) -> None:
        """Refresh, and forget the regions that the screen in front has taken over.

        Textual's method lets the covered screen keep those regions and hand them over again at each message, in ever
        greater number.
        """
        super()._compositor_refresh()
        if self.app.screen is not self:
            self._exchange_repaint_regions()
