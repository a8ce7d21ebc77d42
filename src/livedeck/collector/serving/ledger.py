"""Record of the last use of each access token, and of refused tokens (collector.md, "Access").

A request only changes an entry in memory. The file of last uses is written at most once a minute, and the audit gets at
most a few records in ten minutes.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from livedeck.atomic_file import BackgroundWriter, read_regular
from livedeck.log import Log
from livedeck.monitor import ActionRecord, AuditOutcome, Clock

USES_SECONDS = 60.0
"""Minimum seconds between two writes of the file of last uses."""

REFUSALS_SECONDS, MAX_NAMED, MAX_COUNTED = 600.0, 5, 1024
"""Minimum seconds between two reports of refused tokens, and maximum number of addresses named, and counted."""

REFUSED_ACTION = "collector.token"
"""Name of a refused token in the audit."""

MAX_KEPT, _MAX_BYTES = 1000, 2**20
"""Maximum number of tokens in the file of last uses, and its maximum size in bytes. Tokens used last are kept."""

_log = Log("livedeck.collector")


class Use(NamedTuple):
    """Last use of a token: its time, to the second, and the address of the client."""

    at: datetime
    peer: str


class UsesError(Exception):
    """The file with the last use of each token cannot be read. The message has the reason."""


def uses_path(history: Path) -> Path:
    """Return the path of the file with the last use of each token, beside the history."""
    return history.with_name(f"{history.name}.uses")


def read_uses(path: Path) -> Mapping[str, Use]:
    """Return SHA-256 of a token -> its last use. Raises FileNotFoundError, UsesError."""
    try:
        content, _ = read_regular(path, _MAX_BYTES)
        rows = json.loads(content).items()
        return {digest: Use(datetime.fromisoformat(at).astimezone(UTC), str(peer)) for digest, (at, peer) in rows}
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsesError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise UsesError(f"{path}: not a file of last uses") from None


class _Refused(NamedTuple):
    """Key by which refusals are counted. `peer`: client's address; empty for the sum of several addresses."""

    peer: str
    reason: str


class Ledger:
    """Counter of uses and refusals of tokens, which `run` writes. Make it in a thread, because it reads the file.

    `path`: file of last uses. `record`: adds a record to the audit; None without a history.
    """

    def __init__(self, path: Path, record: Callable[[ActionRecord], Awaitable[object]] | None, clock: Clock) -> None:
        self._record, self._clock = record, clock
        self._file = BackgroundWriter(path, _warn)
        self._uses = _read_or_begin(path)
        self._used, self._refused = asyncio.Event(), asyncio.Event()
        self._refusals = Counter[_Refused]()
        self._refused_since = clock.now()

    def note_use(self, sha256: str, peer: str) -> None:
        """Record a use of the token with this digest. `peer`: address of the client."""
        self._uses[sha256] = Use(self._clock.now().replace(microsecond=0), peer)
        self._used.set()

    def note_refusal(self, peer: str, reason: str) -> None:
        """Count a refused token from the address `peer`."""
        if not self._refusals:
            self._refused_since = self._clock.now()
        refused = _Refused(peer, reason)
        if refused not in self._refusals and len(self._refusals) >= MAX_COUNTED:
            refused = _Refused("", reason)
        self._refusals[refused] += 1
        self._refused.set()

    async def run(self) -> None:
        """Write uses and refusals until cancelled, as often as the limits allow."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write_each(self._used, self._write_uses, USES_SECONDS))
                group.create_task(self._write_each(self._refused, self._write_refusals, REFUSALS_SECONDS))
        finally:
            await self._write_uses()
            await self._write_refusals()
            await asyncio.to_thread(self._file.close)

    async def _write_each(self, noted: asyncio.Event, write: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            await noted.wait()
            noted.clear()
            await write()
            await self._clock.sleep(seconds)

    async def _write_uses(self) -> None:
        """Pass the uses to the writer thread. After a failed write, the next use causes another try."""
        kept = nlargest(MAX_KEPT, self._uses.items(), key=lambda item: item[1].at)
        if kept:
            self._file.write(json.dumps({digest: (use.at.isoformat(), use.peer) for digest, use in kept}))

    async def _write_refusals(self) -> None:
        counted, since, at = self._refusals, self._refused_since, self._clock.now()
        self._refusals = Counter()
        named = [refused for refused, _ in counted.most_common() if refused.peer][:MAX_NAMED]
        rest = counted.total() - sum(counted[refused] for refused in named)
        rows = [(refused.peer, refused.reason, counted[refused]) for refused in named]
        if rest:
            rows.append(("other addresses", "refused tokens", rest))
        for peer, reason, count in rows:
            often = f"{count:,} times since {since:%H:%M:%S}Z" if count > 1 else "once"
            if self._record:
                await self._record(
                    ActionRecord(at, REFUSED_ACTION, "address", "", peer, AuditOutcome.REFUSED, f"{reason}: {often}")
                )


def _read_or_begin(path: Path) -> dict[str, Use]:
    try:
        return dict(read_uses(path))
    except FileNotFoundError:
        return {}
    except UsesError as error:
        _log.warning("could not read the last uses of tokens; beginning anew", error=str(error))
        return {}


def _warn(error: OSError) -> None:
    _log.warning("could not write the last uses of tokens", error=error.strerror)
