"""Table of export formats, for the command, the form of the deck and the checks of an export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from livedeck.client.chat_export.formats import Csv, JsonDocument, JsonLines, RowFormatter, Text
from livedeck.client.chat_export.workbook import WorkbookWriter

ChatFormat = Literal["json", "csv", "txt", "ndjson", "xlsx"]
"""Names of the formats: keys of `CHAT_FORMATS` and endings of the files."""


class ChatFormatKind(NamedTuple):
    """Format of an export.

    `writer`: returns the writer of an export; with True the writer puts a `'` before cells that a spreadsheet would
    evaluate. Raises Misconfigured if a package is missing. `is_verbatim`: the platform sends this format, so an
    unchanged export copies its bytes (platform-api.md, "Chat log"). `extra`: extra of livedeck that installs the
    package, or empty.
    """

    writer: Callable[[bool], RowFormatter | WorkbookWriter]
    is_verbatim: bool = False
    extra: str = ""


CHAT_FORMATS: Mapping[ChatFormat, ChatFormatKind] = MappingProxyType(
    {
        "json": ChatFormatKind(lambda _: JsonDocument(), is_verbatim=True),
        "csv": ChatFormatKind(lambda safe: Csv(safe=safe), is_verbatim=True),
        "txt": ChatFormatKind(lambda _: Text(), is_verbatim=True),
        "ndjson": ChatFormatKind(lambda _: JsonLines()),
        "xlsx": ChatFormatKind(lambda _: WorkbookWriter(), extra="export"),
    }
)
