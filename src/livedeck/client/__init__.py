"""client SPEAKS the platform's API. It knows HTTP; it knows nothing of screens, alarms or files of ours."""

from __future__ import annotations

from livedeck.client.api import Api
from livedeck.client.base import Model, Page
from livedeck.client.errors import (
    ApiError,
    Broadcasting,
    Cause,
    Conflict,
    Forbidden,
    Misconfigured,
    NotFound,
    RateLimited,
    ReadOnly,
    Rejected,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Unknown,
    Unreachable,
    Unreadable,
    Validation,
)
from livedeck.client.events import (
    AudioSettings,
    Event,
    EventRestream,
    Poster,
    Record,
    Scheduled,
    Stream,
    VideoSettings,
)
from livedeck.client.qos import QosSample, QosSamples
from livedeck.client.secret import Secret, SecretLink
from livedeck.client.transport import Exchange

__all__ = [
    "Api",
    "ApiError",
    "AudioSettings",
    "Broadcasting",
    "Cause",
    "Conflict",
    "Event",
    "EventRestream",
    "Exchange",
    "Forbidden",
    "Misconfigured",
    "Model",
    "NotFound",
    "Page",
    "Poster",
    "QosSample",
    "QosSamples",
    "RateLimited",
    "ReadOnly",
    "Record",
    "Rejected",
    "Scheduled",
    "Secret",
    "SecretLink",
    "ServerFault",
    "Stream",
    "TooManyProfiles",
    "Unauthorized",
    "Unknown",
    "Unreachable",
    "Unreadable",
    "Validation",
    "VideoSettings",
]
