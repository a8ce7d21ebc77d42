"""Data that collectors share in Redis or Valkey 7: leases, replies, rows of people's actions.

Only this module imports redis. Every script runs completely or not at all. All keys begin with
`livedeck:{<workspace>}:`, so that a cluster keeps them in one slot (engine.md, "Keys").
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from importlib.resources import files
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from redis import BlockingConnectionPool as ThreadPool
from redis import Redis as ThreadRedis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry as ThreadRetry

from livedeck.log import Log
from livedeck.text.secrets import masked_line

PATIENCE = 0.5
"""Maximum seconds of a call; a Redis that hangs for longer counts as unreachable."""

WHOLE = 100
"""Share of a collector that is not slow, in percent of the usual number of events."""

KEPT_ANSWERS = 10_000
"""Number of replies in the stream: at 50 replies a second, about three minutes.

A collector that was away for longer polls by itself.
"""

KEPT_ROWS = 86_400.0
"""Seconds that alarm actions, silences, rulings and intents stay in Redis."""

_AT_ONCE = 300
"""Maximum number of leases in a call; a call of this size blocks Redis for 3 to 17 ms."""

_READ = 256
_PLAIN = (
    ("used memory > 'maxmemory'", "Redis is full: it has reached its maxmemory"),
    ("read only replica", "Redis is read-only: it is a replica"),
    ("HELLO must be called with the client already authenticated", "Redis requires a password"),
    ("invalid username-password pair", "Redis rejects this user or password"),
)
"""Fragment of an error text of Redis -> plain sentence for people."""

_NEVER = 2**53
_LEAST_VERSION = 7
_MAX_DIGITS = 16

_log = Log("livedeck.collector")


_LENIENT, _STRICT = frozenset({"ssl_cert_reqs", "ssl_check_hostname"}), frozenset({"required", "true", "yes", "1"})
"""Parameters of an address that could disable the check of the certificate, and their allowed values.

Without the check, an attacker in between could read and write.
"""


class SharedStoreError(Exception):
    """Redis is unreachable, hangs or refuses. The message has the reason, without the address."""


class RefusedError(SharedStoreError):
    """Redis refuses: it is full or read-only, or this user lacks a right. The message is from Redis."""


class UnreadableLog:
    """Log of unreadable data from other collectors. It logs only the first value of each kind.

    A collector of another version may write many such values.
    """

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def log(self, kind: str, error: Exception, **where: str) -> None:
        """Log an unreadable value of a kind, with the reason. `where`: place of the value, such as a key."""
        if kind not in self._kinds:
            self._kinds.add(kind)
            why, places = masked_line(error, 120), {name: masked_line(place, 60) for name, place in where.items()}
            _log.warning(f"skipped unreadable {kind}", why=why, **places)


class Claim(IntEnum):
    """Way to claim a lease.

    RENEW: only renew it. BY_RANK: take it if this collector is first in rank and `workers` is up to date. IF_FREE: take
    it if nobody holds it.
    """

    RENEW = 0
    BY_RANK = 1
    IF_FREE = 2


class Held(NamedTuple):
    """Result of a claim.

    `redis_ms`: time of Redis (epoch ms). `workers`: live collectors. `epochs`: event -> epoch, for each held lease.
    `next_ms`: next time at which a lease of another collector expires unless renewed (epoch ms). `lost`: names of
    collectors that disappeared without signing off. `generation`: text that changes when Redis has lost its data.
    `retry_ms`: milliseconds for which no collector may poll the platform. `shares`: slow worker -> percent of the usual
    number of events.
    """

    redis_ms: int
    workers: tuple[str, ...]
    epochs: Mapping[str, int]
    next_ms: int
    lost: tuple[str, ...]
    generation: str
    retry_ms: int
    shares: Mapping[str, int] = MappingProxyType({})


class Answer(NamedTuple):
    """Reply of the platform for an event, with the worker that polled the event and the epoch of its lease."""

    event_id: str
    worker: str
    epoch: int
    body: str


@dataclass(frozen=True, slots=True)
class News:
    """Data from other collectors since the last read.

    `retry_ms`: time of Redis until which no collector may poll the platform (epoch ms). `has_left`: a worker has given
    back its leases.
    """

    answers: Sequence[Answer] = ()
    rows: Sequence[str] = ()
    retry_ms: int = 0
    has_left: bool = False


def check_address(address: str) -> None:
    """Raise ValueError if the address would send shared data unencrypted (engine.md, "Safety")."""
    parts = urlsplit(address)
    if any(name in _LENIENT and value.lower() not in _STRICT for name, value in parse_qsl(parts.query)):
        raise ValueError("the certificate must be checked: name your own authority with ssl_ca_certs=FILE")
    if parts.scheme in {"rediss", "unix"}:
        return
    if parts.scheme != "redis":
        raise ValueError("must begin with rediss://, unix:// or, on this machine, redis://")
    host = parts.hostname or "localhost"
    try:
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise ValueError("redis:// is for this machine only: over a network anyone could read and write; use rediss://")


class SharedKeys:
    """Keys in Redis that the collectors of one workspace share."""

    def __init__(self, workspace: str) -> None:
        self._prefix = f"livedeck:{{{sha256(workspace.encode()).hexdigest()[:16]}}}:"

    def __call__(self, *names: str) -> list[str]:
        return [self._prefix + name for name in names]


class _Script(NamedTuple):
    keys: tuple[str, ...]
    text: str

    @classmethod
    def read(cls, name: str, *keys: str) -> _Script:
        return cls(keys, (files(__package__) / "scripts" / f"{name}.lua").read_text(encoding="utf-8"))


_CLAIM = _Script.read("claim", "workers", "leases", "lost", "generation", "retry", "shares")
_RELEASE = _Script.read("release", "workers", "leases", "answers", "shares")
_PUBLISH = _Script.read("publish", "leases", "answers")
_SAY = _Script.read("say", "said", "said:ids")
_HOLD_BACK = _Script.read("hold_back", "retry", "answers")
_KEEP = _Script.read("keep", "leases", "told", "messages")
_MARK = _Script.read("mark", "leases", "messages")
_CHANGE = _Script.read("change", "messages")


class SharedStore:
    """Connections of a collector to Redis. Leases have a connection of their own, so that no other call delays them.

    Every failure raises SharedStoreError, after at most `patience` seconds.
    """

    def __init__(self, address: str, workspace: str, worker: str, *, patience: float = PATIENCE) -> None:
        check_address(address)
        self.worker, self._keys, self._patience = worker, SharedKeys(workspace), patience
        self._leases, self._writing, self._reading = (_connect(address, patience) for _ in range(3))
        self._answers_from, self._rows_from = "", "0"
        self._unreadable = UnreadableLog()

    async def close(self) -> None:
        for client in (self._leases, self._writing, self._reading):
            await client.aclose(close_connection_pool=True)

    async def reconnect(self) -> None:
        """Drop the connections, so that the next call resolves the name and connects again."""
        for client in (self._leases, self._writing, self._reading):
            await client.connection_pool.disconnect()

    async def faults(self) -> list[str]:
        """Return the reasons why this Redis is unsuitable, the most serious first; empty if it is suitable.

        Raises SharedStoreError.
        """
        async with self._answered():
            info: Mapping[str, Any] = await self._leases.info("server", "persistence")
            found = []
            version = str(info.get("redis_version", ""))
            if (major := version.partition(".")[0]).isdecimal() and int(major) < _LEAST_VERSION:
                found.append(f"Redis {masked_line(version, 20)} is too old: version 7 or newer is needed")
            if info.get("aof_enabled") == 0:  # a managed Redis may not report it
                found.append("appendonly is off: a restart of Redis loses the notifier's state; set `appendonly yes`")
            try:
                policy = (await self._leases.config_get("maxmemory-policy")).get("maxmemory-policy", "")
            except ResponseError:
                policy = "noeviction"  # the default of Redis; a restricted user may not read the setting
            if policy != "noeviction":
                found.append(f"maxmemory-policy is {policy}: Redis may drop leases; set `maxmemory-policy noeviction`")
            return found

    async def time_ms(self) -> int:
        """Return the time of Redis (epoch ms). Raises SharedStoreError."""
        async with self._answered():
            seconds, micro = await self._leases.time()
        return int(seconds) * 1000 + int(micro) // 1000

    async def seen_ms(self) -> dict[str, int]:
        """Return worker -> time of its last claim, by the clock of Redis (epoch ms). Raises SharedStoreError."""
        (workers,) = self._keys("workers")
        async with self._answered():
            seen: Any = await self._leases.zrange(workers, 0, -1, withscores=True)
        return {str(worker): int(min(max(score, 0), _NEVER)) for worker, score in seen}

    async def claim(
        self,
        events: Mapping[str, Claim],
        *,
        span_ms: int,
        expected_ms: int,
        workers: Sequence[str],
        generation: str,
        is_able: bool = True,
        shares: Mapping[str, int] = MappingProxyType({}),
        share: int = WHOLE,
    ) -> Held:
        """Register this collector, and claim the leases of events that rank it first among `workers`.

        Args:
            events: Event id -> how its lease is claimed.
            span_ms: Lifetime of the leases and of the registration, in milliseconds.
            expected_ms: Expected time of Redis. A claim that runs much later is refused, because a Redis that hung may
                run old claims of dead workers.
            workers: Workers at the last claim.
            generation: Generation to store if Redis has none.
            is_able: This collector can poll the platform; if False, it gets no lease.
            shares: Shares of the slow workers at the last claim, in percent.
            share: Share of this collector, in percent.

        Raises:
            SharedStoreError: Redis is unreachable, hangs, refuses, or ran the claim too late.
        """
        claims, epochs, held = [*events.items()], dict[str, int](), None
        for begin in range(0, max(1, len(claims)), _AT_ONCE):
            part = [text for event, claim in claims[begin : begin + _AT_ONCE] for text in (event, str(int(claim)))]
            lines = "\n".join(f"{name} {shares[name]}" if name in shares else name for name in sorted(workers))
            own = self.worker, span_ms, expected_ms, lines, generation, int(is_able), share
            answer = await self._run(self._leases, _CLAIM, *own, *part)
            if answer[0] == "late":
                raise SharedStoreError("Redis replied too late")
            _, redis_ms, names, flat, next_ms, lost, current_generation, retry, percents = answer
            epochs |= {event: int(epoch) for event, epoch in zip(flat[::2], flat[1::2], strict=True)}
            next_ms = min(int(next_ms), held.next_ms) if held else int(next_ms)
            slow = {name: int(percent) for name, percent in zip(names, percents, strict=True) if int(percent) < WHOLE}
            held = Held(int(redis_ms), tuple(names), epochs, next_ms, tuple(lost), current_generation, int(retry), slow)
        assert held is not None
        return held

    async def release(self) -> None:
        """Unregister and give back all leases. Raises SharedStoreError."""
        await self._run(self._leases, _RELEASE, self.worker)

    async def publish(self, answers: Iterable[tuple[str, int, str]]) -> tuple[str, ...]:
        """Publish replies, as tuples of event, epoch and body.

        Returns the events whose leases this collector no longer holds. Raises SharedStoreError.
        """
        flat = [value for answer in answers for value in answer]
        return tuple(await self._run(self._writing, _PUBLISH, self.worker, KEPT_ANSWERS, *flat))

    async def say(self, rows: Mapping[str, str]) -> None:
        """Publish rows of people's actions. `rows`: uid -> row. Raises SharedStoreError."""
        flat = [text for row in rows.items() for text in row]
        await self._run(self._writing, _SAY, round(KEPT_ROWS * 1000), *flat)

    async def hold_back(self, seconds: float) -> None:
        """Forbid all collectors to poll the platform for `seconds`. Raises SharedStoreError."""
        await self._run(self._writing, _HOLD_BACK, max(1, round(seconds * 1000)))

    async def listen(self) -> None:
        """Begin to read: replies from the newest on, rows from the first on. Raises SharedStoreError."""
        (answers,) = self._keys("answers")
        async with self._answered():
            newest = await self._reading.xrevrange(answers, count=1)
        self._answers_from = str(newest[0][0]) if newest else "0"

    def start_over(self) -> None:
        """Read both streams from the start, because Redis has lost its data."""
        self._answers_from = self._rows_from = "0"

    async def read(self, seconds: float) -> News:
        """Return the data from other collectors since the last call, after a wait of up to `seconds`.

        Raises SharedStoreError.
        """
        answers_key, rows_key = self._keys("answers", "said")
        if not self._answers_from:
            await self.listen()
        async with self._answered(seconds):
            found = await self._reading.xread(
                {answers_key: self._answers_from, rows_key: self._rows_from}, count=_READ, block=round(seconds * 1000)
            )
        answers: list[Answer] = []
        rows: list[str] = []
        retry_ms, has_left = 0, False
        for key, entries in found.items() if isinstance(found, dict) else found:
            for entry_id, fields in _flat(entries):
                try:
                    if key == rows_key:
                        self._rows_from = entry_id
                        rows.append(fields["row"])
                        continue
                    self._answers_from = entry_id
                    has_left |= "left" in fields
                    retry_ms = max(retry_ms, _whole(fields.get("retry", "0")))
                    if "event" in fields and fields["by"] != self.worker:
                        answers.append(Answer(fields["event"], fields["by"], _whole(fields["epoch"]), fields["body"]))
                except (KeyError, ValueError) as error:
                    self._unreadable.log("stream entry", error, entry=entry_id)
        return News(answers, rows, retry_ms, has_left)

    async def _run(self, client: Redis, script: _Script, *values: object) -> Any:
        async with self._answered():
            return await client.eval(script.text, len(script.keys), *self._keys(*script.keys), *map(str, values))

    @asynccontextmanager
    async def _answered(self, seconds: float = 0.0) -> AsyncIterator[None]:
        """Limit the call in the block to `seconds` plus `patience`. A call that times out drops its connection."""
        with _named():
            async with asyncio.timeout(seconds + self._patience):
                yield


class SharedDesk:
    """Storage of the notifier in Redis, for use in threads. Redis refuses writes without the notifier lease.

    `epoch`, in every method: epoch of the lease. Every failure raises SharedStoreError. Values of a wrong type read as
    empty.
    """

    def __init__(self, address: str, workspace: str, worker: str) -> None:
        check_address(address)
        self._worker, self._keys = worker, SharedKeys(workspace)
        self._client = ThreadRedis.from_pool(
            ThreadPool.from_url(
                address,
                max_connections=1,
                timeout=PATIENCE,
                socket_timeout=PATIENCE,
                socket_connect_timeout=PATIENCE,
                retry=ThreadRetry(NoBackoff(), 0),
                decode_responses=True,
                encoding_errors="replace",
            )
        )
        self._unreadable = UnreadableLog()

    def close(self) -> None:
        self._client.close()

    def state(self) -> tuple[str, int, int]:
        """Return the stored state, its revision and its epoch; an empty text and zeros without a stored state.

        Raises SharedStoreError.
        """
        (key,) = self._keys("told")
        try:
            with _named():
                state, revision, epoch = self._client.hmget(key, ["state", "revision", "epoch"])
            return str(state or ""), _whole(revision or "0"), _whole(epoch or "0")
        except (RefusedError, ValueError) as error:
            self._unreadable.log("notifier state", error)
            return "", 0, 0

    def messages(self) -> dict[str, str]:
        """Return key -> message, for all stored messages. Raises SharedStoreError."""
        (key,) = self._keys("messages")
        try:
            with _named():
                return {str(name): str(body) for name, body in self._client.hgetall(key).items()}
        except RefusedError as error:
            self._unreadable.log("message", error)
            return {}

    def message(self, key: str) -> str:
        """Return the stored message with a key; empty without one. Raises SharedStoreError."""
        (messages,) = self._keys("messages")
        try:
            with _named():
                return str(self._client.hget(messages, key) or "")
        except RefusedError as error:
            self._unreadable.log("message", error)
            return ""

    def keep(self, epoch: int, known_epoch: int, revision: int, state: str, messages: Mapping[str, str]) -> bool:
        """Store the state and the messages in one step; an empty message deletes the stored one.

        `known_epoch`: epoch of the state before the step. Returns False if another collector holds the lease, or has
        held it since that epoch. Raises SharedStoreError.
        """
        flat = [text for message in messages.items() for text in message]
        return bool(self._run(_KEEP, self._worker, epoch, known_epoch, revision, state, *flat))

    def mark(self, epoch: int, messages: Mapping[str, str]) -> bool:
        """Store messages; an empty message deletes the stored one.

        Returns False if another collector holds the lease. Raises SharedStoreError.
        """
        flat = [text for message in messages.items() for text in message]
        return bool(self._run(_MARK, self._worker, epoch, *flat))

    def change_unchanged(self, messages: Iterable[tuple[str, str, str]]) -> int:
        """Replace each message that has not changed since it was read: tuples of key, body as read and new body.

        An empty new body deletes the message. Needs no lease. Returns the number of changed messages. Raises
        SharedStoreError.
        """
        return int(self._run(_CHANGE, *(text for message in messages for text in message)))

    def _run(self, script: _Script, *values: object) -> Any:
        try:
            with _named():
                return self._client.eval(script.text, len(script.keys), *self._keys(*script.keys), *map(str, values))
        except RefusedError:
            self._client.connection_pool.disconnect()  # the name may resolve to another server by now
            raise


def _connect(address: str, patience: float) -> Redis:
    """Open a pool of one connection. The library's retries are off: they would hide an unreachable Redis for long."""
    pool = BlockingConnectionPool.from_url(
        address,
        max_connections=1,
        timeout=patience,
        socket_connect_timeout=patience,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
        encoding_errors="replace",  # otherwise bytes that are not text would fail every read
    )
    return Redis.from_pool(pool)


def _flat(entries: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the entries of a stream; RESP3 nests them in one more list."""
    for entry in entries:
        if entry and isinstance(entry[0], str):
            yield entry[0], entry[1]
        else:
            yield from entry


def _whole(written: object) -> int:
    """Return the whole number that a script wrote. Raises ValueError for any other value."""
    text = str(written)
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise ValueError(f"{text[:20]!r} is not a number")
    return int(text)


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise SharedStoreError("Redis does not reply in time") from None
    except (RedisError, OSError) as error:
        kind = RefusedError if isinstance(error, ResponseError) else SharedStoreError
        raise kind(_reason(error)) from error


def _reason(error: Exception) -> str:
    """Return the reason of an error for people: a sentence of `_PLAIN`, or the words of Redis."""
    text = str(error)
    plain = (sentence for fragment, sentence in _PLAIN if fragment in text)
    return next(plain, f"Redis: {masked_line(text, 120)}")
