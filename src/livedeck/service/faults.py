"""The HTTP fault layer: what networks, proxies and tired servers do to answers (service.md, trust.md).

A fault is a value that says which requests it strikes. A hazard is what it does: an ASGI app around the next one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from fnmatch import fnmatchcase
from functools import partial
from math import inf
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.service import distortions
from livedeck.service.errors import plain
from livedeck.service.identity import number_of

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
class Blow:
    """A fault that strikes a request now (epoch seconds), and the app that would have answered."""

    fault: Fault
    now: float
    app: ASGIApp


Hazard = Callable[[Blow, Scope, Receive, Send], Awaitable[None]]


def struck(app: ASGIApp, faults: list[Fault], now: float) -> ASGIApp:
    """The app with those faults around it; what changes an answer is inside of what cuts it or takes its place."""
    for fault in sorted(faults, key=lambda one: _INNER.get(one.kind, len(_INNER))):
        app = partial(HAZARDS[fault.kind], Blow(fault, now, app))
    return app


async def _fail(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    await plain(blow.fault.status, "simulated fault").response()(scope, receive, send)


async def _limit(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = blow.fault.seconds
    when = {"seconds": f"{seconds:.0f}", "date": formatdate(blow.now + seconds, usegmt=True)}.get(
        blow.fault.retry_after
    )
    await plain(429, "too many requests").response({"Retry-After": when} if when else None)(scope, receive, send)


async def _redirect(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    status = blow.fault.status if 300 <= blow.fault.status < 400 else 302
    await RedirectResponse("https://elsewhere.example/", status)(scope, receive, send)


async def _page(_blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    await Response("<html><h1>Welcome</h1></html>", media_type="text/html")(scope, receive, send)


async def _delay(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(blow.fault.seconds)
    await blow.app(scope, receive, send)


async def _hang(_blow: Blow, _scope: Scope, receive: Receive, _send: Send) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(_blow: Blow, scope: Scope, _receive: Receive, _send: Send) -> None:
    await _cut(scope)


async def _lose(blow: Blow, scope: Scope, receive: Receive, _send: Send) -> None:
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


async def _skew(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    """A platform has one clock: it dates its answers by it, and stamps samples."""
    scope.setdefault("extensions", {})[SKEW] = blow.fault.seconds
    await _distorting(lambda content, _: distortions.ahead(content, blow.fault.seconds))(blow, scope, receive, send)


async def _drip(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _answer(blow.app, scope, receive)
    await send(start)
    size = max(1, len(body) // 20)
    for begin in range(0, len(body), size):
        await asyncio.sleep(blow.fault.seconds / 20)
        await send({"type": "http.response.body", "body": body[begin : begin + size], "more_body": True})
    await send({"type": "http.response.body"})


async def _truncate(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _answer(blow.app, scope, receive)
    await send(start)
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    if ABORT not in scope.get("extensions", {}):
        await send({"type": "http.response.body"})
    # Over a socket the rest that was promised never comes, and the server hangs up.


def _distorting(change: Callable[[Any, float], Any]) -> Hazard:
    async def distort(blow: Blow, scope: Scope, receive: Receive, send: Send) -> None:
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


HAZARDS: Mapping[str, Hazard] = {
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
    **{kind: _distorting(change) for kind, change in distortions.ALL.items()},
}
"""What each kind of fault does. drop: nothing is done and nobody answers; lose: it is done, and nobody answers."""


_INNER = {**dict.fromkeys((*distortions.ALL, "skew"), 0), "drip": 1, "truncate": 2}
"""What needs an answer to work on, from the inside out."""


def begun(fault: Fault, now: float, lasts: float | None) -> Fault:
    """The fault, in force from now for so many seconds."""
    return replace(fault, since=now, until=inf if lasts is None else now + lasts)
