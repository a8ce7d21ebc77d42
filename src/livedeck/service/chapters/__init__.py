"""One file per chapter of the document: its routes and its rules."""

from livedeck.service.chapters import (
    annotations,
    chat,
    drafting,
    events,
    lifecycle,
    materials,
    posters,
    qos,
    rooms,
    streams,
    subtitles,
    videos,
)

ENDPOINTS = (
    *posters.ENDPOINTS,
    *subtitles.ENDPOINTS,
    *annotations.ENDPOINTS,
    *materials.ENDPOINTS,
    *events.ENDPOINTS,
    *drafting.ENDPOINTS,
    *lifecycle.ENDPOINTS,
    *videos.ENDPOINTS,
    *streams.ENDPOINTS,
    *qos.ENDPOINTS,
    *chat.ENDPOINTS,
    *rooms.ENDPOINTS,
)
"""Every documented route, in the order of the document."""
