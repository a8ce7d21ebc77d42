"""How far a long piece of work is: one line on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from time import monotonic
from typing import TextIO

from livedeck.text.outside import shown
from livedeck.text.values import age, size


class ProgressLine:
    """One line that is written over: on a terminal, and nowhere else.

    `terminal`: None where standard error is closed. `timer`: monotonic seconds.
    """

    INTERVAL = 0.2

    def __init__(self, terminal: TextIO | None, timer: Callable[[], float]) -> None:
        self._terminal, self._timer = terminal if terminal and terminal.isatty() else None, timer
        self._drawn_at = float("-inf")
        self._width = 0

    def show(self, parts: Iterable[str]) -> None:
        """Draw it, unless the last one is younger than INTERVAL seconds."""
        if self._terminal and self._timer() - self._drawn_at >= self.INTERVAL:
            self._drawn_at = self._timer()
            self._draw(shown(", ".join(parts)))

    def clear(self) -> None:
        """Leave the line empty, for what comes next."""
        if self._width:
            self._draw("", end="\r")
            self._width = 0

    def _draw(self, text: str, end: str = "") -> None:
        if self._terminal:
            self._terminal.write(f"\r{text.ljust(self._width)}{end}")
            self._terminal.flush()
        self._width = len(text)


class TransferLine:
    """The same of a file that is sent or received: `12.0 MB of 250.7 MB, 4.1 MB/s, 58 s left`."""

    def __init__(self, title: str) -> None:
        self._line, self._title, self._began = ProgressLine(sys.stderr, monotonic), title, monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """So many bytes of so many; None: nobody knows of how many."""
        seconds = monotonic() - self._began
        rate = done / seconds if seconds > 0 else 0.0
        parts = [f"{self._title}: {size(done)} {f'of {size(total)}' if total else 'of unknown size'}"]
        parts += [f"{size(int(rate))}/s"] if rate else []
        parts += [f"{age((total - done) / rate)} left"] if rate and total else []
        self._line.show(parts)

    def clear(self) -> None:
        """Leave the line empty, for what comes next."""
        self._line.clear()
