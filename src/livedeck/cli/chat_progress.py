"""One line on standard error that says how far an export is, and is gone when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from livedeck.client import ExportProgress
from livedeck.ui.renderables import export_words

_PAUSE = 0.2
"""Seconds between two drawings."""


class ProgressLine:
    """Draws on a terminal, and nowhere else. `timer`: seconds that never run backwards."""

    def __init__(self, terminal: TextIO, timer: Callable[[], float]) -> None:
        self._terminal, self._timer = terminal, timer
        self._shown, self._drawn = terminal.isatty(), float("-inf")
        self._width = 0

    def __call__(self, progress: ExportProgress) -> None:
        """Draw it, unless the last one is too young."""
        if self._shown and self._timer() - self._drawn >= _PAUSE:
            self._drawn = self._timer()
            self._draw(", ".join(export_words.progress(progress)))

    def clear(self) -> None:
        """Leave the line empty, for what comes next."""
        if self._width:
            self._draw("")
            self._terminal.write("\r")
            self._terminal.flush()
            self._width = 0

    def _draw(self, text: str) -> None:
        self._terminal.write(f"\r{text.ljust(self._width)}")
        self._terminal.flush()
        self._width = len(text)
