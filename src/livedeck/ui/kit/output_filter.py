"""Last filter before the terminal. It passes only control sequences of the deck and of Textual.

The filter has two halves. `ControlFilter` gets texts without their styles, and removes controls from them.
`OutputFilter` gets the whole output. It passes the kinds of sequences that Textual draws with, and a sequence that the
deck has allowed. It cannot distinguish Textual's colours from colours in a text, so both halves are needed.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")

_OWN_SEQUENCES = (
    r"\[[\d;]*m",  # colours and styles
    r"\[\d+;\d+H",  # the cursor to a cell
    r"\[\?(?:7|25|1000|1003|1004|1006|1015|1016|1049|2004|2026|2048)[hl]",  # wrap, cursor, mouse, focus, paste, ...
    r"\[\?(?:2026|2048)\$p",  # a query whether the terminal supports these
    r"\[(?:>\d+|<)u",  # kitty's keys, on and off
)
_FOREIGN = re.compile(
    r"(\x1b\]22;[a-z-]{1,20}\x07)"  # passes whole: the shape of the pointer
    rf"|\x1b(?!{'|'.join(_OWN_SEQUENCES)})|[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]"
)
_BELL = "\x07"


class ControlFilter(LineFilter):
    """Filter that removes controls from texts, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  signature of filters
        if not _CONTROLS.search("".join([segment.text for segment in segments])):
            return segments
        return [
            segment if segment.control else Segment(without_controls(segment.text), segment.style)
            for segment in segments
        ]


def without_controls(text: str) -> str:
    """Return the text with blanks in place of control characters."""
    return _CONTROLS.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return " " * cell_len(match[0])


class OutputFilter:
    """Filter for all output of an app to its terminal."""

    def __init__(self) -> None:
        self._allowed = ""

    def allow(self, sequence: str) -> None:
        """Let a control string pass once, at the start of the next output."""
        self._allowed = sequence

    def apply(self, data: str) -> str:
        """Return the output with its allowed control sequences.

        Other control sequences lose their escape character; their letters stay as text.
        """
        if data == _BELL:
            return data
        passed = ""
        if self._allowed and data.startswith(self._allowed):
            passed, self._allowed = self._allowed, ""
        return passed + _FOREIGN.sub(r"\1", data[len(passed) :])


def filtered(driver_class: type[Driver], output: OutputFilter) -> type[Driver]:
    """Return a subclass of a driver that writes through the filter. All output to the terminal passes `write`."""

    class FilteredDriver(driver_class):  # type: ignore[valid-type,misc]  # the operating system's own
        def write(self, data: str) -> None:
            super().write(output.apply(data))

    return FilteredDriver
