"""Platform with a canary in every place for a secret. It repeats the newest canaries in each refusal of a change."""

from __future__ import annotations

import base64
import json
from collections import deque
from itertools import count
from typing import Any
from urllib.parse import quote

from cli.altered import Json, serve

CANARY = "c4nary"
"""Beginning of every canary. Tests search for it in any spelling."""

SPELLINGS = (
    str,
    lambda text: quote(text, safe="").replace("c", "%63"),
    lambda text: json.dumps(text).replace("c", "\\u0063"),
)


def spellings() -> tuple[bytes, ...]:
    """Return the spellings of a canary's beginning: plain, cut, escaped, in base64 and in hexadecimal digits."""
    aligned = (base64.b64encode(b" " * pad + CANARY.encode() + b"-").decode()[pad + 1 : pad + 6] for pad in range(3))
    plain = (CANARY, f"{CANARY[:3]}…", "%634nary", "\\u00634nary", CANARY.encode().hex(), *aligned)
    return tuple(text.encode() for text in plain)


_numbers = count()
_given: deque[str] = deque(maxlen=6)
"""Canaries that were given out last."""


def alter(value: Any, name: str = "") -> Any:
    """Return the value with a new canary in each place for a secret, and with an undocumented field in each object."""
    if isinstance(value, dict):
        altered = {key: alter(item, key) for key, item in value.items()}
        return altered | ({"surprise": f"{CANARY}-that-nobody-knows-of"} if "id" in value else {})
    if isinstance(value, list):
        return [alter(item, name) for item in value]
    if name in {"streamkey", "stream_key", "key"}:
        return _canary()
    if isinstance(value, str) and "://" in value:
        return _address(name, value)
    return value


def refuse() -> Json:
    """Return a refusal that repeats the newest canaries in every spelling."""
    repeated = [spell(text) for text in _given for spell in SPELLINGS]
    reasons = [{"name": "name", "reason": f"in use with {text}"} for text in repeated]
    encoded = base64.b64encode(json.dumps([*_given][-3:]).encode()).decode()
    return {"code": 400400, "message": f"refused {' '.join(repeated[:4])} {encoded}", "invalid_params": reasons}


def _address(name: str, address: str) -> str:
    """Return the address with a user and parameters, and with a key in the path of an ingest link."""
    scheme, _, rest = address.partition("://")
    server, _, path = rest.partition("/")
    if name == "rtmp_link":
        path = f"live/{_canary()}"
    query = f"{path}?pass={_canary()}&sign={_canary()}#{_canary()}"
    return f"{scheme}://user:{_canary()}@{server}/{query}"


def _canary() -> str:
    text = f"{CANARY}-{next(_numbers) % 5000:04}-of-the-platform-9f"
    _given.append(text)
    return text


if __name__ == "__main__":
    serve(alter, refuse)
