"""Who may ask the collector: tokens, what each may, and how many readers there are (collector.md, "Access")."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from hmac import compare_digest
from typing import Protocol

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck.collector.endpoints import Caller, Refusal, refused

OPEN = frozenset({"/healthz", "/readyz"})
"""What anybody may ask who reaches it: words only."""

MAX_READERS, MAX_READERS_OF_TOKEN = 256, 8
"""That follow the changes at a time."""

MAX_WRONG, WRONG_SECONDS, MAX_PEERS = 10, 60.0, 1024
"""So many wrong tokens of a peer in so many seconds; of so many peers they are counted."""


class Token(Protocol):
    """What is known of one: never itself. `may`: `metrics`, `read` or `act`, each of which includes those before it."""

    @property
    def sha256(self) -> str:
        """Of the token, in hexadecimal digits."""

    @property
    def may(self) -> str:
        """What it opens."""


class Access:
    """Knows tokens by their digests, and counts. `tokens`: by name, read at each request, so that one that is added or
    taken away counts at once. `is_proxied`: whether what asks is a proxy of ours, which says for whom. `monotonic`: s.
    """

    def __init__(
        self, tokens: Callable[[], Mapping[str, Token]], monotonic: Callable[[], float], *, is_proxied: bool = False
    ) -> None:
        self._tokens, self._monotonic, self._is_proxied = tokens, monotonic, is_proxied
        self._wrong: dict[str, deque[float]] = {}
        self._readers = Counter[str]()

    def identify(self, request: Request) -> Caller:
        """Whose token came. Raises Refusal.

        The right one is always heard: whoever shares an address with somebody who guesses is not kept out.
        """
        if "origin" in request.headers:
            raise Refusal(403, "browser", "no page of a browser may ask here in a person's name")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, "no token", "a token is needed: Authorization: Bearer ...")
        caller = self._find(token.strip())
        if caller is None:
            self._count_wrong(request)
            raise Refusal(401, "unknown token", "this token is not known here; `livedeck collect token add` makes one")
        return caller

    def is_known(self, caller: Caller) -> bool:
        """Whether that token still is one, and may as much."""
        token = self._tokens().get(caller.name)
        return token is not None and token.may == caller.may

    @contextmanager
    def reading(self, caller: Caller) -> Iterator[None]:
        """It follows the changes while the block runs."""
        self._readers[caller.name] += 1
        try:
            yield
        finally:
            self._readers[caller.name] -= 1

    def check_readers(self, caller: Caller) -> None:
        """Raises Refusal where one reader more would be too many."""
        if self._readers[caller.name] >= MAX_READERS_OF_TOKEN:
            say = f"{MAX_READERS_OF_TOKEN} readers use the token of {caller.name} already; add one for each person"
            raise Refusal(429, "too many readers", say)
        if self._readers.total() >= MAX_READERS:
            raise Refusal(503, "too many readers", f"{MAX_READERS} readers follow already")

    def _find(self, text: str) -> Caller | None:
        """Every one is compared, and in constant time."""
        digest = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        found = None
        for name, token in self._tokens().items():
            if compare_digest(digest, token.sha256):
                found = Caller(name, token.may)
        return found

    def _count_wrong(self, request: Request) -> None:
        """Raises Refusal for a peer that has brought too many."""
        peer, now = self._peer(request), self._monotonic()
        times = self._wrong.pop(peer, None) or deque[float](maxlen=MAX_WRONG)
        is_guessing = len(times) == MAX_WRONG and now - times[0] < WRONG_SECONDS
        self._wrong[peer] = times  # behind the others: the first is the one that was silent longest
        if is_guessing:
            say = f"this token is not known here, like {MAX_WRONG} before it from there within a minute"
            raise Refusal(429, "too many wrong tokens", say)
        times.append(now)
        if len(self._wrong) > MAX_PEERS:
            del self._wrong[next(iter(self._wrong))]

    def _peer(self, request: Request) -> str:
        """Its address; behind a proxy what that one saw, which is what stands last."""
        seen = request.headers.getlist("x-forwarded-for")
        if self._is_proxied and seen:
            return seen[-1].rpartition(",")[2].strip()
        return request.client.host if request.client else ""


class Doorkeeper:
    """Lets nobody in whom it does not know, but to what is open; says to what is behind it who asks."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.url.path not in OPEN:
            try:
                request.state.caller = self._access.identify(request)
            except Refusal as refusal:
                await refused(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)
