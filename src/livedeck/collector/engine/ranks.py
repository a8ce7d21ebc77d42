"""The collector responsible for an event: rendezvous hashing, so that a join moves one share of the events. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def first_in_rank(event_id: str, workers: Iterable[str]) -> str:
    """Return the worker responsible for the event, or an empty string without workers. Every caller gets the same."""
    return max(workers, key=lambda worker: (_weight(event_id, worker), worker), default="")


def _weight(event_id: str, worker: str) -> bytes:
    return blake2b(f"{worker}\0{event_id}".encode(), digest_size=8).digest()
