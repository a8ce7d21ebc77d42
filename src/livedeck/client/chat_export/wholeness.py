"""Whether a log that is copied byte for byte is whole, told from its own end (chat-export.md, "Export files"). Pure."""

from __future__ import annotations

import re

_TAIL = 4096

_LOG_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")

_LOG_TAIL = re.compile(rb"\](?:[\s}]*|\s*,\s*\"[^\]]*)\}\s*\Z")

"""The list ends, perhaps with further members of the document behind it."""


class JsonWholeness:
    """Takes a document in pieces, at the speed of the network, and knows whether it has come to its end."""

    def __init__(self) -> None:
        self._head, self._tail, self._escape = b"", b"", b""
        self._is_in_text = False
        self._depth = 0

    def add(self, chunk: bytes) -> None:
        """Take the next piece."""
        self._head = self._head or chunk[:_TAIL]
        self._tail = (self._tail + chunk)[-_TAIL:] if len(chunk) < _TAIL else chunk[-_TAIL:]
        data = (self._escape + chunk).replace(b"\\\\", b"")
        self._escape = data[-1:] if data.endswith(b"\\") else b""
        parts = data.replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self._is_in_text :: 2])
        self._depth += sum(outside.count(char) for char in (b"{", b"[")) - sum(
            outside.count(char) for char in (b"}", b"]")
        )
        self._is_in_text ^= not len(parts) % 2

    @property
    def fault(self) -> str:
        """What shows that it is no whole log; empty where nothing does."""
        if not _LOG_HEAD.match(self._head) or not _LOG_TAIL.search(self._tail):
            return "it begins or ends as none does"
        return "it ends half way" if self._depth or self._is_in_text else ""


class TextWholeness:
    """The same for CSV and plain text, which say so little of their end that it counts only where nothing else tells.

    `is_delimited`: the connection does (`StreamedResponse`).
    """

    def __init__(self, *, is_csv: bool, is_delimited: bool) -> None:
        self._is_csv, self._is_delimited = is_csv, is_delimited
        self._quotes, self._last = 0, b""

    def add(self, chunk: bytes) -> None:
        """Take the next piece."""
        self._quotes += chunk.count(b'"') if self._is_csv else 0
        self._last = chunk[-1:] or self._last

    @property
    def fault(self) -> str:
        """What shows that it is no whole log; empty where nothing does."""
        if self._is_delimited:
            return ""
        if self._quotes % 2:
            return "its length is not stated, and it ends inside a cell"
        if self._last and self._last not in b"\r\n":
            return "its length is not stated, and its last line has no end; ndjson is checked message by message"
        return ""
