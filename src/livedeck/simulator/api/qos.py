"""Quality of service (platform-api.md, "QoS sample" and "QoS response")."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.engine.encoder import encoder_states
from livedeck.simulator.http import ApiRequest, Endpoint, json_response
from livedeck.simulator.models import ApiObject, Data, Timestamp


class QosSample(ApiObject):
    """Sample, in the form that `encoder` writes."""

    bitrate_video: int
    bitrate_audio: int
    frame_rate: int
    status: int
    time: Timestamp


async def read_qos(request: ApiRequest[None]) -> Response:
    """Return the samples of the current stream, ascending, at most the last 3600."""
    event, world = find_event(request), request.world
    samples = b""
    if event["stream"] is not None:
        states = encoder_states(event["encoder"])
        samples = world.encoders.encode_samples(event["stream"]["id"], event["signal"], states, world.now())
    return json_response(b'{"data":[' + samples + b"]}")


ENDPOINTS = (Endpoint("GET", "/v2/live/events/{event_id}/qos", read_qos, None, Data[list[QosSample]], [400404]),)
