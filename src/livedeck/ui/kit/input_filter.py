"""Filter for input from the terminal: a paste is text, even with control sequences in it."""

from __future__ import annotations

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
"""Sequences around a paste (xterm, "Bracketed Paste Mode")."""

MAX_PASTE_CHARS = 65_536
"""Maximum number of characters of one paste. No field takes more, and the rest is dropped."""

_ESCAPE = "\x1b"


class PasteFilter:
    """Removes from a paste the sequences that would be read as keys.

    Textual searches a paste for sequences, too, and passes unknown ones on as keys: coloured text, pasted over the
    deck, would press `q`. Markers that arrive in pieces are recognised.
    """

    def __init__(self) -> None:
        self._is_pasting = False
        self._held = ""
        self._room = 0

    def apply(self, text: str) -> str:
        """Return the part of the text that Textual may read. The text continues the earlier ones."""
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
                passed.append((before + found)[held:])  # an incomplete marker may be a key, so it passes now
                self._room = MAX_PASTE_CHARS
            self._is_pasting ^= bool(found)
            text = rest
        return "".join(passed)


def _begun(text: str, marker: str) -> str:
    """Return the end of the text that may be the beginning of the marker."""
    return next((marker[:length] for length in range(len(marker) - 1, 0, -1) if text.endswith(marker[:length])), "")
