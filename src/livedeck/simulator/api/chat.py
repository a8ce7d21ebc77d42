"""Chat log of a stream, streamed in three formats (platform-api.md, "Chat log")."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Annotated

from starlette.responses import Response, StreamingResponse

from livedeck.simulator.api.events import current_stream, find_event
from livedeck.simulator.engine.content import MESSAGES_PER_SECOND, ChatRate, Message, change_rate, messages
from livedeck.simulator.errors import not_found
from livedeck.simulator.http import ApiRequest, Endpoint
from livedeck.simulator.models import ApiObject, Data, Timestamp, Uuid, one_of

BATCH = 500
"""Number of messages sent at once. Other requests run between two batches."""


class ChatMessage(ApiObject):
    """Message in the JSON form, in the order of `Message`."""

    id: Uuid
    username: str
    external_id: str
    is_admin: Annotated[str, one_of("true", "false")]
    message: str
    created_at: Timestamp
    cteated_at_local: Timestamp


def switch_chat(rates: Iterable[Iterable[float]], at: float, *, on: bool) -> tuple[ChatRate, ...]:
    """Return the rates with the chat on or off from `at` (epoch seconds)."""
    return change_rate(rates, ChatRate(at, MESSAGES_PER_SECOND if on else 0))


async def read_chat_json(request: ApiRequest[None]) -> Response:
    """Return the chat log as `{data: [chat message]}`."""
    return _stream(_json(_messages(request)), "application/json")


async def read_chat_csv(request: ApiRequest[None]) -> Response:
    """Return the chat log as CSV; the header is the field names."""
    return _stream(_csv(_messages(request)), "text/csv")


async def read_chat_text(request: ApiRequest[None]) -> Response:
    """Return the chat log, one `[created_at] username: message` a line; a line break in a message becomes a space."""
    return _stream(map(_line, _messages(request)), "text/plain")


def _messages(request: ApiRequest[None]) -> Iterator[Message]:
    event, now, stream_id = find_event(request), request.world.now(), request.path_id("stream_id")
    streams = [*event.get("earlier", ()), current_stream(event, now)]
    stream = next((stream for stream in streams if stream and stream["id"] == stream_id), None)
    if stream is None:
        raise not_found()
    if stream["status"] == "pending":
        return iter(())
    since, finished_at = datetime.fromisoformat(stream["started_at"]).timestamp(), stream["finished_at"]
    until = datetime.fromisoformat(finished_at).timestamp() if finished_at else now
    return messages(event["signal"], event["chat"], since, until)


_LINE_BREAK = re.compile(r"\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def _line(message: Message) -> str:
    return _LINE_BREAK.sub(" ", f"[{message.created_at}] {message.username}: {message.message}") + "\n"


def _json(messages: Iterator[Message]) -> Iterator[str]:
    yield '{"data":['
    for index, message in enumerate(messages):
        yield ("," if index else "") + json.dumps(message._asdict(), separators=(",", ":"))
    yield "]}"


def _csv(messages: Iterator[Message]) -> Iterator[str]:
    row: Callable[[Iterable[str]], str] = _RowWriter()
    yield row(Message._fields)
    for message in messages:
        yield row(message)


class _RowWriter:
    """Formats rows as CSV text, one at a time."""

    def __init__(self) -> None:
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer)

    def __call__(self, row: Iterable[str]) -> str:
        self._buffer.seek(0)
        self._buffer.truncate()
        self._writer.writerow(row)
        return self._buffer.getvalue()


def _stream(lines: Iterator[str], media_type: str) -> Response:
    return StreamingResponse(_batches(lines), media_type=media_type)


async def _batches(lines: Iterator[str]) -> AsyncIterator[bytes]:
    while batch := "".join(islice(lines, BATCH)):
        yield batch.encode()
        await asyncio.sleep(0)


_PATH = "/v2/live/events/{event_id}/stream/{stream_id}/chat"
_ERRORS = [400404, 404404]
_TEXT = {"type": "string"}

ENDPOINTS = (
    Endpoint("GET", f"{_PATH}.json", read_chat_json, None, Data[list[ChatMessage]], _ERRORS),
    Endpoint("GET", f"{_PATH}.csv", read_chat_csv, None, _TEXT, _ERRORS, media="text/csv"),
    Endpoint("GET", f"{_PATH}.txt", read_chat_text, None, _TEXT, _ERRORS, media="text/plain"),
)
