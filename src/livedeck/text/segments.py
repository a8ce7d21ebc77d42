"""Styled text: a line is a list of segments, each a text with a style role. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain, compress, count, groupby, repeat, starmap, zip_longest
from operator import itemgetter, ne
from typing import NamedTuple, TypeVar, cast

from livedeck.text.outside import Shown, has_agreed_width, shown


class StyleRole(StrEnum):
    """Meaning of a segment. A theme maps each role to colours.

    The roles in `FILLED` have a background. WARNING is for words, WARNING_CHIP for words on a tinted background.
    CRITICAL_MARK has the colour of CRITICAL without a background, for a border, a bar or a refused field. ON_AIR is for
    the lamp, not for letters.
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
"""Roles with a background of their own."""


class Shade(NamedTuple):
    """Role on a tinted background, for charts. A theme mixes the colours or omits the background.

    Attributes:
        ink: Role of the glyphs.
        strength: Percentage of the colour of `ink` in the glyphs; the rest is the colour of the background.
        area: Role that tints the background.
        depth: Strength of the tint by `area`, from 0 to 100.
        fault: Role that tints the background on top of `area`.
        filled: The background has the colour of `ink`, and the glyph is cut out of it.
        board: Role of the tile under the chart. Its colour lies under all others.
    """

    ink: StyleRole
    strength: int = 100
    area: StyleRole | None = None
    depth: int = 0
    fault: StyleRole | None = None
    filled: bool = False
    board: StyleRole | None = None


class Pixels(NamedTuple):
    """Role of `▀` as two pixels of a picture: colours of the upper and the lower one, each `0xRRGGBB`."""

    upper: int
    lower: int


class Link(NamedTuple):
    """Role of words that run a command when clicked.

    `command`: name of an action, or a word that the dialog with the link interprets. `argument`: argument of `command`.
    """

    role: StyleRole | Shade
    command: str
    argument: str = ""


Role = StyleRole | Shade | Link | Pixels
Segment = tuple[str, StyleRole]
Line = list[Segment]
ShadedLine = Sequence[tuple[str, Role]]
"""Line of words or of a chart."""

R = TypeVar("R", bound=Role)


def cell_len(text: str) -> int:
    """Return the number of terminal cells of a text. A wide character takes two cells."""
    return len(text) if _NARROW.fullmatch(text) else _measured_cells(text)


_NARROW = re.compile("[ -~¡-¬®-˿‐-‧←-⋿─-◼✓-✘⠀-⣿]*")
"""Pattern of texts whose characters take one cell each. Charts measure thousands of texts."""


@lru_cache(maxsize=4096)
def _measured_cells(text: str) -> int:
    from rich.cells import cell_len as measure  # imported late, because operations must not import rich

    return measure(text)


def width(line: Iterable[tuple[str, Role]]) -> int:
    """Return the number of terminal cells of a line."""
    texts = [text for text, _ in line]
    whole = "".join(texts)
    return len(whole) if _NARROW.fullmatch(whole) else sum(map(cell_len, texts))


def linked(line: ShadedLine, command: str, argument: str = "") -> list[tuple[str, Role]]:
    """Return the line with a link to the command on all its words. Existing links and pictures stay."""
    return [(text, role if isinstance(role, Link | Pixels) else Link(role, command, argument)) for text, role in line]


def link_at(line: ShadedLine, cell: int) -> Link | None:
    """Return the link at a cell of a line, or None if there is none."""
    for text, role in line:
        cell -= cell_len(text)
        if cell < 0:
            return role if isinstance(role, Link) else None
    return None


def plain(line: Iterable[tuple[str, Role]]) -> Shown:
    """Return the text of a line as `shown`, without roles."""
    return Shown("".join(shown(text) for text, _ in line))


def render(line: Sequence[tuple[str, R]], cells: int) -> list[tuple[Shown, R | StyleRole]]:
    """Return a line in exactly `cells` cells, safe for a screen or picture. An ellipsis marks a cut."""
    if not has_agreed_width("".join([text for text, _ in line])):
        line = [(shown(text), role) for text, role in line]
    return cast("list[tuple[Shown, R | StyleRole]]", fit(line, cells, ellipsis=True))


def fit(
    line: Sequence[tuple[str, R]], cells: int, *, right: bool = False, ellipsis: bool = False
) -> list[tuple[str, R | StyleRole]]:
    """Return the line, cut or padded to exactly `cells` cells.

    `right`: align to the right. `ellipsis`: cut out the middle, because names often differ only in the last word.
    """
    length = width(line)
    if length <= cells:
        padding: list[tuple[str, R | StyleRole]] = [(" " * (cells - length), StyleRole.TEXT)] if length < cells else []
        return [*padding, *line] if right else [*line, *padding]
    return _cut_middle(line, cells) if ellipsis and cells else _cut(line, cells)


def clip(line: Sequence[Segment], cells: int) -> Line:
    """Return the line in at most `cells` cells. A longer line loses its middle: `Annual ge…Südwind`."""
    return list(line) if width(line) <= cells else fit(line, cells, ellipsis=True)


def shorten(text: str, cells: int) -> str:
    """Shorten the text of a fault to `cells` cells: drop last parts, such as ` (9 s in every 30 s)`, then last words.

    A number stays whole with its unit, or both are dropped.
    """
    parts = _PART.split(text)
    while len(parts) > 1 and cell_len("".join(parts)) > cells:
        parts.pop()
    words = "".join(parts).split(" ")
    if cell_len(" ".join(words)) <= cells:
        return " ".join(words)
    while len(words) > 1 and cell_len(" ".join(words)) >= cells:
        words.pop()
    while words and _LEADS_ON.fullmatch(words[-1]):
        words.pop()
    kept = " ".join(words)
    return f"{kept}…" if cell_len(kept) < cells else plain(clip([(kept, StyleRole.TEXT)], cells))


def abridge(text: str, cells: int) -> str:
    """Shorten a text to `cells` cells as `shorten` does, and end it in `…` if anything is left out."""
    short = shorten(text, cells)
    if short == text or short.endswith("…"):
        return short
    return f"{short}…" if cell_len(short) < cells else abridge(text, cells - 1)


_PART = re.compile(r"(?=, | \()")
"""Beginning of a part that `shorten` may drop."""

_LEADS_ON = re.compile(r"[\d.:]+|a|an|and|at|before|each|for|in|last|no|of|or|than|the|to|until|with")
"""Word that must not end a shortened text: a number without its unit, an article or a preposition."""


def on_ground(line: Iterable[Segment], ground: StyleRole, cells: int) -> ShadedLine:
    """Return the line in exactly `cells` cells, on the faintest tint of the role `ground`. Filled segments stay."""
    return [
        (text, role if role in FILLED else Shade(role, area=ground))
        for text, role in fit([*line], cells, ellipsis=True)
    ]


def fit_height(lines: Sequence[ShadedLine], height: int, blank: ShadedLine = ()) -> list[ShadedLine]:
    """Return `height` lines: the given ones, cut off or followed by `blank` lines."""
    return [*lines[:height], *([blank] * (height - len(lines)))]


def merge_neighbours(cells: Iterable[tuple[str, R]]) -> list[tuple[str, R]]:
    """Return the line with neighbouring segments of the same role joined."""
    return [("".join([text for text, _ in group]), role) for role, group in groupby(cells, key=itemgetter(1))]


def labelled(label: str, line: Iterable[Segment], cells: int) -> Line:
    """Return the line, preceded by a label that takes `cells` cells."""
    return [*fit([(f" {label}", StyleRole.HEAD)], cells), *line]


def changed_ranges(
    before: Sequence[tuple[str, Role]], after: Sequence[tuple[str, Role]], min_gap: int
) -> list[tuple[int, int]]:
    """Return the differing ranges of cells of two lines of one width: first cell, and the cell after the last.

    Merges ranges with fewer than `min_gap` cells between them.
    """
    ranges: list[tuple[int, int]] = []
    for cell in _changed_cells(before, after):
        is_near = ranges and cell - ranges[-1][1] < min_gap
        start = ranges.pop()[0] if is_near else cell
        ranges.append((start, cell + 1))
    return ranges


def _changed_cells(before: Sequence[tuple[str, Role]], after: Sequence[tuple[str, Role]]) -> Iterator[int]:
    """Yield the cells that differ between two lines.

    Skips equal segments at both ends. If the other segments have the same lengths in both lines, compares only changed
    segments cell by cell.
    """
    first, last = 0, 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        first += 1
    for old, new in zip(before[:first:-1], after[:first:-1], strict=False):
        if old != new:
            break
        last += 1
    start = width(after[:first])
    before, after = before[first : len(before) - last], after[first : len(after) - last]
    lengths = [cell_len(text) for text, _ in after]
    is_aligned = [cell_len(text) for text, _ in before] == lengths
    pairs = [([old], [new]) for old, new in zip(before, after, strict=True)] if is_aligned else [(before, after)]
    for (old_part, new_part), length in zip(pairs, lengths or [0], strict=False):
        if old_part != new_part:
            yield from compress(count(start), starmap(ne, zip_longest(_cells(old_part), _cells(new_part))))
        start += length


def _cells(line: Iterable[tuple[str, Role]]) -> Iterator[tuple[str, Role]]:
    """Yield text and role of each cell of a line. Accents stay with their letter.

    A wide letter yields two cells. The second cell has a text that no letter has.
    """
    return chain.from_iterable(zip(_characters(text), repeat(role)) for text, role in line)


def _characters(text: str) -> Iterable[str]:
    return text if text.isascii() and text.isprintable() else _letters(text)


@lru_cache(maxsize=4096)
def _letters(text: str) -> Sequence[str]:
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
    """Return the beginning of the line, an ellipsis and the last word. Of a long last word, only the end stays.

    A banner keeps only its beginning, because it is a sentence and not a name.
    """
    is_banner = line[-1][1] in _BANNERS
    end = [] if is_banner else _end(line, cell_len(kept_end("".join(part for part, _ in line), cells)))
    begin = _cut(line, cells - 1 - width(end))
    return [*begin[:-1], (begin[-1][0] + ELLIPSIS, begin[-1][1]), *end] if begin else [(ELLIPSIS, StyleRole.DIM), *end]


ELLIPSIS = "…"

_BANNERS = frozenset({StyleRole.BANNER, StyleRole.BANNER_BLIND})


def kept_end(text: str, cells: int, measure: Callable[[str], int] = cell_len) -> str:
    """Return the end that stays if a text is cut to `cells` cells: the last word, or the end of a long last word.

    The last word distinguishes the names of a series. `measure`: returns the number of cells of a text; large letters
    need a different function.
    """
    letters, limit = [*split_letters(text.rstrip())], (cells - measure(ELLIPSIS)) * 3 // 5
    first = next((place + 1 for place in range(len(letters) - 1, -1, -1) if letters[place] == " "), 0)
    start = len(letters)
    while start > first and measure("".join(letters[start - 1 :])) <= limit:
        start -= 1
    return "".join(letters[start:])


def _end(line: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R]]:
    """Return the end of the line without trailing blanks, in at most `cells` cells. Wide letters are never cut."""
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
    """Return the letters of a text, each together with its accents."""
    if text.isascii() and text.isprintable():
        return text
    from rich.cells import split_graphemes

    return [text[start:end] for start, end, _ in split_graphemes(text)[0]]


def join(left: Sequence[tuple[str, R]], right: Sequence[tuple[str, R]], cells: int) -> list[tuple[str, R | StyleRole]]:
    """Return a line with `left` at the left and `right` at the right. If both do not fit, `left` is cut."""
    free = max(0, cells - width(right))
    return [*fit(left, free, ellipsis=True), *fit(right, min(cells, width(right)))]


Group = tuple[int, Line]
"""Rank and line. If a line has no room for all groups, groups of the highest rank are dropped first.

Rank 0 always stays.
"""

Groups = Sequence[tuple[int, Sequence[tuple[str, R]]]]


def list_parts(parts: Sequence[Line], cells: int) -> Line:
    """Return as many parts as fit into `cells` cells, and the number of the others: `Studio  Hall  +2`.

    If even the first part is too long, it is cut.
    """
    line: Line = []
    for index, part in enumerate(parts):
        left = len(parts) - index - 1
        room = cells - len(f"  +{left}") * bool(left)
        if not line:
            line += clip(part, room)
        elif width(line) + 2 + width(part) <= room:
            line += [("  ", StyleRole.TEXT), *part]
        else:
            return [*line, (f"  +{left + 1}", StyleRole.DIM)]
    return line


def wrap_groups(groups: Groups[R], cells: int, gap: int = 2) -> list[tuple[str, R | StyleRole]]:
    """Return a line of as many groups as fit into `cells` cells, in their order, with `gap` cells between them."""
    return _with_gaps(_fitting(groups, cells, gap), gap)


def justify(left: Groups[R], right: Groups[R], cells: int, gap: int = 2) -> list[tuple[str, R | StyleRole]]:
    """Return a line of `cells` cells with as many groups as fit: `left` at its left end, `right` at its right end."""
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
    """Yield the text as lines of at most `cells` cells, broken between words. A longer word is cut."""
    row = ""
    for word in text.split():
        if row and cell_len(row) + 1 + cell_len(word) > cells:
            yield clip([(row, role)], cells)
            row = word
        else:
            row = f"{row} {word}" if row else word
    if row:
        yield clip([(row, role)], cells)
