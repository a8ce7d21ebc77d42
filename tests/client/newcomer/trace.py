"""Numbers and durations of all requests, by hooks."""

import asyncio
import os
import sys
from collections import defaultdict

from livedeck.client import Api, NotFound, RequestRecord, ResponseRecord

seconds: dict[str, list[float]] = defaultdict(list)
sent: list[RequestRecord] = []


def note(record: ResponseRecord) -> None:
    seconds[f"{record.request.operation} {record.status or record.fault}"].append(record.seconds)


async def main() -> None:
    api = Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"], on_request=sent.append, on_response=note)
    try:
        for event in await api.events.list(per_page=3):
            await api.qos.get(event.id)
        try:
            await api.rooms.get("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10")
        except NotFound:
            pass
        if api.last_response:
            print(api.last_response.status, bool(api.last_response.request_id))
    finally:
        await api.aclose()
    for name, times in sorted(seconds.items()):
        print(f"{name}: {len(times)}, {max(times) < 60}")
    print(len(sent), {record.headers["authorization"] for record in sent})


asyncio.run(main())
