"""Checks that a verbatim copy is a complete log, by its start and end (chat-export.md, "Export files"). Pure.

A `fault` is a reason why the log is not complete. A `doubt` leaves this open: then a new file is written, but an
existing file stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from livedeck.client.chat_export.formats import FIELDS
from livedeck.client.http.content import ContentHead, other_type
from livedeck.client.http.response import decode, decode_first, type_name
from livedeck.client.http.success import Decision, decide

_TAIL = 4096

_OBJECT, _MEMBER, _COLON, _COMMA = map(re.compile, (r"\s*\{", r"\s*(?=\")", r"\s*:\s*", r"\s*,"))

_LOG_TAIL = re.compile(rb"\](?:[\s}]*|\s*,(\s*\"[^\]]*))\}\s*\Z")

"""Pattern of the end of the list, and any further members of the document."""

_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")

_NO_MARKS = bytes({*range(256)} - {*b'"{[}]'})
"""All bytes but quotation marks and brackets."""

_MESSAGE = b'""' * 2 * len(FIELDS)
"""Quotation marks of a message that has every field: a pair around each name, and a pair around each value.

Removing this text is faster than removing pair by pair.
"""


class JsonWholeness:
    """Check that a JSON document, which arrives in chunks, is a complete log."""

    doubt = ""

    def __init__(self) -> None:
        self.head = ContentHead()
        self._tail, self._escape = b"", b""
        self._is_in_text = False
        self._depth = 0

    def add(self, chunk: bytes) -> None:
        self.head.add(chunk)
        self._tail = (self._tail + chunk)[-_TAIL:] if len(chunk) < _TAIL else chunk[-_TAIL:]
        marks = self._unescaped(chunk).translate(None, _NO_MARKS).replace(_MESSAGE, b"").replace(b'""', b"")
        texts = marks.split(b'"')
        outside = b"".join(texts[self._is_in_text :: 2])
        self._depth += sum(map(outside.count, _OPENING)) - sum(map(outside.count, _CLOSING))
        self._is_in_text ^= not len(texts) % 2

    def _unescaped(self, chunk: bytes) -> bytes:
        """Return the chunk without escaped quotation marks and backslashes.

        An escape may be split between two chunks.
        """
        if not self._escape and b"\\" not in chunk:
            return chunk
        data = (self._escape + chunk).replace(b"\\\\", b"")
        self._escape = data[-1:] if data.endswith(b"\\") else b""
        return data.replace(b'\\"', b"")

    @property
    def fault(self) -> str:
        """Reason why the document is not a complete log; empty without a fault."""
        begin, end = _members_before(self.head.text.decode(errors="replace")), _LOG_TAIL.search(self._tail)
        if begin is None or not end:
            return "its beginning or end does not fit a log"
        if self._depth or self._is_in_text:
            return "it ends half way"
        return members_fault(begin | _members_after(end[1] and end[1] + b"}"), None)


def _members_before(head: str) -> dict[str, object] | None:
    """Return the members before the list in `data`; None if the head is not the start of such a document."""
    members: dict[str, object] = {}
    begin = _OBJECT.match(head)
    try:
        while begin and (member := _MEMBER.match(head, begin.end())):
            name, end = decode_first(head, member.end())
            colon = _COLON.match(head, end)
            if name == "data" or not colon:
                return members if colon and head.startswith("[", colon.end()) else None
            members[str(name)], end = decode_first(head, colon.end())
            begin = _COMMA.match(head, end)
    except ValueError:  # the head ends within a member
        return None
    return None


def _members_after(end: bytes | None) -> dict[str, object]:
    """Return the members after the list. `end`: document after the comma; None if no member follows the list."""
    try:
        document = decode(b"{" + end) if end else {}
    except ValueError:  # a bracket in a text was taken for the end of the list
        return {}
    return document if isinstance(document, dict) else {}


def document_fault(document: object) -> str:
    """Return the reason why a decoded reply is not a log; empty if it is one, or if its list is null."""
    if not isinstance(document, dict) or "data" not in document:
        return f"{type_name(document)} without data"
    messages = document["data"]
    if messages is None:
        return members_fault(document, 0)
    if not isinstance(messages, list):
        return f"data should be a list, not {type_name(messages)}"
    if messages and not any(isinstance(message, dict) for message in messages):
        return "no item of its list is a message"
    return members_fault(document, len(messages))


def members_fault(document: Mapping[str, object], count: int | None) -> str:
    """Return the reason why the members beside the list contradict a complete log; empty if they do not.

    `count`: number of items in the list; None if not counted.
    """
    ruling = decide(200, {**document, "data": []}, is_to_change=False)
    if ruling.decision is not Decision.SUCCESS:
        return ruling.reason or "it reports an error beside its list"
    meta = document.get("meta")
    pagination = meta.get("pagination") if isinstance(meta, dict) else None
    total = pagination.get("total") if isinstance(pagination, dict) else None
    is_short = count is not None and type(total) is int and total > count
    return f"it has {count} of the {total} messages that it states" if is_short else ""


_DELIMITER = re.compile(r"[,;\t|]")

_TEXT_LINE = re.compile(rb"\[[^\]\n]*\] [^\n]*?: ")
"""Pattern of the start of a text log: `[created_at] username: message`."""


class TextWholeness:
    """Check that CSV or plain text is a complete log.

    The end of the text is checked only if the reply does not mark its end (`is_delimited`, as in `StreamedResponse`).
    `media_type`: media type of the reply, in lower case.
    """

    def __init__(self, *, is_csv: bool, media_type: str, is_delimited: bool) -> None:
        self.head = ContentHead()
        self._is_csv, self._media_type, self._is_delimited = is_csv, media_type, is_delimited
        self._quotes, self._last = 0, b""

    def add(self, chunk: bytes) -> None:
        self.head.add(chunk)
        self._quotes += chunk.count(b'"') if self._is_csv else 0
        self._last = chunk[-1:] or self._last

    @property
    def fault(self) -> str:
        """Reason why the text is not a complete log; empty without a fault."""
        if self.head.is_blank:
            is_empty_csv = self._is_csv and not self.head.size
            return "it is empty, without a header" if is_empty_csv else "it is blank" if self.head.size else ""
        if document := other_type(self.head, self._media_type):
            return f"it is {document}"
        return "" if self._is_delimited else self._cut_fault()

    def _cut_fault(self) -> str:
        if self._quotes % 2:
            return "its length is not stated, and it ends inside a cell"
        if self._last and self._last not in b"\r\n":
            return "its length is not stated, and its last line is incomplete; ndjson is checked message by message"
        return ""

    @property
    def doubt(self) -> str:
        """Reason why the text is not proved to be a log; empty if its first line proves it."""
        if not self.head.size:
            return "it is empty"
        if self._is_csv:
            return "" if self._names_fields else "its header does not name the fields of a message"
        return "" if _TEXT_LINE.match(self.head.text) else "its first line is not `[created_at] username: message`"

    @property
    def _names_fields(self) -> bool:
        header = self.head.text.decode(errors="replace").lstrip().partition("\n")[0]
        cells = {cell.strip().strip('"').strip().lower() for cell in _DELIMITER.split(header)}
        return len(cells & {*FIELDS}) > 1
