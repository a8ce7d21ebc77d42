"""Streams: one ingest of an event each (platform-api.md, 2 and 4, "Live events")."""

from __future__ import annotations

from datetime import datetime

from livedeck.client.base import Model, Resource, call, named
from livedeck.client.call import Json
from livedeck.client.errors import Invalid
from livedeck.client.moments import Timestamp


class Stream(Model):
    """One ingest of an event. `status`: `pending`, `live`, `finished` or any other word."""

    id: str | None = None
    event_id: str | None = None
    status: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class Streams(Resource):
    """When the stream of an event is to begin."""

    async def schedule(self, event_id: str, started_at: datetime) -> Stream:
        """Schedule a stream, at an aware time. Raises Invalid for one without a time zone, and any ApiError."""
        return await self._plan("POST", event_id, started_at, named("schedule stream of event", event_id))

    async def reschedule(self, event_id: str, started_at: datetime) -> Stream:
        """Move the stream to another aware time. Raises Invalid for one without a time zone, and any ApiError."""
        return await self._plan("PUT", event_id, started_at, named("reschedule stream of event", event_id))

    async def _plan(self, method: str, event_id: str, started_at: datetime, what: str) -> Stream:
        if started_at.tzinfo is None:
            raise Invalid(what, "started_at", "should carry a time zone")
        body = Json({"started_at": started_at})
        return await self._one(Stream, call(method, what, "v2", "live", "events", event_id, "stream", body=body))
