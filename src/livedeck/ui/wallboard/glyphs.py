"""Large letters made of quadrants, four lines high, legible from across a room (wallboard.md, "Letters"). Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil

from livedeck.text.segments import ELLIPSIS, Line, StyleRole, cell_len, kept_end, split_letters
from livedeck.ui.wallboard.face import HEIGHT_DOTS, text_dots, text_width

PLAIN, LARGE, MAX_SCALE = 1, 2, 3
"""Scales of letters. 1: the terminal's own. 2: the face with four dots in a cell. 3: the face with each dot doubled."""

HEIGHTS = {PLAIN: 1, LARGE: 4, MAX_SCALE: 8}
"""Scale -> number of lines of a text, accents and descenders included."""

_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""Characters by the sum of their dots: 1 top left, 2 top right, 4 bottom left, 8 bottom right."""


def text_cells(text: str, scale: int) -> int | None:
    """Return the width of a text in cells at this scale; None if the face lacks a letter."""
    if scale == PLAIN:
        return cell_len(text)
    dots = text_width(text)
    return None if dots is None else ceil(dots * (scale - 1) / 2)


def _measure(scale: int) -> Callable[[str], int]:
    return lambda text: text_cells(text, scale) or 0


_MEASURES = {scale: _measure(scale) for scale in HEIGHTS}
"""Scale -> function that measures a text. Caches of cut texts need the same function each time."""


def max_scale(text: str, cells: int, limit: int) -> int:
    """Return the largest scale up to `limit` at which the text fits into `cells`; `PLAIN` if none does."""
    return next((scale for scale in range(limit, PLAIN, -1) if (text_cells(text, scale) or cells + 1) <= cells), PLAIN)


def text_lines(text: str, role: StyleRole, scale: int, cells: int) -> list[Line]:
    """Draw a text in `HEIGHTS[scale]` lines, with its middle cut if it is wider than `cells`.

    Returns one plain line if the face lacks a letter.
    """
    if scale > PLAIN and text_cells(text, scale) is not None:
        rows = _quadrants(cut(text, scale, cells), scale)
        return [[(row, role)] for row in rows]
    return [[(cut(text, PLAIN, cells), role)]]


@lru_cache(1024)
def wrap_text(text: str, scale: int, cells: int, max_rows: int) -> tuple[str, ...]:
    """Break a text between words into at most `max_rows` rows, and cut the middle of the last one if needed.

    A word longer than a row is broken. Returns () if the face lacks a letter.
    """
    if text_cells(text, scale) is None:
        return ()
    rows, words = [""], text.split()
    while words and (len(rows) < max_rows or _fits(f"{rows[-1]} {words[0]}".lstrip(), scale, cells)):
        word = words.pop(0)
        longer = f"{rows[-1]} {word}".lstrip()
        if _fits(longer, scale, cells):
            rows[-1] = longer
        elif _fits(word, scale, cells):
            rows.append(word)
        else:
            letters = [*split_letters(longer)]
            starts = ("".join(letters[:end]) for end in range(len(letters) - 1, 1, -1))
            rows[-1] = next((start for start in starts if _fits(start, scale, cells)), letters[0])
            words.insert(0, longer[len(rows[-1]) :].lstrip())
            rows.append("")
    rest = " ".join([rows[-1], *words]).lstrip()
    return tuple(row for row in (*rows[:-1], cut(rest, scale, cells)) if row)


@lru_cache(2048)
def cut(text: str, scale: int, cells: int) -> str:
    """Cut the middle of a text until it fits into `cells`."""
    if _fits(text, scale, cells):
        return text
    end = kept_end(text, cells, _MEASURES[scale])
    letters = [*split_letters(text.removesuffix(end))]
    starts = ("".join(letters[:count]).rstrip() for count in range(len(letters), -1, -1))
    return next((cut for start in starts if _fits(cut := f"{start}{ELLIPSIS}{end}", scale, cells)), "")


def _fits(text: str, scale: int, cells: int) -> bool:
    return _MEASURES[scale](text) <= cells


@lru_cache(256)
def _quadrants(text: str, scale: int) -> tuple[str, ...]:
    """Draw a text as rows of quadrants. A dot of the font becomes a square of `scale - 1` dots."""
    size = scale - 1
    rows = ["".join(dot * size for dot in row) for row in text_dots(text) or ("",) * HEIGHT_DOTS for _ in range(size)]
    even = [row + "." * (len(row) % 2) for row in rows]
    return tuple(
        "".join(_quadrant(upper[at : at + 2] + lower[at : at + 2]) for at in range(0, len(upper), 2))
        for upper, lower in zip(even[::2], even[1::2], strict=True)
    )


def _quadrant(dots: str) -> str:
    return _QUADRANTS[sum(1 << place for place, dot in enumerate(dots) if dot == "#")]
