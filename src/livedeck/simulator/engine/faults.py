"""The fault layer: what networks, proxies and tired servers do to answers, and what may be wrong inside one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import formatdate
from fnmatch import fnmatchcase
from functools import partial
from math import inf
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.identity import number_of
from livedeck.simulator.errors import plain

PADDING = 10 * 1024 * 1024

"""Bytes that come on top of a huge answer."""


Json = Any


def broken(content: Json, _since: float) -> bytes:
    """No JSON, although it says so."""
    return str(content).encode()[:200]


def wrong_types(content: Json, _since: float) -> Json:
    """Every number is text and every truth is a number; what was text stays."""
    return _leaves(content, lambda _, value: _mistyped(value))


def _mistyped(value: Json) -> Json:
    if isinstance(value, bool):
        return int(value)
    return str(value) if isinstance(value, int | float) else value


def nulls(content: Json, _since: float) -> Json:
    """Every value is null, but ids and times."""
    return _leaves(content, lambda name, value: value if name in {"id", "time"} else None)


def missing_fields(content: Json, _since: float) -> Json:
    """Every third field of the objects in the data is missing, but never the id."""
    return _objects(content, lambda row: {name: row[name] for place, name in enumerate(row) if place % 3 != 1})


def extra_fields(content: Json, _since: float) -> Json:
    """Every object in the data has fields that nobody documented."""
    return _objects(content, lambda row: row | {"x_extra": {"nested": [1, None, "?"]}, "x_version": 7})


def duplicates(content: Json, _since: float) -> Json:
    """Every element of a list comes twice."""
    return _rows(content, lambda rows: [row for row in rows for _ in range(2)])


def reordered(content: Json, _since: float) -> Json:
    """The elements of a list come in any order."""
    return _rows(content, _shuffled)


def _shuffled(rows: list[Json]) -> list[Json]:
    return [rows[place] for place in sorted(range(len(rows)), key=lambda place: number_of("order", place))]


def frozen(content: Json, since: float) -> Json:
    """New samples come, but their time stands still."""
    limit = stamp_epoch(since)
    return _objects(content, lambda row: row | {"time": min(row["time"], limit)} if "time" in row else row)


def ahead(content: Json, seconds: float) -> Json:
    """Samples are stamped by a clock that is so many seconds ahead."""

    def later(text: str) -> str:
        return stamp_epoch(datetime.fromisoformat(text).timestamp() + seconds)

    return _objects(content, lambda row: row | {"time": later(row["time"])} if "time" in row else row)


def huge(content: Json, _since: float) -> Json:
    """Ten megabytes more than it needs."""
    return content | {"padding": "x" * PADDING}


def _leaves(value: Json, change: Callable[[str, Json], Json], name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _leaves(one, change, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_leaves(one, change, name) for one in value]
    return change(name, value)


def _rows(content: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    data = content.get("data")
    return content | {"data": change(data)} if isinstance(data, list) else content


def _objects(content: Json, change: Callable[[dict[str, Json]], Json]) -> Json:
    data = content.get("data")
    if isinstance(data, dict):
        return content | {"data": change(data)}
    return _rows(content, lambda rows: [change(row) for row in rows])


ALL: Mapping[str, Callable[[Json, float], Json]] = {
    "broken-json": broken,
    "wrong-types": wrong_types,
    "nulls": nulls,
    "missing-fields": missing_fields,
    "extra-fields": extra_fields,
    "duplicates": duplicates,
    "reordered": reordered,
    "frozen": frozen,
    "huge": huge,
}


ABORT = "livedeck.abort"

"""In the extensions of a scope: a function that cuts the connection, where there is one to cut."""


SKEW = "livedeck.skew"

"""In the extensions of a scope: seconds by which the `Date` of the answer is off."""


class LostError(ConnectionError):
    """In process there is no connection to cut: the caller gets this instead."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What strikes which requests, from `since` until `until` (epoch seconds), with that chance.

    `method` and `path` (a pattern with `*`) are empty for any. `status`: of an error or redirect. `seconds`: of
    latency or skew, or until a retry. `retry_after`: how a 429 says when (none, seconds, date).
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

    def fits(self, method: str, path: str, now: float) -> bool:
        """Whether it is meant for such a request at that time."""
        if not self.since <= now < self.until:
            return False
        return self.method in {"", method} and (not self.path or fnmatchcase(path, self.path))


class Faults:
    """The faults in force, and the dice."""

    def __init__(self) -> None:
        self.all: tuple[Fault, ...] = ()
        self._thrown = 0

    def add(self, fault: Fault) -> None:
        """From now on it strikes too."""
        self.all = (*self.all, fault)

    def remove(self) -> None:
        """None strikes any more."""
        self.all = ()

    def striking(self, seed: int, method: str, path: str, now: float) -> list[Fault]:
        """Those that strike this request. The same seed and the same requests give the same answer."""
        return [fault for fault in self.all if fault.fits(method, path, now) and self._strikes(seed, fault)]

    def _strikes(self, seed: int, fault: Fault) -> bool:
        self._thrown += 1
        return number_of(seed, "fault", self._thrown) / 2**53 < fault.chance


@dataclass(frozen=True, slots=True)
class FaultHit:
    """A fault that strikes a request now (epoch seconds), and the app that would have answered."""

    fault: Fault
    now: float
    app: ASGIApp


FaultEffect = Callable[[FaultHit, Scope, Receive, Send], Awaitable[None]]


def apply_fault(app: ASGIApp, faults: list[Fault], now: float) -> ASGIApp:
    """The app with those faults around it; what changes an answer is inside of what cuts it or takes its place."""
    for fault in sorted(faults, key=lambda one: _INNER.get(one.kind, len(_INNER))):
        app = partial(FAULT_EFFECTS[fault.kind], FaultHit(fault, now, app))
    return app


async def _fail(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await plain(blow.fault.status, "simulated fault").response()(scope, receive, send)


async def _limit(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = blow.fault.seconds
    when = {"seconds": f"{seconds:.0f}", "date": formatdate(blow.now + seconds, usegmt=True)}.get(
        blow.fault.retry_after
    )
    await plain(429, "too many requests").response({"Retry-After": when} if when else None)(scope, receive, send)


async def _redirect(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    status = blow.fault.status if 300 <= blow.fault.status < 400 else 302
    await RedirectResponse("https://elsewhere.example/", status)(scope, receive, send)


async def _page(_blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await Response("<html><h1>Welcome</h1></html>", media_type="text/html")(scope, receive, send)


async def _delay(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(blow.fault.seconds)
    await blow.app(scope, receive, send)


async def _hang(_blow: FaultHit, _scope: Scope, receive: Receive, _send: Send) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(_blow: FaultHit, scope: Scope, _receive: Receive, _send: Send) -> None:
    await _cut(scope)


async def _lose(blow: FaultHit, scope: Scope, receive: Receive, _send: Send) -> None:
    await blow.app(scope, receive, _nowhere)
    await _cut(scope)


async def _nowhere(_message: Message) -> None:
    """Where an answer goes that nobody gets."""


async def _cut(scope: Scope) -> None:
    abort = scope.get("extensions", {}).get(ABORT)
    if abort is None:
        raise LostError
    abort()
    await asyncio.sleep(0)  # the loss is known to the server in the next turn of the loop


async def _skew(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    """A platform has one clock: it dates its answers by it, and stamps samples."""
    scope.setdefault("extensions", {})[SKEW] = blow.fault.seconds
    await _distorting(lambda content, _: ahead(content, blow.fault.seconds))(blow, scope, receive, send)


async def _drip(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _answer(blow.app, scope, receive)
    await send(start)
    size = max(1, len(body) // 20)
    for begin in range(0, len(body), size):
        await asyncio.sleep(blow.fault.seconds / 20)
        await send({"type": "http.response.body", "body": body[begin : begin + size], "more_body": True})
    await send({"type": "http.response.body"})


async def _truncate(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _answer(blow.app, scope, receive)
    await send(start)
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    if ABORT not in scope.get("extensions", {}):
        await send({"type": "http.response.body"})

    # Over a socket the rest that was promised never comes, and the server hangs up.


def _distorting(change: Callable[[Any, float], Any]) -> FaultEffect:
    async def distort(blow: FaultHit, scope: Scope, receive: Receive, send: Send) -> None:
        start, body = await _answer(blow.app, scope, receive)
        if start["status"] == 200 and (b"content-type", b"application/json") in start["headers"]:
            body = _changed(body, lambda content: change(content, blow.fault.since))
        kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    return distort


def _changed(body: bytes, change: Callable[[Any], Any]) -> bytes:
    try:
        content = json.loads(body)
    except ValueError:  # another fault broke it before
        return body
    changed = change(content)
    return changed if isinstance(changed, bytes) else json.dumps(changed, separators=(",", ":")).encode()


async def _answer(app: ASGIApp, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
    """The whole answer of the app, held back."""
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


FAULT_EFFECTS: Mapping[str, FaultEffect] = {
    "status": _fail,
    "rate-limit": _limit,
    "redirect": _redirect,
    "html": _page,
    "latency": _delay,
    "hang": _hang,
    "drop": _drop,
    "lose": _lose,
    "drip": _drip,
    "skew": _skew,
    "truncate": _truncate,
    **{kind: _distorting(change) for kind, change in ALL.items()},
}

"""What each kind of fault does. drop: nothing is done and nobody answers; lose: it is done, and nobody answers."""


_INNER = {**dict.fromkeys((*ALL, "skew"), 0), "drip": 1, "truncate": 2}

"""What needs an answer to work on, from the inside out."""


def begun(fault: Fault, now: float, lasts: float | None) -> Fault:
    """The fault, in force from now for so many seconds."""
    return replace(fault, since=now, until=inf if lasts is None else now + lasts)
