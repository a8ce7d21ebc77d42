"""Recorder: recognises each request for faults and journal, and keeps request and reply."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.simulator.engine.faults import SETTLE
from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.engine.pattern import BODY_MATCHED, SeenAnswer, SeenRequest
from livedeck.simulator.engine.world import World
from livedeck.simulator.http import Endpoint

_log = logging.getLogger("livedeck.simulator")

SEEN = "livedeck.seen"
"""Key of the `SeenRequest` in a scope; absent for the control API and the clock."""

REFUSED = "livedeck.refused"
"""Key in a scope: True if the simulator refused the framing or the size of the request."""

HITS = "livedeck.hits"
"""Key in a scope: ids of the faults that hit the request."""

Recognise = Callable[[Scope], SeenRequest]

_NAMED = ("event", "room")
"""Kinds of object whose name an entry shows; `KIND_id` is their parameter in a path."""

_TEXTS = ("text/", "application/json", "application/xml", "application/x-www-form-urlencoded")


def recogniser(world: World, endpoints: Sequence[Endpoint[Any]]) -> Recognise:
    """Return the function that recognises operation, objects and token of a request."""
    routes = [(endpoint.method, compile_path(endpoint.path)[0], endpoint.operation) for endpoint in endpoints]

    def recognise(scope: Scope) -> SeenRequest:
        path, method = scope["path"], "GET" if scope["method"] == "HEAD" else scope["method"]
        found = (
            (operation, match.groupdict())
            for wanted, pattern, operation in routes
            if wanted == method and (match := pattern.match(path))
        )
        operation, parameters = next(found, ("", {}))
        ids = {kind: parameters[f"{kind}_id"].lower() for kind in _NAMED if f"{kind}_id" in parameters}
        documents = {kind: world.store.get(kind, ids[kind]) for kind in ids}
        return SeenRequest(
            method=scope["method"],
            path=path,
            operation=operation,
            ids=ids,
            names={kind: document["name"] for kind, document in documents.items() if document},
            token=_whose(world, Headers(scope=scope).get("authorization", "")),
            query=parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True),
            headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        )

    return recognise


def _whose(world: World, authorization: str) -> str:
    """Return the owner of a request's token: served, other, wrong or none."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        return "wrong" if authorization else "none"
    workspace = world.workspace_of(token.strip())
    if workspace is None:
        return "wrong"
    return "served" if workspace == world.workspaces()[0] else "other"


class Recorder:
    """ASGI wrapper around the whole simulator. It adds the `SeenRequest` to the scope, and an entry to the journal."""

    def __init__(self, app: ASGIApp, world: World, recognise: Recognise) -> None:
        self._app = app
        self._world = world
        self._recognise = recognise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = _in_origin_form(scope) if scope["type"] == "http" else scope
        if scope["type"] != "http" or f"{scope['path']}/".startswith(("/_control/", "/_clock/")):
            await self._app(scope, receive, send)
            return
        try:
            request = self._recognise(scope)
        except Exception:  # noqa: BLE001  its log names it, and the journal must not change an answer
            _log.exception("a request could not be recorded: %s %r", scope["method"], scope["path"])
            self._world.journal.drop(self._world.now())
            await self._app(scope, receive, send)
            return
        extensions = {**scope.get("extensions", {})}
        scope = {**scope, SEEN: request, "extensions": extensions}
        recording = _Recording(self._world, request, scope, receive, send)
        extensions[SETTLE] = recording.settle
        try:
            await self._app(scope, recording.receive, recording.send)
        finally:
            recording.settle()


class _Recording:
    """Request in progress, and its reply so far."""

    def __init__(self, world: World, request: SeenRequest, scope: Scope, receive: Receive, send: Send) -> None:
        self._world, self._request, self._scope, self._receive, self._send = world, request, scope, receive, send
        self._clears = world.journal.clears
        self._at, self._began = world.now(), time.perf_counter()
        self._status, self._headers, self._text, self._bytes_sent = 0, list[tuple[str, str]](), bytearray(), 0
        self._is_text = self._is_complete = self._has_left = self._is_settled = False
        self._keeps_body = not request.path.startswith("/upload/") and _is_text(request.headers, or_none=True)

    async def receive(self) -> Message:
        """Receive a part of the request, and keep its beginning."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._has_left = True
        elif not self._is_settled:
            body = message.get("body", b"")
            self._request.bytes_received += len(body)
            if self._keeps_body:
                self._request.body += body[: max(0, BODY_MATCHED - len(self._request.body))]
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the reply, and keep its beginning."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
            self._is_text = _is_text(self._headers)
        else:
            body = message.get("body", b"")
            self._bytes_sent += len(body)
            if self._is_text:
                self._text += body[: max(0, BODY_MATCHED - len(self._text))]
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    def settle(self, outcome: str = "") -> None:
        """Add the entry to the journal, unless it was added already, or the journal was cleared since the request came.

        `outcome`: outcome of the request; empty for that of the reply.
        """
        journal = self._world.journal
        if self._is_settled or not journal.limit or journal.clears != self._clears:
            return
        self._is_settled = True
        entry = Entry(
            n=journal.next_number(),
            request=self._request,
            answer=SeenAnswer(self._status, outcome or self._outcome(), self._at),
            took_ms=round((time.perf_counter() - self._began) * 1000, 3),
            headers=self._headers,
            text=bytes(self._text),
            bytes_sent=self._bytes_sent,
            faults=self._scope.get(HITS, ()),
        )
        journal.add(entry)

    def _outcome(self) -> str:
        if self._scope.get(REFUSED):
            return "refused"
        if self._is_complete:
            return "answered"
        return "client-left" if self._has_left else "cut"


def _is_text(headers: Sequence[tuple[str, str]], *, or_none: bool = False) -> bool:
    """Return whether the body is text by its media type. `or_none`: result if the headers have no media type."""
    media = next((value.lower() for name, value in headers if name == "content-type"), None)
    return or_none if media is None else media.startswith(_TEXTS)


def _in_origin_form(scope: Scope) -> Scope:
    """Return the request with its path only; a client that expects a proxy sends scheme and host too."""
    match = re.match(rb"https?://[^/]*", scope["raw_path"], re.IGNORECASE)
    if match is None:
        return scope
    path = scope["raw_path"][match.end() :] or b"/"
    return {**scope, "raw_path": path, "path": unquote(path.decode("ascii"))}
