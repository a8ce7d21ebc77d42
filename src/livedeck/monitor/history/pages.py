"""Reads the rows of a damaged SQLite file page by page, without SQLite.

SQLite's file format is public and stable (sqlite.org/fileformat2.html). Header, pointers and indexes are not trusted:
pages that no tree contains are read too, and each row is judged by itself.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from errno import ENXIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

_INDEX_INTERIOR, _TABLE_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_OF_INDEX = frozenset({_INDEX_INTERIOR, _INDEX_LEAF})
_INTERIOR = frozenset({_INDEX_INTERIOR, _TABLE_INTERIOR})

_FILE_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_SIZES = tuple(512 << step for step in range(8))

_SAMPLED = 50
"""Number of pages, spread over the file, that are parsed to find the page size."""

_LONGEST = 4 * 2**20
"""Maximum length of a row in bytes; a larger length is a sign of damage."""

_ROOTS = 8
"""Number of readable root pages that confirm the header's page size; a history has more of them."""

_LONGEST_LOG = 64 * 2**20
"""Maximum number of bytes read from a write-ahead log; a deck empties its log at 4 MiB."""

_CHUNK = 2**20
"""Number of bytes that are checked for zeros at once."""

_ZEROS = bytes(_CHUNK)

_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Serial type of an integer -> its length in bytes."""

_CONSTANTS = {0: None, 8: 0, 9: 1}
_FLOAT, _FIRST_BLOB = 7, 12


class Row(NamedTuple):
    """Stored values of a row. `number`: its rowid; None in an index and in a table WITHOUT ROWID."""

    number: int | None
    values: tuple[Any, ...]


@dataclass(slots=True)
class Page:
    """Content of a page.

    `broken`: number of unreadable rows. `children`: page numbers of its child pages. `is_doubtful`: its list of rows is
    damaged, so neither `broken` nor the number of rows is certain.
    """

    is_index: bool
    rows: list[Row] = field(default_factory=list)
    broken: int = 0
    children: list[int] = field(default_factory=list)
    is_doubtful: bool = False


class SchemaEntry(NamedTuple):
    """Table or index in the file's schema. `root`: number of its topmost page."""

    kind: str
    name: str
    table: str
    root: int


class PageFile:
    """Damaged file, with the undamaged part of its write-ahead log. The caller closes the file.

    Attributes:
        size: Bytes of a page.
        count: Number of pages; the last one may be cut off.
        free: Numbers of the pages that hold no data.
        blank: Number of empty pages that `filled` skipped.
    """

    def __init__(self, path: Path) -> None:
        self._owners: dict[int, tuple[int, int]] = {}
        self._frames: dict[int, int] = {}
        self._log: int | None = None
        self.blank = 0
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # not mapped, because the file may shrink
        try:
            self._length = os.fstat(self._file).st_size
            with suppress(FileNotFoundError):
                self._log = os.open(f"{path}-wal", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            frames, size = _committed_frames(self._log) if self._log is not None else ({}, 0)
            self.size = size if frames else self._find_size()
            self._frames = frames
            self.count = max(-(-self._length // self.size), *frames, 0)
            self.free = self._free_pages()
            self._owners.clear()
        except BaseException:
            self.close()
            raise

    @property
    def overflows(self) -> Collection[int]:
        """Page numbers of the overflow pages that hold the rest of the long rows read so far."""
        return self._owners.keys()

    @property
    def missing(self) -> int:
        """Number of pages that the header counts and the file lacks; 0 if the header is unreadable."""
        header = self._bytes(1)[:_FILE_HEADER]
        is_counted = header.startswith(_MAGIC) and header[24:28] == header[92:96]  # else the number may be old
        return max(0, int.from_bytes(header[28:32]) - self.count) if is_counted else 0

    @property
    def is_empty(self) -> bool:
        """True if the file has no bytes and its log has no pages. The former contents of the file are then unknown."""
        return not self._length and not self._frames

    def close(self) -> None:
        """Close the file and its log."""
        for descriptor in (self._file, self._log):
            if descriptor is not None:
                os.close(descriptor)

    def filled(self, seen: Collection[int]) -> Iterator[int]:
        """Yield the page numbers that are not in `seen`, without pages in long stretches of zeros.

        A sparse file may have any number of such empty pages.
        """
        step = max(1, _CHUNK // self.size)
        for first in range(1, self.count + 1, step):
            numbers = range(first, min(first + step, self.count + 1))
            if not self._is_blank((first - 1) * self.size) or not self._frames.keys().isdisjoint(numbers):
                yield from (number for number in numbers if number not in seen)
            else:
                self.blank += len(numbers) - sum(number in numbers for number in seen)

    def _is_blank(self, place: int) -> bool:
        """Return whether the chunk at offset `place` is all zeros, without reading the hole of a sparse file."""
        try:
            if os.lseek(self._file, place, os.SEEK_DATA) >= place + _CHUNK:
                return True
        except OSError as error:
            if error.errno == ENXIO:  # no data up to the end of the file
                return True
        content = os.pread(self._file, _CHUNK, place)
        return content == _ZEROS[: len(content)]

    def page(self, number: int, *, has_rows: bool = True) -> Page | None:
        """Return the page with a number from 1 on; None if it does not belong to a table or index.

        `has_rows`: parse the rows as well, not only the numbers of the child pages.
        """
        content = self._bytes(number)
        start = _FILE_HEADER if number == 1 else 0
        return self._parse(number, content, start, has_rows=has_rows) if len(content) > start + 8 else None

    def schema(self) -> Iterator[SchemaEntry]:
        """Yield the readable entries of the file's schema."""
        for number in self.tree(1):
            page = self.page(number)
            for _, values in page.rows if page and not page.is_index else ():
                match values:
                    case (str() as kind, str() as name, str() as table, int() as root, *_):
                        yield SchemaEntry(kind, name, table, root)

    def tree(self, root: int) -> list[int]:
        """Return the page numbers of a root page and all its descendants, in the order of their rows.

        Skips index pages below a table page, and table pages below an index page.
        """
        found: list[int] = []
        seen: set[int] = set()
        waiting, is_index = [root], None
        while waiting:
            number = waiting.pop()
            if number in seen or not 1 <= number <= self.count:
                continue
            seen.add(number)
            page = self.page(number, has_rows=False)
            if page is None or is_index not in {None, page.is_index}:
                continue
            is_index = page.is_index
            found.append(number)
            waiting += reversed(page.children)
        return found

    def _bytes(self, number: int) -> bytes:
        if number in self._frames and self._log is not None:
            return os.pread(self._log, self.size, self._frames[number])
        return os.pread(self._file, self.size, (number - 1) * self.size) if 1 <= number <= self.count else b""

    def _parse(self, number: int, content: bytes, start: int, *, has_rows: bool) -> Page | None:
        kind, cells = content[start], int.from_bytes(content[start + 3 : start + 5])
        first = start + (12 if kind in _INTERIOR else 8)
        if kind not in {*_OF_INDEX, _TABLE_INTERIOR, _TABLE_LEAF} or first + 2 * cells > self.size:
            return None
        page = Page(kind in _OF_INDEX)
        page.is_doubtful = first + 2 * cells > (int.from_bytes(content[start + 5 : start + 7]) or self.size)
        places = set[int]()
        for index in range(cells if has_rows or kind in _INTERIOR else 0):
            place = int.from_bytes(content[first + 2 * index : first + 2 * index + 2])
            if place < first + 2 * cells or place in places:
                page.broken += 1
                page.is_doubtful = True
                continue
            places.add(place)
            try:
                self._read_cell(page, kind, content, (number, place), has_rows=has_rows)
            except (ValueError, IndexError, struct.error):
                page.broken += 1
        if kind in _INTERIOR:
            page.children.append(int.from_bytes(content[start + 8 : start + 12]))
        return page

    def _read_cell(self, page: Page, kind: int, content: bytes, cell: tuple[int, int], *, has_rows: bool) -> None:
        """Add the row or the child page of a cell to `page`. `cell`: page number and offset in the page."""
        place = cell[1]
        if kind in _INTERIOR:
            page.children.append(int.from_bytes(content[place : place + 4]))
            place += 4
        if kind == _TABLE_INTERIOR or not has_rows:
            return
        length, place = _varint(content, place)
        number = None
        if kind == _TABLE_LEAF:
            number, place = _varint(content, place)
        payload = self._payload(content, place, length, cell, is_table=kind == _TABLE_LEAF)
        page.rows.append(Row(number, _values(payload)))

    def _payload(self, content: bytes, place: int, length: int, cell: tuple[int, int], *, is_table: bool) -> bytes:
        """Return the bytes of a row, including those on overflow pages.

        Raises ValueError if the row is incomplete, or if its overflow pages belong to another row.
        """
        if not 0 < length <= _LONGEST:
            raise ValueError
        most = self.size - 35 if is_table else (self.size - 12) * 64 // 255 - 23
        if length <= most:
            return _cut(content, place, length)
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        here = here if here <= most else least
        payload = bytearray(_cut(content, place, here))
        following = int.from_bytes(_cut(content, place + here, 4))
        while len(payload) < length:
            overflow = self._bytes(following)
            if self._owners.setdefault(following, cell) != cell:
                raise ValueError
            payload += _cut(overflow, 4, min(self.size - 4, length - len(payload)))
            following = int.from_bytes(overflow[:4])
        return bytes(payload)

    def _free_pages(self) -> frozenset[int]:
        """Return the page numbers of the free pages, as far as the freelist can be followed."""
        free: set[int] = set()
        trunk = int.from_bytes(self._bytes(1)[32:36])
        while 1 < trunk <= self.count and trunk not in free:
            content = self._bytes(trunk)
            leaves = int.from_bytes(content[4:8])
            if leaves > self.size // 4 - 2:
                break
            free.add(trunk)
            free |= {int.from_bytes(content[8 + 4 * index : 12 + 4 * index]) for index in range(leaves)}
            trunk = int.from_bytes(content[:4])
        return frozenset(free)

    def _find_size(self) -> int:
        """Return the page size in the header if enough root pages confirm it, else the size with most readable rows."""
        stored = int.from_bytes(os.pread(self._file, 2, 16))
        self.size = 65_536 if stored == 1 else stored
        if self.size in _SIZES:
            self.count = self._length // self.size
            roots = (self.page(entry.root) for entry in islice(self.schema(), 2 * _ROOTS) if entry.root)
            if sum(page is not None and not page.broken for page in roots) >= _ROOTS:
                return self.size

        def rows(size: int) -> float:
            self.size, count = size, self._length // size
            self._owners.clear()
            self.count = count
            numbers = range(1, count + 1, count // _SAMPLED + 1)
            pages = (self.page(number) for number in numbers)
            return sum(len(page.rows) - page.broken for page in pages if page) * count / (len(numbers) or 1)

        return max(_SIZES, key=rows)


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the offset after it. Raises IndexError."""
    value = 0
    for index in range(8):
        byte = content[place + index]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, place + index + 1
    value = value << 8 | content[place + 8]
    return value - (1 << 64) if value >> 63 else value, place + 9


def _cut(content: bytes, place: int, length: int) -> bytes:
    part = content[place : place + length]
    if len(part) < length:
        raise ValueError
    return part


def _values(payload: bytes) -> tuple[Any, ...]:
    """Return the values of a row. Raises ValueError, IndexError or struct.error.

    Calls few functions, because a file may have millions of rows.
    """
    head, at = _varint(payload, 0)
    place, values = head, list[Any]()
    while at < head:
        kind, at = payload[at], at + 1
        if kind > 127:
            kind, at = _varint(payload, at - 1)
        if kind in _INTEGERS:
            end = place + _INTEGERS[kind]
            values.append(int.from_bytes(payload[place:end], signed=True))
        elif kind in _CONSTANTS:
            end = place
            values.append(_CONSTANTS[kind])
        elif kind == _FLOAT:
            end = place + 8
            values.append(struct.unpack_from(">d", payload, place)[0])
        else:
            if kind < _FIRST_BLOB:
                raise ValueError
            end = place + (kind - _FIRST_BLOB) // 2
            values.append(payload[place:end].decode() if kind % 2 else payload[place:end])
        place = end
    if at != head or place != len(payload):
        raise ValueError
    return tuple(values)


_LOG_HEADER, _FRAME_HEADER = 32, 24


def _committed_frames(log: int) -> tuple[dict[int, int], int]:
    """Return the pages in a write-ahead log as page number -> offset, and the page size in bytes.

    Pages after the last complete transaction are left out. Returns size 0 for an unreadable log.
    """
    start = os.pread(log, _LOG_HEADER, 0)
    if len(start) < _LOG_HEADER or int.from_bytes(start[:4]) & ~1 != 0x377F0682:
        return {}, 0
    order = ">" if start[3] & 1 else "<"
    size, salt = int.from_bytes(start[8:12]), start[16:24]
    if size not in _SIZES:
        return {}, 0
    sums = _checksum((0, 0), start[:24], order)
    whole: dict[int, int] = {}
    pending: dict[int, int] = {}
    for place in range(_LOG_HEADER, _LONGEST_LOG, _FRAME_HEADER + size):
        frame = os.pread(log, _FRAME_HEADER + size, place)
        head, page = frame[:_FRAME_HEADER], frame[_FRAME_HEADER:]
        if len(page) < size:
            break
        sums = _checksum(_checksum(sums, head[:8], order), page, order)
        if head[8:16] != salt or struct.unpack(">II", head[16:24]) != sums:
            break
        pending[int.from_bytes(head[:4])] = place + _FRAME_HEADER
        if int.from_bytes(head[4:8]):
            whole.update(pending)
            pending.clear()
    return whole, size


def _checksum(sums: tuple[int, int], content: bytes, order: str) -> tuple[int, int]:
    first, second = sums
    for even, odd in struct.iter_unpack(f"{order}II", content):
        first = first + even + second & 0xFFFFFFFF
        second = second + odd + first & 0xFFFFFFFF
    return first, second
