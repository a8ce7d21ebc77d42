"""Simulator in a thread of its own, for callers that block: test frameworks and scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from threading import Thread
from types import TracebackType

from starlette.types import Message, Receive, Scope, Send

from livedeck.simulator.control_client import Platform
from livedeck.simulator.server import serve
from livedeck.simulator.simulator import Simulator


class ThreadedSimulator:
    """Simulator on a free port of this machine, in a thread with its own event loop, until `close` or a `with` ends.

    Raises whatever `make` raises, such as SimulatorError. `make` is called in that thread.
    """

    def __init__(self, make: Callable[[], Simulator] = Simulator, *, port: int = 0) -> None:
        self._begun: Future[Platform] = Future()
        self._make = make
        self._port = port
        self._thread = Thread(target=self._run, name="livedeck simulator", daemon=True)
        self._thread.start()
        self.platform = self._begun.result()

    def __enter__(self) -> ThreadedSimulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, then the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve as an ASGI app in the caller's event loop; the simulator works in its own."""
        here = asyncio.get_running_loop()

        async def receive_here() -> Message:
            return await receive()

        async def send_here(message: Message) -> None:
            await send(message)

        async def receive_there() -> Message:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(receive_here(), here))

        async def send_there(message: Message) -> None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(send_here(message), here))

        answer = self._simulator.app(scope, receive_there, send_there)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answer, self._loop))

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._begun.done():
                raise
            self._begun.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        with closing(self._make()) as self._simulator:
            async with serve(self._simulator, port=self._port) as addresses:
                token = self._simulator.control_token
                attached = asyncio.to_thread(Platform.attach, addresses.control_url, token, app=self.app)
                self._begun.set_result(await attached)
                await self._ended.wait()
