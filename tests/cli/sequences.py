"""Control sequences that a terminal received, read from the bytes by code that does not know the deck's filter."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

_CSI = re.compile(r"\[([<-?]?)([0-9:;]*)([ -/]*)([@-~])")
_OSC = re.compile(r"\](\d+);([^\x07\x1b]*)(?:\x07|\x1b\\)")

_WHOLE_OSC = re.compile("\x1b" + _OSC.pattern)

_RUNG = re.compile(f"{_WHOLE_OSC.pattern}\x07|(?P<place>\x1b\\[[0-9;]+H)\x07(?=(?P=place))")
"""Pattern of a bell after a title or a notification, or alone at the place of the cursor."""

MODES = {"7", "25", "1000", "1003", "1004", "1006", "1015", "1016", "1049", "2004", "2026", "2048"}
"""Private modes that the deck may set: wrapping, cursor, mouse, focus, other screen, pasting, updates, resizing."""

BROUGHT = {"38;2;1;2;3", "8;38;2;1;2;4"}
"""Colours of a payload, which no theme has."""

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_BARE = re.compile(f"[\x00-\x09\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")


def foreign(data: bytes, size: tuple[int, int], copied: str = "") -> list[str]:
    """Return all control characters and sequences that are not the deck's own.

    `size`: columns and rows of the terminal. `copied`: text that the deck may copy. The deck names its window and its
    desktop notifications after itself. It rings the bell after either, or at the place of the cursor.
    """
    text = data.decode("utf-8", "surrogateescape")
    return [*_controls(text), *_sequences(text, size, copied)]


def _controls(text: str) -> Iterator[str]:
    yield from _BARE.findall(_WHOLE_OSC.sub("", _RUNG.sub("", text)))


def _sequences(text: str, size: tuple[int, int], copied: str) -> Iterator[str]:
    ends = {whole.end() for whole in _WHOLE_OSC.finditer(text)}
    for escape in re.finditer("\x1b", text):
        if text.startswith("\\", escape.end()) and escape.end() + 1 in ends:
            continue  # the end of a control string that was judged at its beginning
        if not _is_own(text, escape.end(), size, copied):
            yield f"ESC {text[escape.end() : escape.end() + 40]!r}"


def _is_own(text: str, start: int, size: tuple[int, int], copied: str) -> bool:
    if match := _OSC.match(text, start):
        number, content = match.groups()
        if number == "52":
            return bool(copied) and copied in b64decode(content.partition(";")[2]).decode()
        if number in {"2", "9"}:
            return _is_call(content)
        return number == "22" and content.replace("-", "").isalpha()
    match = _CSI.match(text, start)
    return match is not None and _is_own_csi(*match.groups(), size=size)


def _is_call(content: str) -> bool:
    """Return whether a title or a notification is the deck's own: its line, or empty, which removes a title."""
    return not content or "livedeck" in content


def _is_own_csi(private: str, parameters: str, between: str, final: str, *, size: tuple[int, int]) -> bool:
    if private == "?":
        return parameters in MODES and (between, final) in {("", "h"), ("", "l"), ("$", "p")}
    if between or private:
        return final == "u" and private in {">", "<"}
    if final == "t":
        return parameters in {"22;2", "23;2"}
    if final == "m":
        return ":" not in parameters and parameters not in BROUGHT
    row, _, column = parameters.partition(";")
    return final == "H" and row.isdecimal() and column.isdecimal() and int(row) <= size[1] and int(column) <= size[0]
