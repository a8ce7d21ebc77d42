"""Timestamps of the platform: read with any number of fractional digits, written in UTC. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator


def parse_time(text: str) -> datetime:
    """An ISO 8601 timestamp, aware and in UTC; without an offset it is UTC (platform-api.md, conventions).

    Digits past the microsecond are cut off. Raises ValueError for anything else.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error


def stamp(moment: datetime) -> str:
    """The timestamp of an aware moment, as the platform writes them: `2026-11-21T18:00:00.000000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _timestamp(value: object) -> object:
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, datetime):
        return value
    raise ValueError("should be a timestamp")


def _aware(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("should carry a time zone")
    return _timestamp(value)


Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
"""A field of a model that reads as `parse_time` does."""

Moment = Annotated[datetime, BeforeValidator(_aware)]
"""A field of a draft: an aware datetime, or the text of a timestamp."""
