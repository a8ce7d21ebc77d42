"""Routes for unsent notifications (collector.md, "Routes")."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Protocol

from starlette.requests import Request
from typing_extensions import TypedDict

from livedeck.collector.protocol.unsent import Letter, Letters, Unsent
from livedeck.collector.serving.endpoints import Caller, Endpoint, Refusal
from livedeck.log import Log
from livedeck.notify import Spooled, SpoolError
from livedeck.text.secrets import masked_line

_log = Log("livedeck.collector")


class Outbox(Protocol):
    """Interface of the sender of notifications."""

    async def unsent(self) -> tuple[Spooled, ...]:
        """Return waiting messages and dead letters. Raises SpoolError."""

    async def revive(self, keys: Collection[str] = ()) -> int:
        """Make these dead letters wait again, all if `keys` is empty. Returns their number. Raises SpoolError."""

    async def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number. Raises SpoolError."""


class Messages(TypedDict):
    """Notifications that are not sent."""

    messages: list[Unsent]


class Revived(TypedDict):
    """Number of dead letters that wait again."""

    revived: int


class Dropped(TypedDict):
    """Number of deleted dead letters."""

    dropped: int


async def _list_unsent(outbox: Outbox | None, _: Request, __: Caller) -> Messages:
    """Return the notifications that are not sent."""
    with _refusing():
        messages = await _existing(outbox).unsent()
    return {"messages": [Unsent.of(spooled) for spooled in messages]}


async def _show_unsent(outbox: Outbox | None, request: Request, _: Caller) -> Letter:
    """Return a notification that is not sent, with its text and payload."""
    key = request.path_params["key"]
    with _refusing():
        found = [spooled for spooled in await _existing(outbox).unsent() if spooled.message.key == key]
    if not found:
        raise Refusal(404, "no such notification", "no unsent notification has that id")
    return Letter.of(found[0])


async def _retry_unsent(outbox: Outbox | None, _: Request, caller: Caller, letters: Letters) -> Revived:
    """Retry dead letters."""
    with _refusing():
        count = await _existing(outbox).revive(letters.ids)
    _log.info("retrying dead letters", by=caller.name, messages=count)
    return {"revived": count}


async def _drop_unsent(outbox: Outbox | None, _: Request, caller: Caller, letters: Letters) -> Dropped:
    """Delete dead letters."""
    with _refusing():
        count = await _existing(outbox).drop(letters.ids)
    _log.info("dropping dead letters", by=caller.name, messages=count)
    return {"dropped": count}


UNSENT: tuple[Endpoint[Outbox | None], ...] = (
    Endpoint("GET", "/v1/notifications", "read", _list_unsent, refuses=(503,)),
    Endpoint("POST", "/v1/notifications/retry", "act", _retry_unsent, Letters, refuses=(503,)),
    Endpoint("POST", "/v1/notifications/drop", "act", _drop_unsent, Letters, refuses=(503,)),
    Endpoint("GET", "/v1/notifications/{key}/contents", "read", _show_unsent, refuses=(503,)),
)


def _existing(outbox: Outbox | None) -> Outbox:
    """Return the outbox. Raises Refusal if there is none."""
    if outbox is None:
        raise Refusal(503, "no notifications", "this collector sends no notifications")
    return outbox


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise Refusal in place of SpoolError."""
    try:
        yield
    except SpoolError as error:
        raise Refusal(503, "no spool", masked_line(str(error), 300)) from None
