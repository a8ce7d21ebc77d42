"""Checks that a verbatim copy of a log is complete, by its own end (chat-export.md, "Export files"). Pure."""

from __future__ import annotations

import re

from livedeck.client.chat_export.formats import FIELDS

_TAIL = 4096

_LOG_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")

_LOG_TAIL = re.compile(rb"\](?:[\s}]*|\s*,\s*\"[^\]]*)\}\s*\Z")

"""The end of the list, and possibly further members of the document."""

_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")

_NO_MARKS = bytes({*range(256)} - {*b'"{[}]'})
"""Every byte that neither bounds a text nor opens or closes anything."""

_MESSAGE = b'""' * 2 * len(FIELDS)
"""The marks of a message with every field: removed at once, in two thirds of the time of pair by pair."""


class JsonWholeness:
    """A check that a JSON document, taken in pieces at network speed, is complete."""

    def __init__(self) -> None:
        self._head, self._tail, self._escape = b"", b"", b""
        self._is_in_text = False
        self._depth = 0

    def add(self, chunk: bytes) -> None:
        """Process the next piece."""
        self._head = self._head or chunk[:_TAIL]
        self._tail = (self._tail + chunk)[-_TAIL:] if len(chunk) < _TAIL else chunk[-_TAIL:]
        marks = self._unescaped(chunk).translate(None, _NO_MARKS).replace(_MESSAGE, b"").replace(b'""', b"")
        texts = marks.split(b'"')
        outside = b"".join(texts[self._is_in_text :: 2])
        self._depth += sum(map(outside.count, _OPENING)) - sum(map(outside.count, _CLOSING))
        self._is_in_text ^= not len(texts) % 2

    def _unescaped(self, chunk: bytes) -> bytes:
        """Return the piece without escaped quotation marks and backslashes, also those that two pieces share."""
        if not self._escape and b"\\" not in chunk:
            return chunk
        data = (self._escape + chunk).replace(b"\\\\", b"")
        self._escape = data[-1:] if data.endswith(b"\\") else b""
        return data.replace(b'\\"', b"")

    @property
    def fault(self) -> str:
        """The reason why the log is incomplete; empty if there is no sign of it."""
        if not _LOG_HEAD.match(self._head) or not _LOG_TAIL.search(self._tail):
            return "its beginning or end does not fit a log"
        return "it ends half way" if self._depth or self._is_in_text else ""


class TextWholeness:
    """A check of CSV and plain text. Their end proves little, so it counts only without other evidence.

    `is_delimited`: the connection shows the end of the answer (`StreamedResponse`).
    """

    def __init__(self, *, is_csv: bool, is_delimited: bool) -> None:
        self._is_csv, self._is_delimited = is_csv, is_delimited
        self._quotes, self._last = 0, b""

    def add(self, chunk: bytes) -> None:
        """Process the next piece."""
        self._quotes += chunk.count(b'"') if self._is_csv else 0
        self._last = chunk[-1:] or self._last

    @property
    def fault(self) -> str:
        """The reason why the log is incomplete; empty if there is no sign of it."""
        if self._is_delimited:
            return ""
        if self._quotes % 2:
            return "its length is not stated, and it ends inside a cell"
        if self._last and self._last not in b"\r\n":
            return "its length is not stated, and its last line is incomplete; ndjson is checked message by message"
        return ""
