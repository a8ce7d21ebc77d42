"""The field tables of platform-api.md, "Resources", each as the JSON of an object that has every field."""

from typing import Any

from livedeck.client import (
    Annotation,
    EventRestream,
    Material,
    Message,
    Model,
    Poster,
    RelayProfile,
    Room,
    Stream,
    Subtitle,
)

AT = "2026-11-21T18:00:00.123456Z"
ID = "4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"
CDN = "https://cdn.example.com"
RELAY_KEY = "key-of-the-relay-88bb"
RESTREAM_KEY = "key-of-the-restream-77aa"
SIGN = "signature-of-the-link-66cc"

POSTER = {
    "id": ID,
    "media_id": ID,
    "type": "image",
    "from_time": 0.0,
    "to_time": 1.5,
    "status": "done",
    "active": True,
    "original": f"{CDN}/o.png",
    "md": f"{CDN}/m.png",
    "sm": f"{CDN}/s.png",
    "xs": f"{CDN}/x.png",
}
RELAY = {
    "id": ID,
    "room_id": ID,
    "name": "Elsewhere",
    "url": "rtmp://live.example.com/app",
    "stream_key": RELAY_KEY,
    "service": "custom",
    "created_at": AT,
    "updated_at": None,
}

TABLES: dict[type[Model], dict[str, Any]] = {
    Poster: POSTER,
    Subtitle: {
        "id": ID,
        "video_id": ID,
        "language": "en",
        "description": "Spoken",
        "file": "",
        "file_name": "track.vtt",
        "hls_file": "",
        "url": f"{CDN}/track.vtt?expires=1795000000&sign={SIGN}",
        "status": "done",
        "position": 0,
        "data": {"cues": [{"start": 0.5, "text": "Hello"}]},
        "active": True,
        "updated_at": AT,
    },
    Annotation: {
        "id": ID,
        "media_id": ID,
        "video_id": None,
        "annotation_type": "text",
        "title": "Look",
        "link": "",
        "start_time": 0,
        "end_time": 30,
        "annotation_poster_id": None,
        "created_at": AT,
        "updated_at": None,
    },
    Material: {
        "id": "m3Xq",
        "video_id": ID,
        "storage_id": "s1",
        "title": "Slides",
        "filename": "slides.pdf",
        "filetype": "application/pdf",
        "size": 0,
        "position": 1,
        "created_at": AT,
        "updated_at": AT,
        "deleted_at": None,
    },
    EventRestream: {
        "id": ID,
        "event_id": ID,
        "name": "Elsewhere",
        "url": "rtmp://live.example.com/app",
        "key": RESTREAM_KEY,
        "status": "disconnected",
        "enabled": True,
        "description": "",
        "created_at": AT,
        "updated_at": AT,
    },
    Stream: {"id": ID, "event_id": ID, "status": "pending", "started_at": AT, "finished_at": None},
    Message: {
        "id": ID,
        "username": "someone",
        "external_id": "u-1",
        "is_admin": "false",
        "message": "Hello <b>all</b>",
        "created_at": AT,
        "cteated_at_local": AT,
    },
    RelayProfile: RELAY,
    Room: {
        "id": ID,
        "name": "Studio",
        "type": "permanent_meeting",
        "code": "abc-def",
        "link": "https://meet.example.com/abc-def",
        "status": "pending",
        "restreams": [RELAY],
        "created_at": AT,
    },
}
