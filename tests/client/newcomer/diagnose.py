"""Show the response behind an error."""

import asyncio
import os
import sys

from livedeck.client import Api, ApiError, NotFound, ReadOnly, Rejected, Unreachable


def explain(error: ApiError) -> str:
    match error:
        case NotFound():
            return f"not there ({error.status}, request {error.request_id or 'without id'})"
        case Rejected():
            return f"refused with {error.status} {error.code}: {error.message}"
        case Unreachable(cause=cause):
            return f"no answer: {cause}"
        case _:
            return type(error).__name__


async def main(base_url: str, token: str) -> None:
    async with Api(base_url=base_url, token=token, read_only=True, retry=0) as api:
        for call in (
            api.events.get("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"),
            api.events.list(order="colour.asc"),
            api.events.enable("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"),
        ):
            try:
                await call
            except ReadOnly as error:
                print(error)
            except ApiError as error:
                print(explain(error), error.headers.get("content-type"), error.body)
    async with Api(base_url="http://127.0.0.1:9", token=token, retry=0) as api:
        try:
            await api.events.list()
        except ApiError as error:
            print(explain(error))


asyncio.run(main(sys.argv[1], os.environ["LIVEDECK_TOKEN"]))
