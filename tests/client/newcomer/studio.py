"""A meeting room that relays: made, changed, and ended."""

import asyncio
import os
import sys

from livedeck.client import Api, Rejected, RelayDraft, RelayFields, RelayRunning, Room, Rooms, Secret


async def find(rooms: Rooms, name: str) -> Room | None:
    async for room in rooms.iterate(q=name):
        if room.name == name:
            return room
    return None


async def main() -> None:
    async with Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"]) as api:
        relay = RelayDraft(name="CDN", url="rtmp://live.example/app", stream_key=Secret("a-key-of-the-cdn"))
        try:
            await api.rooms.create(owner_id="4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10", name="Studio", restreams=[relay])
        except Rejected as error:
            print("refused:", error.status, error.code, bool(error.body), bool(error.headers))
        rooms = [room async for room in api.rooms.iterate(order="name.asc") if room.restreams]
        room = rooms[0]
        print(await find(api.rooms, room.name or "") == room, api.service_of("rtmp://live.example/app"))
        changes: RelayFields = {"name": "Backup", "stream_key": "another-key-of-the-cdn"}
        for profile in room.restreams or ():
            try:
                changed = await api.relays.update(room.id, profile.id, **changes)
            except RelayRunning as error:
                print("it is running:", error.code)
            else:
                print(changed.name, changed.stream_key)
        await api.rooms.delete(room.id)


asyncio.run(main())
