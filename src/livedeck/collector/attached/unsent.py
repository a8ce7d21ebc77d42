"""Collector's unsent notifications, read by an attached deck or a command."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from livedeck.collector.attached.link import CollectorError, Link
from livedeck.collector.protocol.unsent import Letter, Unsent

T = TypeVar("T")


def parse_unsent(values: Mapping[str, Any]) -> list[Unsent]:
    """Return the notifications in a response of `GET /v1/notifications`. Raises CollectorError."""
    return _parse(list[Unsent], values.get("messages"))


async def read_letter(link: Link, key: str) -> Letter:
    """Return an unsent notification of the collector with its contents. Raises CollectorError."""
    return _parse(Letter, await link.get(f"/v1/notifications/{key}/contents"))


async def retry_letters(link: Link, keys: Collection[str]) -> int:
    """Retry these dead letters of the collector, all if `keys` is empty. Returns the number. Raises CollectorError."""
    answer = await link.post("/v1/notifications/retry", {"ids": [*keys]} if keys else {})
    return _parse(int, answer.get("revived", 0))


async def drop_letters(link: Link, keys: Collection[str]) -> int:
    """Delete dead letters of the collector, and return their number. Raises CollectorError."""
    answer = await link.post("/v1/notifications/drop", {"ids": [*keys]})
    return _parse(int, answer.get("dropped", 0))


def _parse(kind: type[T], value: Any) -> T:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise CollectorError(f"this deck cannot read the collector's response: {reason}") from None
