"""client SPEAKS the platform's API. It knows HTTP; it knows nothing of screens, alarms or files of ours."""

from __future__ import annotations

from livedeck.client.annotations import Annotation, AnnotationDraft
from livedeck.client.api import Api
from livedeck.client.base import Draft, Model, Page
from livedeck.client.call import Exchange, Progress
from livedeck.client.chat import ChatFormat, Message
from livedeck.client.errors import (
    ApiError,
    Broadcasting,
    Cause,
    Conflict,
    FileFault,
    Forbidden,
    Invalid,
    Misconfigured,
    NotFound,
    RateLimited,
    ReadOnly,
    Rejected,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Unfinished,
    Unknown,
    Unreachable,
    Unreadable,
    Validation,
)
from livedeck.client.event_draft import EventDraft, EventRestreamDraft, RecordDraft, ScheduleDraft, VideoDraft
from livedeck.client.events import (
    AudioSettings,
    Event,
    EventRestream,
    Record,
    Recording,
    Scheduled,
    VideoSettings,
)
from livedeck.client.materials import Material
from livedeck.client.platforms import service_of
from livedeck.client.posters import Poster
from livedeck.client.qos import QosSample, QosSamples
from livedeck.client.rooms import RelayDraft, RelayProfile, Room, RoomDraft
from livedeck.client.secret import Secret, SecretLink, SignedLink
from livedeck.client.streams import Stream
from livedeck.client.subtitles import Subtitle, SubtitleDraft

__all__ = [
    "Annotation",
    "AnnotationDraft",
    "Api",
    "ApiError",
    "AudioSettings",
    "Broadcasting",
    "Cause",
    "ChatFormat",
    "Conflict",
    "Draft",
    "Event",
    "EventDraft",
    "EventRestream",
    "EventRestreamDraft",
    "Exchange",
    "FileFault",
    "Forbidden",
    "Invalid",
    "Material",
    "Message",
    "Misconfigured",
    "Model",
    "NotFound",
    "Page",
    "Poster",
    "Progress",
    "QosSample",
    "QosSamples",
    "RateLimited",
    "ReadOnly",
    "Record",
    "RecordDraft",
    "Recording",
    "Rejected",
    "RelayDraft",
    "RelayProfile",
    "Room",
    "RoomDraft",
    "ScheduleDraft",
    "Scheduled",
    "Secret",
    "SecretLink",
    "ServerFault",
    "SignedLink",
    "Stream",
    "Subtitle",
    "SubtitleDraft",
    "TooManyProfiles",
    "Unauthorized",
    "Unfinished",
    "Unknown",
    "Unreachable",
    "Unreadable",
    "Validation",
    "VideoDraft",
    "VideoSettings",
    "service_of",
]
