"""Routes for unsent notifications (collector.md, "Routes")."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from starlette.requests import Request
from starlette.routing import Route

from livedeck.collector.protocol.unsent import Letter, Letters, Unsent
from livedeck.collector.serving.endpoints import Caller, Refusal, endpoint, read_body
from livedeck.log import Log
from livedeck.notify import Spooled, SpoolError
from livedeck.text.secrets import masked_line

_log = Log("livedeck.collector")


class Outbox(Protocol):
    """Interface of the sender of notifications."""

    async def unsent(self) -> tuple[Spooled, ...]:
        """Return waiting messages and dead letters. Raises SpoolError."""

    async def revive(self, keys: Collection[str] = ()) -> int:
        """Make dead letters wait again, all without keys, and return their number. Raises SpoolError."""

    async def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number. Raises SpoolError."""


def routes(outbox: Outbox | None) -> list[Route]:
    """Return the routes of unsent notifications. `outbox`: None if this collector sends none."""

    async def unsent(_: Request, __: Caller) -> Any:
        with _refusing():
            messages = await _existing(outbox).unsent()
        return {"messages": [Unsent.of(spooled).model_dump(mode="json") for spooled in messages]}

    async def letter(request: Request, _: Caller) -> Any:
        key = request.path_params["key"]
        with _refusing():
            found = [spooled for spooled in await _existing(outbox).unsent() if spooled.message.key == key]
        if not found:
            raise Refusal(404, "no such notification", "no unsent notification has that id")
        return Letter.of(found[0]).model_dump(mode="json")

    async def retry(request: Request, caller: Caller) -> Any:
        letters = await read_body(request, Letters)
        with _refusing():
            count = await _existing(outbox).revive(letters.ids)
        _log.info("retrying dead letters", by=caller.name, messages=count)
        return {"revived": count}

    async def drop(request: Request, caller: Caller) -> Any:
        letters = await read_body(request, Letters)
        with _refusing():
            count = await _existing(outbox).drop(letters.ids)
        _log.info("dropping dead letters", by=caller.name, messages=count)
        return {"dropped": count}

    return [
        Route("/v1/notifications", endpoint("read", unsent), methods=["GET"]),
        Route("/v1/notifications/retry", endpoint("act", retry), methods=["POST"]),
        Route("/v1/notifications/drop", endpoint("act", drop), methods=["POST"]),
        Route("/v1/notifications/{key}/contents", endpoint("read", letter), methods=["GET"]),
    ]


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
