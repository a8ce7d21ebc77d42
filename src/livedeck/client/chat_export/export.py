"""A chat log made into a file: as the platform sends it, or taken apart, sifted and written anew.

One engine for the screen and the command. Memory is constant, however long the log. An export is ended by cancelling
the task that runs it: then nothing is left.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import IO, Literal, cast

from livedeck.client.chat_export.filter import NO_FILTER, ChatMessageDict, MessageFilter, in_zone, written_at
from livedeck.client.chat_export.formats import Csv, JsonDocument, JsonLines, RowFormatter, Text
from livedeck.client.chat_export.parser import ChatLogParser
from livedeck.client.chat_export.workbook import WorkbookWriter
from livedeck.client.http.encoding import encode
from livedeck.client.http.errors import Invalid, Unreadable
from livedeck.client.http.files import ChunkWriter, download, wait_uncancelled, with_progress
from livedeck.client.http.request import Chunk, Request, StreamedResponse
from livedeck.client.http.response import NotJson, Response, kind
from livedeck.client.http.transport import Transport
from livedeck.client.resources.base import call, describe_call

ChatFormat = Literal["json", "csv", "txt", "ndjson", "xlsx"]

"""The first three are the platform's (platform-api.md, 4)."""


_SENT = frozenset({"json", "csv", "txt"})

_HEAD = 64 * 2**10


@dataclass(frozen=True, slots=True)
class ChatExport:
    """What is to be exported of which stream.

    `zone`: times are written as its clocks show them, not as they came. `safe_csv`: cells that a spreadsheet would
    compute get a `'` before them. Raises Invalid for a safe_csv that is no CSV.
    """

    event_id: str
    stream_id: str
    format: ChatFormat = "json"
    sieve: MessageFilter = NO_FILTER
    zone: tzinfo | None = None
    safe_csv: bool = False

    def __post_init__(self) -> None:
        if self.safe_csv and self.format != "csv":
            raise Invalid("chat export", "safe_csv", f"is for the format csv, not {self.format}")

    @property
    def verbatim(self) -> bool:
        """Whether the file is, byte for byte, what the platform sends."""
        return self.format in _SENT and not (self.sieve or self.zone or self.safe_csv)


@dataclass(frozen=True, slots=True)
class ExportProgress:
    """How far an export has come. `came`: bytes received, of `size`: None where nobody says.

    `messages`: written so far; None where they are not counted, in a verbatim export. `seconds`: since it began.
    """

    came: int
    size: int | None
    messages: int | None
    seconds: float

    @property
    def rate(self) -> float | None:
        """Bytes a second, on average; None before there is one."""
        return self.came / self.seconds if self.seconds > 0 and self.came else None

    @property
    def left(self) -> float | None:
        """Seconds until all has come, at this rate; None where that is unknown."""
        return None if self.size is None or not self.rate else max(0, self.size - self.came) / self.rate


@dataclass(frozen=True, slots=True)
class ExportResult:
    """An export that is whole. `size`: bytes written. `messages`: written; None where they were not counted.

    `read`: messages of the log, wanted or not. `undated`: those of them without a readable time. `neutralised`: cells
    that safe_csv changed. `spilled`: messages that took more than one cell of a workbook.
    """

    size: int
    messages: int | None = None
    read: int | None = None
    undated: int = 0
    neutralised: int = 0
    spilled: int = 0


ProgressCallback = Callable[[ExportProgress], None]


def chat_call(event_id: str, stream_id: str, suffix: str, what: str) -> Request:
    """The call for a log (platform-api.md, 4)."""
    path = ("v2", "live", "events", event_id, "stream", stream_id, f"chat.{suffix}")
    return call("GET", what, *path, headers={"Accept": "*/*"})


async def export(
    transport: Transport,
    wanted: ChatExport,
    to: Path | IO[bytes],
    *,
    replace: bool = False,
    told: ProgressCallback | None = None,
) -> ExportResult:
    """Write what is wanted to a file, which has its name only once it is whole, or to a pipe.

    `replace`: also where a file is there. `told`: hears how far it is, whenever bytes came. Raises FileFault, and any
    other ApiError; BrokenPipeError where nobody reads the pipe.
    """
    what = describe_call("export chat of event", wanted.event_id)
    book = WorkbookWriter() if wanted.format == "xlsx" else None  # first: it may be that there is no package for it
    run = _Run(transport, wanted, what, told)
    with closing(book) if book else nullcontext():
        async with download(to, what, replace=replace) if isinstance(to, Path) else with_progress(to, what) as sink:
            if wanted.verbatim:
                await run.verbatim(sink)
            elif book:
                await run.book(sink, book)
            else:
                await run.lines(sink, _lines(wanted))
    return replaced(run.done, size=sink.written)


async def selected(transport: Transport, wanted: ChatExport) -> AsyncGenerator[Sequence[ChatMessageDict], None]:
    """The messages that are wanted, in batches as they come, whatever its format. Raises ApiError."""
    async with aclosing(
        _Run(transport, wanted, describe_call("read chat of event", wanted.event_id), None).items()
    ) as batches:
        async for items in batches:
            yield items


class _Run:
    """One export under way. `done`: what is known of it so far."""

    def __init__(self, transport: Transport, wanted: ChatExport, what: str, told: ProgressCallback | None) -> None:
        self.done = ExportResult(0)
        self._transport = transport
        self._wanted = wanted
        self._what = what
        self._told = told
        self._began = transport.pace.timer()
        self._came = 0

    async def verbatim(self, sink: ChunkWriter) -> None:
        """The bytes as they come; not those of an error in place of a log."""
        asked, first = self._call(self._wanted.format), bytearray()
        async with self._transport.stream(asked) as incoming:
            if incoming.kind == "text/html" or (self._wanted.format != "json" and incoming.kind == "application/json"):
                raise Unreadable(f"{self._what}: the answer is {incoming.kind}, no log; check the address")
            async for chunk in self._counted(incoming):
                await sink.write(chunk)
                if len(first) <= _HEAD:
                    first += chunk
        if self._wanted.format == "json" and self._came <= _HEAD:
            await self._transport.verdict(asked, Response(self._what, 200, {}, bytes(first)))

    async def lines(self, sink: ChunkWriter, lines: RowFormatter) -> None:
        """The wanted messages in a text format."""
        await sink.write(lines.head.encode())
        async for items in self.items():
            await sink.write(self._written(lines, items))
        await sink.write(lines.tail.encode())
        self.done = replaced(self.done, neutralised=lines.neutralised)

    async def book(self, sink: ChunkWriter, book: WorkbookWriter) -> None:
        """The wanted messages as a workbook. Slow: in a thread."""
        async for items in self.items():
            await wait_uncancelled(partial(book.add, items))
        await sink.fill(book.store)
        self.done = replaced(self.done, spilled=book.spilled)

    async def items(self) -> AsyncGenerator[list[ChatMessageDict], None]:
        """The wanted messages in batches."""
        asked = self._call("json")
        self.done = replaced(self.done, messages=0, read=0)
        async with self._transport.stream(asked) as incoming:
            log = ChatLogParser(self._counted(incoming))
            try:
                async for items in log:
                    yield self._taken(items)
            except NotJson as error:
                raise Unreadable(f"{self._what}: the answer is not as documented: {error}") from None
            if log.error is not None:
                await self._transport.verdict(asked, Response(self._what, 200, {}, encode({"error": log.error})))

    def _taken(self, items: Sequence[object]) -> list[ChatMessageDict]:
        wanted, done = self._wanted, self.done
        if {*map(type, items)} - {dict}:
            odd = next(item for item in items if not isinstance(item, dict))
            raise Unreadable(f"{self._what}: the answer is not as documented: data holds {kind(odd)}, not an object")
        found = cast("list[ChatMessageDict]", items)
        kept = wanted.sieve.sift(found) if wanted.sieve else found
        undated = sum(written_at(item) is None for item in found) if wanted.sieve.timed else 0
        self.done = replaced(
            done,
            messages=(done.messages or 0) + len(kept),
            read=(done.read or 0) + len(found),
            undated=done.undated + undated,
        )
        return [in_zone(item, wanted.zone) for item in kept] if wanted.zone else kept

    def _written(self, lines: RowFormatter, items: Sequence[ChatMessageDict]) -> bytes:
        try:
            return lines.rows(items).encode()
        except ValueError as error:
            raise Unreadable(f"{self._what}: a message cannot be written as {self._wanted.format}: {error}") from None

    async def _counted(self, incoming: StreamedResponse) -> AsyncIterator[Chunk]:
        async for chunk in incoming.chunks:
            yield chunk
            self._came += len(chunk)
            if self._told:
                seconds = self._transport.pace.timer() - self._began
                self._told(ExportProgress(self._came, incoming.size, self.done.messages, seconds))

    def _call(self, suffix: str) -> Request:
        return chat_call(self._wanted.event_id, self._wanted.stream_id, suffix, self._what)


def _lines(wanted: ChatExport) -> RowFormatter:
    if wanted.format == "csv":
        return Csv(safe=wanted.safe_csv)
    if wanted.format == "txt":
        return Text()
    return JsonDocument() if wanted.format == "json" else JsonLines()
