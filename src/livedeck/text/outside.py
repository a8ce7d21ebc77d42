"""Text from outside made safe for a terminal. It cannot control the terminal, be invisible, or draw over other cells.

Pure.

`shown` returns the type `Shown`, which every output requires: lines of widgets, pictures and printed text. `escaped`
prepares a text for a field that the user edits, and `unescaped` restores it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NewType

Shown = NewType("Shown", str)
"""Text without control, bidi or hidden characters. Combining marks stay on letters (trust.md, "Outside text")."""

MAX_MARKS = 4
"""Maximum number of marks on a letter: Vietnamese needs two, Thai and Arabic three, Hebrew four."""

MAX_JOINS = 3
"""Maximum number of joiners after an emoji or letter: the emoji of a family of four has three."""

BLANK_LETTER = "␣"
"""Replacement for a letter that looks blank. Without it, a name of such letters would look empty."""

_PLAIN = re.compile("[ -~¡-¬®-˿Ͱ-҂Ҋ-ԯ‐-‧‰-⁞←-⯿ぁ-ヿ一-鿿가-힣]*")
"""Pattern of texts that need no change. These Unicode blocks have no marks, joiners or hidden characters."""

_LINE_BREAKS = frozenset("\t\n\r\v\f\x85\u2028\u2029")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\U0001d159")
_HIDDEN_MARKS = re.compile("[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0e\U00016fe4\U000e0100-\U000e01ef]")
_JOINED_LETTERS = re.compile("[\u1161-\u11ff\ud7b0-\ud7fb]")
_VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_NEW_CHARACTERS = re.compile("[\U0001f000-\U0001faff\U00020000-\U0003fffd]")
_TAGGED_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{5}\U000e007f")
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_NON_JOINER, _JOINER, _EMOJI_SELECTOR, _KEYCAP = "\u200c", "\u200d", "\ufe0f", "\u20e3"
_VIRAMA = 9
"""Unicode combining class of the virama, which removes the vowel of a letter in Indian scripts."""


def shown(text: str) -> Shown:
    """Return the text as one safe line without hidden characters. Breaks and tabs become spaces, blank letters `␣`.

    Characters that scripts need stay: accents, vowel signs, joiners between letters and emoji of several characters.
    """
    return Shown(text) if has_agreed_width(text) else _shown(text)


def has_agreed_width(text: str) -> bool:
    """Return whether every terminal draws the text in the same cells. No character is joined, stacked or hidden."""
    return bool(_PLAIN.fullmatch(text))


def escaped(text: str) -> str:
    r"""Escape the characters that `shown` would change, as Python does (`\x1b`, `\u202e`, `\n`).

    A field in which the user edits the text needs this. A text that `shown` leaves as it is stays unchanged. In any
    other text backslashes are doubled, so that `unescaped` restores it.
    """
    if shown(text) == text:
        return text
    return "".join(char if char == visible and char != "\\" else _escape(char) for char, visible in _characters(text))


def unescaped(text: str) -> str:
    """Restore a text that was `escaped`. Backslashes that begin no escape stay."""
    return _ESCAPE.sub(lambda match: _unescape(match[0]), text)


def escaped_json(text: str) -> str:
    """Escape the characters of a JSON text that control a terminal or cannot be encoded.

    The escaped text has the same JSON value.
    """
    return _JSON_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shown_after(before: str, text: str) -> Shown:
    """Return the `shown` form of a text after `before`. Accents at its beginning belong to the last letter before."""
    return Shown("".join(visible for _, visible in _characters(before + text)[len(before) :]))


_JSON_CONTROLS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C1 controls, line and paragraph separators, direction marks and lone surrogates."""

_ESCAPE = re.compile(r"\\(?:[\\ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})")


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _unescape(escape: str) -> str:
    return escape.encode("ascii").decode("unicode_escape")


@lru_cache(4096)
def _shown(text: str) -> Shown:
    return Shown("".join(visible for _, visible in _characters(text)))


def _characters(text: str) -> list[tuple[str, str]]:
    """Return each character of the text with its shown form, empty if it is hidden."""
    return list(zip(text, _visible_characters(text), strict=True))


def _visible_characters(text: str) -> Iterator[str]:
    base = before = ""  # the letter that carries marks, and the shown form of the previous character
    marks = joins = flag_end = 0
    for index, char in enumerate(text):
        after = text[index + 1 : index + 2]
        if match := _TAGGED_FLAG.match(text, index):
            flag_end = match.end()
        if index < flag_end:
            visible = char
        elif _is_mark(char):
            visible = char if base and marks < MAX_MARKS else ""
            marks += bool(visible)
        elif char in {_NON_JOINER, _JOINER, _EMOJI_SELECTOR}:
            joins += char == _JOINER
            visible = char if joins <= MAX_JOINS and before and _joins(char, base, before, after) else ""
        elif visible := _visible_letter(char):
            base, marks = "" if visible.isspace() else visible, 0
            joins = joins if before == _JOINER else 0
        before = visible or before
        yield visible


@lru_cache(4096)
def _is_mark(char: str) -> bool:
    """Return whether a character is drawn into the cell of the previous letter."""
    is_joined = char in _SKIN_TONES or bool(_JOINED_LETTERS.match(char))
    return is_joined or (unicodedata.category(char)[0] == "M" and char != _EMOJI_SELECTOR and not _is_hidden_mark(char))


def _is_hidden_mark(char: str) -> bool:
    return bool(_HIDDEN_MARKS.match(char))


@lru_cache(4096)
def _visible_letter(char: str) -> str:
    """Return the shown form of a character that is not a mark; empty if it is hidden."""
    if char in _LINE_BREAKS:
        return " "
    if char in _BLANK_LETTERS:
        return BLANK_LETTER
    category = unicodedata.category(char)
    if category == "Cn" and _NEW_CHARACTERS.match(char):  # emoji that are newer than Python's tables
        return char
    is_hidden = category[0] == "C" or _is_hidden_mark(char)
    return "" if is_hidden and char not in _VISIBLE_FORMATS else char


def _joins(char: str, base: str, before: str, after: str) -> bool:
    """Return whether the joiner `char` is needed by its script (RFC 5892, A.1 and A.2) or within an emoji."""
    if char == _EMOJI_SELECTOR:
        return _is_emoji(before) or (after == _KEYCAP and before in "0123456789#*")
    if char == _JOINER and _is_emoji(base):
        return _is_emoji(after)
    if unicodedata.combining(before) == _VIRAMA or (after and unicodedata.combining(after) == _VIRAMA):
        return after.isalpha() or before.isalpha()
    return char == _NON_JOINER and _is_arabic(base) and _is_arabic(after)


def _is_emoji(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) == "So" or bool(_NEW_CHARACTERS.match(char)))


def _is_arabic(char: str) -> bool:
    """Return whether a character belongs to a script whose letters are joined like Arabic ones."""
    return bool(char) and unicodedata.bidirectional(char) == "AL"
