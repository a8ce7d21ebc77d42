"""What waits to be sent and what was given up, for who is attached (collector.md, "Routes")."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import structlog
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.routing import Route

from livedeck.collector.attached.link import CollectorError
from livedeck.collector.commands import Body
from livedeck.collector.endpoints import Caller, Refusal, endpoint, read_body
from livedeck.notify import Spooled, SpoolError
from livedeck.text.secrets import masked_line

_log = structlog.get_logger("livedeck.collector")


class Unsent(BaseModel, frozen=True):
    """A message that is not sent: to whom, by names of the settings and never an address; `state`:
    `waiting` or `dead`; `answer`: what the receiver said last."""

    at: datetime
    route: str
    target: str
    title: str
    state: str
    tries: int
    answer: str

    @classmethod
    def of(cls, spooled: Spooled) -> Unsent:
        """As it is told."""
        message = spooled.message
        return cls(
            at=message.at,
            route=message.route,
            target=message.target,
            title=masked_line(message.title, 120),
            state=spooled.state,
            tries=spooled.tries,
            answer=masked_line(spooled.answer, 300),
        )


class Outbox(Protocol):
    """Whoever sends."""

    async def unsent(self) -> tuple[Spooled, ...]:
        """What waits, and what was given up. Raises SpoolError."""

    async def revive(self) -> int:
        """Have what was given up tried again; how many those are. Raises SpoolError."""


def routes(outbox: Outbox | None) -> list[Route]:
    """The routes of what is not sent. `outbox`: None where nobody is told of anything."""

    async def unsent(_: Request, __: Caller) -> Any:
        try:
            messages = await _there(outbox).unsent()
        except SpoolError as error:
            raise _fault(error) from None
        return {"messages": [Unsent.of(spooled).model_dump(mode="json") for spooled in messages]}

    async def retry(request: Request, caller: Caller) -> Any:
        await read_body(request, Body)
        try:
            count = await _there(outbox).revive()
        except SpoolError as error:
            raise _fault(error) from None
        _log.info("messages that were given up are tried again", by=caller.name, messages=count)
        return {"revived": count}

    return [
        Route("/v1/notifications", endpoint("read", unsent), methods=["GET"]),
        Route("/v1/notifications/retry", endpoint("act", retry), methods=["POST"]),
    ]


def parse_unsent(values: Mapping[str, Any]) -> list[Unsent]:
    """What the first of them answers. Raises CollectorError."""
    try:
        return TypeAdapter(list[Unsent]).validate_python(values.get("messages"))
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise CollectorError(f"the collector answers otherwise than this deck understands: {reason}") from None


def _there(outbox: Outbox | None) -> Outbox:
    """Raises Refusal."""
    if outbox is None:
        raise Refusal(503, "no notifications", "this collector tells nobody")
    return outbox


def _fault(error: SpoolError) -> Refusal:
    return Refusal(503, "no spool", masked_line(str(error), 300))
