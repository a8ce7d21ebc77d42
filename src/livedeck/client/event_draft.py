"""What can be asked of a live event that is made or changed (platform-api.md, 4, "Create event request fields")."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from livedeck.client.base import UNSET, Draft
from livedeck.client.moments import Moment
from livedeck.client.rtmp import RtmpUrl
from livedeck.client.secret import Secret

Preset = Literal["360p", "480p", "720p", "1080p", "1440p", "2160p"]


class ScheduleDraft(Draft):
    """`time`: when the event is to start; None takes it back."""

    time: Moment | None = UNSET


class RecordDraft(Draft):
    """`parent_id`: the project or folder that the recording goes to."""

    parent_id: str | None = UNSET


class VideoDraft(Draft):
    """`presets`: the qualities; None leaves them to the platform."""

    presets: tuple[Preset, ...] | None = UNSET


class EventRestreamDraft(Draft):
    """Another platform to send the stream to. `url`: rtmp or rtmps; `key`: the stream key there."""

    name: str
    url: RtmpUrl
    key: Secret
    description: str = UNSET
    enabled: StrictBool = UNSET


class EventDraft(Draft):
    """What to make of an event. A new one needs `name` and `type`; `type` cannot be changed later.

    `reconnect_window`: seconds, 600 where it is not set. `restreams`: all of them, in place of those there were.
    """

    name: Annotated[str, Field(min_length=1)] = UNSET
    type: Literal["recurring", "one-time"] = UNSET
    parent_id: str | None = UNSET
    auto_start: StrictBool = UNSET
    protected: StrictBool = UNSET
    time_shift: StrictBool = UNSET
    reconnect_window: Annotated[StrictInt, Field(ge=0)] = UNSET
    scheduled: ScheduleDraft | None = UNSET
    record: RecordDraft | None = UNSET
    video: VideoDraft | None = UNSET
    restreams: tuple[EventRestreamDraft, ...] = UNSET
    latency_mode: Literal["standard", "reduced"] = UNSET
    show_members: StrictBool = UNSET
    chat_active: StrictBool = UNSET
    chat_after_stream: StrictBool = UNSET
    chat_preview: StrictBool = UNSET
