"""Documented API, one file for each noun: its models, its routes and its rules."""

import re
from dataclasses import replace
from typing import Any

from livedeck.simulator.api import (
    annotations,
    chat,
    event_changes,
    events,
    materials,
    posters,
    qos,
    rooms,
    subtitles,
    videos,
)
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.http import Endpoint

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    *posters.ENDPOINTS,
    *subtitles.ENDPOINTS,
    *annotations.ENDPOINTS,
    *materials.ENDPOINTS,
    *events.ENDPOINTS,
    *event_changes.ENDPOINTS,
    *videos.ENDPOINTS,
    *qos.ENDPOINTS,
    *chat.ENDPOINTS,
    *rooms.ENDPOINTS,
)
"""Every documented route, in the order of the document."""


def endpoints(meet_segment: str) -> tuple[Endpoint[Any], ...]:
    """Return the endpoints with `meet_segment` in the path of rooms (platform-api.md, "Addresses").

    Raises SimulatorError if it is not a path segment.
    """
    if not re.fullmatch("[A-Za-z0-9-]+", meet_segment):
        raise SimulatorError(f"the path segment of rooms must be letters, digits and hyphens, not {meet_segment!r}")
    return tuple(
        replace(endpoint, path=endpoint.path.replace("/meet/", f"/{meet_segment}/", 1)) for endpoint in ENDPOINTS
    )
