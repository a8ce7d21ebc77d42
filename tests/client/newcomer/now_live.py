"""The events on air, with their newest bit rate."""

import asyncio
import os
import sys

from livedeck.client import Api, Event, Qos


async def rate(qos: Qos, event: Event) -> str:
    samples = await qos.get(event.id)
    newest = samples.newest
    if newest is None or newest.bitrate_video is None:
        return "no rate"
    lossy = sum(sample.status == 5 for sample in samples[-60:])
    return f"{newest.bitrate_video / 1e6:.1f} Mbit/s at {newest.time:%H:%M:%S}, packet loss in {lossy} samples"


async def main(base_url: str, token: str) -> None:
    async with Api(base_url=base_url, token=token) as api:
        live = [event async for event in api.events.iterate() if event.stream and event.stream.status == "live"]
        rates = await asyncio.gather(*(rate(api.qos, event) for event in live))
        for event, text in zip(live, rates, strict=True):
            print(f"{event.name}: {text}")
        print(len(live), "on air")


asyncio.run(main(sys.argv[1], os.environ["LIVEDECK_TOKEN"]))
