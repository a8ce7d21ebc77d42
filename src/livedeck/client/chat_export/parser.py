"""Incremental parser for chat logs in JSON, which may exceed the memory (platform-api.md, "Chat log")."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator
from typing import Self

from livedeck.client.http.lenient import Broken, closed_end, plain, read_lenient
from livedeck.client.http.response import NotJson, decode_first, decode_run, repair_utf8, type_name

_SPACE = re.compile(r"[ \t\r\n]*")
_AFTER = frozenset(",:]} \t\r\n")
_ABOUT_THE_LIST = ("meta", "success", "errors")
_MAX_MESSAGE = 2**20  # characters of JSON
_MAX_RUN = 64 * 2**10  # characters decoded at once; their objects need five times the memory


class ChatLogParser:
    """Iterator over the items of the list in `{data: [...]}`, in batches as they arrive. An unreadable item is Broken.

    Iterating raises NotJson for any other document.

    Attributes:
        error: Value of the member `error` beside or instead of the list; None without one.
        is_null: True if the list is null.
        members: Further members that describe the list, such as `meta`.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.error: object = None
        self.is_null = False
        self.members: dict[str, object] = {}
        self._text = _GrowingText(chunks)
        self._has_begun = self._is_in_list = self._has_data = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[object]:
        if not self._has_begun:
            self._has_begun = True
            await self._parse_start()
        if not self._is_in_list:
            raise StopAsyncIteration
        if await self._text.peek() == "]":  # after a comma that follows the last item
            await self._end_list()
            raise StopAsyncIteration
        return await self._text.next_run() or [await self._next_item()]

    async def _next_item(self) -> object:
        item = await self._text.value()
        if await self._text.peek() == "]":
            await self._end_list()
        else:
            await self._text.take(",]")
        return item

    async def _end_list(self) -> None:
        await self._text.take("]")
        self._is_in_list = False
        await self._parse_rest()

    async def _parse_start(self) -> None:
        await self._text.take("{")
        if await self._text.peek() == "}":
            raise NotJson("an object without data")
        await self._parse_members()

    async def _parse_members(self) -> None:
        """Parse members until the list opens, or to the end."""
        name = await self._text.value()
        await self._text.take(":")
        if name == "data" and await self._text.peek() == "[":
            await self._parse_list_start()
        else:
            self._note_member(name, await self._text.value())
        if not self._is_in_list:
            await self._parse_rest()

    async def _parse_list_start(self) -> None:
        self._has_data, self.is_null = True, False
        await self._text.take("[")
        if await self._text.peek() == "]":
            await self._text.take("]")
        else:
            self._is_in_list = True

    def _note_member(self, name: object, value: object) -> None:
        if name == "data" and value is not None:
            raise NotJson(f"data should be a list, not {type_name(value)}")
        if name == "data":
            self._has_data = self.is_null = True
        elif name in _ABOUT_THE_LIST:
            self.members[name] = value
        if name == "error":
            self.error = value or None

    async def _parse_rest(self) -> None:
        if await self._text.take(",}") == ",":
            await self._parse_members()
        elif await self._text.peek():
            raise NotJson("it continues after its end")
        elif not self._has_data and self.error is None:
            raise NotJson("an object without data")


class _GrowingText:
    """Text that grows at its end and is freed at its start."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text, self._at = "", 0
        self._no_run_before = -1  # end of the text in which no valid run was found

    async def peek(self) -> str:
        """Return the next character that is not a space, or an empty string at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not await self._receive(1):
                return self._text[self._at : self._at + 1]

    async def take(self, expected: str) -> str:
        """Return the next character, which must be one of `expected`."""
        char = await self.peek()
        if not char or char not in expected:
            raise NotJson(f"expected {' or '.join(expected)}, found {ascii(char) if char else 'the end'}")
        self._at += 1
        return char

    async def next_run(self) -> list[object]:
        """Return the received objects up to the last `},`, and skip them; empty if they cannot be decoded together.

        Decoding many objects at once is much faster than one by one. It fails if the last `},` is inside a text or an
        object. The caller must then take single objects until this place is passed or more text arrives.
        """
        await self.peek()
        end = self._text.rfind("},", self._at, self._at + _MAX_RUN)
        if end < 0 or self._at < self._no_run_before:
            return []
        try:
            items = decode_run(self._text[self._at : end + 1])
        except ValueError:
            self._no_run_before = end
            return []
        self._at = end + 2
        return items

    async def value(self) -> object:
        """Return the next JSON value."""
        await self.peek()
        while True:
            try:
                value, end = decode_first(self._text, self._at)
            except ValueError as error:
                value, end = self._broken_value()
                if isinstance(error, NotJson) and self._text[self._at] not in "{[":
                    raise
            # A number may continue in the next chunk.
            is_closed = isinstance(value, dict | list | str | Broken)
            is_whole = end >= 0 and (is_closed or self._text[end : end + 1] in _AFTER)
            length = (end if is_whole else len(self._text)) - self._at
            if length > _MAX_MESSAGE:
                raise NotJson("a message is broken, or longer than 1 MiB")
            if is_whole:
                self._at = end
                return value
            if not await self._receive(
                length // 4 + 1
            ):  # more than one byte, or a slow sender would cause many repeated scans
                raise NotJson("it ends half way")

    def _broken_value(self) -> tuple[object, int]:
        """Return the next object or list, read leniently, and its end; -1 if the end has not arrived yet."""
        if self._text[self._at : self._at + 1] not in {"{", "["}:
            return None, -1
        end = closed_end(self._text, self._at)
        try:
            return plain(read_lenient(repair_utf8(self._text[self._at : end]))) if end >= 0 else None, end
        except (ValueError, RecursionError):
            return Broken("a message that is not JSON"), end

    async def _receive(self, minimum: int) -> bool:
        """Append at least `minimum` characters, or all that remain. Returns False if none came."""
        self._text, self._at = self._text[self._at :], 0  # frees the parsed part before more arrives
        parts, received = [self._text], 0
        while received < minimum and (chunk := await anext(self._chunks, None)) is not None:
            parts.append(self._decoder.decode(chunk))
            received += len(parts[-1])
        self._text, self._no_run_before = "".join(parts), -1
        return received > 0
