"""Another token, once the platform refuses the one that is sent: its source is read again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from livedeck.client.http.errors import Misconfigured, Unauthorized
from livedeck.client.http.secrets import Secret

_PAUSE = 4.0
"""Seconds between two reads of the source: it may be a program that asks another machine."""


class TokenSource(Protocol):
    """Where the token came from. `advice`: which source that is and what to do, for a token that is refused."""

    advice: str

    async def read(self) -> Secret:
        """The token that it has now. Raises Misconfigured where it gives none."""


class TokenRenewal:
    """Reads the source, where there is one, again after a refusal; one read at a time, and the last one counts for all
    that share the connections. `timer`: seconds that never run backwards."""

    def __init__(self, source: TokenSource | None, token: Secret, timer: Callable[[], float]) -> None:
        self.token = token
        self._source, self._timer = source, timer
        self._read_at = float("-inf")
        self._error = ""
        self._lock = asyncio.Lock()

    async def renew(self, refused: Secret) -> bool:
        """Whether there is another token than the one that was refused."""
        async with self._lock:
            if self._source and self.token == refused and self._timer() - self._read_at >= _PAUSE:
                self._read_at = self._timer()
                try:
                    self.token, self._error = await self._source.read(), ""
                except Misconfigured as error:
                    self._error = str(error)
            return self.token != refused

    def explain(self, error: Unauthorized) -> Unauthorized:
        """The refusal with what to do about the source."""
        if self._source is None:
            return error
        text = f"{self._error or self._source.advice} (the platform refused the token: {error})"
        return Unauthorized(text, status=error.status, code=error.code, message=error.message, detail=error.detail)
