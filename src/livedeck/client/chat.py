"""The chat of a stream: read message by message, or exported to a file (platform-api.md, 2 and 4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

from pydantic import StrictBool

from livedeck.client import files
from livedeck.client.answer import Answer
from livedeck.client.base import Model, Resource, call, named
from livedeck.client.call import Call, Progress
from livedeck.client.chatlog import ChatLog
from livedeck.client.decoding import NotJson
from livedeck.client.encoding import encode
from livedeck.client.envelope import read
from livedeck.client.errors import Unreadable
from livedeck.client.moments import Timestamp

ChatFormat = Literal["json", "csv", "txt"]


class Message(Model):
    """What someone wrote. `is_admin`: `true` or `false` as a string; `by_admin` reads it.

    `cteated_at_local`: the platform spells it so.
    """

    id: str | None = None
    username: str | None = None
    external_id: str | None = None
    is_admin: str | StrictBool | None = None
    message: str | None = None
    created_at: Timestamp | None = None
    cteated_at_local: Timestamp | None = None

    @property
    def by_admin(self) -> bool | None:
        """Whether an administrator wrote it; None where the platform does not say."""
        return {"true": True, "false": False}.get(str(self.is_admin).lower())


class Chat(Resource):
    """The chat logs of streams."""

    async def messages(self, event_id: str, stream_id: str) -> AsyncIterator[Message]:
        """Every message of the log, read while it comes and never held as a whole. Raises ApiError."""
        asked = _log(event_id, stream_id, "json", named("read chat of event", event_id))
        async with self._transport.stream(asked) as incoming:
            log = ChatLog(incoming.chunks)
            try:
                async for item in log:
                    yield read(Message, item, asked.what)
            except NotJson as error:
                raise Unreadable(f"{asked.what}: the answer is not as documented: {error}") from None
            if log.error is not None:
                self._transport.verdict(asked, Answer(asked.what, 200, {}, encode({"error": log.error})))

    async def export(
        self,
        event_id: str,
        stream_id: str,
        format: ChatFormat,  # noqa: A002  the document's word
        to: Path,
        *,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the log to a file as the platform sends it, and give its bytes.

        The file has its name only once it is whole. `replace`: also where one is there. `progress`: told the bytes that
        came, and of how many. Raises FileFault, and any other ApiError.
        """
        asked = _log(event_id, stream_id, format, named("export chat of event", event_id))
        came = 0
        async with files.download(to, asked.what, replace=replace) as sink, self._transport.stream(asked) as incoming:
            if incoming.kind == "text/html":
                raise Unreadable(f"{asked.what}: the answer is a web page; check the address")
            async for chunk in incoming.chunks:
                await sink.write(chunk)
                came += len(chunk)
                if progress:
                    progress(came, incoming.size)
        return came


def _log(event_id: str, stream_id: str, suffix: ChatFormat, what: str) -> Call:
    path = ("v2", "live", "events", event_id, "stream", stream_id, f"chat.{suffix}")
    return call("GET", what, *path, headers={"Accept": "*/*"})
