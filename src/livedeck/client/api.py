"""Client, with one attribute for each resource of the platform."""

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
from typing import Any, Self

from livedeck.client.http.any_request import Params, any_request
from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.hooks import Hooks, RequestHook, ResponseHook
from livedeck.client.http.renewal import TokenSource
from livedeck.client.http.request import ResponseTiming, check_base_url
from livedeck.client.http.request_counts import RequestCounts
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.timing import ClientTiming
from livedeck.client.http.transport import HttpTransport, RunInThread, Transport, TransportFactory
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
from livedeck.text.secrets import register_named


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Api:
    """Client of the platform described in platform-api.md. Use it as `async with Api(...) as api`, in one event loop.

    You can type the examples of its methods into `python -m asyncio`.

    Args:
        base_url: Address of the API: https, or http to this machine only.
        token: The token.
        upload_url: Address for uploads; None if it is `base_url`.
        read_only: Raise ReadOnly for every change, and send none.
        meet_segment: Path segment of the meeting product.
        timeout: Maximum seconds to connect, and to wait for the next byte. A whole exchange takes at most twice that;
            an upload or chat export takes any time as long as it progresses.
        retry: Seconds that a read may take with all its tries; 0 for a single try. A change is sent once.
            Exception: an upload is sent again if a 417 refused it before its body was sent.
        rate: Requests per second.
        upload_timeout: Seconds to wait for the response after the last byte of an upload.
        http2: Offer HTTP/2, which needs the package h2.
        proxy: Proxy for https addresses, such as `http://proxy.example:3128`; may contain `user:password@`.
        ca_file: Certificates in PEM that are trusted besides the public authorities.
        client_cert: PEM file with the client certificate and its key.
        use_environment: Use HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR unless set above.
        platforms: Domain -> value of `service`; has priority over the table of the package.
        bitrate_unit: Unit of the platform's bit rates, per second (platform-api.md, "Units"). Samples are always in
            bit/s.
        now: Wall clock; its datetimes have a time zone.
        timer: Clock in seconds that never runs backwards.
        sleep: Waits for some seconds.
        jitter: Returns a random number from 0 up to 1.
        machine_seconds: Converts seconds of these clocks to seconds of this machine, if they run faster or slower.
        token_source: Source to read again after the platform refused the token; a read is then tried once more.
        mount: ASGI app that replaces the platform.
        http_transport: Transport of httpx that sends the requests, such as a mock or one with a SOCKS proxy. The client
            closes it. Unlike the client's own connections, it neither stops a refused upload early nor checks the
            network of a signed link's host.
        on_request: Called with each request, without secrets, before it is sent.
        on_response: Called with the head of each response, without secrets, or with the reason for its absence.
        run_in_thread: Runs the decoding of long responses.

    Raises:
        Misconfigured: An argument cannot be used.
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
        machine_seconds: Callable[[float], float] = float,
        token_source: TokenSource | None = None,
        mount: TransportFactory | None = None,
        http_transport: HttpTransport | None = None,
        on_request: RequestHook | None = None,
        on_response: ResponseHook | None = None,
        run_in_thread: RunInThread = asyncio.to_thread,
    ) -> None:
        if not meet_segment.replace("-", "").isalnum() or not meet_segment.isascii():
            raise Misconfigured("meet_segment should be a single path segment of letters, digits and hyphens")
        if not (timeout > 0 and retry >= 0 and rate > 0 and upload_timeout > 0):
            raise Misconfigured("timeout and rate should be above 0, and retry at least 0")
        if http_transport is not None and (mount or http2 or proxy or ca_file or client_cert or use_environment):
            raise Misconfigured(
                "http_transport has a route of its own: set mount, http2, proxy and certificates there, not here"
            )
        api_url = check_base_url("base_url", base_url)
        self._platforms = dict(platforms or {})
        self._options = meet_segment, bitrate_unit
        self._transport = Transport(
            {"api": api_url, "upload": api_url if upload_url is None else check_base_url("upload_url", upload_url)},
            token if isinstance(token, Secret) else Secret(token),
            read_only=read_only,
            timing=ClientTiming(timeout, retry, rate, upload_timeout, now, timer, sleep, jitter, machine_seconds),
            route=Route(
                Secret(proxy) if isinstance(proxy, str) else proxy,
                Path(ca_file) if ca_file is not None else None,
                Path(client_cert) if client_cert is not None else None,
                use_environment,
            ),
            token_source=token_source,
            mount=mount,
            http_transport=http_transport,
            hooks=Hooks(on_request, on_response),
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
        """Return a client with the same connections, token and rate limit that tries each read once, for a poller.

        >>> samples = await api.without_retry().qos.get(event_id)
        """
        return self._over(self._transport.without_retry())

    def with_timeout(self, seconds: float) -> Api:
        """Return a client with the same connections, token and rate limit, but another timeout in seconds.

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
        """True if the client refuses changes."""
        return self._transport.read_only

    def service_of(self, url: str) -> str:
        """Return the `service` that the platform computes for a relay address (platform-api.md, "Relay platforms").

        >>> api.service_of("rtmp://live.example/app")
        'custom'
        """
        return service_of(url, self._platforms)

    async def request(self, method: str, path: str, *, json: object = None, params: Params | None = None) -> Any:
        """Send any request, and return the decoded JSON with its envelope; None if the response has no body.

        For endpoints that no other method covers. Checks, retries and errors are those of every call: `read_only`
        refuses a change, only a read is retried, and the token goes to the configured address only. Texts under names
        such as `stream_key` are registered as secrets: errors and logs mask them, the returned value does not.
        `last_response` has the status.

        Args:
            method: GET, HEAD, POST, PUT, PATCH or DELETE.
            path: Path below `base_url`, and a query if needed; no address, no `..` and no fragment.
            json: Body of a change, of any JSON type; None for no body.
            params: Query parameters; a sequence repeats its name, and None leaves it out.

        Raises:
            Misconfigured: The request cannot be sent as it is.
            ApiError: Anything else that goes wrong.

        >>> answer = await api.request("GET", "/v2/live/events", params={"per_page": 1})
        >>> len(answer["data"])
        1
        """

        def parse(answer: object) -> object:
            register_named(answer)
            return answer

        return await self._transport.send(any_request(method, path, json, params), parse)

    async def check_uploads(self) -> None:
        """Check the connection to the upload address, if it differs from the API's. Raises ApiError.

        >>> await api.check_uploads()
        """
        await self._transport.check_uploads()

    def set_token(self, token: str | Secret) -> None:
        """Use another token from now on. Raises Misconfigured if it cannot be sent.

        >>> api.set_token("another-token")
        """
        self._transport.set_token(token if isinstance(token, Secret) else Secret(token))

    @property
    def host(self) -> str:
        """Host and port of the platform: `127.0.0.1:8787`."""
        return self._transport.host

    @property
    def last_response(self) -> ResponseTiming | None:
        """Timing, status and request id of the newest response; None before the first.

        >>> event = await api.events.get(event_id)
        >>> api.last_response.status
        200
        """
        return self.timings[-1] if self.timings else None

    @property
    def request_counts(self) -> RequestCounts:
        """Numbers, results and durations of the requests so far, by operation.

        >>> api.request_counts.results["list events", "ok"]
        1
        """
        return self._transport.request_counts

    @property
    def timings(self) -> deque[ResponseTiming]:
        """Timings of the last five responses, newest last."""
        return self._transport.timings

    async def aclose(self) -> None:
        """Close the connections, for a program that cannot use `async with`. May be repeated.

        >>> await api.aclose()
        """
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
