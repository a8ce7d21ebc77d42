"""Slides beside the first recording: upload, rename, download, delete."""

import asyncio
import os
import sys
from pathlib import Path

from livedeck.client import Api, Recording


async def first_recording(api: Api) -> Recording:
    async for event in api.events.iterate():
        async for recording in api.events.iterate_videos(event.id):
            return recording
    sys.exit("no recording")


def show(received: int, size: int | None) -> None:
    print(f"received {received} of {size or 'unknown'}")


async def main(base_url: str, upload_url: str) -> None:
    async with Api(base_url=base_url, upload_url=upload_url, token=os.environ["LIVEDECK_TOKEN"]) as api:
        recording = await first_recording(api)
        slides = Path("slides.pdf")
        slides.write_bytes(b"%PDF-1.7 " + bytes(300_000))
        material = await api.materials.upload(recording.id, slides, slides.name, "Slides", progress=print)
        if material is None:
            sys.exit("uploaded, but the platform did not say under which id")
        material = await api.materials.rename(material.id, "All slides")
        link = await api.materials.link(material.id)
        size = await api.cdn.save(link, "copy.pdf", "save slides", progress=show)
        print(material.title, size == slides.stat().st_size, link)
        await api.materials.delete(material.id)


asyncio.run(main(sys.argv[1], sys.argv[2]))
