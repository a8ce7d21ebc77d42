"""Script without a line of asyncio of its own."""

import asyncio
import os
import sys

from livedeck.client import Api, ApiError, collect

with asyncio.Runner() as runner:
    api = Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"])
    page = runner.run(api.events.list(per_page=4))
    print(len(page), page.total)
    for room in runner.run(collect(api.rooms.iterate())):
        print(room.name)
    try:
        runner.run(api.events.delete("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"))
    except ApiError as error:
        print(error.status)
    runner.run(api.aclose())
