"""Screens that may lie under others. Changes behind a dialog are sent once.

It uses two private names of Textual (decisions.md, "Private Textual names"): `Screen._compositor_refresh` and
`Widget._exchange_repaint_regions`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import Screen

R = TypeVar("R")


class LayeredScreen(Screen[R], Generic[R]):
    """A screen that keeps running behind another one and sends its changes."""

    def _compositor_refresh(self) -> None:
        """Refresh, and forget regions that the screen in front has taken over.

        Textual's own keeps them for the covered screen and hands them over again at the next message, with all earlier
        ones, without end.
        """
        super()._compositor_refresh()
        if self.app.screen is not self:
            self._exchange_repaint_regions()
