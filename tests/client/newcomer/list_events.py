"""Every event with its planned start, and how many there are of each type."""

import asyncio
import os
import sys
from collections import Counter

from livedeck.client import Api, ApiError


async def main() -> None:
    async with Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"], read_only=True) as api:
        types = Counter[str]()
        async for event in api.events.iterate(order="created_at.desc"):
            start = event.scheduled.time if event.scheduled else None
            print(event.id, start.isoformat() if start else "not planned", event.name)
            types[event.type or "unknown"] += 1
        print(dict(types))


try:
    asyncio.run(main())
except ApiError as error:
    sys.exit(str(error))
