"""Simulated platform that alters its replies and refuses every change. Tests start it as a script."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.responses import JSONResponse

from cli.commands import environment
from livedeck.simulator import DEFAULT_TOKEN, Simulator

Json = dict[str, Any]


class Altered:
    """ASGI app around another one. `alter`: changes the document of a reply.

    `refuse`: returns the error for the next change.
    """

    def __init__(self, app: Any, alter: Callable[[Any], Any], refuse: Callable[[], Json]) -> None:
        self._app, self._alter, self._refuse = app, alter, refuse

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] in {"PUT", "POST", "PATCH", "DELETE"}:
            await JSONResponse({"error": self._refuse()}, 400)(scope, receive, send)
            return
        start: Json = {}
        body = b""

        async def keep(message: Any) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                content = self._altered(body)
                headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
                await send({**start, "headers": [*headers, (b"content-length", str(len(content)).encode())]})
                await send({"type": "http.response.body", "body": content})

        await self._app(scope, receive, keep if scope["type"] == "http" else send)

    def _altered(self, body: bytes) -> bytes:
        try:
            document = json.loads(body)
        except ValueError:
            return body
        return json.dumps(self._alter(document)).encode()


def serve(alter: Callable[[Any], Any], refuse: Callable[[], Json]) -> None:
    """Print the address and a token as JSON, and serve on a free port of loopback until the process ends."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(json.dumps({"base_url": address, "token": DEFAULT_TOKEN}), flush=True)  # noqa: T201
        app = Altered(Simulator(seed=1).app, alter, refuse)
        uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False)).run(sockets=[listener])


@contextmanager
def altered(home: Path, script: str) -> Iterator[dict[str, str]]:
    """Run a script of this folder as the platform. Yields the address and the token that it printed."""
    folder = Path(__file__).parent
    command = [sys.executable, str(folder / script)]
    env = environment(home)
    env["PYTHONPATH"] += f":{folder.parent}"
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()
