"""Ingest as the routes see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from livedeck.simulator.engine.store import Document


@dataclass(slots=True)
class Ingest:
    """State of the ingest. `address`: its RTMP address before the stream key, None without ingest.

    `show`: returns it with the publishers in the form of the control API.
    """

    address: str | None = None
    show: Callable[[], Document] = dict
