"""New samples of the first event on air, for some seconds."""

import asyncio
import os
import sys

from livedeck.client import Api


async def main() -> None:
    async with Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"]) as api:
        events = [event async for event in api.events.iterate()]
        live = next(event for event in events if event.stream and event.stream.status == "live")
        count = 0
        async for sample in api.qos.watch(live.id, interval=0.5):
            rate = "-" if sample.bitrate_video is None else f"{sample.bitrate_video / 1000:.0f} kbit/s"
            print(sample.time.isoformat(), rate, sample.status)
            count += 1
            if count == 3:
                break


asyncio.run(main())
