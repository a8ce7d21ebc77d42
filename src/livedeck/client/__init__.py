"""Client of the platform's API. It does not depend on screens, alarms or livedeck's own files."""

from __future__ import annotations

from livedeck.client.api import Api
from livedeck.client.chat_export.export import ChatExport, ExportProgress, ExportResult
from livedeck.client.chat_export.filter import MessageFilter
from livedeck.client.chat_export.format_table import CHAT_FORMATS, ChatFormat
from livedeck.client.http.any_request import METHODS, any_request
from livedeck.client.http.content import ContentKind
from livedeck.client.http.errors import (
    ApiError,
    Cause,
    Conflict,
    FileFault,
    Forbidden,
    Incomplete,
    Invalid,
    Misconfigured,
    NotFound,
    RateLimited,
    ReadOnly,
    Redirected,
    Rejected,
    RelayRunning,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Unknown,
    Unproved,
    Unreachable,
    Unreadable,
    Validation,
)
from livedeck.client.http.files import UPLOAD_CHUNK, plain_name
from livedeck.client.http.outgoing import Incoming, Outgoing, Reply, check_outgoing
from livedeck.client.http.request import Progress, ResponseTiming
from livedeck.client.http.request_counts import BOUNDS, Durations, RequestCounts
from livedeck.client.http.secrets import Secret, SecretLink, SignedLink
from livedeck.client.resources.annotations import Annotation, AnnotationDraft
from livedeck.client.resources.base import Draft, Model
from livedeck.client.resources.chat import Message
from livedeck.client.resources.cues import Cue, cues_out_of_order
from livedeck.client.resources.events import (
    AudioSettings,
    Event,
    EventDraft,
    EventRestream,
    EventRestreamDraft,
    Record,
    RecordDraft,
    Recording,
    Scheduled,
    ScheduleDraft,
    Stream,
    VideoDraft,
    VideoSettings,
)
from livedeck.client.resources.fields import service_of
from livedeck.client.resources.materials import Material
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems, collect
from livedeck.client.resources.posters import Poster
from livedeck.client.resources.qos import QosSample, QosSamples
from livedeck.client.resources.rooms import RelayDraft, RelayProfile, Room, RoomDraft
from livedeck.client.resources.subtitles import Subtitle, SubtitleDraft, SubtitleFile, checked_cues, subtitle_file
from livedeck.client.resources.validation import FieldFault

__all__ = [
    "BOUNDS",
    "CHAT_FORMATS",
    "MAX_PER_PAGE",
    "METHODS",
    "UPLOAD_CHUNK",
    "Annotation",
    "AnnotationDraft",
    "Api",
    "ApiError",
    "AudioSettings",
    "Cause",
    "ChatExport",
    "ChatFormat",
    "Conflict",
    "ContentKind",
    "Cue",
    "Draft",
    "Durations",
    "Event",
    "EventDraft",
    "EventRestream",
    "EventRestreamDraft",
    "ExportProgress",
    "ExportResult",
    "FieldFault",
    "FileFault",
    "Forbidden",
    "Incoming",
    "Incomplete",
    "Invalid",
    "Material",
    "Message",
    "MessageFilter",
    "Misconfigured",
    "Model",
    "NotFound",
    "Outgoing",
    "Page",
    "PagedItems",
    "Poster",
    "Progress",
    "QosSample",
    "QosSamples",
    "RateLimited",
    "ReadOnly",
    "Record",
    "RecordDraft",
    "Recording",
    "Redirected",
    "Rejected",
    "RelayDraft",
    "RelayProfile",
    "RelayRunning",
    "Reply",
    "RequestCounts",
    "ResponseTiming",
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
    "SubtitleFile",
    "TooManyProfiles",
    "Unauthorized",
    "Unknown",
    "Unproved",
    "Unreachable",
    "Unreadable",
    "Validation",
    "VideoDraft",
    "VideoSettings",
    "any_request",
    "check_outgoing",
    "checked_cues",
    "collect",
    "cues_out_of_order",
    "plain_name",
    "service_of",
    "subtitle_file",
]
