"""What an answer says, in one word each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from functools import cache
from typing import Any, TypeAlias

import httpx

from livedeck.simulator import Simulator, api
from livedeck.simulator.app import openapi_document
from simulator.description import Description

Row: TypeAlias = dict[str, Any]
NOBODY = "00000000-0000-4000-8000-000000000000"
"""A UUID that nothing has."""


def asking(service: Simulator, token: str) -> httpx.AsyncClient:
    """A client of that service, in process. Every answer but those of faults is held against the description."""

    async def hold(answer: httpx.Response) -> None:
        await answer.aread()
        if "simulated fault" not in answer.text:
            description().check(answer)

    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=service.app),
        base_url="http://platform.test",
        headers={"Authorization": f"Bearer {token}"},
        event_hooks={"response": [hold]},
    )


@cache
def description() -> Description:
    """What the service says of itself."""
    return Description(openapi_document(api.ENDPOINTS))


async def slowly(body: bytes, meanwhile: Awaitable[object]) -> AsyncIterator[bytes]:
    """A body in two halves, and what happens between them."""
    yield body[:1]
    await meanwhile
    yield body[1:]


def data(answer: httpx.Response) -> Any:
    """The data of a success."""
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def refused(answer: httpx.Response) -> tuple[int, int]:
    """The status and the code of a refusal."""
    body = answer.json()
    assert list(body) == ["error"], body
    return answer.status_code, body["error"]["code"]


def named(answer: httpx.Response) -> list[str]:
    """The parameters that a 400400 names."""
    assert refused(answer) == (400, 400400), answer.text
    return [fault["name"] for fault in answer.json()["error"]["invalid_params"]]
