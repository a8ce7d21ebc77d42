"""A chat log in JSON, parsed while it comes (platform-api.md, "Chat log"): it may exceed any memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator
from typing import Self

from livedeck.client.http.response import NotJson, decode_first, decode_run, type_name

_SPACE = re.compile(r"[ \t\r\n]*")
_AFTER = frozenset(",:]} \t\r\n")
_MAX_MESSAGE = 2**20  # characters of JSON
_MAX_RUN = 64 * 2**10  # characters decoded at once: their objects are five times as large


class ChatLogParser:
    """The items of the list in `{data: [...]}`, in batches as they come. Raises NotJson for what is no such document.

    `error`: what stands under that name in place of the list, else None.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.error: object = None
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
        return await self._text.next_run() or [await self._next_item()]

    async def _next_item(self) -> object:
        item = await self._text.value()
        if await self._text.take(",]") == "]":
            self._is_in_list = False
            await self._parse_rest()
        return item

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
        self._has_data = True
        await self._text.take("[")
        if await self._text.peek() == "]":
            await self._text.take("]")
        else:
            self._is_in_list = True

    def _note_member(self, name: object, value: object) -> None:
        if name == "data" and value is not None:
            raise NotJson(f"data should be a list, not {type_name(value)}")
        self._has_data |= name == "data"
        if name == "error":
            self.error = None if value is False else value

    async def _parse_rest(self) -> None:
        if await self._text.take(",}") == ",":
            await self._parse_members()
        elif await self._text.peek():
            raise NotJson("it goes on after its end")
        elif self._has_data:
            self.error = None
        elif self.error is None:
            raise NotJson("an object without data")


class _GrowingText:
    """Text that grows at its end and is freed at its start."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text, self._at = "", 0
        self._no_run_before = -1  # where the text ends that is no run of objects

    async def peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not await self._receive(1):
                return self._text[self._at : self._at + 1]

    async def take(self, expected: str) -> str:
        """The next character, which is one of these."""
        char = await self.peek()
        if not char or char not in expected:
            raise NotJson(f"{' or '.join(expected)} should stand where {ascii(char) if char else 'the end'} is")
        self._at += 1
        return char

    async def next_run(self) -> list[object]:
        """The next objects that have come and have a comma after them, taken with it; none where there is no such run.

        Much quicker than one by one. Where the last `},` stands inside a text or an object, what is before it is no
        run of whole values: then they are taken one by one until they are past it, or more text comes.
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
        """The next JSON value."""
        await self.peek()
        while True:
            try:
                value, end = decode_first(self._text, self._at)
            except NotJson:
                raise
            except ValueError:
                end = -1
            # A number may go on past the end of what came.
            is_whole = end >= 0 and (isinstance(value, dict | list | str) or self._text[end : end + 1] in _AFTER)
            length = (end if is_whole else len(self._text)) - self._at
            if length > _MAX_MESSAGE:
                raise NotJson("a message is broken, or longer than 1 MiB")
            if is_whole:
                self._at = end
                return value
            if not await self._receive(length // 4 + 1):  # not each byte: a slow drip would be read over and over
                raise NotJson("it ends half way")

    async def _receive(self, minimum: int) -> bool:
        """Append that many characters or all that comes; False where nothing did."""
        self._text, self._at = self._text[self._at :], 0  # what is parsed is freed before more is here
        parts, received = [self._text], 0
        while received < minimum and (chunk := await anext(self._chunks, None)) is not None:
            parts.append(self._decoder.decode(chunk))
            received += len(parts[-1])
        self._text, self._no_run_before = "".join(parts), -1
        return received > 0
