"""The chat of every live event that has one, as CSV for a spreadsheet."""

import asyncio
import os
import sys
from pathlib import Path

from livedeck.client import Api, ApiError, ChatExport, ExportProgress, MessageFilter


def show(progress: ExportProgress) -> None:
    print(progress.received, "bytes", file=sys.stderr if progress.messages is None else sys.stdout)


async def main() -> None:
    async with Api(base_url=sys.argv[1], token=os.environ["LIVEDECK_TOKEN"]) as api:
        async for event in api.events.iterate():
            if not (event.chat_active and event.stream and event.stream.id and event.stream.status == "live"):
                continue
            target = Path(f"{event.id}.csv")
            export = ChatExport(event.id, event.stream.id, "csv", safe_csv=True)
            result = await api.chat.export(export, target, progress=show)
            print(result.messages, "messages,", target.stat().st_size, "bytes")
            admins = ChatExport(event.id, event.stream.id, filter=MessageFilter(admins=True))
            result = await api.chat.export(admins, Path("admins.json"), replace=True, progress=lambda it: it.rate)
            async for message in api.chat.messages(event.id, event.stream.id):
                print(message.created_at, message.username, message.by_admin)
                break


try:
    asyncio.run(main())
except ApiError as error:
    sys.exit(str(error))
