"""A chat log in JSON, taken apart while it comes (platform-api.md, 4): it may exceed any memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterator
from typing import Self

from livedeck.client.http.request import Chunk
from livedeck.client.http.response import NotJson, decode_first, decode_run, kind

_SPACE = re.compile(r"[ \t\r\n]*")

_AFTER = frozenset(",:]} \t\r\n")

_LONGEST = 2**20  # characters of one message

_RUN = 64 * 2**10  # characters taken apart at once: what comes of them is five times as large


class ChatLogParser:
    """The items of the list in `{data: [...]}`, in batches as they come. Raises NotJson for what is no such document.

    `error`: what stands under that name in place of the list, else None.
    """

    def __init__(self, chunks: AsyncIterator[Chunk]) -> None:
        self.error: object = None
        self._text = _Text(chunks)
        self._begun = self._inside = self._listed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[object]:
        if not self._begun:
            self._begun = True
            await self._begin()
        if not self._inside:
            raise StopAsyncIteration
        return await self._text.several() or [await self._next()]

    async def _next(self) -> object:
        item = await self._text.value()
        if await self._text.take(",]") == "]":
            self._inside = False
            await self._go_on()
        return item

    async def _begin(self) -> None:
        await self._text.take("{")
        if await self._text.peek() == "}":
            raise NotJson("an object without data")
        await self._members()

    async def _members(self) -> None:
        """Read on until the list opens, or to the end."""
        name = await self._text.value()
        await self._text.take(":")
        if name == "data" and await self._text.peek() == "[":
            await self._open()
        else:
            self._keep(name, await self._text.value())
        if not self._inside:
            await self._go_on()

    async def _open(self) -> None:
        self._listed = True
        await self._text.take("[")
        if await self._text.peek() == "]":
            await self._text.take("]")
        else:
            self._inside = True

    def _keep(self, name: object, value: object) -> None:
        if name == "data" and value is not None:
            raise NotJson(f"data should be a list, not {kind(value)}")
        self._listed |= name == "data"
        if name == "error":
            self.error = None if value is False else value

    async def _go_on(self) -> None:
        if await self._text.take(",}") == ",":
            await self._members()
        elif await self._text.peek():
            raise NotJson("it goes on after its end")
        elif self._listed:
            self.error = None
        elif self.error is None:
            raise NotJson("an object without data")


class _Text:
    """Text that grows at its end and is forgotten at its start."""

    def __init__(self, chunks: AsyncIterator[Chunk]) -> None:
        self._chunks = chunks
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text, self._at = "", 0
        self._barred = -1  # where the text ends that is no run of objects

    async def peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not await self._more(1):
                return self._text[self._at : self._at + 1]

    async def take(self, expected: str) -> str:
        """The next character, which is one of these."""
        found = await self.peek()
        if not found or found not in expected:
            raise NotJson(f"{' or '.join(expected)} should stand where {ascii(found) if found else 'the end'} is")
        self._at += 1
        return found

    async def several(self) -> list[object]:
        """The next objects that are here and have a comma after them, taken with it; none where that is not to be seen.

        Much quicker than one by one. Where the last `},` stands inside a text or an object, what is before it is no
        run of whole values: then they are taken one by one until they are past it, or more text comes.
        """
        await self.peek()
        end = self._text.rfind("},", self._at, self._at + _RUN)
        if end < 0 or self._at < self._barred:
            return []
        try:
            found = decode_run(self._text[self._at : end + 1])
        except ValueError:
            self._barred = end
            return []
        self._at = end + 2
        return found

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
            held = len(self._text) - self._at
            # A number may go on past the end of what came.
            if end >= 0 and (isinstance(value, dict | list | str) or self._text[end : end + 1] in _AFTER):
                self._at = end
                return value
            if held > _LONGEST:
                raise NotJson("a message is broken, or longer than 1 MiB")
            if not await self._more(held // 4 + 1):  # not each byte: a slow drip would be read over and over
                raise NotJson("it ends half way")

    async def _more(self, least: int) -> bool:
        """Take in that many characters or all that comes; False where nothing did."""
        self._text, self._at = self._text[self._at :], 0  # what is done with is let go of before more is here
        pieces, came = [self._text], 0
        while came < least and (chunk := await anext(self._chunks, None)) is not None:
            pieces.append(self._decoder.decode(chunk))
            came += len(pieces[-1])
        self._text, self._barred = "".join(pieces), -1
        return came > 0
