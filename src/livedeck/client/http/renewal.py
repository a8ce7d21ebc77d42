"""Renews a refused token by reading its source again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from livedeck.client.http.errors import Misconfigured, Unauthorized
from livedeck.client.http.secrets import Secret

_PAUSE = 4.0
"""Seconds between two reads of the source, which may be a program that queries another machine."""


class TokenSource(Protocol):
    """Source of the token. `advice`: its name and the remedy for a refused token, in words."""

    advice: str

    async def read(self) -> Secret:
        """Return the current token. Raises Misconfigured if there is none."""


class TokenRenewal:
    """Renewal of a refused token, for every client that shares the connections.

    Args:
        source: The source; None if the token cannot be renewed.
        token: Current token.
        timer: Clock in seconds that never runs backwards.
    """

    def __init__(self, source: TokenSource | None, token: Secret, timer: Callable[[], float]) -> None:
        self.token = token
        self._source, self._timer = source, timer
        self._read_at = float("-inf")
        self._error = ""
        self._lock = asyncio.Lock()

    async def renew(self, refused: Secret) -> bool:
        """Read the source again if needed. Returns whether the current token differs from the refused one."""
        async with self._lock:
            if self._source and self.token == refused and self._timer() - self._read_at >= _PAUSE:
                self._read_at = self._timer()
                try:
                    self.token, self._error = await self._source.read(), ""
                except Misconfigured as error:
                    self._error = str(error)
            return self.token != refused

    def explain(self, error: Unauthorized) -> Unauthorized:
        """Return the error with a new text: what the user can do, then the error's own text in brackets.

        If the last read of the token's source failed, its reason replaces the advice. An error that may not be from the
        platform stays unchanged, because it proves nothing about the token.
        """
        if self._source is None or not error.is_documented:
            return error
        text = f"{self._error or self._source.advice} ({str(error).removesuffix(f'; {error.advice}')})"
        explained = Unauthorized(text, status=error.status, code=error.code, message=error.message, detail=error.detail)
        return explained.with_response_of(error)
