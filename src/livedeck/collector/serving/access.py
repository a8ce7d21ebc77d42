"""Access control of the collector: tokens, their rights, and limits on readers (collector.md, "Access")."""

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

from livedeck.collector.links import CALENDAR_FOLDER
from livedeck.collector.protocol.wire import EXPIRED, REPLACED
from livedeck.collector.serving.endpoints import AUTHORIZATION_NEEDED, Caller, Refusal, refused
from livedeck.collector.serving.ledger import Ledger
from livedeck.monitor import Clock
from livedeck.text.values import safe

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that need no token; their replies are single words."""

OPEN_FOLDERS = ("/v1/link/", CALENDAR_FOLDER, "/v1/hooks/pagerduty")
"""Beginnings of paths that need no token, because the path (`links.py`) or the body is signed."""

MAX_READERS, MAX_READERS_OF_TOKEN = 256, 8
"""Maximum number of readers of the change stream at a time, in all and with the same token."""

MAX_WRONG, WRONG_SECONDS, MAX_PEERS = 10, 60.0, 1024
"""Maximum number of wrong tokens from an address within WRONG_SECONDS, and of addresses that are counted."""

_MAX_PEER = 45
"""Maximum number of characters of an address: the length of the longest IPv6 address."""


class Token(Protocol):
    """Settings of a token: its digest, right and expiry, but not the token itself."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the token, in hexadecimal digits."""

    @property
    def may(self) -> str:
        """Right of the token: `metrics`, `read`, `respond` or `act` (`endpoints.py`)."""

    @property
    def expires(self) -> datetime | None:
        """Time from which the token is refused; None for never."""

    @property
    def previous_sha256(self) -> str:
        """SHA-256 of the token that this token has replaced; empty without one."""

    @property
    def previous_until(self) -> datetime | None:
        """Time from which the replaced token is refused."""


class _Held(NamedTuple):
    """Token in the settings, valid or expired. `until`: time from which it is refused; None for never."""

    name: str
    token: Token
    sha256: str
    until: datetime | None

    @property
    def is_previous(self) -> bool:
        """True if another token has replaced this token."""
        return self.sha256 != self.token.sha256


class Access:
    """Check of tokens, with counts of readers and wrong tokens.

    `tokens`: returns name -> token; called at each request, so that changes apply at once. `clock`: clock of this
    machine. `is_proxied`: requests come through the operator's proxy, which adds the address of the client. `ledger`:
    records uses and refusals.
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
        """Return the owner of a request's token. Raises Refusal if the token is not valid.

        Wrong tokens from the same address do not block a valid one, so that a guesser cannot lock out others.
        """
        if "origin" in request.headers:
            raise Refusal(403, "browser", "requests from a browser page are refused")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, "no token", AUTHORIZATION_NEEDED)
        found = self._find(sha256(token.strip().encode("utf-8", "surrogateescape")).hexdigest())
        if found is None:
            self.count_wrong(request, "unknown token")
            raise Refusal(401, "unknown token", "unknown token; create one with `livedeck collector token create`")
        return self._admitted(found, request)

    def identify_signed(self, request: Request, name: str, is_signed: Callable[[str], bool]) -> Caller:
        """Return the holder of a token whose digest signed a request's address. Raises Refusal.

        `name`: name of the holder. `is_signed`: returns whether the address was signed with a digest.
        """
        token = self._tokens().get(name)
        held = [*_held_tokens(name, token)] if token else []
        signer = next((entry for entry in held if is_signed(entry.sha256)), None)
        if signer is None:
            self.count_wrong(request, "unknown address of the calendar")
            raise Refusal(404, "gone", "this address is not valid; ask for a new one: `livedeck collector calendar`")
        return self._admitted(signer, request)

    def _admitted(self, found: _Held, request: Request) -> Caller:
        """Return the owner of a token as the caller, and record the use. Raises Refusal if the token has expired."""
        peer = self.peer(request)
        if self._is_expired(found):
            refusal = _refusal_of(found)
            self.note_refusal(peer, f"{refusal.body['error']} of {found.name}")
            raise refusal
        caller = Caller(found.name, found.token.may, found.sha256, peer)
        self.note_use(caller)
        return caller

    def is_known(self, caller: Caller) -> bool:
        """Return whether the caller's token is still valid, with the same rights."""
        token = self._tokens().get(caller.name)
        if token is None or token.may != caller.may:
            return False
        return any(
            held.sha256 == caller.sha256 and not self._is_expired(held) for held in _held_tokens(caller.name, token)
        )

    def note_use(self, caller: Caller) -> None:
        """Record a use of the caller's token. Call this at each request, and with each frame of a stream."""
        if self._ledger:
            self._ledger.note_use(caller.sha256, caller.peer)

    @contextmanager
    def reading(self, caller: Caller) -> Iterator[None]:
        """Count the caller as a reader of the change stream while the block runs."""
        self._readers[caller.name] += 1
        try:
            yield
        finally:
            self._readers[caller.name] -= 1

    def check_readers(self, caller: Caller) -> None:
        """Raise Refusal if another reader with the caller's token would be too many."""
        if self._readers[caller.name] >= MAX_READERS_OF_TOKEN:
            say = f"{MAX_READERS_OF_TOKEN} readers already use the token of {caller.name}; create a token per person"
            raise Refusal(429, "too many readers", say)
        if self._readers.total() >= MAX_READERS:
            raise Refusal(503, "too many readers", f"{MAX_READERS} readers are already connected")

    def _find(self, digest: str) -> _Held | None:
        """Return the token with a digest, or None. Compares all tokens, so that every search takes the same time."""
        found = None
        for name, token in self._tokens().items():
            for held in _held_tokens(name, token):
                if compare_digest(digest, held.sha256):
                    found = held
        return found

    def _is_expired(self, found: _Held) -> bool:
        return found.until is not None and found.until <= self._clock.now()

    def note_refusal(self, peer: str, reason: str) -> None:
        """Record a refused token or link from the address `peer`."""
        if self._ledger:
            self._ledger.note_refusal(peer, reason)

    def count_wrong(self, request: Request, reason: str) -> None:
        """Record and count a wrong token or signature. Raises Refusal if the client sent too many."""
        peer, now = self.peer(request), self._clock.monotonic()
        self.note_refusal(peer, reason)
        times = self._wrong.pop(peer, None) or deque[float](maxlen=MAX_WRONG)
        is_guessing = len(times) == MAX_WRONG and now - times[0] < WRONG_SECONDS
        self._wrong[peer] = times  # at the end, so the first address has the oldest last wrong token
        if is_guessing:
            say = f"unknown token, and {MAX_WRONG} others came from this address within a minute; wait a minute"
            raise Refusal(429, "too many wrong tokens", say)
        times.append(now)
        if len(self._wrong) > MAX_PEERS:
            del self._wrong[next(iter(self._wrong))]

    def peer(self, request: Request) -> str:
        """Return the client's address. Behind a proxy this is the last one in X-Forwarded-For."""
        seen = request.headers.getlist("x-forwarded-for")
        if self._is_proxied and seen:
            return str(safe(seen[-1].rpartition(",")[2].strip(), _MAX_PEER))
        return request.client.host if request.client else ""


def _held_tokens(name: str, token: Token) -> Iterator[_Held]:
    """Yield a token, and the token that it has replaced, if any."""
    yield _Held(name, token, token.sha256, token.expires)
    if token.previous_sha256:
        yield _Held(name, token, token.previous_sha256, token.previous_until)


def _refusal_of(found: _Held) -> Refusal:
    """Return the refusal of an expired or replaced token, with the next step for the user."""
    until = f"{found.until.astimezone(UTC):%Y-%m-%d %H:%M}Z" if found.until else ""
    if found.is_previous:
        say = f"this token of {found.name} was replaced and was valid until {until}: use the new one"
        return Refusal(401, REPLACED, say)
    command = f"livedeck collector token rotate {found.name}"
    say = f"the token of {found.name} expired {until}: run `{command}` on the collector's machine"
    return Refusal(401, EXPIRED, say)


class Doorkeeper:
    """Middleware that refuses requests without a valid token, and passes the others on to `app`.

    Paths in `OPEN` and below `OPEN_FOLDERS` need no token.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.url.path not in OPEN and not request.url.path.startswith(OPEN_FOLDERS):
            try:
                request.state.caller = self._access.identify(request)
            except Refusal as refusal:
                await refused(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)
