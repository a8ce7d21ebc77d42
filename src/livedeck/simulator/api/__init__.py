"""The documented API, one file a noun: its models, its routes and its rules."""

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
