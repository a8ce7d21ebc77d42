"""Subtitles of the first recording: upload one, order all, remove it again."""

import asyncio
import os
import sys

from livedeck.client import Api, Invalid, Subtitles

VTT = b"WEBVTT\n\n00:01.000 --> 00:02.500\nGood evening\n"


async def languages(subtitles: Subtitles, video_id: str) -> list[str]:
    return [track.language or "?" async for track in subtitles.iterate(video_id, order="position.asc")]


async def main(base_url: str, token: str) -> None:
    async with Api(base_url=base_url, token=token) as api:
        async for event in api.events.iterate():
            page = await api.events.videos(event.id, per_page=1)
            if page:
                break
        else:
            sys.exit("no recording")
        video_id = page[0].id
        print(await languages(api.subtitles, video_id))
        track = await api.subtitles.upload(video_id, "fr", "Spoken", VTT)
        track = await api.subtitles.update(video_id, track.id, description="As spoken")
        ids = [each.id async for each in api.subtitles.iterate(video_id)]
        await api.subtitles.reorder(video_id, [track.id, *(each for each in ids if each != track.id)])
        print(await languages(api.subtitles, video_id), track.description)
        try:
            await api.subtitles.upload(video_id, "fr", "", b"no subtitles")
        except Invalid as error:
            print(error.field, error.limit)
        await api.subtitles.delete(video_id, track.id)


asyncio.run(main(sys.argv[1], os.environ["LIVEDECK_TOKEN"]))
