"""Export of a chat log: verbatim from the platform, or parsed, filtered and rewritten.

The screen and the command share this code. Memory is constant, however long the log. Cancelling the task ends an export
and leaves nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, closing, nullcontext
from dataclasses import replace as replaced
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import cast

from msgspec.structs import force_setattr

from livedeck.client.chat_export.filter import NO_FILTER, ChatMessageDict, MessageFilter, in_zone, written_at
from livedeck.client.chat_export.format_table import CHAT_FORMATS, ChatFormat
from livedeck.client.chat_export.formats import RowFormatter
from livedeck.client.chat_export.parser import ChatLogParser
from livedeck.client.chat_export.wholeness import JsonWholeness, TextWholeness
from livedeck.client.chat_export.workbook import WorkbookWriter
from livedeck.client.http.encoding import encode
from livedeck.client.http.errors import Invalid, Unreadable
from livedeck.client.http.files import (
    ChunkWriter,
    FileTarget,
    download_to_file,
    download_to_pipe,
    file_target,
    wait_uncancelled,
)
from livedeck.client.http.request import Request, StreamedResponse, describe_call, id_text, make_request
from livedeck.client.http.response import NotJson, Response, rows
from livedeck.client.http.transport import Transport
from livedeck.record import Record

_MAX_ERROR_BODY = 64 * 2**10


class ChatExport(Record):
    """The stream, format and options of an export.

    `zone`: rewrite times in this zone. `safe_csv`: prefix cells that a spreadsheet would evaluate with a `'`. Raises
    Invalid for safe_csv with another format than CSV.
    """

    event_id: str
    stream_id: str
    format: ChatFormat = "json"
    filter: MessageFilter = NO_FILTER
    zone: tzinfo | None = None
    safe_csv: bool = False

    def __post_init__(self) -> None:
        for name in ("event_id", "stream_id"):
            if getattr(self, name):  # a form may set options before the stream is chosen
                force_setattr(self, name, id_text(getattr(self, name), "chat export"))
        if self.safe_csv and self.format != "csv":
            raise Invalid("chat export", "safe_csv", f"applies to the format csv only, not {self.format}")

    @property
    def is_verbatim(self) -> bool:
        """True if the file is byte for byte the platform's response."""
        return CHAT_FORMATS[self.format].is_verbatim and not (self.filter or self.zone or self.safe_csv)


class ExportProgress(Record):
    """The progress of an export. `received`: bytes, out of `size`, which is None if unknown.

    `messages`: written so far; None in a verbatim export, which does not count them. `seconds`: since the start.
    """

    received: int
    size: int | None
    messages: int | None
    seconds: float

    @property
    def rate(self) -> float | None:
        """Average bytes a second; None before the first bytes."""
        return self.received / self.seconds if self.seconds > 0 and self.received else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at this rate; None if unknown."""
        return None if self.size is None or not self.rate else max(0, self.size - self.received) / self.rate


class ExportResult(Record):
    """A complete export. `size`: bytes written. `messages`: written; None if not counted.

    `read`: messages in the log, before the filter. `undated`: messages without a readable time. `unreadable`: items of
    the log that are not messages. `escaped_formulas`: cells that safe_csv changed. `split_messages`: messages that
    needed more than one cell of a workbook.
    """

    size: int
    messages: int | None = None
    read: int | None = None
    undated: int = 0
    unreadable: int = 0
    escaped_formulas: int = 0
    split_messages: int = 0


ProgressCallback = Callable[[ExportProgress], None]


async def export_chat(
    transport: Transport,
    export: ChatExport,
    to: FileTarget,
    *,
    replace: bool = False,
    progress: ProgressCallback | None = None,
) -> ExportResult:
    """Write the export to a pipe, or to a file that gets its name only when it is complete.

    `replace`: also if the file exists. `progress`: called for each chunk. Raises FileFault, and any other ApiError;
    BrokenPipeError if nobody reads the pipe.
    """
    summary = describe_call("export chat of event", export.event_id)
    target = file_target(to, summary)
    may_be_empty = export.format == "txt" and not (isinstance(target, Path) and await asyncio.to_thread(target.exists))
    # before the file: the package of the format may be missing
    formatter = None if export.is_verbatim else CHAT_FORMATS[export.format].writer(export.safe_csv)
    run = _ExportRun(transport, export, summary, progress)
    with closing(formatter) if isinstance(formatter, WorkbookWriter) else nullcontext():
        async with (
            download_to_file(target, summary, replace=replace)
            if isinstance(target, Path)
            else download_to_pipe(target, summary)
        ) as writer:
            if formatter is None:
                await run.copy(writer, may_be_empty=may_be_empty)
            elif isinstance(formatter, WorkbookWriter):
                await run.write_workbook(writer, formatter)
            else:
                await run.write_rows(writer, formatter)
    return replaced(run.result, size=writer.written)


async def select_messages(transport: Transport, export: ChatExport) -> AsyncGenerator[Sequence[ChatMessageDict], None]:
    """Yield the messages of the export in batches as they arrive, in any format. Raises ApiError."""
    summary = describe_call("read chat of event", export.event_id)
    async with aclosing(_ExportRun(transport, export, summary, None).batches()) as batches:
        async for batch in batches:
            yield batch


class _ExportRun:
    """A running export. `result`: its counts so far."""

    def __init__(
        self, transport: Transport, export: ChatExport, summary: str, progress: ProgressCallback | None
    ) -> None:
        self.result = ExportResult(0)
        self._transport = transport
        self._export = export
        self._summary = summary
        self._progress = progress
        self._started_at = transport.timing.timer()
        self._received = 0

    async def copy(self, writer: ChunkWriter, *, may_be_empty: bool) -> None:
        """Copy the bytes as they arrive. Raises Unreadable for an error page, an empty answer or an incomplete log."""
        export_format, summary = self._export.format, self._summary
        request, head = self._request(export_format), bytearray()
        async with self._transport.stream(request) as response:
            media_type = response.media_type
            if media_type == "text/html" or (export_format != "json" and media_type == "application/json"):
                raise Unreadable(f"{summary}: the answer is {media_type}, not a log; check the address")
            wholeness: JsonWholeness | TextWholeness = JsonWholeness()
            if export_format != "json":
                wholeness = TextWholeness(is_csv=export_format == "csv", is_delimited=response.is_delimited)
            async for chunk in self._count(response):
                await writer.write(chunk)
                wholeness.add(chunk)
                if len(head) <= _MAX_ERROR_BODY:
                    head += chunk
        if export_format == "json" and self._received <= _MAX_ERROR_BODY:
            await self._transport.parse(Response(summary, 200, {}, head), lambda answer: rows(answer, summary))
        elif not self._received and not may_be_empty:  # an existing file is worth more than an empty log
            raise Unreadable(f"{summary}: the answer is empty, not a log")
        elif wholeness.fault:
            raise Unreadable(f"{summary}: the answer is not a complete log: {wholeness.fault}")

    async def write_rows(self, writer: ChunkWriter, formatter: RowFormatter) -> None:
        """Write the messages in a text format."""
        await writer.write(formatter.head.encode())
        async for batch in self.batches():
            await writer.write(self._encode_rows(formatter, batch))
        await writer.write(formatter.tail.encode())
        self.result = replaced(self.result, escaped_formulas=formatter.escaped_formulas)

    async def write_workbook(self, writer: ChunkWriter, workbook: WorkbookWriter) -> None:
        """Write the messages as a workbook, in a thread because that is slow."""
        async for batch in self.batches():
            await wait_uncancelled(partial(workbook.add, batch))
        await writer.fill(workbook.store)
        self.result = replaced(self.result, split_messages=workbook.split_messages)

    async def batches(self) -> AsyncGenerator[list[ChatMessageDict], None]:
        """Yield the messages that match the filter, in batches."""
        request = self._request("json")
        self.result = replaced(self.result, messages=0, read=0)
        async with self._transport.stream(request) as response:
            parser = ChatLogParser(self._count(response))
            try:
                async for items in parser:
                    yield self._filter(items)
            except NotJson as error:
                raise Unreadable(f"{self._summary}: the response is not as documented: {error}") from None
            if self.result.unreadable:
                self._transport.log_faults(self._summary, [f"items that are no message: {self.result.unreadable:,}"])
            if parser.error is not None:
                rejected = Response(self._summary, 200, {}, encode({"error": parser.error}))
                await self._transport.parse(rejected, lambda _: None)

    def _filter(self, items: Sequence[object]) -> list[ChatMessageDict]:
        export, result = self._export, self.result
        messages = cast("list[ChatMessageDict]", items)
        if {*map(type, items)} - {dict}:
            messages = [item for item in items if isinstance(item, dict)]
        matching = export.filter.filter(messages) if export.filter else messages
        undated = sum(written_at(message) is None for message in messages) if export.filter.has_times else 0
        self.result = replaced(
            result,
            messages=(result.messages or 0) + len(matching),
            read=(result.read or 0) + len(messages),
            undated=result.undated + undated,
            unreadable=result.unreadable + len(items) - len(messages),
        )
        return [in_zone(message, export.zone) for message in matching] if export.zone else matching

    def _encode_rows(self, formatter: RowFormatter, messages: Sequence[ChatMessageDict]) -> bytes:
        try:
            return formatter.rows(messages).encode()
        except ValueError as error:
            raise Unreadable(
                f"{self._summary}: a message cannot be written as {self._export.format}: {error}"
            ) from None

    async def _count(self, response: StreamedResponse) -> AsyncIterator[bytes]:
        async for chunk in response.chunks:
            yield chunk
            self._received += len(chunk)
            if self._progress:
                seconds = self._transport.timing.timer() - self._started_at
                self._progress(ExportProgress(self._received, response.size, self.result.messages, seconds))

    def _request(self, suffix: str) -> Request:
        """Return the request for the log (platform-api.md, "Chat log")."""
        path = ("v2", "live", "events", self._export.event_id, "stream", self._export.stream_id, f"chat.{suffix}")
        return make_request("GET", self._summary, *path, headers={"Accept": "*/*"})
