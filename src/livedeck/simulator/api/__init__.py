"""One file per chapter of the document: its routes and its rules."""

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

ENDPOINTS = (
    *posters.ENDPOINTS,
    *subtitles.ENDPOINTS,
    *annotations.ENDPOINTS,
    *materials.ENDPOINTS,
    *events.ENDPOINTS,
    *event_changes.DRAFTING,
    *event_changes.LIFECYCLE,
    *videos.ENDPOINTS,
    *event_changes.STREAMS,
    *qos.ENDPOINTS,
    *chat.ENDPOINTS,
    *rooms.ENDPOINTS,
)

"""Every documented route, in the order of the document."""
