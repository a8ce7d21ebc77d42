"""Where the client begins: one attribute for each chapter of the document."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from livedeck.client.errors import Misconfigured
from livedeck.client.events import Events
from livedeck.client.qos import Qos
from livedeck.client.secret import Secret
from livedeck.client.transport import Exchange, Mount, Transport, origin


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Api:
    """The platform of platform-api.md, to be used as `async with Api(...) as api`.

    `base_url`, `upload_url` (None: the same): https, or http to this machine only. `read_only`: every change raises
    ReadOnly and is not sent. `meet_segment`: the path segment of the meeting product. `timeout`: seconds for connecting
    and for every silence; a whole exchange takes at most twice that. `now`: the wall clock, aware. `mount`: an ASGI app
    to talk to in place of a socket. Raises Misconfigured for an address or a token that cannot be used.
    """

    def __init__(
        self,
        *,
        base_url: str,
        token: str | Secret,
        upload_url: str | None = None,
        read_only: bool = False,
        meet_segment: str = "meet",
        timeout: float = 4.0,
        now: Callable[[], datetime] = _utc_now,
        mount: Mount | None = None,
    ) -> None:
        base = origin("base_url", base_url)
        origin("upload_url", base_url if upload_url is None else upload_url)
        if not meet_segment.replace("-", "").isalnum():
            raise Misconfigured("meet_segment should be one segment of a path")
        secret = token if isinstance(token, Secret) else Secret(token)
        self._transport = Transport(base, secret, read_only=read_only, timeout=timeout, now=now, mount=mount)
        self.events = Events(self._transport)
        self.qos = Qos(self._transport)

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        return self._transport.read_only

    @property
    def host(self) -> str:
        """Whom it talks to: `127.0.0.1:8787`."""
        return self._transport.host

    @property
    def exchanges(self) -> deque[Exchange]:
        """The last five answers, newest last."""
        return self._transport.exchanges

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()
