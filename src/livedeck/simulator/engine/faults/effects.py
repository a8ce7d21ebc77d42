"""Faults of the connection, and the effect of each kind of fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.faults.late import LateRequest, LateRequests, discard
from livedeck.simulator.engine.faults.matching import HLS_KINDS, Fault, FaultHit
from livedeck.simulator.engine.faults.payload import PAYLOAD_FAULTS, break_json, hold_back, shift_time
from livedeck.simulator.errors import of_status

ABORT = "livedeck.abort"
"""Key in a scope's extensions: function that cuts the connection. Absent without a connection.

It takes `reset`: True to send a TCP reset in place of an orderly end.
"""

SKEW = "livedeck.skew"
"""Key in a scope's extensions: seconds by which the response's `Date` is ahead."""

SETTLE = "livedeck.settle"
"""Key in a scope's extensions: function that adds an unfinished request to the journal. It takes the outcome."""

HLS_HITS = "livedeck.hls"
"""Key in a scope: faults that the routes of HLS carry out."""

TICK = 0.05
"""Seconds between two pieces of a body whose bandwidth is limited."""


class ConnectionCut(ConnectionError):  # noqa: N818  named after the event, not the error
    """Error that the caller gets instead of a cut connection, if the app runs in process."""


@dataclass(frozen=True, slots=True)
class Strike:
    """Fault that hits a request at `now` (epoch seconds), and the app that would have replied.

    `dice`: number from 0 to 1 that the seed fixes. `late`: the queue of delayed changes. `clears`: how often the queue
    was cleared before.
    """

    fault: Fault
    dice: float
    now: float
    app: ASGIApp
    clock: SimulatorClock
    late: LateRequests
    clears: int

    @property
    def is_dropped(self) -> bool:
        """True if the workspace was created anew after the request came. Then the request must change nothing."""
        return self.late.clears != self.clears

    @property
    def pace(self) -> float:
        """Seconds of the fault per second of this machine: the clock's speed, or 1 while the clock is paused."""
        return 1.0 if self.clock.paused else self.clock.speed

    async def wait(self, seconds: float) -> None:
        """Wait for `seconds` of the simulator's clock; while that is paused, of this machine's clock."""
        await asyncio.sleep(max(0.0, seconds) / self.pace)


FaultEffect = Callable[[Strike, Scope, Receive, Send], Awaitable[None]]


def apply_faults(
    app: ASGIApp,
    hits: Sequence[FaultHit],
    now: float,
    clock: SimulatorClock,
    late: LateRequests,
    *,
    encode: Callable[[ASGIApp], ASGIApp],
) -> ASGIApp:
    """Return the app wrapped in the faults.

    `encode` compresses responses. Faults that change a response are inside it, and faults that replace a response are
    outside. Faults of the connection are outermost.
    """

    def wrapped(app: ASGIApp, *, is_content: bool) -> ASGIApp:
        chosen = (hit for hit in hits if (hit.fault.kind in _CONTENT) == is_content)
        for hit in sorted(chosen, key=lambda hit: _LAYERS.get(hit.fault.kind, _CONNECTION)):
            strike = Strike(hit.fault, hit.dice, now, app, clock, late, late.clears)
            app = partial(FAULT_EFFECTS[hit.fault.kind], strike)
        return app

    return wrapped(encode(wrapped(app, is_content=True)), is_content=False)


async def _answer_status(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    await of_status(strike.fault.status or 503, "simulated fault").response()(scope, receive, send)


async def _answer_rate_limit(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = strike.fault.seconds
    retry_after = {"seconds": f"{seconds:.0f}", "date": formatdate(strike.now + seconds, usegmt=True)}.get(
        strike.fault.retry_after
    )
    await of_status(429, "too many requests").response({"Retry-After": retry_after} if retry_after else None)(
        scope, receive, send
    )


async def _answer_redirect(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    status = strike.fault.status or 302
    await RedirectResponse("https://elsewhere.example/", status)(scope, receive, send)


async def _answer_html(_strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    await Response("<html><h1>Welcome</h1></html>", media_type="text/html")(scope, receive, send)


async def _answer_canned(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    fault = strike.fault
    media = None if fault.json is None else "application/json"
    body = fault.body if fault.json is None else json.dumps(fault.json, separators=(",", ":"))
    await Response(body, fault.status or 200, fault.headers, media)(scope, receive, send)


async def _delay(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    await strike.wait(strike.fault.seconds + strike.fault.jitter * (2 * strike.dice - 1))
    if strike.is_dropped:
        await _cut_connection(scope)
    else:
        await strike.app(scope, receive, send)


async def _hang(_strike: Strike, scope: Scope, receive: Receive, _send: Send) -> None:
    scope.get("extensions", {}).get(SETTLE, _ignore)("hung")
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(_strike: Strike, scope: Scope, _receive: Receive, _send: Send) -> None:
    await _cut_connection(scope)


async def _lose(strike: Strike, scope: Scope, receive: Receive, _send: Send) -> None:
    await strike.app(scope, receive, discard)
    await _cut_connection(scope)


async def _reset_peer(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Reset the connection, after `after` bytes of the body if the fault sets that."""
    if strike.fault.after is not None:
        start, body = await _hold_answer(strike.app, scope, receive)
        await send(start)
        await send({"type": "http.response.body", "body": body[: strike.fault.after], "more_body": True})
    await _cut_connection(scope, reset=True)


async def _apply_late(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond before the change is made, like a gateway that gives up while the platform still works on it."""
    request = LateRequest(strike.now + strike.fault.seconds, strike.app, scope, await _read_body(receive))
    if strike.is_dropped:
        await _cut_connection(scope)
        return
    if strike.fault.lands == "at-once":
        await request.land()
    elif strike.fault.lands == "late":
        strike.late.add(request)
    await _LATE_ANSWERS[strike.fault.answer](strike, scope, receive, send)


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


async def _answer_no_json(_strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    await Response(break_json({"data": {"success": True}}, 0), media_type="application/json")(scope, receive, send)


async def _answer_any_status(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    answer = _answer_redirect if 300 <= (strike.fault.status or 503) < 400 else _answer_status
    await answer(strike, scope, receive, send)


def _ignore(_outcome: str) -> None:
    """Ignore the outcome of a request, in place of the function at `SETTLE`."""


async def _cut_connection(scope: Scope, *, reset: bool = False) -> None:
    abort = scope.get("extensions", {}).get(ABORT)
    if abort is None:
        raise ConnectionCut
    abort(reset=reset)
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


async def _leave_to_hls(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    await strike.app({**scope, HLS_HITS: [*scope.get(HLS_HITS, ()), strike.fault]}, receive, send)


async def _send_segment_slowly(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a segment in `seconds`; playlists come at once."""
    if not scope["path"].endswith(".m4s"):
        await strike.app(scope, receive, send)
        return
    start, body = await _hold_answer(strike.app, scope, receive)
    await send(start)
    pieces, seconds = 20, strike.fault.seconds or 3.0
    for number in range(pieces):
        await strike.wait(seconds / pieces)
        piece = body[len(body) * number // pieces : len(body) * (number + 1) // pieces]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


async def _skew(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Shift the `Date` header and the samples together, because a platform has one clock for both."""
    scope.setdefault("extensions", {})[SKEW] = strike.fault.seconds
    await _payload_fault(lambda content, _: shift_time(content, strike.fault.seconds))(strike, scope, receive, send)


async def _deliver_late(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    until = strike.now - strike.fault.seconds
    await _payload_fault(lambda content, _: hold_back(content, until))(strike, scope, receive, send)


async def _drip(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _hold_answer(strike.app, scope, receive)
    await send(start)
    size = strike.fault.size
    for begin in range(0, len(body), size):
        await strike.wait(strike.fault.pause)
        await send({"type": "http.response.body", "body": body[begin : begin + size], "more_body": True})
    await send({"type": "http.response.body"})


async def _limit_bandwidth(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Limit the request and the reply to `kbit_per_s` each."""
    rate = strike.fault.kbit_per_s * 1000 / 8 * strike.pace  # bytes in a second of this machine
    came = Allowance(rate)

    async def receive_slowly() -> Message:
        message = await receive()
        await came.spend(len(message.get("body", b"")))
        if strike.is_dropped:
            await _cut_connection(scope)
            raise ClientDisconnect
        return message

    start, body = await _hold_answer(strike.app, scope, receive_slowly)
    await send(start)
    went, size = Allowance(rate), max(1, int(rate * TICK))
    for begin in range(0, len(body), size):
        piece = body[begin : begin + size]
        await went.spend(len(piece))
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


class Allowance:
    """Limit of a transfer to `rate` bytes a second, counted from its first byte."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._free_at: float | None = None

    async def spend(self, size: int) -> None:
        """Wait until `size` more bytes may have passed."""
        if not size:
            return
        now = asyncio.get_running_loop().time()
        self._free_at = (now if self._free_at is None else self._free_at) + size / self._rate
        await asyncio.sleep(max(0.0, self._free_at - now))


async def _truncate(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _hold_answer(strike.app, scope, receive)
    await _send_part(start, body, len(body) // 2, scope, send)


async def _limit_data(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    start, body = await _hold_answer(strike.app, scope, receive)
    await _send_part(start, body, strike.fault.bytes, scope, send)


async def _send_part(start: Message, body: bytes, size: int, scope: Scope, send: Send) -> None:
    """Send the first `size` bytes of the body. The declared rest never comes, and the server closes the connection."""
    await send(start)
    await send({"type": "http.response.body", "body": body[:size], "more_body": True})
    if size >= len(body) or ABORT not in scope.get("extensions", {}):
        await send({"type": "http.response.body"})


async def _close_slowly(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the whole reply, announce the end of the connection, and close it later."""
    start, body = await _hold_answer(strike.app, scope, receive)
    headers = [(name, value) for name, value in start["headers"] if name != b"connection"]
    await send({**start, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await strike.wait(strike.fault.seconds)
    await send({"type": "http.response.body"})


def _payload_fault(change: Callable[[Any, float], Any]) -> FaultEffect:
    async def effect(strike: Strike, scope: Scope, receive: Receive, send: Send) -> None:
        start, body = await _hold_answer(strike.app, scope, receive)
        if start["status"] == 200 and (b"content-type", b"application/json") in start["headers"]:
            body = _change_json(body, lambda content: change(content, strike.fault.since))
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
    """Return the whole response of the app without sending it. Raises ClientDisconnect if the app sends none."""
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    if not messages:
        raise ClientDisconnect
    return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


FAULT_EFFECTS: Mapping[str, FaultEffect] = {
    "status": _answer_status,
    "rate-limit": _answer_rate_limit,
    "redirect": _answer_redirect,
    "html": _answer_html,
    "answer": _answer_canned,
    "latency": _delay,
    "hang": _hang,
    "drop": _drop,
    "lose": _lose,
    "reset-peer": _reset_peer,
    "late-apply": _apply_late,
    "drip": _drip,
    "bandwidth": _limit_bandwidth,
    "late-samples": _deliver_late,
    "skew": _skew,
    "truncate": _truncate,
    "limit-data": _limit_data,
    "slow-close": _close_slowly,
    **{kind: _payload_fault(change) for kind, change in PAYLOAD_FAULTS.items()},
    **dict.fromkeys(HLS_KINDS, _leave_to_hls),
    "hls-slow": _send_segment_slowly,
    "cdn-down": _answer_status,
}
"""Effect of each kind of fault.

`drop` does nothing and sends no response. `lose` carries out the request and sends no response. `late-apply` carries it
out at once, later or never, and its response does not say which.
"""

_CONTENT = (*PAYLOAD_FAULTS, "late-samples", "skew")
"""Kinds that change the content of a response; all others act on the connection or replace the response."""

_CONNECTION = 4
_LAYERS = {
    **dict.fromkeys(_CONTENT, 0),
    **dict.fromkeys(("status", "rate-limit", "redirect", "html", "answer", "late-apply", "cdn-down"), 1),
    **dict.fromkeys(("drip", "bandwidth", "hls-slow"), 2),
    "truncate": 3,
    "limit-data": 3,
    "slow-close": 2,
}
"""Kind of fault -> its layer around the app, the innermost first. Faults of the connection are outermost."""
