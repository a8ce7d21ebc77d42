"""The chat log of a stream, streamed in three formats (platform-api.md, 4; decisions.md, "Responses not shown")."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

from starlette.responses import Response, StreamingResponse

from livedeck.simulator import schema
from livedeck.simulator.api.events import find_event, stream_now
from livedeck.simulator.engine.content import RATE, Message, Pace, messages, paced
from livedeck.simulator.errors import unknown
from livedeck.simulator.http import Call, Endpoint

BATCH = 500

"""Messages that go out at once; between two batches others are served."""


Chat = Iterator[Message]


def switched(paces: Iterable[Iterable[float]], at: float, *, on: bool) -> tuple[Pace, ...]:
    """The chat from that moment on (epoch seconds)."""
    return paced(paces, Pace(at, RATE if on else 0))


async def read_json(call: Call) -> Response:
    """The chat log as `{data: [chat message]}`."""
    return _streamed(_json(_written(call)), "application/json")


async def read_csv(call: Call) -> Response:
    """The chat log as CSV; the header is the field names."""
    return _streamed(_csv(_written(call)), "text/csv")


async def read_text(call: Call) -> Response:
    """The chat log, `[created_at] username: message` a line; a line break inside a message is written as a space."""
    return _streamed(map(_line, _written(call)), "text/plain")


def _written(call: Call) -> Chat:
    event, now, asked = find_event(call), call.world.now(), call.identity("stream_id")
    streams = [*event.get("earlier", ()), stream_now(event, now)]
    stream = next((one for one in streams if one and one["id"] == asked), None)
    if stream is None:
        raise unknown()
    if stream["status"] == "pending":
        return iter(())
    ended = stream["finished_at"]
    until = datetime.fromisoformat(ended).timestamp() if ended else now
    return messages(event["signal"], event["chat"], datetime.fromisoformat(stream["started_at"]).timestamp(), until)


_LINE_BREAK = re.compile(r"\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def _line(message: Message) -> str:
    return _LINE_BREAK.sub(" ", f"[{message.created_at}] {message.username}: {message.message}") + "\n"


def _json(written: Chat) -> Iterator[str]:
    yield '{"data":['
    for place, message in enumerate(written):
        yield ("," if place else "") + json.dumps(message._asdict(), separators=(",", ":"))
    yield "]}"


def _csv(written: Chat) -> Iterator[str]:
    row: Callable[[Iterable[str]], str] = _Rows()
    yield row(Message._fields)
    for message in written:
        yield row(message)


class _Rows:
    """Rows of CSV as text, one at a time."""

    def __init__(self) -> None:
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer)

    def __call__(self, row: Iterable[str]) -> str:
        self._buffer.seek(0)
        self._buffer.truncate()
        self._writer.writerow(row)
        return self._buffer.getvalue()


def _streamed(lines: Iterator[str], media: str) -> Response:
    return StreamingResponse(_batches(lines), media_type=media)


async def _batches(lines: Iterator[str]) -> AsyncIterator[bytes]:
    while batch := "".join(islice(lines, BATCH)):
        yield batch.encode()
        await asyncio.sleep(0)


_PATH = "/v2/live/events/{event_id}/stream/{stream_id}/chat"

_MESSAGE = dict.fromkeys(Message._fields, schema.TEXT) | {
    "id": schema.UUID,
    "is_admin": schema.words("true", "false"),
    "created_at": schema.MOMENT,
    "cteated_at_local": schema.MOMENT,
}

_CODES = [400404, 404404]


ENDPOINTS = (
    Endpoint(
        *("GET", f"{_PATH}.json", read_json),
        answer=schema.data(schema.many(schema.record(_MESSAGE))),
        refuses=_CODES,
    ),
    Endpoint("GET", f"{_PATH}.csv", read_csv, answer=schema.TEXT, refuses=_CODES, media="text/csv"),
    Endpoint("GET", f"{_PATH}.txt", read_text, answer=schema.TEXT, refuses=_CODES, media="text/plain"),
)
