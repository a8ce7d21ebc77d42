"""A platform of which somebody else has named everything: payloads in every word, and a refusal of every change.

    python hostile.py

Prints its address and a token as JSON, and serves until it is ended.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import uvicorn
from starlette.responses import JSONResponse

sys.path.insert(0, str(Path(__file__).parents[1]))

from livedeck.simulator import DEFAULT_TOKEN, Simulator
from payloads import HIDDEN, SEQUENCES

PAYLOADS = (*SEQUENCES.values(), *HIDDEN.values())

FACTS = re.compile(
    r"id|.*_id|.*_at|time|type|from|to|begin|end|(play|rtmp)_link|stream_?key|latency_mode|code|quality|url|key"
)
"""Names of what no person words; a program goes by them."""

STATES = {"pending", "live", "finished", "done", "active", "inactive", "connected", "disconnected", "error"}


class Hostile:
    """Over the simulated platform. Each word has a payload of its own, always the same."""

    def __init__(self, app: Any) -> None:
        self._app, self._number = app, count()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] in {"PUT", "POST", "PATCH", "DELETE"}:
            reasons = [{"name": name, "reason": self._payload()} for name in ("name", "title", "other")]
            error = {"code": 400400, "message": f"refused {self._payload()}", "invalid_params": reasons}
            await JSONResponse({"error": error}, 400)(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = b""

        async def keep(message: Any) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                content = self._renamed(body)
                headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
                await send({**start, "headers": [*headers, (b"content-length", str(len(content)).encode())]})
                await send({"type": "http.response.body", "body": content})

        await self._app(scope, receive, keep if scope["type"] == "http" else send)

    def _renamed(self, body: bytes) -> bytes:
        try:
            document = json.loads(body)
        except ValueError:
            return body
        return json.dumps(self._value("", document)).encode()

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._value(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(name, item) for item in value]
        is_word = isinstance(value, str) and not FACTS.fullmatch(name) and value not in STATES and "://" not in value
        return f"{value} {PAYLOADS[crc32(f'{name}{value}'.encode()) % len(PAYLOADS)]}" if is_word else value

    def _payload(self) -> str:
        return PAYLOADS[next(self._number) % len(PAYLOADS)]


def main() -> None:
    """Serve it on a free port of loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(json.dumps({"base_url": address, "token": DEFAULT_TOKEN}), flush=True)  # noqa: T201
        config = uvicorn.Config(Hostile(Simulator(seed=1).app), log_level="critical", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
