"""The table of export formats. The command, the form of the deck and the checks of an export read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from livedeck.client.chat_export.formats import Csv, JsonDocument, JsonLines, RowFormatter, Text
from livedeck.client.chat_export.workbook import WorkbookWriter

ChatFormat = Literal["json", "csv", "txt", "ndjson", "xlsx"]
"""Names of the formats: keys of `CHAT_FORMATS` and endings of the files."""


class ChatFormatKind(NamedTuple):
    """A format of an export.

    `writer`: makes the writer of an export. Its argument: True to put a `'` before cells that a spreadsheet would
    evaluate. Raises Misconfigured if a package is missing. `is_verbatim`: the platform sends this
    format, so an unchanged export copies its bytes (platform-api.md, "Chat log"). `extra`: the extra of livedeck that
    installs the package, or empty.
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
