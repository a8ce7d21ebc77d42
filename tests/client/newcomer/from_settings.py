"""The events of the platform that the settings name."""

import asyncio
import sys

from livedeck.client import Api, ApiError
from livedeck.connect import connect


async def names(api: Api) -> list[str]:
    async with api:
        return [event.name or "" async for event in api.events.iterate(order="name.asc")]


try:
    found = asyncio.run(names(connect(read_only=True)))
except ApiError as error:
    sys.exit(str(error))
print(len(found), found == sorted(found), len(set(found)) > 1)
