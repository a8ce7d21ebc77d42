"""Platform with hostile data: payloads in every text, and a refusal of every change."""

from __future__ import annotations

import re
from itertools import count
from typing import Any
from zlib import crc32

from cli.altered import Json, serve
from payloads import HIDDEN, SEQUENCES

PAYLOADS = (*SEQUENCES.values(), *HIDDEN.values())

FACTS = re.compile(
    r"id|.*_id|.*_at|time|type|from|to|begin|end|(play|rtmp)_link|stream_?key|latency_mode|code|quality|url|key"
)
"""Names of fields that programs read and no person words."""

STATES = {"pending", "live", "finished", "done", "active", "inactive", "connected", "disconnected", "error"}


_numbers = count()


def alter(value: Any, name: str = "") -> Any:
    """Return the value with a payload of its own for each text, always the same one."""
    if isinstance(value, dict):
        return {key: alter(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [alter(item, name) for item in value]
    is_word = isinstance(value, str) and not FACTS.fullmatch(name) and value not in STATES and "://" not in value
    return f"{value} {PAYLOADS[crc32(f'{name}{value}'.encode()) % len(PAYLOADS)]}" if is_word else value


def refuse() -> Json:
    """Return a refusal with a payload in every text, the next payloads each time."""
    reasons = [{"name": name, "reason": _payload()} for name in ("name", "title", "other")]
    return {"code": 400400, "message": f"refused {_payload()}", "invalid_params": reasons}


def _payload() -> str:
    return PAYLOADS[next(_numbers) % len(PAYLOADS)]


if __name__ == "__main__":
    serve(alter, refuse)
