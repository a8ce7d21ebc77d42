"""One file per chapter of the document: its routes and its rules."""

from livedeck.service.chapters import events, qos

ENDPOINTS = (*events.ENDPOINTS, *qos.ENDPOINTS)
"""Every documented route that is served."""
