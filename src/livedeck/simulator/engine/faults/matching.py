"""Faults in force, and which of them hit a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from math import inf
from typing import Any

from livedeck.simulator.engine.disk import is_disk_full
from livedeck.simulator.engine.faults.late import LateRequests
from livedeck.simulator.engine.hls import PATH
from livedeck.simulator.engine.identity import number_of
from livedeck.simulator.engine.pattern import RequestPattern, SeenRequest
from livedeck.simulator.engine.store import Document, Store

HLS_KINDS = (
    *("hls-gone", "hls-stalled", "hls-missing", "hls-slow", "hls-rung", "hls-late", "hls-black", "hls-frozen"),
    *("hls-silent", "hls-page", "hls-encrypted", "cdn-down"),
)
"""Kinds that hit playlists and segments only."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Kind of fault and the requests that it hits. It lasts from `since` until `until` (epoch seconds).

    `match`: table of a request pattern. `nth`: the fault hits the matching requests with these numbers, counted from
    the fault's start. Without `nth`, it hits requests after the first `skip`, each with the probability `chance`, at
    most `times` (None: no limit). The other fields belong to single kinds (simulator.md, "Faults").
    """

    id: str
    kind: str
    match: Mapping[str, Any] = field(default_factory=dict)
    chance: float = 1.0
    since: float = -inf
    until: float = inf
    nth: Sequence[int] = ()
    skip: int = 0
    times: int | None = None
    status: int | None = None
    seconds: float = 0.0
    jitter: float = 0.0
    retry_after: str = "seconds"
    lands: str = "late"
    answer: str = "status"
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    body: str = ""
    size: int = 1024
    pause: float = 0.1
    kbit_per_s: float = 1000.0
    after: int | None = None
    bytes: int = 0
    every: int = 1
    host: str = ""

    @property
    def pattern(self) -> RequestPattern:
        """Requests that the fault may hit: they fit its kind, its host and `match`."""
        path = {"path": f"{PATH}/**"} if self.kind in HLS_KINDS else {}
        host = {"header.host": {"glob": f"{self.host}*"}} if self.host else {}
        return RequestPattern({**path, **host, **self.match})

    def document(self) -> Document:
        """Return the fault as a document, without infinite times, which JSON cannot hold."""
        return {name: value for name, value in asdict(self).items() if value not in (inf, -inf)}


@dataclass(frozen=True, slots=True)
class FaultCounts:
    """Number of requests that matched a fault since its start (`seen`), and of those that it hit."""

    seen: int = 0
    hits: int = 0

    def left(self, fault: Fault) -> int | None:
        """Return how often the fault can still hit; None without a limit."""
        if fault.nth:
            return sum(number > self.seen for number in fault.nth)
        return None if fault.times is None else max(0, fault.times - self.hits)


@dataclass(frozen=True, slots=True)
class FaultHit:
    """Fault that hits a request, and `dice`: a number from 0 to 1 that the seed fixes."""

    fault: Fault
    dice: float


class Faults:
    """Faults in force and their counts, which the store keeps.

    `late`: changes that faults delay. A delayed change remains after its fault ends, but not after the process ends.
    """

    def __init__(self, store: Store) -> None:
        self.late = LateRequests()
        self._store = store
        self._counts: dict[str, FaultCounts] | None = None

    @property
    def active(self) -> tuple[Fault, ...]:
        """Faults in force, in the order of their arrival."""
        return tuple(Fault(**fields) for fields in self._kept()["active"])

    def counts(self, fault_id: str) -> FaultCounts:
        """Return the counts of a fault since it was added."""
        return self._all_counts().get(fault_id, FaultCounts())

    def add(self, fault: Fault) -> Fault:
        """Put a fault in force and return it, with a new id if it has none. Drop the faults that have ended."""
        kept = self._kept()
        others = [other for other in self.active if other.until > fault.since]
        made = kept["made"]
        if not fault.id:
            taken = {other.id for other in others}
            made = next(number for number in count(made + 1) if f"fault-{number}" not in taken)
            fault = replace(fault, id=f"fault-{made}")
        self._all_counts().pop(fault.id, None)
        self._put([*others, fault], made)
        return fault

    def replace(self, fault: Fault) -> None:
        """Change the fault with the same id. It counts from 0 again."""
        self._all_counts().pop(fault.id, None)
        self._put([fault if other.id == fault.id else other for other in self.active], self._kept()["made"])

    def remove(self, fault_id: str) -> None:
        """End a fault."""
        self._all_counts().pop(fault_id, None)
        self._put([fault for fault in self.active if fault.id != fault_id], self._kept()["made"])

    def clear(self) -> None:
        """End all faults."""
        self._counts = {}
        self._put([], self._kept()["made"])

    def restart(self) -> None:
        """Drop delayed changes and reset the counts. The faults then draw the same random numbers again."""
        self.late.clear()
        self._counts = None

    def reads_body(self, now: float) -> bool:
        """Return whether a fault in force depends on the body of a request."""
        return any(fault.since <= now < fault.until and fault.pattern.reads_body for fault in self.active)

    def hitting(self, seed: int, request: SeenRequest, now: float) -> list[FaultHit]:
        """Return the faults that hit this request, and count it.

        The same seed and the same requests give the same result.
        """
        counts, hits = self._all_counts(), []
        matching = [
            fault for fault in self.active if fault.since <= now < fault.until and fault.pattern.matches(request)
        ]
        for fault in matching:
            before = counts.get(fault.id, FaultCounts())
            counted = replace(before, seen=before.seen + 1)
            if _hits(fault, counted, number_of(seed, "fault", fault.id, counted.seen) / 2**53):
                counted = replace(counted, hits=counted.hits + 1)
                hits.append(FaultHit(fault, number_of(seed, "dice", fault.id, counted.seen) / 2**53))
            counts[fault.id] = counted
        if matching:
            try:
                self._put_counts(counts)
            except OSError as error:
                if not is_disk_full(error):  # reads must work even if the disk is full
                    raise
        return hits

    def _kept(self) -> Document:
        return self._store.get("world", "faults") or {"active": [], "made": 0}

    def _put(self, faults: Sequence[Fault], made: int) -> None:
        documents = [fault.document() for fault in faults]
        self._store.put("world", {"id": "faults", "active": documents, "made": made})
        self._put_counts(self._all_counts())

    def _all_counts(self) -> dict[str, FaultCounts]:
        if self._counts is None:
            kept = self._store.get("world", "fault-counts") or {"counts": {}}
            self._counts = {name: FaultCounts(*pair) for name, pair in kept["counts"].items()}
        return self._counts

    def _put_counts(self, counts: Mapping[str, FaultCounts]) -> None:
        pairs = {name: [counted.seen, counted.hits] for name, counted in counts.items()}
        self._store.put("world", {"id": "fault-counts", "counts": pairs})


def _hits(fault: Fault, counted: FaultCounts, roll: float) -> bool:
    """Return whether the fault hits a request.

    `counted`: matching requests up to this one, and earlier hits. `roll`: random number from 0 to 1.
    """
    if fault.nth:
        return counted.seen in fault.nth
    is_due = counted.seen > fault.skip and (fault.times is None or counted.hits < fault.times)
    return is_due and roll < fault.chance
