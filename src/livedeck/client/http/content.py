"""Checks that a download is of the expected kind, by its first bytes and its media type. Pure.

They keep a login page, an error or an empty reply from replacing a good file (trust.md, "Files").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from livedeck.text.secrets import masked_line

ContentKind = Literal["picture", "subtitles", "file"]
"""Kind of a download. A `file` may have any content that fits its name."""

HEAD_SIZE = 4096
"""Number of bytes at the start of a download that are checked."""

_BOM = b"\xef\xbb\xbf"

_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body|title)\b", re.IGNORECASE | re.DOTALL)

_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")

_BEGINNINGS: Mapping[str, tuple[re.Pattern[bytes], str]] = {
    "picture": (
        re.compile(
            rb"\x89PNG\r\n|\xff\xd8\xff|GIF8|RIFF....WEBP|BM|II\*\0|MM\0\*|....ftyp|\s*(?:<\?xml.*)?<svg\b", re.DOTALL
        ),
        "it does not begin like a picture",
    ),
    "subtitles": (
        re.compile(rb"WEBVTT\b|.*?\d\s*-->\s*\d", re.DOTALL),
        "it has neither a WebVTT header nor the times of a cue",
    ),
}
"""Kind of a download -> pattern of its first bytes, and the fault if the bytes do not match."""

_ERROR = re.compile(rb"\"errors?\"\s*:|\"data\"\s*:\s*null|\"success\"\s*:\s*false")
"""Pattern of an envelope that reports a failure or has no content."""

_PAGE_WORDS, _JSON_WORDS = "an HTML page", "a JSON document"

_BY_MEDIA_TYPE: Mapping[str, str] = {
    "text/html": _PAGE_WORDS,
    "application/xhtml+xml": _PAGE_WORDS,
    "application/json": _JSON_WORDS,
}


class ContentHead:
    """First bytes and size of content that arrives in chunks. `is_blank`: only white space has arrived so far."""

    def __init__(self) -> None:
        self.first = b""
        self.size = 0
        self.is_blank = True

    def add(self, chunk: bytes) -> None:
        if len(self.first) < HEAD_SIZE:
            self.first += chunk[: HEAD_SIZE - len(self.first)]
        self.size += len(chunk)
        self.is_blank = self.is_blank and (not chunk or chunk.isspace())

    @property
    def text(self) -> bytes:
        """First bytes, without a byte order mark."""
        return self.first.removeprefix(_BOM)

    def describe(self, media_type: str) -> str:
        """Return size, media type and beginning, for an error: `24 bytes of text/csv that begin with '<html>'`."""
        of_type = f" of {masked_line(media_type, 60)}" if media_type else " of no stated type"
        beginning = masked_line(self.text[:200].decode(errors="replace").strip(), 60)
        return f"{self.size:,} bytes{of_type}" + (f" that begin with {beginning!r}" if beginning else "")


def other_type(head: ContentHead, media_type: str) -> str:
    """Return `an HTML page` or `a JSON document` if first bytes or media type show one; empty otherwise."""
    if _PAGE.match(head.text):
        return _PAGE_WORDS
    return _JSON_WORDS if _JSON.match(head.text) else _BY_MEDIA_TYPE.get(media_type, "")


def download_fault(
    kind: ContentKind, names: Sequence[str], head: ContentHead, media_type: str, size: int | None
) -> str:
    """Return the reason why the content cannot be the expected file; empty if it can.

    Args:
        kind: Expected kind.
        names: Names of the file, here and on the platform.
        head: First bytes of the content.
        media_type: Media type of the reply, in lower case.
        size: Size of the file in bytes as the platform states it, which proves a `file`; None if unknown.
    """
    if size is not None and head.size != size:
        return f"it has {head.size:,} bytes, and the platform states {size:,}"
    if kind != "file":
        pattern, fault = _BEGINNINGS[kind]
        return "" if pattern.match(head.text) else fault
    return _file_fault(names, head, media_type) if size is None else ""


def _file_fault(names: Sequence[str], head: ContentHead, media_type: str) -> str:
    if head.is_blank:
        return "it is blank" if head.size else "it is empty"
    document = other_type(head, media_type)
    if document == _PAGE_WORDS and not _is_named(names, ".html", ".htm", ".xhtml"):
        return f"it is {document}, but the file's name does not end in .html"
    if document == _JSON_WORDS and _ERROR.search(head.text) and not _is_named(names, ".json"):
        return "it is a JSON document that reports an error"
    return ""


def _is_named(names: Sequence[str], *endings: str) -> bool:
    return any(name.lower().endswith(endings) for name in names)
