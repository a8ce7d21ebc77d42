"""Fault layer: failures of networks, proxies and busy servers, and invalid payloads."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from email.utils import formatdate
from fnmatch import fnmatchcase
from functools import partial
from math import inf
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.identity import number_of
from livedeck.simulator.engine.store import Store
from livedeck.simulator.errors import of_status

PADDING = 10 * 1024 * 1024
"""Bytes added to a huge response."""

Json = Any

_log = logging.getLogger("livedeck.simulator")


def break_json(content: Json, _since: float) -> bytes:
    """Return a body that is not JSON although its media type says so."""
    return str(content).encode()[:200]


def mistype(content: Json, _since: float) -> Json:
    """Turn every number into text and every boolean into a number; text stays."""
    return _leaves(content, lambda _, value: _mistyped(value))


def _mistyped(value: Json) -> Json:
    if isinstance(value, bool):
        return int(value)
    return str(value) if isinstance(value, int | float) else value


def nullify(content: Json, _since: float) -> Json:
    """Replace every value with null, except ids and times."""
    return _leaves(content, lambda name, value: value if name in {"id", "time"} else None)


def drop_fields(content: Json, _since: float) -> Json:
    """Drop every third field of the objects in the data, but never the id."""
    return _objects(content, lambda row: {name: row[name] for index, name in enumerate(row) if index % 3 != 1})


def add_fields(content: Json, _since: float) -> Json:
    """Add undocumented fields to every object in the data."""
    return _objects(content, lambda row: row | {"x_extra": {"nested": [1, None, "?"]}, "x_version": 7})


def duplicate(content: Json, _since: float) -> Json:
    """Repeat every element of a list."""
    return _rows(content, lambda rows: [row for row in rows for _ in range(2)])


def reorder(content: Json, _since: float) -> Json:
    """Shuffle the elements of a list."""
    return _rows(content, _shuffled)


def _shuffled(rows: list[Json]) -> list[Json]:
    return [rows[index] for index in sorted(range(len(rows)), key=lambda index: number_of("order", index))]


def freeze_time(content: Json, since: float) -> Json:
    """Limit the time of new samples to `since` (epoch seconds)."""
    limit = format_epoch(since)
    return _objects(content, lambda row: row | {"time": min(row["time"], limit)} if "time" in row else row)


def hold_back(content: Json, until: float) -> Json:
    """Drop samples after `until` (epoch seconds)."""
    limit = format_epoch(until)

    def is_there(row: Json) -> bool:
        return not isinstance(row, dict) or row.get("time", "") <= limit

    return _rows(content, lambda rows: [row for row in rows if is_there(row)])


def shift_time(content: Json, seconds: float) -> Json:
    """Move the time of samples ahead by `seconds`."""

    def later(text: str) -> str:
        return format_epoch(datetime.fromisoformat(text).timestamp() + seconds)

    return _objects(content, lambda row: row | {"time": later(row["time"])} if "time" in row else row)


def date_ahead(content: Json, _since: float) -> Json:
    """Date every fifth sample an hour ahead."""

    def ahead(index: int, row: Json) -> Json:
        later = isinstance(row, dict) and "time" in row and index % 5 == 4
        return shift_time({"data": row}, 3600)["data"] if later else row

    return _rows(content, lambda rows: [ahead(index, row) for index, row in enumerate(rows)])


def pad(content: Json, _since: float) -> Json:
    """Add ten megabytes of padding."""
    return content | {"padding": "x" * PADDING}


def _leaves(value: Json, change: Callable[[str, Json], Json], name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _leaves(child, change, key) for key, child in value.items()}
    if isinstance(value, list):
        return [_leaves(child, change, name) for child in value]
    return change(name, value)


def _rows(content: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    data = content.get("data")
    return content | {"data": change(data)} if isinstance(data, list) else content


def _objects(content: Json, change: Callable[[dict[str, Json]], Json]) -> Json:
    data = content.get("data")
    if isinstance(data, dict):
        return content | {"data": change(data)}
    return _rows(content, lambda rows: [change(row) for row in rows])


PAYLOAD_FAULTS: Mapping[str, Callable[[Json, float], Json]] = {
    "broken-json": break_json,
    "wrong-types": mistype,
    "nulls": nullify,
    "missing-fields": drop_fields,
    "extra-fields": add_fields,
    "duplicates": duplicate,
    "reordered": reorder,
    "frozen": freeze_time,
    "future": date_ahead,
    "huge": pad,
}

ABORT = "livedeck.abort"
"""Key of the function that cuts the connection, in a scope's extensions; absent without a connection."""

SKEW = "livedeck.skew"
"""Key of the seconds by which the response's `Date` is ahead, in a scope's extensions."""


class ConnectionCut(ConnectionError):  # noqa: N818  named after the event, not the error
    """Error that the caller gets instead of a cut connection, if the app runs in process."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Kind of fault and the requests that it hits.

    It lasts from `since` until `until` (epoch seconds) and hits with the probability `chance`.

    An empty `method` or `path` (a pattern with `*`) matches any. `status`: HTTP status of an error or redirect.
    `seconds`: latency, skew, or time until a retry. `retry_after`: the form of the header of a 429 (none, seconds,
    date).
    """

    id: str
    kind: str
    method: str = ""
    path: str = ""
    chance: float = 1.0
    since: float = -inf
    until: float = inf
    status: int = 503
    seconds: float = 0.0
    retry_after: str = "seconds"
    lands: str = "late"
    answer: str = "status"

    def matches(self, method: str, path: str, now: float) -> bool:
        """Return whether the fault covers a request with this method and path at `now`. `chance` is drawn later."""
        if not self.since <= now < self.until:
            return False
        return self.method in {"", method} and (not self.path or fnmatchcase(path, self.path))


@dataclass(frozen=True, slots=True)
class LateRequest:
    """Request whose response was sent before the app carries it out. `due`: time to do so (epoch seconds)."""

    due: float
    app: ASGIApp
    scope: Scope
    body: bytes

    async def land(self) -> None:
        """Carry out the request and discard its response."""
        message = {"type": "http.request", "body": self.body, "more_body": False}

        async def receive() -> Message:
            return message

        await self.app(self.scope, receive, _discard)


class LateRequests:
    """Requests that are not yet carried out. The next request after their time runs them, so no task is needed."""

    def __init__(self) -> None:
        self._waiting: list[LateRequest] = []

    def add(self, request: LateRequest) -> None:
        """Add a request, to be carried out at its time."""
        self._waiting.append(request)

    async def land_due(self, now: float) -> None:
        """Carry out the requests that are due, the earliest first."""
        due = sorted((request for request in self._waiting if request.due <= now), key=lambda request: request.due)
        self._waiting = [request for request in self._waiting if request.due > now]
        for request in due:
            try:
                await request.land()
            except Exception:  # noqa: BLE001  its sender is gone, and the current request must not fail for it
                _log.exception("a late change failed: %s %s", request.scope["method"], request.scope["path"])

    def clear(self) -> None:
        """Drop all requests, because their workspace is created anew."""
        self._waiting.clear()


class Faults:
    """Faults in force, which the store keeps, and the random numbers that decide whether they hit.

    `late`: changes that faults delay; they outlive their fault, but not the process.
    """

    def __init__(self, store: Store) -> None:
        self.late = LateRequests()
        self._store = store
        self._rolls = 0

    @property
    def active(self) -> tuple[Fault, ...]:
        """Faults in force, in the order of their arrival."""
        kept = self._store.get("world", "faults")
        return tuple(Fault(**fields) for fields in kept["active"]) if kept else ()

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        self._keep(*self.active, fault)

    def clear(self) -> None:
        """End all faults."""
        self._keep()

    def restart(self) -> None:
        """Drop delayed changes and restart the random numbers, so that the same ones follow."""
        self.late.clear()
        self._rolls = 0

    def _keep(self, *faults: Fault) -> None:
        finite = [
            {name: value for name, value in asdict(fault).items() if value not in {inf, -inf}} for fault in faults
        ]  # JSON has no infinity, which is the default
        self._store.put("world", {"id": "faults", "active": finite})

    def matching(self, seed: int, method: str, path: str, now: float) -> list[Fault]:
        """Return the faults that hit this request. The same seed and the same requests give the same result."""
        return [fault for fault in self.active if fault.matches(method, path, now) and self._roll(seed, fault)]

    def _roll(self, seed: int, fault: Fault) -> bool:
        self._rolls += 1
        return number_of(seed, "fault", self._rolls) / 2**53 < fault.chance


@dataclass(frozen=True, slots=True)
class FaultHit:
    """Fault that hits a request at `now` (epoch seconds), and the app that would have answered.

    `late`: the queue of delayed changes.
    """

    fault: Fault
    now: float
    app: ASGIApp
    late: LateRequests


FaultEffect = Callable[[FaultHit, Scope, Receive, Send], Awaitable[None]]


def apply_faults(app: ASGIApp, faults: list[Fault], now: float, late: LateRequests) -> ASGIApp:
    """Return the app wrapped in the faults. Faults that change a response are inside those that cut or replace it."""
    for fault in sorted(faults, key=lambda fault: _LAYERS.get(fault.kind, len(_LAYERS))):
        app = partial(FAULT_EFFECTS[fault.kind], FaultHit(fault, now, app, late))
    return app


async def _answer_status(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await of_status(hit.fault.status, "simulated fault").response()(scope, receive, send)


async def _answer_rate_limit(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = hit.fault.seconds
    retry_after = {"seconds": f"{seconds:.0f}", "date": formatdate(hit.now + seconds, usegmt=True)}.get(
        hit.fault.retry_after
    )
    await of_status(429, "too many requests").response({"Retry-After": retry_after} if retry_after else None)(
        scope, receive, send
    )


async def _answer_redirect(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    status = hit.fault.status if 300 <= hit.fault.status < 400 else 302
    await RedirectResponse("https://elsewhere.example/", status)(scope, receive, send)


async def _answer_html(_hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await Response("<html><h1>Welcome</h1></html>", media_type="text/html")(scope, receive, send)


async def _delay(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(hit.fault.seconds)
    await hit.app(scope, receive, send)


async def _hang(_hit: FaultHit, _scope: Scope, receive: Receive, _send: Send) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(_hit: FaultHit, scope: Scope, _receive: Receive, _send: Send) -> None:
    await _cut_connection(scope)


async def _lose(hit: FaultHit, scope: Scope, receive: Receive, _send: Send) -> None:
    await hit.app(scope, receive, _discard)
    await _cut_connection(scope)


async def _apply_late(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond before the change is made, like a gateway that gives up while the platform still works on it."""
    request = LateRequest(hit.now + hit.fault.seconds, hit.app, scope, await _read_body(receive))
    if hit.fault.lands == "at-once":
        await request.land()
    elif hit.fault.lands == "late":
        hit.late.add(request)
    await _LATE_ANSWERS[hit.fault.answer](hit, scope, receive, send)


async def _read_body(receive: Receive) -> bytes:
    """Return the whole body of a request. Raises ClientDisconnect if the sender leaves first."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _answer_no_json(_hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await Response(break_json({"data": {"success": True}}, 0), media_type="application/json")(scope, receive, send)


async def _answer_any_status(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    answer = _answer_redirect if 300 <= hit.fault.status < 400 else _answer_status
    await answer(hit, scope, receive, send)


async def _discard(_message: Message) -> None:
    """Discard a response."""


async def _cut_connection(scope: Scope) -> None:
    abort = scope.get("extensions", {}).get(ABORT)
    if abort is None:
        raise ConnectionCut
    abort()
    await asyncio.sleep(0)  # the server notices the loss in the next pass of the loop


_LATE_ANSWERS: Mapping[str, FaultEffect] = {
    "lost": _drop,
    "hang": _hang,
    "broken-json": _answer_no_json,
    "status": _answer_any_status,
}
"""Value of `answer` -> response to the sender of a delayed change."""

LATE_ANSWERS = tuple(_LATE_ANSWERS)
LANDINGS = ("at-once", "late", "never")


async def _skew(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    """Shift the `Date` header and the samples together, because a platform has one clock for both."""
    scope.setdefault("extensions", {})[SKEW] = hit.fault.seconds
    await _payload_fault(lambda content, _: shift_time(content, hit.fault.seconds))(hit, scope, receive, send)


async def _deliver_late(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    until = hit.now - hit.fault.seconds
    await _payload_fault(lambda content, _: hold_back(content, until))(hit, scope, receive, send)


async def _drip(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _hold_answer(hit.app, scope, receive)
    await send(start)
    size = max(1, len(body) // 20)
    for begin in range(0, len(body), size):
        await asyncio.sleep(hit.fault.seconds / 20)
        await send({"type": "http.response.body", "body": body[begin : begin + size], "more_body": True})
    await send({"type": "http.response.body"})


async def _truncate(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _hold_answer(hit.app, scope, receive)
    await send(start)
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    if ABORT not in scope.get("extensions", {}):
        await send({"type": "http.response.body"})

    # Over a socket the declared rest never comes, and the server closes the connection.


def _payload_fault(change: Callable[[Any, float], Any]) -> FaultEffect:
    async def effect(hit: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
        start, body = await _hold_answer(hit.app, scope, receive)
        if start["status"] == 200 and (b"content-type", b"application/json") in start["headers"]:
            body = _change_json(body, lambda content: change(content, hit.fault.since))
        headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        await send({**start, "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    return effect


def _change_json(body: bytes, change: Callable[[Any], Any]) -> bytes:
    try:
        content = json.loads(body)
    except ValueError:  # another fault broke it before
        return body
    changed = change(content)
    return changed if isinstance(changed, bytes) else json.dumps(changed, separators=(",", ":")).encode()


async def _hold_answer(app: ASGIApp, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
    """Return the whole response of the app without sending it."""
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


FAULT_EFFECTS: Mapping[str, FaultEffect] = {
    "status": _answer_status,
    "rate-limit": _answer_rate_limit,
    "redirect": _answer_redirect,
    "html": _answer_html,
    "latency": _delay,
    "hang": _hang,
    "drop": _drop,
    "lose": _lose,
    "late-apply": _apply_late,
    "drip": _drip,
    "late-samples": _deliver_late,
    "skew": _skew,
    "truncate": _truncate,
    **{kind: _payload_fault(change) for kind, change in PAYLOAD_FAULTS.items()},
}
"""Effect of each kind of fault.

`drop` does nothing and sends no response. `lose` carries out the request and sends no response. `late-apply` carries it
out at once, later or never, and its response does not say which.
"""

CONTENT_FAULTS = (*PAYLOAD_FAULTS, "late-samples", "skew")
"""Kinds that change the content of a response; all others act on the connection or replace the response."""

_LAYERS = {**dict.fromkeys(CONTENT_FAULTS, 0), "drip": 1, "truncate": 2}
"""Nesting of the faults that change a response, from the inside out."""


def start_fault(fault: Fault, now: float, seconds: float | None) -> Fault:
    """Return the fault, in force from `now` for `seconds` (None: without end)."""
    return replace(fault, since=now, until=inf if seconds is None else now + seconds)
