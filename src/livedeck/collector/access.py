"""Who may ask the collector: tokens, what each may, and how many readers there are (collector.md, "Access")."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple, Protocol

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck.collector.endpoints import Caller, Refusal, refused
from livedeck.collector.ledger import Ledger
from livedeck.collector.wire import EXPIRED, REPLACED
from livedeck.monitor import Clock
from livedeck.text.values import safe

OPEN = frozenset({"/healthz", "/readyz"})
"""What anybody may ask who reaches it: words only."""

MAX_READERS, MAX_READERS_OF_TOKEN = 256, 8
"""That follow the changes at a time."""

MAX_WRONG, WRONG_SECONDS, MAX_PEERS = 10, 60.0, 1024
"""So many wrong tokens of a peer in so many seconds; of so many peers they are counted."""


_MAX_PEER = 45
"""Characters of an address: an IPv6 address has no more."""


class Token(Protocol):
    """What is known of a token: never the token itself. `may`: `metrics`, `read` or `act`, each of which includes
    those before it."""

    @property
    def sha256(self) -> str:
        """Digest of the token, in hexadecimal digits."""

    @property
    def may(self) -> str:
        """What it opens."""

    @property
    def expires(self) -> datetime | None:
        """When it is refused from; None: never."""

    @property
    def previous_sha256(self) -> str:
        """Digest of the token that it replaced; empty if there is none."""

    @property
    def previous_until(self) -> datetime | None:
        """When that one is refused from."""


class _Held(NamedTuple):
    """A token that came, whether it is still valid or not. `until`: when it is refused from."""

    name: str
    token: Token
    sha256: str
    until: datetime | None

    @property
    def is_previous(self) -> bool:
        """Whether another token has replaced it."""
        return self.sha256 != self.token.sha256


class Access:
    """Knows tokens by their digests, and counts. `tokens`: by name, read at each request, so that a change of them
    counts at once. `clock`: of this machine. `is_proxied`: a proxy of ours asks, and says for whom. `ledger`: notes
    who came.
    """

    def __init__(
        self,
        tokens: Callable[[], Mapping[str, Token]],
        clock: Clock,
        *,
        is_proxied: bool = False,
        ledger: Ledger | None = None,
    ) -> None:
        self._tokens, self._clock, self._is_proxied, self._ledger = tokens, clock, is_proxied, ledger
        self._wrong: dict[str, deque[float]] = {}
        self._readers = Counter[str]()

    def identify(self, request: Request) -> Caller:
        """Return whose token came. Raises Refusal.

        The right one is always heard: whoever shares an address with somebody who guesses is not kept out.
        """
        if "origin" in request.headers:
            raise Refusal(403, "browser", "no page of a browser may ask here in a person's name")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, "no token", "a token is needed: Authorization: Bearer ...")
        found = self._find(sha256(token.strip().encode("utf-8", "surrogateescape")).hexdigest())
        peer = self._peer(request)
        if found is None:
            self._note_refusal(peer, "unknown token")
            self._count_wrong(peer)
            say = "this token is not known here; `livedeck collector token create` makes one"
            raise Refusal(401, "unknown token", say)
        if self._is_over(found):
            refusal = _refusal_of(found)
            self._note_refusal(peer, f"{refusal.body['error']} of {found.name}")
            raise refusal
        caller = Caller(found.name, found.token.may, found.sha256, peer)
        self.note_use(caller)
        return caller

    def is_known(self, caller: Caller) -> bool:
        """Return whether the very token that came is still valid, and may as much."""
        token = self._tokens().get(caller.name)
        if token is None or token.may != caller.may:
            return False
        return any(
            held.sha256 == caller.sha256 and not self._is_over(held) for held in _held_tokens(caller.name, token)
        )

    def note_use(self, caller: Caller) -> None:
        """Note that the token is in use now: with each request, and as long as a stream is read."""
        if self._ledger:
            self._ledger.note_use(caller.sha256, caller.peer)

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

    def _find(self, digest: str) -> _Held | None:
        """Compare every token, in constant time."""
        found = None
        for name, token in self._tokens().items():
            for held in _held_tokens(name, token):
                if compare_digest(digest, held.sha256):
                    found = held
        return found

    def _is_over(self, found: _Held) -> bool:
        return found.until is not None and found.until <= self._clock.now()

    def _note_refusal(self, peer: str, reason: str) -> None:
        if self._ledger:
            self._ledger.note_refusal(peer, reason)

    def _count_wrong(self, peer: str) -> None:
        """Raises Refusal for a peer that has brought too many."""
        now = self._clock.monotonic()
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
        """Return its address; behind a proxy what that one saw, which is what stands last."""
        seen = request.headers.getlist("x-forwarded-for")
        if self._is_proxied and seen:
            return str(safe(seen[-1].rpartition(",")[2].strip(), _MAX_PEER))
        return request.client.host if request.client else ""


def _held_tokens(name: str, token: Token) -> Iterator[_Held]:
    """Yield the token of that name, and the one before its rotation."""
    yield _Held(name, token, token.sha256, token.expires)
    if token.previous_sha256:
        yield _Held(name, token, token.previous_sha256, token.previous_until)


def _refusal_of(found: _Held) -> Refusal:
    """Return the refusal of a token that was valid once, with what to do."""
    until = f"{found.until.astimezone(UTC):%Y-%m-%d %H:%M}Z" if found.until else ""
    if found.is_previous:
        say = f"this token of {found.name} was replaced, and valid until {until}: use the new one"
        return Refusal(401, REPLACED, say)
    command = f"livedeck collector token rotate {found.name}"
    say = f"the token of {found.name} expired {until}: run `{command}` beside the collector"
    return Refusal(401, EXPIRED, say)


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
