"""State of the ingest, for the routes: they import nothing of the RTMP server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from livedeck.simulator.engine.store import Document


@dataclass(slots=True)
class Ingest:
    """State of the ingest. `address`: RTMP address before the stream key; None without ingest.

    `show`: returns the address and the publishers in the form of the control API.
    """

    address: str | None = None
    show: Callable[[], Document] = dict
