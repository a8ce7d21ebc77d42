"""Export of a chat log: verbatim from the platform, or parsed, filtered and rewritten.

The screen and the command share this code. The memory is constant, however long the log. Cancelling the task ends an
export and leaves no file.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, closing, nullcontext
from dataclasses import replace as replaced
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import IO, cast

from msgspec.structs import force_setattr

from livedeck.client.chat_export.filter import NO_FILTER, ChatMessageDict, MessageFilter, in_zone, written_at
from livedeck.client.chat_export.format_table import CHAT_FORMATS, ChatFormat
from livedeck.client.chat_export.formats import RowFormatter
from livedeck.client.chat_export.parser import ChatLogParser
from livedeck.client.chat_export.wholeness import JsonWholeness, TextWholeness, document_fault, members_fault
from livedeck.client.chat_export.workbook import WorkbookWriter
from livedeck.client.http.content import ContentHead
from livedeck.client.http.encoding import encode
from livedeck.client.http.errors import ApiError, Invalid, Unreadable
from livedeck.client.http.files import (
    ChunkWriter,
    FileTarget,
    download_to_file,
    download_to_pipe,
    file_target,
    unproved,
    wait_uncancelled,
)
from livedeck.client.http.request import Request, StreamedResponse, describe_call, id_text, make_request
from livedeck.client.http.response import NotJson, Response, decode
from livedeck.client.http.transport import Transport
from livedeck.record import Record

_MAX_SMALL = 64 * 2**10
"""Maximum number of bytes of a JSON log that is decoded. In a longer log only start, end and brackets are checked."""

_NULL = "its list of messages is null"


class ChatExport(Record):
    """Stream, format and options of an export.

    `zone`: rewrite times in this zone. `safe_csv`: put a `'` before cells that a spreadsheet would evaluate. Raises
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
        """True if the file is byte for byte the platform's reply."""
        return CHAT_FORMATS[self.format].is_verbatim and not (self.filter or self.zone or self.safe_csv)


class ExportProgress(Record):
    """Progress of an export. `received`, `size`: received bytes, and all bytes (None if unknown).

    `messages`: number of messages so far; None in a verbatim export, which does not count them. `seconds`: seconds
    since the start.
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
    """Result of a complete export.

    Attributes:
        size: Number of written bytes.
        messages: Number of written messages; None if not counted.
        read: Number of messages in the log before the filter; None if not counted.
        undated: Number of messages without a readable time.
        unreadable: Number of items of the log that are not messages.
        escaped_formulas: Number of cells that `safe_csv` changed.
        split_messages: Number of messages in more than one cell of a workbook.
        doubt: Reason why the file is not proved to be the log; empty if it is proved.
    """

    size: int
    messages: int | None = None
    read: int | None = None
    undated: int = 0
    unreadable: int = 0
    escaped_formulas: int = 0
    split_messages: int = 0
    doubt: str = ""


ProgressCallback = Callable[[ExportProgress], object]


async def export_chat(
    transport: Transport,
    export: ChatExport,
    to: FileTarget,
    *,
    replace: bool = False,
    unchecked: bool = False,
    progress: ProgressCallback | None = None,
) -> ExportResult:
    """Write an export to a pipe, or to a file that gets its name only when it is complete.

    `replace`: replace an existing file if the reply is proved to be the chat log. `unchecked`: accept any complete
    reply without this proof. `progress`: called for each chunk. Raises Unproved, FileFault or another ApiError, and
    BrokenPipeError if nobody reads the pipe.
    """
    summary = describe_call("export chat of event", export.event_id)
    target = file_target(to, summary)
    path = target if isinstance(target, Path) else None
    # before the file: the package of the format may be missing
    formatter = None if export.is_verbatim else CHAT_FORMATS[export.format].writer(export.safe_csv)
    run = _ExportRun(transport, export, summary, progress)
    with closing(formatter) if isinstance(formatter, WorkbookWriter) else nullcontext():
        async with (
            download_to_file(path, summary, replace=replace)
            if path
            else download_to_pipe(cast("IO[bytes]", target), summary)
        ) as writer:
            if formatter is None:
                await run.copy(writer, is_checked=not unchecked)
            elif isinstance(formatter, WorkbookWriter):
                await run.write_workbook(writer, formatter)
            else:
                await run.write_rows(writer, formatter)
            if not unchecked and (fault := await run.reason_against(path)):
                raise await unproved(summary, path, f"a complete log: {fault}", run.head, run.media_type)
    return replaced(run.result, size=writer.written)


async def select_messages(transport: Transport, export: ChatExport) -> AsyncGenerator[Sequence[ChatMessageDict], None]:
    """Yield the messages of an export in batches as they arrive. Raises ApiError."""
    summary = describe_call("read chat of event", export.event_id)
    run = _ExportRun(transport, export, summary, None)
    async with aclosing(run.batches()) as batches:
        async for batch in batches:
            yield batch
    if run.fault:
        raise Unreadable(f"{summary}: the reply is not a complete log: {run.fault}")


class _ExportRun:
    """Export under way.

    `result`: counts so far. `head`, `media_type`: first bytes and media type of the reply. `fault`: reason why the
    reply is not a log; empty if it may be one.
    """

    def __init__(
        self, transport: Transport, export: ChatExport, summary: str, progress: ProgressCallback | None
    ) -> None:
        self.result = ExportResult(0)
        self.head, self.media_type, self.fault = ContentHead(), "", ""
        self._transport = transport
        self._export = export
        self._summary = summary
        self._progress = progress
        self._started_at = transport.timing.timer()

    async def reason_against(self, path: Path | None) -> str:
        """Return the reason why the reply must not become the file; empty if it may.

        A doubt counts only if the file exists already.
        """
        is_text = self._export.is_verbatim and self._export.format != "json"
        is_old = path is not None and await asyncio.to_thread(os.path.lexists, path)
        if is_text and not self.head.size and (is_old or self.fault) and await self._is_empty_log():
            self.fault, self.result = "", replaced(self.result, doubt="")
        return self.fault or (self.result.doubt if is_old else "")

    async def _is_empty_log(self) -> bool:
        """Request the log as JSON, and return whether its list is empty, so that an empty text is the whole log."""
        try:
            async with self._transport.stream(self._request("json")) as response:
                parser = ChatLogParser(response.chunks)
                async for _ in parser:
                    return False
        except (ApiError, NotJson):
            return False
        return not (parser.is_null or parser.error or members_fault(parser.members, 0))

    async def copy(self, writer: ChunkWriter, *, is_checked: bool) -> None:
        """Copy the bytes as they arrive, and check them. Raises Rejected if a JSON reply is an error and not a log."""
        export_format = self._export.format
        small = bytearray()
        async with self._transport.stream(self._request(export_format)) as response:
            self.media_type = response.media_type
            check: JsonWholeness | TextWholeness = JsonWholeness()
            if export_format != "json":
                check = TextWholeness(
                    is_csv=export_format == "csv", media_type=response.media_type, is_delimited=response.is_delimited
                )
            self.head = check.head
            async for chunk in self._count(response, check.add):
                await writer.write(chunk)
                if len(small) <= _MAX_SMALL:
                    small += chunk
        self.fault, doubt = check.fault, check.doubt
        if export_format == "json" and self.head.size <= _MAX_SMALL and is_checked:
            self.fault, doubt = await self._judge(small)
        self.result = replaced(self.result, doubt=doubt)

    async def _judge(self, body: bytearray) -> tuple[str, str]:
        """Return the fault and the doubt of a whole JSON document. Raises Rejected if it reports an error."""
        if self.head.is_blank:
            return "it is blank" if body else "it is empty", ""
        try:
            document = decode(body)
        except ValueError:
            return "it is not JSON, or ends half way", ""
        if isinstance(document, dict):
            await self._raise_error(document.get("error"))
            if document.get("data", document) is None:
                return members_fault(document, 0), _NULL
        return document_fault(document), ""

    async def _raise_error(self, error: object) -> None:
        """Raise Rejected if a reply with status 200 has an error, even beside a list."""
        if error:
            rejected = Response(self._summary, 200, {}, encode({"error": error}))
            await self._transport.parse(rejected, lambda _: None)

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
            self.media_type = response.media_type
            parser = ChatLogParser(self._count(response, self.head.add))
            try:
                async for items in parser:
                    yield self._filter(items)
            except NotJson as error:
                raise Unreadable(f"{self._summary}: the response is not as documented: {error}") from None
        await self._raise_error(parser.error)
        read, unreadable = self.result.read or 0, self.result.unreadable
        if unreadable:
            self._transport.log_faults(self._summary, [f"items that are no message: {unreadable:,}"])
        self.fault = members_fault(parser.members, read + unreadable)
        if unreadable and not read:
            self.fault = "no item of its list is a message"
        self.result = replaced(self.result, doubt=_NULL if parser.is_null else "")

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

    async def _count(self, response: StreamedResponse, add: Callable[[bytes], None]) -> AsyncIterator[bytes]:
        """Yield the chunks. After each chunk, call `add`, which checks the content, and report the progress."""
        async for chunk in response.chunks:
            yield chunk
            add(chunk)
            if self._progress:
                seconds = self._transport.timing.timer() - self._started_at
                self._progress(ExportProgress(self.head.size, response.size, self.result.messages, seconds))

    def _request(self, suffix: str) -> Request:
        """Return the request for the log (platform-api.md, "Chat log")."""
        path = ("v2", "live", "events", self._export.event_id, "stream", self._export.stream_id, f"chat.{suffix}")
        return make_request("GET", self._summary, *path, headers={"Accept": "*/*"})
