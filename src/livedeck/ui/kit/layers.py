"""Screens that others lie over: what changes behind a dialog is sent once.

Two private names of Textual (decisions.md, "Private Textual names"): `Screen._compositor_refresh` and
`Widget._exchange_repaint_regions`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.screen import Screen

R = TypeVar("R")


class LayeredScreen(Screen[R], Generic[R]):
    """A screen that goes on behind another one, and sends what changed."""

    def _compositor_refresh(self) -> None:
        """Textual's own has a covered screen repaint, besides, what it has just handed to the screen in front: that is
        handed on again at the next message, with all that ever changed behind the dialog, without an end."""
        super()._compositor_refresh()
        if self.app.screen is not self:
            self._exchange_repaint_regions()
