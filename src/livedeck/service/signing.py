"""Signed addresses: `expires` and `sign` open them without a token, until then (platform-api.md, 5)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from livedeck.service.errors import forbidden
from livedeck.service.exchange import Call
from livedeck.service.world import World

GOOD_FOR = 600
"""Seconds that a signed address works, by the service's clock."""


def signed(call: Call, path: str) -> str:
    """That path of ours as an address that works for a while."""
    expires = int(call.world.now()) + GOOD_FOR
    return f"{call.origin}{path}?expires={expires}&sign={_sign(call.world, path, str(expires))}"


def check(call: Call) -> None:
    """Raises the documented refusal where the address was tampered with, or its time is over."""
    given: Mapping[str, str] = call.request.query_params
    expires, sign = given.get("expires", ""), given.get("sign", "")
    right = _sign(call.world, call.request.url.path, expires)
    if not hmac.compare_digest(sign.encode(), right.encode()) or int(expires) < call.world.now():
        raise forbidden()


def _sign(world: World, path: str, expires: str) -> str:
    return hmac.digest(world.secret(), f"{path}\n{expires}".encode(), "sha256").hex()
