"""Headless tab of Chromium, driven over the pipe of its DevTools protocol, for pages that never finish loading."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-component-update",
    "--disable-background-networking", "--remote-debugging-pipe",
)  # fmt: skip


class Tab:
    """Tab of a browser. Every call is bounded in time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers, self._session = count(1), ""

    async def begin(self) -> None:
        """Open an empty page."""
        target = await self._call("Target.createTarget", url="about:blank")
        attached = await self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]

    async def open(self, address: str) -> None:
        """Open an address."""
        await self._call("Page.navigate", url=address)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of a script after its promise is resolved."""
        answer = await self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def wait_for(self, expression: str) -> Any:
        """Wait until a script has a value, and return the value."""
        step = f"new Promise((done) => {{ const look = () => {{ const is = {expression}; "
        again = "(Array.isArray(is) ? is.length : is) ? done(is) : setTimeout(look, 50); }; look(); })"
        return await self.evaluate(step + again)

    async def frame_addresses(self) -> list[str]:
        """Return the current addresses of the frames of the page."""
        targets = (await self._call("Target.getTargets", filter=[{"type": "iframe"}]))["targetInfos"]
        tree = (await self._call("Page.getFrameTree"))["frameTree"]
        inside = [child["frame"]["url"] for child in tree.get("childFrames", ())]
        return [*inside, *(target["url"] for target in targets)]

    async def _call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        session = {"sessionId": self._session} if self._session else {}
        self._writer.write(json.dumps({"id": number, "method": method, "params": params, **session}).encode() + b"\0")
        while True:
            message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
            if message.get("id") == number:
                assert "result" in message, message
                return message["result"]


@asynccontextmanager
async def browser(home: Path) -> AsyncIterator[Tab]:
    """Yield the tab of a browser that runs for at most a minute and keeps its files in `home`."""
    commands, ours_out = os.pipe()
    ours_in, answers = os.pipe()
    script = f'exec "$@" 3</dev/fd/{commands} 4>/dev/fd/{answers}'  # where chromium looks for them
    command = ["sh", "-c", script, "sh", str(CHROMIUM), *_FLAGS, f"--user-data-dir={home / 'browser'}"]
    process = await asyncio.create_subprocess_exec(
        *command, pass_fds=(commands, answers), stderr=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    os.close(commands)
    os.close(answers)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**24)
    protocol = asyncio.StreamReaderProtocol(reader)
    incoming, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(ours_in, "rb", 0))
    outgoing, _ = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(ours_out, "wb", 0))
    try:
        async with asyncio.timeout(60):
            tab = Tab(reader, asyncio.StreamWriter(outgoing, protocol, reader, loop))
            await tab.begin()
            yield tab
    finally:
        outgoing.close()
        incoming.close()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
