"""Large letters of quadrants: four lines high, legible from across a room (wallboard.md, "Letters"). Pure."""

from __future__ import annotations

from functools import lru_cache, partial
from math import ceil

from rich.cells import cell_len, split_graphemes

from livedeck.text.segments import Line, StyleRole
from livedeck.ui.wallboard.face import HEIGHT_DOTS, text_dots, text_width

PLAIN, LARGE, MAX_SCALE = 1, 2, 3
"""Scales: 1 is the terminal's own letters; 2 draws the face with four dots a cell, 3 each dot twice as large."""

HEIGHTS = {PLAIN: 1, LARGE: 4, MAX_SCALE: 8}
"""Lines that a text of each scale takes, with the room for accents and for what hangs below the line."""

_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""A cell by its dots: 1 is top left, 2 top right, 4 bottom left, 8 bottom right."""

_CUT = "…"


def text_cells(text: str, scale: int) -> int | None:
    """Cells that the text takes at that scale; None where the face lacks one of its letters."""
    if scale == PLAIN:
        return cell_len(text)
    dots = text_width(text)
    return None if dots is None else ceil(dots * (scale - 1) / 2)


def max_scale(text: str, cells: int, limit: int) -> int:
    """The greatest scale up to `limit` at which the text takes no more than those cells."""
    return next((scale for scale in range(limit, PLAIN, -1) if (text_cells(text, scale) or cells + 1) <= cells), PLAIN)


def text_lines(text: str, role: StyleRole, scale: int, cells: int) -> list[Line]:
    """The text in `HEIGHTS[scale]` lines, cut in its middle where it is longer than `cells`; in a plain line where the
    face lacks one of its letters.
    """
    if scale > PLAIN and text_cells(text, scale) is not None:
        rows = _quadrants(cut_middle(text, scale, cells), scale)
        return [[(row, role)] for row in rows]
    return [[(cut_middle(text, PLAIN, cells), role)]]


@lru_cache(1024)
def wrap_text(text: str, scale: int, cells: int, max_rows: int) -> tuple[str, ...]:
    """The text broken between words into at most so many rows, the last one cut in its middle; () where the face lacks
    one of its letters. A word longer than a row is broken.
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
            letters = _letters(longer)
            starts = ("".join(letters[:end]) for end in range(len(letters) - 1, 1, -1))
            rows[-1] = next((start for start in starts if _fits(start, scale, cells)), letters[0])
            words.insert(0, longer[len(rows[-1]) :].lstrip())
            rows.append("")
    rest = " ".join([rows[-1], *words]).lstrip()
    return tuple(row for row in (*rows[:-1], cut_middle(rest, scale, cells)) if row)


@lru_cache(2048)
def cut_middle(text: str, scale: int, cells: int) -> str:
    """The text without as much of its middle as needed to take no more than those cells. Its last word, or the end of
    it, stays: that is what tells names of a series apart.
    """
    fits = partial(_fits, scale=scale, cells=cells)
    if fits(text):
        return text
    letters, half, last = _letters(text), partial(_fits, scale=scale, cells=cells // 2), text.rpartition(" ")[2]
    tails = ("".join(letters[start:]) for start in range(1, len(letters)))
    tail = last if last != text and half(last) else next(filter(half, tails), "")
    kept = letters[: len(letters) - len(_letters(tail))]
    while kept and not fits(f"{''.join(kept).rstrip()}{_CUT}{tail}"):
        kept.pop()
    return next(filter(fits, (f"{''.join(kept).rstrip()}{_CUT}{tail}", tail, _CUT)), "")


def _fits(text: str, scale: int, cells: int) -> bool:
    return (text_cells(text, scale) or 0) <= cells


def _letters(text: str) -> list[str]:
    """The text in pieces that are one letter to a reader."""
    return [text[start:end] for start, end, _ in split_graphemes(text)[0]]


@lru_cache(256)
def _quadrants(text: str, scale: int) -> tuple[str, ...]:
    """The text with so many dots of the screen for each of the face, two by two a cell."""
    size = scale - 1
    rows = ["".join(dot * size for dot in row) for row in text_dots(text) or ("",) * HEIGHT_DOTS for _ in range(size)]
    even = [row + "." * (len(row) % 2) for row in rows]
    return tuple(
        "".join(_quadrant(upper[at : at + 2] + lower[at : at + 2]) for at in range(0, len(upper), 2))
        for upper, lower in zip(even[::2], even[1::2], strict=True)
    )


def _quadrant(dots: str) -> str:
    return _QUADRANTS[sum(1 << place for place, dot in enumerate(dots) if dot == "#")]
