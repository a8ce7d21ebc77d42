"""The first filter behind the terminal: what is pasted is text, whatever sequences stand in it."""

from __future__ import annotations

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
"""What a terminal sends around a paste (xterm, "Bracketed Paste Mode")."""

MAX_PASTE_CHARS = 65_536
"""Of one paste; no field takes more, and what is behind it goes nowhere."""

_ESCAPE = "\x1b"


class PasteFilter:
    """Takes out of a paste what would be read as keys.

    Textual looks for sequences inside a paste, too, and hands on each that it does not know as keys: coloured text,
    pasted over the deck, would press `q`. Markers that come in pieces are found all the same.
    """

    def __init__(self) -> None:
        self._is_pasting = False
        self._held = ""
        self._room = 0

    def apply(self, text: str) -> str:
        """What Textual may read of that text, which comes behind all that came before."""
        passed: list[str] = []
        while text:
            marker = PASTE_END if self._is_pasting else PASTE_START
            text, held = self._held + text, len(self._held)
            before, found, rest = text.partition(marker)
            self._held = "" if found else _begun(text, marker)
            if self._is_pasting:
                pasted = before.removesuffix(self._held).replace(_ESCAPE, "")[: self._room]
                self._room -= len(pasted)
                passed += pasted, found
            else:
                passed.append((before + found)[held:])  # a marker that has only begun may be a key, and waits for none
                self._room = MAX_PASTE_CHARS
            self._is_pasting ^= bool(found)
            text = rest
        return "".join(passed)


def _begun(text: str, marker: str) -> str:
    """The end of the text with which that marker may begin."""
    return next((marker[:length] for length in range(len(marker) - 1, 0, -1) if text.endswith(marker[:length])), "")
