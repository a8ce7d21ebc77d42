"""Routes for unsent notifications (collector.md, "Routes")."""

from __future__ import annotations

from typing import Any, Protocol

from starlette.requests import Request
from starlette.routing import Route

from livedeck.collector.protocol.commands import Body
from livedeck.collector.protocol.unsent import Unsent
from livedeck.collector.serving.endpoints import Caller, Refusal, endpoint, read_body
from livedeck.log import Log
from livedeck.notify import Spooled, SpoolError
from livedeck.text.secrets import masked_line

_log = Log("livedeck.collector")


class Outbox(Protocol):
    """Interface of the sender of notifications."""

    async def unsent(self) -> tuple[Spooled, ...]:
        """Return the messages that wait or were given up. Raises SpoolError."""

    async def revive(self) -> int:
        """Make the given-up messages wait again, and return their number. Raises SpoolError."""


def routes(outbox: Outbox | None) -> list[Route]:
    """Return the routes of unsent notifications. `outbox`: None if this collector sends none."""

    async def unsent(_: Request, __: Caller) -> Any:
        try:
            messages = await _existing(outbox).unsent()
        except SpoolError as error:
            raise _refusal_of(error) from None
        return {"messages": [Unsent.of(spooled).model_dump(mode="json") for spooled in messages]}

    async def retry(request: Request, caller: Caller) -> Any:
        await read_body(request, Body)
        try:
            count = await _existing(outbox).revive()
        except SpoolError as error:
            raise _refusal_of(error) from None
        _log.info("retrying notifications that were given up", by=caller.name, messages=count)
        return {"revived": count}

    return [
        Route("/v1/notifications", endpoint("read", unsent), methods=["GET"]),
        Route("/v1/notifications/retry", endpoint("act", retry), methods=["POST"]),
    ]


def _existing(outbox: Outbox | None) -> Outbox:
    """Return the outbox. Raises Refusal if there is none."""
    if outbox is None:
        raise Refusal(503, "no notifications", "this collector sends no notifications")
    return outbox


def _refusal_of(error: SpoolError) -> Refusal:
    return Refusal(503, "no spool", masked_line(str(error), 300))
