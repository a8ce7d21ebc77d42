"""What the collectors share, in Redis or Valkey 7: leases, answers, what persons said. The only file that knows redis.

Every script runs whole or not at all. All keys begin with `livedeck:{<workspace>}:`, so that a cluster keeps them in
one slot (engine.md, "Keys").
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
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import structlog
from redis import BlockingConnectionPool as ThreadPool
from redis import Redis as ThreadRedis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry as ThreadRetry

from livedeck.text.secrets import masked_line

PATIENCE = 0.5
"""Seconds that a call may take: who hangs is away."""

KEPT_ANSWERS = 10_000
"""A minute of three hundred events that are asked for twice a second; who was away for longer asks for himself."""

KEPT_ROWS = 86_400.0
"""Seconds that what persons said is kept."""

_AT_ONCE = 300
"""Leases in one call: 3 to 17 ms of a Redis that does nothing else meanwhile."""

_READ = 256
_PLAIN = (
    ("used memory > 'maxmemory'", "Redis is full: it has reached its maxmemory"),
    ("read only replica", "Redis only reads: it is a replica"),
    ("HELLO must be called with the client already authenticated", "Redis wants a password"),
    ("invalid username-password pair", "Redis takes no such user or password"),
)
"""By what Redis says, where its words need an expert."""

_NEVER = 2**53
_LEAST_VERSION = 7
_MAX_DIGITS = 16

_log = structlog.get_logger("livedeck.collector")


_LENIENT, _STRICT = frozenset({"ssl_cert_reqs", "ssl_check_hostname"}), frozenset({"required", "true", "yes", "1"})
"""Of the library's parameters in an address: whoever stands between could read and write."""


class SharedStoreError(Exception):
    """Redis is away, hangs or refuses; the text says which, without its address."""


class RefusedError(SharedStoreError):
    """Redis answers, and says no: it has no room, only reads, or this user may not; the text is Redis'."""


class PassedOver:
    """What others wrote and cannot be read. Of a collector of another version there may be much: of each kind the first
    is told."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def tell(self, kind: str, error: Exception, **where: str) -> None:
        """That one cannot be read, and why; `where` it is."""
        if kind not in self._kinds:
            self._kinds.add(kind)
            why, places = masked_line(error, 120), {name: masked_line(place, 60) for name, place in where.items()}
            _log.warning(f"{kind} that cannot be read is passed over", why=why, **places)


class Claim(IntEnum):
    """How a lease is claimed: only renewed; taken by rank, if the workers are those that are known; taken where nobody
    holds it."""

    RENEW = 0
    BY_RANK = 1
    IF_FREE = 2


class Held(NamedTuple):
    """What a claim came to. `redis_ms`: Redis' time. `epochs`: by the event that is held. `next_ms`: when what another
    one holds runs out, unless it is renewed. `lost`: names of the collectors that went without leaving. `generation`:
    another one where Redis has forgotten everything. `retry_ms`: for how long nobody may ask the platform."""

    redis_ms: int
    workers: tuple[str, ...]
    epochs: Mapping[str, int]
    next_ms: int
    lost: tuple[str, ...]
    generation: str
    retry_ms: int


class Answer(NamedTuple):
    """Of an event that somebody holds, by whom, and in which epoch of its lease."""

    event_id: str
    worker: str
    epoch: int
    body: str


@dataclass(frozen=True, slots=True)
class News:
    """What others wrote since the last read. `retry_ms`: Redis' time until which nobody may ask the platform.
    `has_left`: somebody gave everything back."""

    answers: Sequence[Answer] = ()
    rows: Sequence[str] = ()
    retry_ms: int = 0
    has_left: bool = False


def check_address(address: str) -> None:
    """Raises ValueError for an address over which what is shared would travel in clear (engine.md, "Safety")."""
    parts = urlsplit(address)
    if any(name in _LENIENT and value.lower() not in _STRICT for name, value in parse_qsl(parts.query)):
        raise ValueError("its certificate should be looked at: ssl_ca_certs=FILE names an authority of your own")
    if parts.scheme in {"rediss", "unix"}:
        return
    if parts.scheme != "redis":
        raise ValueError("should begin with rediss://, unix:// or, on this machine, redis://")
    host = parts.hostname or "localhost"
    try:
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise ValueError(
            "redis:// is for this machine alone: over a network everybody could read and write; use rediss://"
        )


class SharedKeys:
    """The names of everything that is shared by the collectors of one workspace."""

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


_CLAIM = _Script.read("claim", "workers", "leases", "lost", "generation", "retry")
_RELEASE = _Script.read("release", "workers", "leases", "answers")
_PUBLISH = _Script.read("publish", "leases", "answers")
_SAY = _Script.read("say", "said", "said:ids")
_HOLD_BACK = _Script.read("hold_back", "retry", "answers")
_KEEP = _Script.read("keep", "leases", "told", "messages")
_MARK = _Script.read("mark", "leases", "messages")
_REVIVE = _Script.read("revive", "messages")


class SharedStore:
    """The connections of one collector: leases have one of their own, for nothing may hold them up. Every failure is a
    SharedStoreError, after `patience` seconds at most."""

    def __init__(self, address: str, workspace: str, worker: str, *, patience: float = PATIENCE) -> None:
        check_address(address)
        self.worker, self._keys, self._patience = worker, SharedKeys(workspace), patience
        self._leases, self._writing, self._reading = (_connect(address, patience) for _ in range(3))
        self._answers_from, self._rows_from = "", "0"
        self._passed_over = PassedOver()

    async def close(self) -> None:
        """Let go of the connections."""
        for client in (self._leases, self._writing, self._reading):
            await client.aclose(close_connection_pool=True)

    async def reconnect(self) -> None:
        """Find the way anew with the next call."""
        for client in (self._leases, self._writing, self._reading):
            await client.connection_pool.disconnect()

    async def faults(self) -> list[str]:
        """Why that Redis is not fit for this, in words, the first being the gravest. Raises SharedStoreError."""
        async with self._answered():
            about: Mapping[str, Any] = await self._leases.info("server", "persistence")
            found = []
            version = str(about.get("redis_version", ""))
            if (major := version.partition(".")[0]).isdecimal() and int(major) < _LEAST_VERSION:
                found.append(f"Redis {masked_line(version, 20)} is too old: it takes 7 or newer")
            if about.get("aof_enabled") == 0:  # a managed one may not say
                found.append("appendonly is off: a restart of Redis forgets who was told; set `appendonly yes`")
            try:
                policy = (await self._leases.config_get("maxmemory-policy")).get("maxmemory-policy", "")
            except ResponseError:
                policy = "noeviction"  # a user of few rights may not ask, and Redis' own default is that
            if policy != "noeviction":
                found.append(f"maxmemory-policy is {policy}: Redis may drop leases; set `maxmemory-policy noeviction`")
            return found

    async def time_ms(self) -> int:
        """Redis' time. Raises SharedStoreError."""
        async with self._answered():
            seconds, micro = await self._leases.time()
        return int(seconds) * 1000 + int(micro) // 1000

    async def seen_ms(self) -> dict[str, int]:
        """When each worker that is there has claimed last, by Redis' time. Raises SharedStoreError."""
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
    ) -> Held:
        """Be there for `span_ms`, and hold what falls to this one of these `events`, by rank among `workers`.

        `expected_ms`: Redis' time as it is expected: a claim that comes much later is refused, for a Redis that hung
        carries out what the dead have sent. `is_able`: whether this one can ask the platform at all. Raises
        SharedStoreError.
        """
        wanted, epochs, held = [*events.items()], dict[str, int](), None
        for begin in range(0, max(1, len(wanted)), _AT_ONCE):
            part = [text for event, how in wanted[begin : begin + _AT_ONCE] for text in (event, str(int(how)))]
            known = "\n".join(sorted(workers))
            answer = await self._run(
                self._leases, _CLAIM, self.worker, span_ms, expected_ms, known, generation, int(is_able), *part
            )
            if answer[0] == "late":
                raise SharedStoreError("Redis answers too late")
            _, redis_ms, names, flat, next_ms, lost, generation_there, retry = answer
            epochs |= {event: int(epoch) for event, epoch in zip(flat[::2], flat[1::2], strict=True)}
            next_ms = min(int(next_ms), held.next_ms) if held else int(next_ms)
            held = Held(int(redis_ms), tuple(names), epochs, next_ms, tuple(lost), generation_there, int(retry))
        assert held is not None
        return held

    async def release(self) -> None:
        """Leave, and give everything back. Raises SharedStoreError."""
        await self._run(self._leases, _RELEASE, self.worker)

    async def publish(self, answers: Iterable[tuple[str, int, str]]) -> tuple[str, ...]:
        """Hand out answers (event, epoch, body). Returns the events that this one does not hold any more. Raises
        SharedStoreError."""
        flat = [value for answer in answers for value in answer]
        return tuple(await self._run(self._writing, _PUBLISH, self.worker, KEPT_ANSWERS, *flat))

    async def say(self, rows: Mapping[str, str]) -> None:
        """Hand out what persons said, by uid. Raises SharedStoreError."""
        flat = [text for row in rows.items() for text in row]
        await self._run(self._writing, _SAY, round(KEPT_ROWS * 1000), *flat)

    async def hold_back(self, seconds: float) -> None:
        """Nobody may ask the platform for so long. Raises SharedStoreError."""
        await self._run(self._writing, _HOLD_BACK, max(1, round(seconds * 1000)))

    async def listen(self) -> None:
        """Answers are read from now on; what was said is read whole. Raises SharedStoreError."""
        (answers,) = self._keys("answers")
        async with self._answered():
            newest = await self._reading.xrevrange(answers, count=1)
        self._answers_from = str(newest[0][0]) if newest else "0"

    def start_over(self) -> None:
        """Read all that is there: Redis has forgotten what it was."""
        self._answers_from = self._rows_from = "0"

    async def read(self, seconds: float) -> News:
        """What others wrote since the last call, waiting for it so long. Raises SharedStoreError."""
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
                    self._passed_over.tell("an entry", error, entry=entry_id)
        return News(answers, rows, retry_ms, has_left)

    async def _run(self, client: Redis, script: _Script, *values: object) -> Any:
        async with self._answered():
            return await client.eval(script.text, len(script.keys), *self._keys(*script.keys), *map(str, values))

    @asynccontextmanager
    async def _answered(self, seconds: float = 0.0) -> AsyncIterator[None]:
        """Around every call: it takes so long, and `patience`, at most. One that is cut short drops its connection,
        which may be dead though neither end has heard of it."""
        with _named():
            async with asyncio.timeout(seconds + self._patience):
                yield


class SharedDesk:
    """What the notifier keeps, on a connection for threads. `epoch` is of the lease of the desk; without it a write is
    refused. Every failure is a SharedStoreError; what a stranger wrote is text that means nothing, or nothing."""

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
        self._passed_over = PassedOver()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def state(self) -> tuple[str, int, int]:
        """What was kept last, its revision and in which epoch; empty and 0 where nothing was. Raises
        SharedStoreError."""
        (key,) = self._keys("told")
        try:
            with _named():
                state, revision, epoch = self._client.hmget(key, ["state", "revision", "epoch"])
            return str(state or ""), _whole(revision or "0"), _whole(epoch or "0")
        except (RefusedError, ValueError) as error:
            self._passed_over.tell("who was told", error)
            return "", 0, 0

    def messages(self) -> dict[str, str]:
        """All that is kept, by key. Raises SharedStoreError."""
        (key,) = self._keys("messages")
        try:
            with _named():
                return {str(name): str(body) for name, body in self._client.hgetall(key).items()}
        except RefusedError as error:
            self._passed_over.tell("a message", error)
            return {}

    def message(self, key: str) -> str:
        """That message as it is kept; empty where it is not. Raises SharedStoreError."""
        (messages,) = self._keys("messages")
        try:
            with _named():
                return str(self._client.hget(messages, key) or "")
        except RefusedError as error:
            self._passed_over.tell("a message", error)
            return ""

    def keep(self, epoch: int, known_epoch: int, revision: int, state: str, messages: Mapping[str, str]) -> bool:
        """Keep them together, or (empty) no longer; False where the desk is another's, or was since `known_epoch`, in
        which the state was kept that this one follows from. Raises SharedStoreError."""
        flat = [text for message in messages.items() for text in message]
        return bool(self._run(_KEEP, self._worker, epoch, known_epoch, revision, state, *flat))

    def mark(self, epoch: int, messages: Mapping[str, str]) -> bool:
        """Keep these messages as they are now, or (empty) no longer; False where the desk is another's. Raises
        SharedStoreError."""
        flat = [text for message in messages.items() for text in message]
        return bool(self._run(_MARK, self._worker, epoch, *flat))

    def revive(self, messages: Iterable[tuple[str, str, str]]) -> int:
        """Keep another body (key, as it was read, as it is to be) of each that is as it was read, whoever has the desk;
        how many those are. Raises SharedStoreError."""
        return int(self._run(_REVIVE, *(text for message in messages for text in message)))

    def _run(self, script: _Script, *values: object) -> Any:
        try:
            with _named():
                return self._client.eval(script.text, len(script.keys), *self._keys(*script.keys), *map(str, values))
        except RefusedError:
            self._client.connection_pool.disconnect()  # its name may lead to another one by now
            raise


def _connect(address: str, patience: float) -> Redis:
    """One connection, and no retries: those of the library would hide for long that Redis is away."""
    pool = BlockingConnectionPool.from_url(
        address,
        max_connections=1,
        timeout=patience,
        socket_connect_timeout=patience,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
        encoding_errors="replace",  # else what is no text is an error of the connection, met again at every read
    )
    return Redis.from_pool(pool)


def _flat(entries: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The entries of a stream, of which RESP3 has one list more."""
    for entry in entries:
        if entry and isinstance(entry[0], str):
            yield entry[0], entry[1]
        else:
            yield from entry


def _whole(written: object) -> int:
    """A number as the scripts write it. Raises ValueError for anything else."""
    text = str(written)
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise ValueError(f"{text[:20]!r} is no number")
    return int(text)


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise SharedStoreError("Redis does not answer in time") from None
    except (RedisError, OSError) as error:
        kind = RefusedError if isinstance(error, ResponseError) else SharedStoreError
        raise kind(_reason(error)) from error


def _reason(error: Exception) -> str:
    """Why, for a person; as Redis says it where that is plain."""
    text = str(error)
    plain = (sentence for fragment, sentence in _PLAIN if fragment in text)
    return next(plain, f"Redis: {masked_line(text, 120)}")
