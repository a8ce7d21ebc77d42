"""Preview of a chat on the screen: the newest messages of a log of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from livedeck.client import Api, ApiError, ChatExport

MAX_ROWS = 10_000
"""Maximum number of messages in a preview, which has the newest ones. A whole log may be larger than memory."""

MAX_CHARS = 2000
"""Maximum number of characters of one message in a preview."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """Message. `number`: index in the log. `at`: None if the time is unreadable. `is_admin`: None if unknown."""

    number: int
    at: datetime | None
    name: str
    is_admin: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """Messages of a chat that have been read so far.

    `as_of`: start of the read on this machine's clock. `count`: number of all read messages. `rows`: the newest of
    them. `is_complete`: the log was read to its end. `error`: reason why the read failed; otherwise empty.
    """

    export: ChatExport
    as_of: datetime
    rows: tuple[PreviewRow, ...] = ()
    count: int = 0
    is_reading: bool = True
    is_complete: bool = False
    error: str = ""


async def read_preview(api: Api, export: ChatExport, as_of: datetime) -> AsyncIterator[Preview]:
    """Yield the preview each time it has grown. It has the newest `MAX_ROWS` messages.

    `is_reading` is True in all previews but the last. If the read failed, the last preview has the error.
    """
    preview = Preview(export, as_of)
    yield preview
    try:
        async with aclosing(api.chat.selected(replace(export, zone=UTC))) as batches:
            async for messages in batches:
                rows = [preview_row(number, message) for number, message in enumerate(messages, preview.count)]
                kept = (*preview.rows, *rows)[-MAX_ROWS:]
                preview = replace(preview, rows=kept, count=preview.count + len(rows))
                yield preview
    except ApiError as error:
        yield replace(preview, is_reading=False, error=str(error))
        return
    yield replace(preview, is_reading=False, is_complete=True)


def preview_row(number: int, message: Mapping[str, Any]) -> PreviewRow:
    """Return a row for a message of any shape. The text of the message stays unchanged."""
    is_admin = {"true": True, "false": False}.get(str(message.get("is_admin")).lower())
    name, text = (
        str("" if message.get(field) is None else message[field])[:MAX_CHARS] for field in ("username", "message")
    )
    return PreviewRow(number, _time(message.get("created_at")), name, is_admin, text)


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return at.astimezone(UTC) if at.tzinfo else None
