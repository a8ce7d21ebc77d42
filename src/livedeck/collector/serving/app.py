"""ASGI app of a collector with all its routes (collector.md, "Routes")."""

from __future__ import annotations

import asyncio
import gzip
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from math import inf
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck import __version__
from livedeck.collector.links import Links
from livedeck.collector.protocol import wire
from livedeck.collector.serving import acts
from livedeck.collector.serving.access import Access, Doorkeeper
from livedeck.collector.serving.calendar import CALENDAR, CalendarPage
from livedeck.collector.serving.endpoints import (
    ROUTER_REFUSALS,
    Caller,
    Endpoint,
    Parameter,
    Refusal,
    not_on_board,
    private,
    routes_of,
)
from livedeck.collector.serving.hooks import HOOKS, FindLife, Hooks
from livedeck.collector.serving.hub import Gone, Hub
from livedeck.collector.serving.link_pages import LINKS, LinkPages
from livedeck.collector.serving.outbox import UNSENT, Outbox
from livedeck.monitor import ConnectionState, EventState, History, Monitor, NotReadError, Snapshot, round_columns
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.published.codec import encode_record
from livedeck.monitor.signal.series import MAX_SAMPLES
from livedeck.presentation.metrics import CONTENT_TYPE, Counted, metrics_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import masked_line

TURN_SECONDS = 60.0
"""Seconds without a snapshot after which the monitor counts as stuck; a poll round is always shorter."""

METRICS_SECONDS = 1.0
"""Seconds that the text of the metrics is reused."""

GZIP_LEVEL = 6

MAX_LISTINGS = 2
"""Maximum number of listings encoded at a time, because after a break all readers list again at once."""


def collector_app(
    hub: Hub,
    monitor: Monitor,
    history: History | None,
    access: Access,
    counted: Callable[[], Counted],
    *,
    notifier: Outbox | None = None,
    links: Links | None = None,
    find_life: FindLife = lambda _: None,
    pagerduty_secret: str = "",
) -> ASGIApp:
    """Return the ASGI app of a collector.

    Args:
        hub: The monitor's snapshots.
        monitor: Receives the commands of people.
        history: History of the collector; None if it keeps none.
        access: Checks the tokens.
        counted: Returns the counters of the process for the metrics.
        notifier: Sends notifications; None if this collector sends none.
        links: Makes links that acknowledge an alarm, and those of the calendar; None if this collector makes none.
        find_life: Finds the alarm of a notification, for webhooks.
        pagerduty_secret: Secret that signs the webhooks of PagerDuty; empty without one.
    """
    pages = _Pages(hub, monitor, history, access, counted)
    routes = [
        *routes_of(PAGES, pages),
        *routes_of(CALENDAR, CalendarPage(pages.published, monitor, history, access, links)),
        *routes_of(LINKS, LinkPages(monitor, history, access, links)),
        *routes_of(HOOKS, Hooks(monitor, history, access, find_life, pagerduty_secret)),
        *routes_of(UNSENT, notifier),
        *acts.routes(monitor, history),
    ]
    return Doorkeeper(Starlette(routes=routes, exception_handlers=ROUTER_REFUSALS), access)


class _Pages:
    def __init__(
        self, hub: Hub, monitor: Monitor, history: History | None, access: Access, counted: Callable[[], Counted]
    ) -> None:
        self._hub, self._monitor, self._history, self._access = hub, monitor, history, access
        self._counted, self._metrics_text = counted, (-inf, "")
        self._making_metrics, self._listings = asyncio.Lock(), asyncio.Semaphore(MAX_LISTINGS)
        self._was_settled = False

    async def health(self, _: Request) -> Response:
        """Respond `well`, or 503 `stuck` if the monitor has not published for `TURN_SECONDS`."""
        silent = self._monitor.clock.monotonic() - self._hub.published_at
        return _word(200, "well") if silent < TURN_SECONDS else _word(503, "stuck")

    async def readiness(self, _: Request) -> Response:
        """Respond `ready`; 503 `starting` until all events are polled; 503 `blind` without replies of the platform."""
        self._was_settled = self._was_settled or self._monitor.is_settled
        snapshot = self._hub.snapshot
        if snapshot is None or not self._was_settled:
            return _word(503, "starting")
        return _word(503, "blind") if snapshot.link.state is ConnectionState.BLIND else _word(200, "ready")

    async def metrics(self, _: Request, __: Caller) -> Response:
        """Respond with the metrics for Prometheus."""
        async with self._making_metrics:
            clock, snapshot = self._monitor.clock, self.published()
            if clock.monotonic() - self._metrics_text[0] >= METRICS_SECONDS:
                render_time = RenderTime.from_snapshot(snapshot, clock.now())
                text = await asyncio.to_thread(metrics_text, snapshot, render_time, __version__, self._counted())
                self._metrics_text = clock.monotonic(), text
        return Response(self._metrics_text[1], headers={"Content-Type": CONTENT_TYPE, **_NOT_STORED})

    async def listing(self, request: Request, caller: Caller) -> Response:
        """Respond with a listing, or with 304 if the reader has the current listing."""
        count = _SAMPLES.number(request)
        self.published()
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if _tag(self._hub.id) in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={**headers, "ETag": _tag(self._hub.id)})
        is_packed = _takes_gzip(request)
        async with self._listings:
            listed = await self._hub.listing(count, by=caller.name, may=caller.may)
            assert listed is not None
            body = (
                await asyncio.to_thread(gzip.compress, listed.body, GZIP_LEVEL, mtime=0) if is_packed else listed.body
            )
        headers |= {"ETag": _tag(listed.id), **(_GZIP if is_packed else {})}
        return Response(body, headers=headers, media_type="application/json")

    async def changes(self, request: Request, caller: Caller) -> Response:
        """Respond with the stream of changes after an id, until reader or collector ends it."""
        if request.method == "HEAD":  # the stream never ends
            return Response(headers=_NOT_STORED, media_type="text/event-stream")
        after = request.headers.get("last-event-id") or request.query_params.get("from", "")
        self._access.check_readers(caller)
        is_packed = _takes_gzip(request)
        try:
            changes = self._hub.changes(after, is_packed=is_packed)
        except Gone:
            raise Refusal(410, "gone", "the changes after that id are no longer kept; get /v1/snapshot again") from None
        return _Stream(changes, caller, self._access, _GZIP if is_packed else {})

    async def samples(self, request: Request, _: Caller) -> wire.Columns:
        """Return the samples of an event in memory between two times (server clock, epoch ms)."""
        begin, end = _FROM.number(request), _TO.number(request)
        state = self._find(request)
        times = state.qos.readings.time
        return wire.columns_of(state, bisect_left(times, begin / 1000), bisect_right(times, end / 1000))

    async def explain(self, request: Request, _: Caller) -> dict[str, Any]:
        """Return the explanation of an event's alarms, or of its alarms of one kind."""
        kind = request.query_params.get("kind", "")
        if kind and kind not in ALARM_KINDS:
            raise Refusal(422, "not understood", "kind: not a kind of alarm")
        snapshot = self.published()
        found = await self._monitor.explain(request.path_params["id"], kind)
        if found is None:
            raise not_on_board(snapshot)
        return encode_record(found)

    async def picture(self, request: Request, _: Caller) -> Response:
        """Respond with the newest picture that viewers of an event get, or with 304 if the reader has it."""
        content = await self._monitor.viewer_picture(self._find(request).id)
        if not content:
            raise Refusal(404, "gone", "no picture of this event")
        return private(request, content, "image/jpeg")  # the picture may be newer than the snapshot

    async def viewer(self, request: Request, _: Caller) -> dict[str, list[Any]]:
        """Return the rounds of an event's probe between two times (the collector's clock, epoch ms), in columns."""
        begin, end = _FROM.number(request), _TO.number(request)
        if self._history is None:
            raise Refusal(503, "no history", "this collector keeps no history")
        since, until = (datetime.fromtimestamp(min(each, _LAST_ROUND) / 1000, UTC) for each in (begin, end))
        rounds = self._history.viewer_rounds(request.path_params["id"], since, until)
        try:
            return round_columns(await self._history.whole(rounds))
        except NotReadError as error:
            raise Refusal(503, "history not read", masked_line(str(error), 300)) from None

    def _find(self, request: Request) -> EventState:
        snapshot = self.published()
        state = snapshot.find(request.path_params["id"])
        if state is None:
            raise not_on_board(snapshot)
        return state

    def published(self) -> Snapshot:
        """Return the newest snapshot. Raises Refusal before the first."""
        if self._hub.snapshot is None:
            raise Refusal(503, wire.STARTING, "the collector has no data yet; retry in a few seconds")
        return self._hub.snapshot


class _Stream(StreamingResponse):
    """Stream of server-sent events for one reader. It ends when the reader's token is no longer valid."""

    def __init__(
        self, changes: AsyncGenerator[bytes, None], caller: Caller, access: Access, headers: dict[str, str]
    ) -> None:
        self._caller, self._access = caller, access
        self._frames = self._while_valid(changes)
        headers = {**headers, **_NOT_STORED, "Vary": "Accept-Encoding", "X-Accel-Buffering": "no"}
        super().__init__(self._frames, headers=headers, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._access.reading(self._caller):
            async with aclosing(self._frames):
                await super().__call__(scope, receive, send)

    async def _while_valid(self, changes: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async with aclosing(changes):
            async for frame in changes:
                if not self._access.is_known(self._caller):
                    return
                self._access.note_use(self._caller)
                yield frame


_LAST = 2**53
"""Time later than every sample (epoch ms)."""

_LAST_ROUND = 7_000_000_000_000
"""Time later than every round of a probe (epoch ms), but early enough to be a valid date."""

_SAMPLES = Parameter(
    "samples",
    "Number of newest samples of each event.",
    {"type": "integer", "minimum": 0, "maximum": MAX_SAMPLES, "default": wire.LISTED_SAMPLES},
)
_FROM = Parameter("from", "First time (epoch ms).", {"type": "integer", "minimum": 0, "maximum": _LAST, "default": 0})
_TO = Parameter("to", "Last time (epoch ms).", {"type": "integer", "minimum": 0, "maximum": _LAST, "default": _LAST})
_KIND = Parameter("kind", "Kind of alarm; leave it out for all kinds.", {"enum": ["", *ALARM_KINDS]})
_AFTER = "Id of a listing or change, after which the stream begins."

PAGES: tuple[Endpoint[_Pages], ...] = (
    Endpoint("GET", "/healthz", "", _Pages.health, media="text/plain", refuses=(503,)),
    Endpoint("GET", "/readyz", "", _Pages.readiness, media="text/plain", refuses=(503,)),
    Endpoint("GET", "/metrics", "metrics", _Pages.metrics, media="text/plain", refuses=(503,)),
    Endpoint(
        "GET", "/v1/snapshot", "read", _Pages.listing, parameters=(_SAMPLES,), reply=wire.Listing, refuses=(304, 503)
    ),
    Endpoint(
        "GET",
        "/v1/changes",
        "read",
        _Pages.changes,
        parameters=(
            Parameter("from", _AFTER, {"type": "string"}),
            Parameter("Last-Event-ID", f"{_AFTER} Overrides `from`.", {"type": "string"}, "header"),
        ),
        media="text/event-stream",
        refuses=(410, 503),
    ),
    Endpoint("GET", "/v1/events/{id:path}/samples", "read", _Pages.samples, parameters=(_FROM, _TO), refuses=(503,)),
    Endpoint("GET", "/v1/events/{id:path}/explain", "read", _Pages.explain, parameters=(_KIND,), refuses=(503,)),
    Endpoint("GET", "/v1/events/{id:path}/picture", "read", _Pages.picture, media="image/jpeg", refuses=(304, 503)),
    Endpoint("GET", "/v1/events/{id:path}/viewer", "read", _Pages.viewer, parameters=(_FROM, _TO), refuses=(503,)),
)


_NOT_STORED = {"Cache-Control": "no-store"}
_GZIP = {"Content-Encoding": "gzip"}


def _word(status: int, word: str) -> Response:
    return PlainTextResponse(f"{word}\n", status, _NOT_STORED)


def _tag(change_id: str) -> str:
    return f'W/"{change_id}"'


def _takes_gzip(request: Request) -> bool:
    names = (part.partition(";") for part in request.headers.get("accept-encoding", "").lower().split(","))
    return any(name.strip() in {"gzip", "*"} and "q=0" not in quality.split() for name, _, quality in names)
