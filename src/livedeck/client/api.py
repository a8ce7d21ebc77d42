"""The client: one attribute for each resource of the document."""

from __future__ import annotations

import asyncio
import copy
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import random
from time import perf_counter
from types import TracebackType
from typing import Self

from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.renewal import TokenSource
from livedeck.client.http.request import ResponseTiming, check_base_url
from livedeck.client.http.request_counts import RequestCounts
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.timing import ClientTiming
from livedeck.client.http.transport import RunInThread, Transport, TransportFactory
from livedeck.client.resources.annotations import Annotations
from livedeck.client.resources.cdn import Cdn
from livedeck.client.resources.chat import Chat
from livedeck.client.resources.events import Events, Streams
from livedeck.client.resources.fields import service_of
from livedeck.client.resources.materials import Materials
from livedeck.client.resources.posters import Posters
from livedeck.client.resources.qos import BitrateUnit, Qos
from livedeck.client.resources.rooms import Relays, Rooms
from livedeck.client.resources.subtitles import Subtitles


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Api:
    """The platform of platform-api.md, to be used as `async with Api(...) as api`, in one event loop.

    The examples of its calls are what a person types into `python -m asyncio`.

    `base_url`, `upload_url` (None: the same): https, or http to this machine only. `read_only`: every change raises
    ReadOnly and is not sent. `meet_segment`: the path segment of the meeting product.

    `timeout`: seconds for connecting and for every silence; a whole exchange takes at most twice that, an upload and a
    chat export as long as they move. `retry`: seconds that a read may take with all its tries; 0: it is tried once. A
    change is never retried.
    `rate`: requests per second. `upload_timeout`: seconds in which an upload may be answered after its last byte.
    `http2`: offer HTTP/2, which needs the package h2.

    `proxy`: reach https addresses through it, as in `http://proxy.example:3128`; it may hold `user:password@`.
    `ca_file`: certificates in PEM that are trusted besides the public authorities. `client_cert`: a PEM file of the
    certificate that the platform asks for, and its key. `use_environment`: where these say nothing, heed HTTPS_PROXY,
    ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.

    `platforms`: domain -> value of `service`, before the table of the package. `bitrate_unit`: what this platform
    counts bit rates in, a second (platform-api.md, "Units"); samples always come in bit/s.

    `now`: the wall clock, aware. `timer`: seconds that never run backwards. `sleep`, `jitter` (0 up to 1): the waits.
    `token_source`: is read again when the platform refuses the token, and a read is then tried once more.
    `mount`: an ASGI app to talk to in place of a socket. `run_in_thread`: for responses that take long to decode.
    Raises Misconfigured for what cannot be used.
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
        retry: float = 10.0,
        rate: float = 1000.0,
        upload_timeout: float = 300.0,
        http2: bool = False,
        proxy: str | Secret | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        client_cert: str | os.PathLike[str] | None = None,
        use_environment: bool = False,
        platforms: Mapping[str, str] | None = None,
        bitrate_unit: BitrateUnit = "bit",
        now: Callable[[], datetime] = _utc_now,
        timer: Callable[[], float] = perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random,
        token_source: TokenSource | None = None,
        mount: TransportFactory | None = None,
        run_in_thread: RunInThread = asyncio.to_thread,
    ) -> None:
        if not meet_segment.replace("-", "").isalnum() or not meet_segment.isascii():
            raise Misconfigured("meet_segment should be one segment of a path")
        if not (timeout > 0 and retry >= 0 and rate > 0 and upload_timeout > 0):
            raise Misconfigured("timeout and rate should be above 0, and retry 0 at least")
        api_url = check_base_url("base_url", base_url)
        self._platforms = dict(platforms or {})
        self._options = meet_segment, bitrate_unit
        self._transport = Transport(
            {"api": api_url, "upload": api_url if upload_url is None else check_base_url("upload_url", upload_url)},
            token if isinstance(token, Secret) else Secret(token),
            read_only=read_only,
            timing=ClientTiming(timeout, retry, rate, upload_timeout, now, timer, sleep, jitter),
            route=Route(
                Secret(proxy) if isinstance(proxy, str) else proxy,
                Path(ca_file) if ca_file is not None else None,
                Path(client_cert) if client_cert is not None else None,
                use_environment,
            ),
            token_source=token_source,
            mount=mount,
            http2=http2,
            run_in_thread=run_in_thread,
        )
        self._make_resources(self._transport)

    def _make_resources(self, transport: Transport) -> None:
        meet_segment, bitrate_unit = self._options
        self.posters: Posters = Posters(transport)
        self.subtitles: Subtitles = Subtitles(transport)
        self.annotations: Annotations = Annotations(transport)
        self.materials: Materials = Materials(transport)
        self.cdn: Cdn = Cdn(transport)
        self.events: Events = Events(transport)
        self.streams: Streams = Streams(transport)
        self.qos: Qos = Qos(transport, bitrate_unit)
        self.chat: Chat = Chat(transport)
        self.rooms: Rooms = Rooms(transport, meet_segment)
        self.relays: Relays = Relays(transport, meet_segment)

    def without_retry(self) -> Api:
        """The same client (connections, token, rate limit), but reads are tried once: for a poller at its own pace.

        >>> samples = await api.without_retry().qos.get(event_id)
        """
        return self._over(self._transport.without_retry())

    def with_timeout(self, seconds: float) -> Api:
        """The same client, but its calls have another timeout: for a call that takes long, or must not.

        >>> events = await api.with_timeout(20).events.list()
        """
        if not seconds > 0:
            raise Misconfigured("timeout should be above 0")
        return self._over(self._transport.with_timeout(seconds))

    def _over(self, transport: Transport) -> Api:
        api = copy.copy(self)
        api._transport = transport  # noqa: SLF001  its own class
        api._make_resources(transport)  # noqa: SLF001
        return api

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        return self._transport.read_only

    def service_of(self, url: str) -> str:
        """The value of `service` that the platform will compute for a relay address (platform-api.md, "Relay
        platforms").

        >>> api.service_of("rtmp://live.example/app")
        'custom'
        """
        return service_of(url, self._platforms)

    async def check_uploads(self) -> None:
        """See whether the upload address can be reached, where it is another than that of the API. Raises ApiError.

        >>> await api.check_uploads()
        """
        await self._transport.check_uploads()

    def set_token(self, token: str | Secret) -> None:
        """Go on with another token. Raises Misconfigured for one that cannot be sent.

        >>> api.set_token("another-token")
        """
        self._transport.set_token(token if isinstance(token, Secret) else Secret(token))

    @property
    def host(self) -> str:
        """Host and port of the platform: `127.0.0.1:8787`."""
        return self._transport.host

    @property
    def last_response(self) -> ResponseTiming | None:
        """The newest response to any call, its status and request id; None before the first.

        >>> event = await api.events.get(event_id)
        >>> api.last_response.status
        200
        """
        return self.timings[-1] if self.timings else None

    @property
    def request_counts(self) -> RequestCounts:
        """How many requests went out to do what, how they ended and how long they took, since it was made.

        >>> api.request_counts.results["list events", "ok"]
        1
        """
        return self._transport.request_counts

    @property
    def timings(self) -> deque[ResponseTiming]:
        """Of the last five responses, newest last."""
        return self._transport.timings

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()
