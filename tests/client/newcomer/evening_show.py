"""A show from nothing to its end."""

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta

from livedeck.client import Api, Conflict, EventRestreamDraft, Secret, Unknown


async def main() -> None:
    async with Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"]) as api:
        show = await api.events.create(
            name="Evening show",
            type="one-time",
            chat_active=True,
            reconnect_window=300,
            video={"presets": ["720p", "1080p"]},
            restreams=[EventRestreamDraft(name="CDN", url="rtmp://live.example/app", key=Secret("a-key-of-the-cdn"))],
        )
        await api.streams.schedule(show.id, datetime.now(UTC) + timedelta(hours=1))
        show = await api.events.update(show.id, name="Evening show, live")
        try:
            await api.events.enable(show.id)
        except Unknown:
            show = await api.events.get(show.id)
        await api.events.complete(show.id)
        try:
            await api.events.enable(show.id)
        except Conflict as error:
            print("refused:", error.status, error.message)
        for restream in show.restreams or ():
            print(restream.name, restream.url, restream.key)
        await api.events.delete(show.id)
        print("done:", show.name)


asyncio.run(main())
