"""Test a function of a script without a platform."""

import asyncio

import httpx

from livedeck.client import Api, NotFound


async def title(api: Api, event_id: str) -> str:
    try:
        return (await api.events.get(event_id)).name or "untitled"
    except NotFound:
        return "gone"


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("/e1"):
        return httpx.Response(200, json={"data": {"id": "e1", "name": "Show"}})
    return httpx.Response(400, json={"error": {"code": 400404, "message": "not found"}})


async def main() -> None:
    transport = httpx.MockTransport(answer)
    async with Api(base_url="https://platform.example", token="any", http_transport=transport) as api:
        print(await title(api, "e1"), await title(api, "e2"))


asyncio.run(main())
