"""Identifiers and keys that depend on the seed only, so that two simulators with one seed reply alike."""

from __future__ import annotations

from hashlib import blake2b
from uuid import UUID


def uuid_of(*parts: object) -> str:
    """Return a version 4 UUID derived from `parts`."""
    return str(UUID(bytes=_digest(parts), version=4))


def number_of(*parts: object) -> int:
    """Return a number derived from `parts`. It has at most 53 bits, so that JSON readers do not round it."""
    return int.from_bytes(_digest(parts)[:7]) >> 3


def key_of(*parts: object) -> str:
    """Return a stream key derived from `parts`: five groups of four, as platforms write them."""
    digits = _digest(parts).hex()[:20]
    return "-".join(digits[start : start + 4] for start in range(0, 20, 4))


def secret_of(*parts: object) -> str:
    """Return a secret of 256 bits derived from `parts`. Whoever knows the parts knows the secret."""
    return _digest(parts, 32).hex()


def _digest(parts: tuple[object, ...], size: int = 16) -> bytes:
    return blake2b("\x1f".join(str(part) for part in parts).encode(), digest_size=size).digest()
