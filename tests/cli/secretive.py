"""A platform with a canary in every place for a secret, which repeats all of them in each refusal of a change.

    python secretive.py

Prints its address and a token as JSON, and serves until it is ended.
"""

from __future__ import annotations

import base64
import json
import socket
import sys
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.responses import JSONResponse

sys.path.insert(0, str(Path(__file__).parents[1]))

from livedeck.simulator import DEFAULT_TOKEN, Simulator

CANARY = "c4nary"
"""In each of them: what is searched for is this, in any spelling."""

SPELLINGS = (
    str,
    lambda text: quote(text, safe="").replace("c", "%63"),
    lambda text: json.dumps(text).replace("c", "\\u0063"),
)


def spellings() -> tuple[bytes, ...]:
    """The beginning of a canary as it stands in a text, escaped, in base64 and in hexadecimal digits."""
    aligned = (base64.b64encode(b" " * pad + CANARY.encode() + b"-").decode()[pad + 1 : pad + 6] for pad in range(3))
    plain = (CANARY, "%634nary", "\\u00634nary", CANARY.encode().hex(), *aligned)
    return tuple(text.encode() for text in plain)


class Secretive:
    """Over the simulated platform; each canary is another one, and all that were given out are repeated."""

    def __init__(self, app: Any) -> None:
        self._app, self._number, self._given = app, count(), list[str]()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] in {"PUT", "POST", "PATCH", "DELETE"}:
            repeated = [spell(text) for text in self._given[-6:] for spell in SPELLINGS]
            reasons = [{"name": "name", "reason": f"in use with {text}"} for text in repeated]
            encoded = base64.b64encode(json.dumps(self._given[-3:]).encode()).decode()
            error = {
                "code": 400400,
                "message": f"refused {' '.join(repeated[:4])} {encoded}",
                "invalid_params": reasons,
            }
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
                content = self._changed(body)
                headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
                await send({**start, "headers": [*headers, (b"content-length", str(len(content)).encode())]})
                await send({"type": "http.response.body", "body": content})

        await self._app(scope, receive, keep if scope["type"] == "http" else send)

    def _changed(self, body: bytes) -> bytes:
        try:
            document = json.loads(body)
        except ValueError:
            return body
        return json.dumps(self._value("", document)).encode()

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            changed = {key: self._value(key, item) for key, item in value.items()}
            return changed | ({"surprise": f"{CANARY}-that-nobody-knows-of"} if "id" in value else {})
        if isinstance(value, list):
            return [self._value(name, item) for item in value]
        if name in {"streamkey", "stream_key", "key"}:
            return self._canary()
        if isinstance(value, str) and "://" in value:
            return self._address(name, value)
        return value

    def _address(self, name: str, address: str) -> str:
        """With a user and parameters; the key of an ingest link in its path, too."""
        scheme, _, rest = address.partition("://")
        server, _, path = rest.partition("/")
        if name == "rtmp_link":
            path = f"live/{self._canary()}"
        query = f"{path}?pass={self._canary()}&sign={self._canary()}#{self._canary()}"
        return f"{scheme}://user:{self._canary()}@{server}/{query}"

    def _canary(self) -> str:
        text = f"{CANARY}-{next(self._number) % 5000:04}-of-the-platform-9f"
        self._given = [*self._given[-20:], text]
        return text


def main() -> None:
    """Serve it on a free port of loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(json.dumps({"base_url": address, "token": DEFAULT_TOKEN}), flush=True)  # noqa: T201
        config = uvicorn.Config(Secretive(Simulator(seed=1).app), log_level="critical", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
