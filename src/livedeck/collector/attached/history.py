"""What a person does at an attached deck: kept there, and told to the collector (collector.md, "Commands")."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import structlog
from pydantic import TypeAdapter

from livedeck.collector.attached.link import CollectorError, Link
from livedeck.monitor import ActionRecord, History, IntentRecord, Marker

_PATIENCE = 2.0
"""Seconds: a change to the platform waits for no collector."""

_log = structlog.get_logger("livedeck.collector")


class AttachedHistory(History):
    """The history of a deck that is attached through `link`."""

    link: Link

    async def record_intent(self, record: IntentRecord) -> None:
        """Keep what is about to be sent: the collector then knows who ends an event."""
        await super().record_intent(record)
        await self._tell("intent", record)

    async def record_action(self, record: ActionRecord) -> None:
        """Keep what a person did."""
        await super().record_action(record)
        await self._tell("action", record)

    async def mark(self, event_id: str, at: datetime, text: str = "") -> None:
        """Keep a marker of that event (server clock)."""
        await super().mark(event_id, at, text)
        await self._tell("marker", Marker(at, event_id, text))

    async def _tell(self, name: str, record: Any) -> None:
        values = TypeAdapter[Any](type(record)).dump_python(record, mode="json")
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.link.post("/v1/audit", {name: values})
        except (CollectorError, TimeoutError) as error:
            _log.warning("the collector does not know what was done here", what=name, reason=str(error))
