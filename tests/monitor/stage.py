"""Platform under control of a test, and signals that an encoder might send."""

from __future__ import annotations

import asyncio
import json
from array import array
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from math import inf, nan
from random import Random
from typing import Any, cast

from livedeck.client import Api, Event, QosSamples
from livedeck.monitor import Clock, Monitor, Reading, Readings, Snapshot
from livedeck.monitor.signal.series import merge
from virtual_clock import VirtualClock

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_Message = MutableMapping[str, Any]
_QOS = "qos"
_BY_ID = 4
"""Number of parts of the path of a single event."""


_NOT_FOUND: tuple[int, dict[str, str], Any] = (404, {}, {"error": {"code": 404404, "message": "no such event"}})


def at(seconds: float) -> str:
    """Return a timestamp of the API, `seconds` from NOW."""
    return (NOW + timedelta(seconds=seconds)).isoformat()


def event(event_id: str = "one", **fields: Any) -> dict[str, Any]:
    """Return an event on air for ten minutes, except for `fields`."""
    stream = {"id": f"stream-{event_id}", "status": "live", "started_at": at(-600), "finished_at": None}
    return {"id": event_id, "name": event_id, "type": "one-time", "reconnect_window": 600, "stream": stream, **fields}


def model(**fields: Any) -> Event:
    """Return the event of `event` as a model of the client."""
    return Event.model_validate(event(**fields))


def samples(rows: Iterable[Reading]) -> QosSamples:
    """Return rows of (epoch s, video, audio, fps, status) in the form of the client."""
    rows = list(rows)

    time, video, audio, fps, status = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    statuses = array("q", [-1 if value is None else value for value in status])
    return QosSamples(_doubles(time), _doubles(video), _doubles(audio), _doubles(fps), statuses)


def _doubles(values: Iterable[float | None]) -> array[float]:
    return array("d", [nan if value is None else value for value in values])


def signal(
    count: int,
    *,
    end: float = 0.0,
    every: float = 2.0,
    video: float | None = 4.5e6,
    audio: float | None = 128e3,
    fps: float | None = 30.0,
    status: int | None = 0,
) -> list[Reading]:
    """A steady signal of `count` samples, the newest `end` seconds from NOW."""
    newest = NOW.timestamp() + end
    return [Reading(newest - every * (count - 1 - index), video, audio, fps, status) for index in range(count)]


def after(calm: int = 300, /, **fault: Any) -> Readings:
    """Readings of a calm stream that ends in the faulty signal `fault`, the newest sample at NOW."""
    bad = signal(**fault)
    good = signal(calm, end=bad[0][0] - NOW.timestamp() - 2.0)
    return merge(Readings(), samples([*good, *bad]))


class Stage:
    """ASGI app with the calls that the monitor makes.

    `hidden`: events that are served by id and missing in the list; any other event outside the list does not exist, and
    has no samples. `denied`: events that do not exist by id, although their samples are served. `fails`: (status,
    headers) of every reply; `fails_qos`: the same for all but the list of events and single events. `ahead`: seconds
    that its clock, and so its Date, is ahead. Every encoder sends a sample each two seconds, from ten minutes before
    NOW to `silent_from`; from `frozen_from` on the time of samples stands still while the rate changes. `strays`:
    further samples, in seconds from NOW.
    """

    def __init__(self, clock: Clock, *events: dict[str, Any]) -> None:
        self.clock = clock
        self.events = list(events)
        self.hidden: list[dict[str, Any]] = []
        self.denied: set[str] = set()
        self.announced: int | None = None  # the total of the list of events, if not their number
        self.is_null = False  # null in place of the list of events
        self.fails: tuple[int, dict[str, str]] | None = None
        self.fails_qos: tuple[int, dict[str, str]] | None = None
        self.ahead = 0.0
        self.silent_from = inf  # seconds from NOW
        self.frozen_from = inf
        self.strays: list[float] = []
        self.broken: set[str] = set()  # what is answered with a 500: "list", events, or "by id"
        self.unsent: set[str] = set()  # events whose encoder was never started
        self.odd: set[str] = set()  # events whose newest sample has a status that nobody knows
        self.late: set[str] = set()  # events whose samples are not answered
        self.slow: dict[str, float] = {}  # events whose samples are answered after so many seconds
        self.asked: list[tuple[float, str]] = []  # when, and "list" or an event id
        self.at_once: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self._open = asyncio.Event()
        self._open.set()

    def hang(self) -> None:
        """Hold all replies back, except those of `fails_qos`."""
        self._open.clear()

    def release(self) -> None:
        """Send replies again, also to the waiting calls."""
        self._open.set()

    def times(self, what: str) -> list[float]:
        """Return the times of polls of that list or event, in seconds of the clock."""
        return [when for when, name in self.asked if name == what]

    async def __call__(
        self, scope: _Message, receive: Callable[[], Awaitable[_Message]], send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        del receive
        parts = scope["path"].strip("/").split("/")
        what = parts[3] if parts[-1] == _QOS else "rooms" if parts[-1] == "rooms" else "list"
        if len(parts) == _BY_ID:
            what = f"by id {parts[3]}"
        if b"per_page=1" in scope["query_string"].split(b"&"):
            what = "probe"
        self.asked.append((self.clock.monotonic(), what))
        status, headers, body = await self._counted(what)
        server = self.clock.now() + timedelta(seconds=self.ahead)
        headers = {"content-type": "application/json", "date": format_datetime(server, usegmt=True), **headers}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def _counted(self, what: str) -> tuple[int, dict[str, str], Any]:
        for name in (what, "all"):
            self.at_once[name] += 1
            self.most_at_once[name] = max(self.most_at_once[name], self.at_once[name])
        try:
            if what in {"list", "probe"} or not self.fails_qos:
                await self._open.wait()
            if what in self.late:
                await asyncio.Event().wait()
            if what in self.slow:
                await self.clock.sleep(self.slow[what])
            return self._answer(what)
        finally:
            self.at_once.subtract([what, "all"])

    def _answer(self, what: str) -> tuple[int, dict[str, str], Any]:
        is_of_samples = what not in {"list", "probe"} and not what.startswith("by id ")
        failure = self.fails or (self.fails_qos if is_of_samples else None)
        failure = failure or ((500, {}) if what in self.broken or what[: len("by id")] in self.broken else None)
        if failure:
            return *failure, {"error": {"code": failure[0] * 1001, "message": "as told"}}
        if what in {"list", "probe"}:
            if self.is_null:
                return 200, {}, {"data": None}
            total = len(self.events) if self.announced is None else self.announced
            pagination = {"page": 1, "per_page": 100, "total": total}
            return 200, {}, {"meta": {"pagination": pagination, "order": {}}, "data": self.events}
        if what == "rooms":
            room = {"id": "room", "name": "Green room", "restreams": []}
            return 200, {}, {"meta": {"pagination": {"page": 1, "per_page": 100, "total": 1}}, "data": [room]}
        return self._of_event(what)

    def _of_event(self, what: str) -> tuple[int, dict[str, str], Any]:
        event_id = what.removeprefix("by id ")
        rows: list[Any] = [*self.events, *self.hidden]  # of any shape, in some tests
        events = {str(row.get("id")): row for row in rows if isinstance(row, dict)}
        if event_id not in events or (event_id != what and event_id in self.denied):
            return _NOT_FOUND
        if event_id != what:
            return 200, {}, {"data": events[event_id]}
        sent = [] if what in self.unsent else self._sent()
        if what in self.odd:
            sent[-1]["status"] = 77
        return 200, {}, {"data": sent}

    def _sent(self) -> list[dict[str, Any]]:
        newest = min((self.clock.now() - NOW).total_seconds() + self.ahead, self.silent_from)
        newest -= newest % 2.0
        return [
            {
                "time": at(min(when, self.frozen_from)),
                "bitrate_video": 4_500_000 + round(max(0.0, when - self.frozen_from)),
                "bitrate_audio": 128_000,
                "frame_rate": 30,
                "status": 0,
            }
            for when in [*(newest - 2.0 * back for back in range(300, -1, -1)), *self.strays]
        ]


class Deck:
    """Monitor of a stage, driven snapshot by snapshot. `options`: options of the monitor."""

    def __init__(self, stage: Stage, **options: Any) -> None:
        self.stage, self.clock = stage, cast("VirtualClock", stage.clock)
        self.api = Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=stage.clock.now, mount=stage)
        self.monitor = Monitor(self.api, stage.clock, random=Random(1), **options)
        self._snapshots = self.monitor.snapshots()

    async def next(self) -> Snapshot:
        """Return the next snapshot."""
        return await self.clock.run(anext(self._snapshots))

    async def until(self, seconds: float) -> Snapshot:
        """Return the first snapshot `seconds` after NOW or later."""
        while True:
            snapshot = await self.next()
            if self.clock.monotonic() >= seconds:
                return snapshot

    async def close(self) -> None:
        """Stop the monitor."""
        await self._snapshots.aclose()
        await self.api.__aexit__(None, None, None)
