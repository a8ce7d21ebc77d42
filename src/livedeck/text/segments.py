"""Styled text: a line is a list of segments, a segment is a text and its style role. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain, compress, count, groupby, repeat, starmap, zip_longest
from operator import itemgetter, ne
from typing import NamedTuple, TypeVar

from livedeck.text.outside import Shown, shown


class StyleRole(StrEnum):
    """What a segment means; a theme gives each role its colours.

    Filled: CRITICAL, LOSS, KEY_20, KEY_50, WARNING_FILL, banners. WARNING is a word, WARNING_CHIP stands on a tinted
    ground. CRITICAL_MARK is its colour without a fill: a border, a bar, a refused field. ON_AIR: the lamp, no letters.
    """

    TEXT = "text"
    STRONG = "strong"
    DIM = "dim"
    HEAD = "head"
    RULE = "rule"
    RAISED = "raised"
    TAB = "tab"

    ON_AIR = "on-air"
    OFF = "off"

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    WARNING_CHIP = "warning-chip"
    WARNING_FILL = "warning-fill"
    CRITICAL = "critical"
    CRITICAL_MARK = "critical-mark"
    STALE = "stale"

    KEY_20 = "key-20"
    KEY_50 = "key-50"
    LOSS = "loss"
    ODD = "odd"

    VIDEO = "video"
    VIDEO_QUIET = "video-quiet"
    AUDIO = "audio"
    FPS = "fps"
    LIMIT = "limit"
    BAND = "band"
    BAR_OK = "bar-ok"
    BAR_DONE = "bar-done"
    OVERLAY = "overlay"

    BANNER = "banner"
    BANNER_BLIND = "banner-blind"


FILLED = frozenset(
    {
        StyleRole.RAISED,
        StyleRole.TAB,
        StyleRole.OFF,
        StyleRole.WARNING_CHIP,
        StyleRole.WARNING_FILL,
        StyleRole.CRITICAL,
        StyleRole.KEY_20,
        StyleRole.KEY_50,
        StyleRole.LOSS,
        StyleRole.BANNER,
        StyleRole.BANNER_BLIND,
    }
)
"""The roles that have a ground of their own."""


class Shade(NamedTuple):
    """A role on a ground of its own, as in a chart; a theme mixes the colours, or leaves the ground out.

    `strength`: percent of the role's colour, the rest is that of the ground. `area`: the role that tints the ground;
    `depth`: by how much, 0 is the least and 100 the most. `fault`: the role that tints it over that. `filled`: the
    ground is the role's colour, and the glyph is cut out of it. `board`: the role of the tile that all of it lies on.
    """

    ink: StyleRole
    strength: int = 100
    area: StyleRole | None = None
    depth: int = 0
    fault: StyleRole | None = None
    filled: bool = False
    board: StyleRole | None = None


class Link(NamedTuple):
    """A role of words that lead somewhere: a click on them does what that command does.

    `command`: the name of an action, or what the dialog around it makes of it. `argument`: what stands after it.
    """

    role: StyleRole | Shade
    command: str
    argument: str = ""


Role = StyleRole | Shade | Link
Segment = tuple[str, StyleRole]
Line = list[Segment]
ShadedLine = Sequence[tuple[str, Role]]
"""A line of words or of a chart."""
ShownLine = list[tuple[Shown, StyleRole]]
"""A line as an outlet takes it: whoever draws or prints gets one from `render` or `plain`, whatever it is made of."""

R = TypeVar("R", bound=Role)


def cell_len(text: str) -> int:
    """Terminal cells of a text; a wide character takes two."""
    return len(text) if text.isascii() and text.isprintable() else _measured_cells(text)


@lru_cache(maxsize=4096)
def _measured_cells(text: str) -> int:
    from rich.cells import cell_len as measure  # not before something is drawn: operations know no terminal

    return measure(text)


def width(line: Iterable[tuple[str, Role]]) -> int:
    """Terminal cells that the line takes; a wide character takes two."""
    return sum([cell_len(text) for text, _ in line])


def linked(line: ShadedLine, command: str, argument: str = "") -> list[tuple[str, Role]]:
    """The line, all of whose words lead there."""
    return [(text, role if isinstance(role, Link) else Link(role, command, argument)) for text, role in line]


def link_at(line: ShadedLine, cell: int) -> Link | None:
    """Where a click on that cell of the line leads; None: nowhere."""
    for text, role in line:
        cell -= cell_len(text)
        if cell < 0:
            return role if isinstance(role, Link) else None
    return None


def plain(line: Iterable[tuple[str, Role]]) -> Shown:
    """The text without its roles."""
    return Shown("".join(shown(text) for text, _ in line))


def render(line: Iterable[tuple[str, R]], cells: int) -> list[tuple[Shown, R | StyleRole]]:
    """The line in exactly that many cells, for a screen or a picture; a cut is marked."""
    fitted = fit([(shown(text), role) for text, role in line], cells, ellipsis=True)
    return [(Shown(text), role) for text, role in fitted]


def fit(
    line: Sequence[tuple[str, R]], cells: int, *, right: bool = False, ellipsis: bool = False
) -> list[tuple[str, R | StyleRole]]:
    """The line cut or padded to exactly that many cells; `right` aligns to the right.

    `ellipsis` takes what is too much out of the middle, so that the last word stays: it tells names apart.
    """
    length = width(line)
    if length <= cells:
        padding: list[tuple[str, R | StyleRole]] = [(" " * (cells - length), StyleRole.TEXT)] if length < cells else []
        return [*padding, *line] if right else [*line, *padding]
    return _cut_middle(line, cells) if ellipsis and cells else _cut(line, cells)


def clip(line: Sequence[Segment], cells: int) -> Line:
    """The line; where it is longer than that many cells, without its middle: `Annual ge…Südwind`."""
    return list(line) if width(line) <= cells else fit(line, cells, ellipsis=True)


def shorten(text: str, cells: int) -> str:
    """A text that says what is wrong, in so many cells: without its last parts (`, 9 s each 30 s`), then without its
    last words. A number keeps all its digits and its unit, or goes whole."""
    parts = text.split(", ")
    while len(parts) > 1 and cell_len(", ".join(parts)) > cells:
        parts.pop()
    words = ", ".join(parts).split(" ")
    if cell_len(" ".join(words)) <= cells:
        return " ".join(words)
    while len(words) > 1 and cell_len(" ".join(words)) >= cells:
        words.pop()
    while words and _LEADS_ON.fullmatch(words[-1]):
        words.pop()
    kept = " ".join(words)
    return f"{kept}…" if cell_len(kept) < cells else plain(clip([(kept, StyleRole.TEXT)], cells))


_LEADS_ON = re.compile(r"[\d.:]+|a|an|and|at|before|each|for|in|last|no|of|or|than|the|to|until|with")
"""A word that says nothing without the next one: a number without its unit, a preposition."""


def on_ground(line: Iterable[Segment], ground: StyleRole, cells: int) -> ShadedLine:
    """The line in exactly that many cells on the faintest ground of that role; what is filled stays so."""
    return [
        (text, role if role in FILLED else Shade(role, area=ground))
        for text, role in fit([*line], cells, ellipsis=True)
    ]


def fit_height(lines: Sequence[ShadedLine], height: int, blank: ShadedLine = ()) -> list[ShadedLine]:
    """The lines, cut or padded to that height."""
    return [*lines[:height], *([blank] * (height - len(lines)))]


def merge_neighbours(cells: Iterable[tuple[str, R]]) -> list[tuple[str, R]]:
    """The line with neighbours of one role as one segment."""
    return [("".join(text for text, _ in group), role) for role, group in groupby(cells, key=itemgetter(1))]


def labelled(label: str, line: Iterable[Segment], cells: int) -> Line:
    """The line behind a label of that many cells."""
    return [*fit([(f" {label}", StyleRole.HEAD)], cells), *line]


def changed_ranges(
    before: Sequence[tuple[str, Role]], after: Sequence[tuple[str, Role]], min_gap: int
) -> list[tuple[int, int]]:
    """The ranges of cells in which two lines differ: first cell, and the one after the last.

    Ranges with a gap of fewer than `min_gap` cells between them are merged.
    """
    ranges: list[tuple[int, int]] = []
    for cell in _changed_cells(before, after):
        is_near = ranges and cell - ranges[-1][1] < min_gap
        start = ranges.pop()[0] if is_near else cell
        ranges.append((start, cell + 1))
    return ranges


def _changed_cells(before: Sequence[tuple[str, Role]], after: Sequence[tuple[str, Role]]) -> Iterator[int]:
    """The cells in which two lines differ. Where their segments have the same lengths, only changed ones are compared
    cell by cell.
    """
    lengths = [cell_len(text) for text, _ in after]
    is_aligned = [cell_len(text) for text, _ in before] == lengths
    pairs = [([old], [new]) for old, new in zip(before, after, strict=True)] if is_aligned else [(before, after)]
    start = 0
    for (old_part, new_part), length in zip(pairs, lengths or [0], strict=False):
        if old_part != new_part:
            yield from compress(count(start), starmap(ne, zip_longest(_cells(old_part), _cells(new_part))))
        start += length


def _cells(line: Iterable[tuple[str, Role]]) -> Iterator[tuple[str, Role]]:
    """The line cell by cell, each with its accents. A wide letter takes two; its second cell is that of no other."""
    return chain.from_iterable(zip(_characters(text), repeat(role)) for text, role in line)


def _characters(text: str) -> Iterable[str]:
    if text.isascii() and text.isprintable():
        return text
    from rich.cells import split_graphemes

    letters = [(text[start:end], cells) for start, end, cells in split_graphemes(text)[0]]
    return [cell for letter, cells in letters for cell in (letter, f"\0{letter}")[:cells]]


def _cut(line: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R | StyleRole]]:
    from rich.cells import set_cell_size

    kept: list[tuple[str, R | StyleRole]] = []
    left = cells
    for text, role in line:
        length = cell_len(text)
        if length >= left:
            kept.append((set_cell_size(text, left), role))
            break
        kept.append((text, role))
        left -= length
    return kept


def _cut_middle(line: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R | StyleRole]]:
    """As much of the beginning as there is room for, an ellipsis, the last word; of a longer one its end."""
    end = _end(line, cell_len(kept_end("".join(part for part, _ in line), cells)))
    begin = _cut(line, cells - 1 - width(end))
    return [*begin[:-1], (begin[-1][0] + ELLIPSIS, begin[-1][1]), *end] if begin else [(ELLIPSIS, StyleRole.DIM), *end]


ELLIPSIS = "…"


def kept_end(text: str, cells: int, measure: Callable[[str], int] = cell_len) -> str:
    """What stays behind the ellipsis of a text that is cut to so many cells: its last word, or the end of it, which is
    what tells names of a series apart. `measure`: cells of a text, where letters are drawn larger.
    """
    letters, limit = [*split_letters(text.rstrip())], (cells - measure(ELLIPSIS)) * 3 // 5
    first = next((place + 1 for place in range(len(letters) - 1, -1, -1) if letters[place] == " "), 0)
    start = len(letters)
    while start > first and measure("".join(letters[start - 1 :])) <= limit:
        start -= 1
    return "".join(letters[start:])


def _end(line: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R]]:
    """The last cells of the line without the blanks behind it: at most so many, as a wide letter is not cut in two."""
    kept: list[tuple[str, R]] = []
    for text, role in reversed(line):
        letters = [*split_letters(text if kept else text.rstrip())]
        start = len(letters)
        while start and cell_len(letters[start - 1]) <= cells:
            start -= 1
            cells -= cell_len(letters[start])
        if start < len(letters):
            kept.insert(0, ("".join(letters[start:]), role))
        if start:
            break
    return kept


def split_letters(text: str) -> Iterable[str]:
    """The text letter by letter, each with its accents."""
    if text.isascii() and text.isprintable():
        return text
    from rich.cells import split_graphemes

    return [text[start:end] for start, end, _ in split_graphemes(text)[0]]


def join(left: Sequence[tuple[str, R]], right: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R | StyleRole]]:
    """`left` and `right` at the two ends of a line; `left` is cut where both do not fit."""
    free = max(0, cells - width(right))
    return [*fit(left, free, ellipsis=True), *fit(right, min(cells, width(right)))]


Group = tuple[int, Line]
"""A rank and a line. Where both ends do not fit, the highest rank is dropped first; 0 is never dropped."""

Groups = Sequence[tuple[int, Sequence[tuple[str, R]]]]


def wrap_groups(groups: Groups[R], cells: int, gap: int = 2) -> list[tuple[str, R | StyleRole]]:
    """As many groups as fit, in their order."""
    return _with_gaps(_fitting(groups, cells, gap), gap)


def justify(left: Groups[R], right: Groups[R], cells: int, gap: int = 2) -> list[tuple[str, R | StyleRole]]:
    """`left` aligned to the left, `right` to the right, with as many groups of both as fit."""
    kept = {id(group) for group in _fitting([*left, *right], cells, gap)}
    begin, end = ([group for group in side if id(group) in kept] for side in (left, right))
    return join(_with_gaps(begin, gap), _with_gaps(end, gap), cells)


def _fitting(all_groups: Groups[R], cells: int, gap: int) -> list[tuple[int, Sequence[tuple[str, R]]]]:
    groups = [group for group in all_groups if group[1]]
    length = sum([width(line) + gap for _, line in groups]) - gap
    while length > cells and any(rank for rank, _ in groups):
        dropped = max(groups, key=lambda group: group[0])
        groups.remove(dropped)
        length -= width(dropped[1]) + gap
    return groups


def _with_gaps(groups: Groups[R], gap: int) -> list[tuple[str, R | StyleRole]]:
    line: list[tuple[str, R | StyleRole]] = []
    for _, group in groups:
        line += [*([(" " * gap, StyleRole.TEXT)] if line else []), *group]
    return line


def wrap(text: str, role: StyleRole, cells: int) -> Iterator[Line]:
    """A paragraph in lines of at most that many cells, broken between words; a longer word is cut."""
    row = ""
    for word in text.split():
        if row and cell_len(row) + 1 + cell_len(word) > cells:
            yield clip([(row, role)], cells)
            row = word
        else:
            row = f"{row} {word}" if row else word
    if row:
        yield clip([(row, role)], cells)
