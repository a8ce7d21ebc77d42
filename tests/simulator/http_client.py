"""Clients of a simulator in process, and functions that read its replies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any, TypeAlias

import httpx

from livedeck.simulator import Simulator, api
from livedeck.simulator.openapi import openapi_document
from simulator.openapi_checker import OpenApiChecker

Row: TypeAlias = dict[str, Any]
FindEvent: TypeAlias = Callable[[str], Awaitable[Row]]
Samples: TypeAlias = Callable[[str], Awaitable[list[Row]]]
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
"""UUID without an object."""


def client_for(simulator: Simulator, token: str) -> httpx.AsyncClient:
    """Return a client of the simulator, in process.

    Every reply without a fault is checked against the OpenAPI document.
    """

    async def check(answer: httpx.Response) -> None:
        await answer.aread()
        if "simulated fault" not in answer.text:
            openapi_checker().check(answer)

    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=simulator.app),
        base_url="http://platform.test",
        headers={"Authorization": f"Bearer {token}"},
        event_hooks={"response": [check]},
    )


@cache
def openapi_checker() -> OpenApiChecker:
    """Return the checker of the simulator's own document."""
    return OpenApiChecker(openapi_document(api.ENDPOINTS))


async def in_halves(body: bytes, meanwhile: Awaitable[object]) -> AsyncIterator[bytes]:
    """Yield a body in two parts, and wait for something between them."""
    yield body[:1]
    await meanwhile
    yield body[1:]


def data(answer: httpx.Response) -> Any:
    """Return the data of a success."""
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def error_of(answer: httpx.Response) -> tuple[int, int]:
    """Return the status and the code of an error."""
    body = answer.json()
    assert list(body) == ["error"], body
    return answer.status_code, body["error"]["code"]


def invalid_names(answer: httpx.Response) -> list[str]:
    """Return the parameters that a 400400 names."""
    assert error_of(answer) == (400, 400400), answer.text
    return [parameter["name"] for parameter in answer.json()["error"]["invalid_params"]]
