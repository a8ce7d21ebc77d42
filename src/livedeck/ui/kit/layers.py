"""Screens that keep running under a dialog. Their changes are sent to the terminal only once.

The module uses two private names of Textual (decisions.md, "Private Textual names"): `Screen._compositor_refresh` and
`Widget._exchange_repaint_regions`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import Screen

R = TypeVar("R")


class LayeredScreen(Screen[R], Generic[R]):
    """Screen that keeps running and sends its changes while another screen lies over it."""

    def _compositor_refresh(self) -> None:
        """Refresh, and remove the regions that the screen in front has taken over.

        With Textual's method, the covered screen keeps these regions and passes more and more of them on at each
        message.
        """
        super()._compositor_refresh()
        if self.app.screen is not self:
            self._exchange_repaint_regions()
