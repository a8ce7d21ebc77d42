"""Text with meaning: a line is a list of segments, a segment is a text and its role. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, compress, count, repeat, starmap, zip_longest
from operator import ne

from rich.cells import cell_len, set_cell_size


class StyleRole(StrEnum):
    """The meaning of a span."""

    TEXT = "text"
    STRONG = "strong"
    DIM = "dim"
    HEAD = "head"
    RULE = "rule"

    ON_AIR = "on-air"
    READY = "ready"
    PENDING = "pending"
    LOST = "lost"
    OFF = "off"

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    STALE = "stale"

    KEY_20 = "key-20"
    KEY_50 = "key-50"
    LOSS = "loss"
    ODD = "odd"

    VIDEO = "video"
    AUDIO = "audio"
    FPS = "fps"
    LIMIT = "limit"
    BAND = "band"
    OVER = "over"

    BANNER = "banner"
    BANNER_BLIND = "banner-blind"


Segment = tuple[str, StyleRole]

Line = list[Segment]


def width(line: Iterable[Segment]) -> int:
    """Terminal cells that the line takes; wide characters count two."""
    return sum([cell_len(text) for text, _ in line])


def plain(line: Iterable[Segment]) -> str:
    """The text alone."""
    return "".join(text for text, _ in line)


def fit(line: Sequence[Segment], cells: int, *, right: bool = False, ellipsis: bool = False) -> Line:
    """The line cut or padded to exactly that many cells; `right` aligns to the right, `ellipsis` marks a cut."""
    length = width(line)
    if length <= cells:
        pad: Line = [(" " * (cells - length), StyleRole.TEXT)] if length < cells else []
        return [*pad, *line] if right else [*line, *pad]
    return _cut(line, cells, "…" if ellipsis and cells else "")


def clip(line: Sequence[Segment], cells: int) -> Line:
    """The line, its end cut off and marked where it is longer than that."""
    return list(line) if width(line) <= cells else fit(line, cells, ellipsis=True)


def differences(old: Sequence[Segment], new: Sequence[Segment], least: int) -> list[tuple[int, int]]:
    """The stretches of cells in which two lines differ, each with the one after its last.

    A gap of fewer than `least` cells divides none.
    """
    found: list[tuple[int, int]] = []
    for cell in _unlike(old, new):
        near = found and cell - found[-1][1] < least
        start = found.pop()[0] if near else cell
        found.append((start, cell + 1))
    return found


def _unlike(old: Sequence[Segment], new: Sequence[Segment]) -> Iterator[int]:
    """The cells in which two lines differ; of spans of the same lengths only those that changed are looked into."""
    lengths = [cell_len(text) for text, _ in new]
    alike = [cell_len(text) for text, _ in old] == lengths
    spans = [([one], [other]) for one, other in zip(old, new, strict=True)] if alike else [(old, new)]
    start = 0
    for (before, after), length in zip(spans, lengths or [0], strict=False):
        if before != after:
            yield from compress(count(start), starmap(ne, zip_longest(_cells(before), _cells(after))))
        start += length


def _cells(line: Iterable[Segment]) -> Iterator[Segment]:
    """The line cell by cell; a wide character has two, and the second is not like that of another character."""
    return chain.from_iterable(zip(_apart(text), repeat(ink)) for text, ink in line)


def _apart(text: str) -> Iterable[str]:
    if text.isascii() and text.isprintable():
        return text
    return [cell for char in text for cell in (char, f"\0{char}")[: cell_len(char)]]


def _cut(line: Sequence[Segment], cells: int, mark: str) -> Line:
    kept: Line = []
    left = cells - len(mark)
    for text, ink in line:
        size = cell_len(text)
        if size >= left:
            kept.append((set_cell_size(text, left) + mark, ink))
            break
        kept.append((text, ink))
        left -= size
    return kept


def join(left: Sequence[Segment], right: Sequence[Segment], cells: int) -> Line:
    """`left` and `right` at the two ends of a line; `left` is cut where both do not fit."""
    room = max(0, cells - width(right))
    return [*fit(left, room, ellipsis=True), *fit(right, min(cells, width(right)))]


Group = tuple[int, Line]

"""A rank and a line. Where room is short the highest rank goes first; 0 never goes."""


def wrap_groups(parts: Sequence[Group], cells: int, gap: int = 2) -> Line:
    """As many parts as fit, in their order."""
    return _joined(_fitting(list(parts), cells, gap), gap)


def justify(left: Sequence[Group], right: Sequence[Group], cells: int, gap: int = 2) -> Line:
    """`left` from the one end, `right` from the other, with as many parts of both as fit."""
    kept = _fitting([*left, *right], cells, gap)
    ends = [part for part in right if any(part is one for one in kept)]
    begins = [part for part in left if any(part is one for one in kept)]
    return join(_joined(begins, gap), _joined(ends, gap), cells)


def _fitting(kept: list[Group], cells: int, gap: int) -> list[Group]:
    kept = [part for part in kept if part[1]]
    length = sum([width(part) + gap for _, part in kept]) - gap
    while length > cells and any(rank for rank, _ in kept):
        last = max(kept, key=lambda part: part[0])
        kept.remove(last)
        length -= width(last[1]) + gap
    return kept


def _joined(parts: Sequence[Group], gap: int) -> Line:
    line: Line = []
    for _, part in parts:
        line += [*([(" " * gap, StyleRole.TEXT)] if line else []), *part]
    return line


def wrap(text: str, ink: StyleRole, cells: int) -> Iterator[Line]:
    """A paragraph in lines of at most that many cells, broken between words; a word that is longer is cut."""
    row = ""
    for word in text.split():
        if row and cell_len(row) + 1 + cell_len(word) > cells:
            yield clip([(row, ink)], cells)
            row = word
        else:
            row = f"{row} {word}" if row else word
    if row:
        yield clip([(row, ink)], cells)
