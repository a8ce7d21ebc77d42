"""client SPEAKS the platform's API. It knows HTTP; it knows nothing of screens, alarms or files of ours."""

from __future__ import annotations

from livedeck.client.annotations import Annotation, AnnotationDraft
from livedeck.client.api import Api
from livedeck.client.base import Draft, Model, Page
from livedeck.client.call import Exchange, Progress
from livedeck.client.chat import Message
from livedeck.client.chat_export import ChatExport, ChatFormat, Exported, ExportProgress
from livedeck.client.cues import Cue, untimely
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
from livedeck.client.sieve import Sieve
from livedeck.client.sink import plain_name
from livedeck.client.streams import Stream
from livedeck.client.subtitles import Subtitle, SubtitleDraft, SubtitleFile, checked_cues, subtitle_file

__all__ = [
    "Annotation",
    "AnnotationDraft",
    "Api",
    "ApiError",
    "AudioSettings",
    "Broadcasting",
    "Cause",
    "ChatExport",
    "ChatFormat",
    "Conflict",
    "Cue",
    "Draft",
    "Event",
    "EventDraft",
    "EventRestream",
    "EventRestreamDraft",
    "Exchange",
    "ExportProgress",
    "Exported",
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
    "Sieve",
    "SignedLink",
    "Stream",
    "Subtitle",
    "SubtitleDraft",
    "SubtitleFile",
    "TooManyProfiles",
    "Unauthorized",
    "Unfinished",
    "Unknown",
    "Unreachable",
    "Unreadable",
    "Validation",
    "VideoDraft",
    "VideoSettings",
    "checked_cues",
    "plain_name",
    "service_of",
    "subtitle_file",
    "untimely",
]
