"""The messages of a chat log as they are shown before an export: read while they come, so many at most."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from livedeck.client import Api, ApiError, ChatExport

MOST = 10_000
"""Messages that are shown at most: a log may exceed any memory."""

LONGEST = 2000
"""Characters that are kept of one message at most."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `number`: its place in the preview. `at`: None where it cannot be read. `admin`: None: not said."""

    number: int
    at: datetime | None
    name: str
    admin: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What was read of a log. `at`: when (this machine's clock). `whole`: to its end. `why`: it ended by an error."""

    wanted: ChatExport
    at: datetime
    rows: tuple[Said, ...] = ()
    reading: bool = True
    whole: bool = False
    why: str = ""


async def read(api: Api, wanted: ChatExport, at: datetime) -> AsyncIterator[Preview]:
    """The preview as it grows; the last one is read no further."""
    known = Preview(wanted, at)
    yield known
    try:
        async with aclosing(api.chat.selected(replace(wanted, zone=UTC))) as batches:
            async for items in batches:
                room = MOST - len(known.rows)
                rows = [said(number, item) for number, item in enumerate(items[:room], len(known.rows))]
                known = replace(known, rows=(*known.rows, *rows))
                if len(items) > room:
                    yield replace(known, reading=False)
                    return
                yield known
    except ApiError as error:
        yield replace(known, reading=False, why=str(error))
        return
    yield replace(known, reading=False, whole=True)


def said(number: int, item: Mapping[str, Any]) -> Said:
    """A message of the log, of any shape; its text is data and stays as it came."""
    admin = {"true": True, "false": False}.get(str(item.get("is_admin")).lower())
    name, text = (str("" if item.get(field) is None else item[field])[:LONGEST] for field in ("username", "message"))
    return Said(number, _moment(item.get("created_at")), name, admin, text)


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None
