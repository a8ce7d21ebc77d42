"""Filter for input from the terminal. A paste is read as text, even if it contains control sequences."""

from __future__ import annotations

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
"""Control sequences before and after a paste (xterm, "Bracketed Paste Mode")."""

MAX_PASTE_CHARS = 65_536
"""Maximum number of characters of a paste. The rest is dropped, because no field takes more."""

_ESCAPE = "\x1b"


class PasteFilter:
    """Filter that removes from a paste the control sequences that would be read as keys.

    Textual also parses the sequences in a paste, and passes unknown ones on as keys. Coloured text that is pasted over
    the deck would press `q`. The markers around a paste may arrive in pieces.
    """

    def __init__(self) -> None:
        self._is_pasting = False
        self._held = ""
        self._room = 0

    def apply(self, text: str) -> str:
        """Return the part of the input that Textual may read. `text` continues the text of the previous call."""
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
                passed.append((before + found)[held:])  # an incomplete marker may be a key, so it is passed on now
                self._room = MAX_PASTE_CHARS
            self._is_pasting ^= bool(found)
            text = rest
        return "".join(passed)


def _begun(text: str, marker: str) -> str:
    """Return the longest beginning of the marker that ends the text; empty if there is none."""
    return next((marker[:length] for length in range(len(marker) - 1, 0, -1) if text.endswith(marker[:length])), "")
