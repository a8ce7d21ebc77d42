"""The collector's unsent notifications, read by an attached deck or a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from livedeck.collector.attached.link import CollectorError
from livedeck.collector.protocol.unsent import Unsent


def parse_unsent(values: Mapping[str, Any]) -> list[Unsent]:
    """Return the notifications in a response of `GET /v1/notifications`. Raises CollectorError."""
    try:
        return TypeAdapter(list[Unsent]).validate_python(values.get("messages"))
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise CollectorError(f"this deck cannot read the collector's response: {reason}") from None
