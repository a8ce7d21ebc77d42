"""Quality of service (platform-api.md, 2, "QoS sample"; decisions.md, "Responses not shown")."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.events import find_event
from livedeck.simulator.engine.encoder import timeline
from livedeck.simulator.http import Call, Endpoint, encoded


async def read_qos(call: Call) -> Response:
    """The samples of the current stream, ascending, at most the last 3600."""
    event = find_event(call)
    samples = b""
    if event["stream"] is not None:
        turns, now = timeline(event["encoder"]), call.world.now()
        samples = call.world.encoders.encoded(event["stream"]["id"], event["signal"], turns, now)
    return encoded(b'{"data":[' + samples + b"]}")


SAMPLE = {
    "bitrate_video": schema.INTEGER,
    "bitrate_audio": schema.INTEGER,
    "frame_rate": schema.INTEGER,
    "status": schema.INTEGER,
    "time": schema.MOMENT,
}

"""A sample and its types, as `encoder` writes it."""


ENDPOINTS = (
    Endpoint(
        *("GET", "/v2/live/events/{event_id}/qos", read_qos),
        answer=schema.data(schema.many(schema.record(SAMPLE))),
        refuses=[400404],
    ),
)
