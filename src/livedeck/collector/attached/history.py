"""History of an attached deck. It also sends its records to the collector (collector.md, "Commands")."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from livedeck.collector.attached.link import CollectorError, Link
from livedeck.log import Log
from livedeck.monitor import ActionRecord, History, IntentRecord, Marker

_PATIENCE = 2.0
"""Maximum seconds to send a record to the collector; meanwhile a change on the platform waits."""

_log = Log("livedeck.collector")


class AttachedHistory(History):
    """History of a deck that is attached to a collector by `link`."""

    link: Link

    async def record_intent(self, record: IntentRecord) -> None:
        """Store the intent of a change, and send it to the collector, so that the collector knows who ends an event."""
        await super().record_intent(record)
        await self._send("intent", record)

    async def record_action(self, record: ActionRecord) -> bool:
        """Store a person's action, and send it to the collector. Returns whether this machine's history stored it."""
        is_written = await super().record_action(record)
        await self._send("action", record)
        return is_written

    async def mark(self, event_id: str, at: datetime, text: str = "") -> None:
        """Store a marker of an event, and send it to the collector. `at`: time by the server clock."""
        await super().mark(event_id, at, text)
        await self._send("marker", Marker(at, event_id, text))

    async def _send(self, name: str, record: Any) -> None:
        values = TypeAdapter[Any](type(record)).dump_python(record, mode="json")
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.link.post("/v1/audit", {name: values})
        except (CollectorError, TimeoutError) as error:
            _log.warning("could not send a record to the collector", record=name, reason=str(error))
