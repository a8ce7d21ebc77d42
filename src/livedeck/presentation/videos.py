"""Cells and columns of videos and their extras: posters, subtitles, cues, annotations, materials. Pure."""

from __future__ import annotations

from datetime import datetime

from livedeck.client import Annotation, Cue, Poster, Subtitle
from livedeck.monitor import KnownMaterial, Video
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, text_column
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import NOT_APPLICABLE, UNKNOWN, age, duration, position, safe, size


def _text(text: str | None, limit: int = 200) -> str:
    return safe(text or "", limit)


def _or_unknown(text: str | None, limit: int = 200) -> str:
    return _text(text, limit) or UNKNOWN


def date_text(at: datetime | None) -> str:
    """Return a time of the platform in UTC."""
    return f"{at:%d %b %Y %H:%M}" if at else UNKNOWN


def _epoch(at: datetime | None) -> Value:
    return at.timestamp() if at else None


def recorded_at(video: Video) -> datetime | None:
    """Return the creation time of the recording; None if only the id of the video is known."""
    return video.recording.created_at if video.recording else None


def length_text(video: Video) -> str:
    """Return the length of a video."""
    return UNKNOWN if video.duration is None else duration(video.duration)


VIDEOS: TableSchema[Video] = TableSchema(
    (
        text_column("title", "VIDEO", 20, 0, lambda video: _text(video.title), grows=True, role=StyleRole.STRONG),
        text_column("length", "LENGTH", 10, 2, length_text, value=lambda video: video.duration, right=True),
        text_column(
            "status", "STATUS", 9, 3, lambda video: _or_unknown(video.recording.status if video.recording else None, 20)
        ),
        text_column(
            "recorded",
            "RECORDED (UTC)",
            17,
            1,
            lambda video: date_text(recorded_at(video)),
            value=lambda video: _epoch(recorded_at(video)),
        ),
        text_column("event", "EVENT", 20, 4, lambda video: _text(video.event) or NOT_APPLICABLE),
        text_column("id", "ID", 36, 9, lambda video: _text(video.id, 40), role=StyleRole.DIM),
    ),
    lambda video: video.id,
    lambda video: f"{video.title} {video.event} {video.id}".casefold(),
)


def _active(poster: Poster, render_time: RenderTime) -> Line:
    if poster.active is None:
        return [(UNKNOWN, StyleRole.STALE)]
    shown = ("● shown", StyleRole.STALE if render_time.stale else StyleRole.OK)
    return [shown if poster.active else ("· kept", StyleRole.DIM)]


POSTERS: TableSchema[Poster] = TableSchema(
    (
        Column("active", "PLAYER", 9, 0, _active, lambda poster, _: "a" if poster.active else "b"),
        text_column(
            "time",
            "MADE FROM",
            13,
            0,
            lambda poster: position(poster.from_time),
            value=lambda poster: poster.from_time,
            right=True,
        ),
        text_column("status", "STATUS", 9, 2, lambda poster: _or_unknown(poster.status, 20)),
        text_column("type", "TYPE", 7, 3, lambda poster: _or_unknown(poster.type, 20)),
        text_column(
            "picture", "PICTURE", 20, 1, lambda poster: addresses.show(poster.original), grows=True, role=StyleRole.DIM
        ),
    ),
    lambda poster: poster.id or "default",
    lambda poster: f"{poster.id} {poster.original}".casefold(),
    named_by=("time",),
)


def recognition(status: str | None, *, stale: bool) -> tuple[str, StyleRole]:
    """Return the status of speech recognition as text and role; `-` for an uploaded track."""
    if status == "pending":
        return "○ pending", StyleRole.STALE if stale else StyleRole.INFO
    if status == "done":
        return "✓ done", StyleRole.STALE if stale else StyleRole.OK
    return safe(status or NOT_APPLICABLE, 20), StyleRole.DIM


def _recognition(subtitle: Subtitle, render_time: RenderTime) -> Line:
    text, role = recognition(subtitle.status, stale=render_time.stale)
    seconds = -1.0
    if subtitle.status == "pending" and subtitle.updated_at:
        seconds = render_time.server_seconds_since(subtitle.updated_at)
    return [(f"{text} {age(seconds)}" if seconds >= 0 else text, role)]


SUBTITLES: TableSchema[Subtitle] = TableSchema(
    (
        text_column(
            "position",
            "#",
            3,
            4,
            lambda subtitle: UNKNOWN if subtitle.position is None else str(subtitle.position),
            value=lambda subtitle: subtitle.position,
            right=True,
        ),
        text_column(
            "language", "LANG", 4, 0, lambda subtitle: _or_unknown(subtitle.language, 8), role=StyleRole.STRONG
        ),
        text_column("description", "DESCRIPTION", 16, 0, lambda subtitle: _text(subtitle.description), grows=True),
        Column("status", "RECOGNITION", 15, 0, _recognition, lambda subtitle, _: subtitle.status or ""),
        text_column("file", "FILE", 20, 2, lambda subtitle: _text(subtitle.file_name) or NOT_APPLICABLE),
        text_column(
            "updated",
            "UPDATED (UTC)",
            17,
            3,
            lambda subtitle: date_text(subtitle.updated_at),
            value=lambda subtitle: _epoch(subtitle.updated_at),
        ),
        text_column("id", "ID", 36, 9, lambda subtitle: _text(subtitle.id, 40), role=StyleRole.DIM),
    ),
    lambda subtitle: subtitle.id,
    lambda subtitle: f"{subtitle.language} {subtitle.description} {subtitle.file_name} {subtitle.id}".casefold(),
    named_by=("language", "description"),
)

CUES: TableSchema[Cue] = TableSchema(
    (
        text_column(
            "line", "LINE", 5, 4, lambda cue: str(cue.line), value=lambda cue: cue.line, right=True, role=StyleRole.DIM
        ),
        text_column(
            "begins", "BEGINS", 12, 0, lambda cue: position(cue.start), value=lambda cue: cue.start, right=True
        ),
        text_column(
            "ends",
            "ENDS",
            12,
            2,
            lambda cue: position(cue.end),
            value=lambda cue: cue.end,
            right=True,
            role=StyleRole.DIM,
        ),
        text_column("text", "TEXT", 20, 0, lambda cue: _text(cue.text.replace("\n", " / "), 500), grows=True),
    ),
    lambda cue: f"{cue.line}",
    lambda cue: cue.text.casefold(),
)


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


ANNOTATIONS: TableSchema[Annotation] = TableSchema(
    (
        text_column("type", "TYPE", 6, 2, lambda annotation: _or_unknown(annotation.annotation_type, 20)),
        text_column(
            "start",
            "FROM",
            8,
            0,
            lambda annotation: _number(annotation.start_time),
            value=lambda annotation: annotation.start_time,
            right=True,
        ),
        text_column(
            "end",
            "TO",
            8,
            0,
            lambda annotation: _number(annotation.end_time),
            value=lambda annotation: annotation.end_time,
            right=True,
        ),
        text_column(
            "title", "TITLE", 20, 0, lambda annotation: _text(annotation.title), grows=True, role=StyleRole.STRONG
        ),
        text_column(
            "link",
            "LINK",
            30,
            3,
            lambda annotation: addresses.show(annotation.link, NOT_APPLICABLE),
            role=StyleRole.DIM,
        ),
        text_column("id", "ID", 36, 9, lambda annotation: _text(annotation.id, 40), role=StyleRole.DIM),
    ),
    lambda annotation: annotation.id,
    lambda annotation: f"{annotation.annotation_type} {annotation.title} {annotation.link} {annotation.id}".casefold(),
)

MATERIALS: TableSchema[KnownMaterial] = TableSchema(
    (
        text_column(
            "title", "TITLE", 20, 0, lambda material: _or_unknown(material.title), grows=True, role=StyleRole.STRONG
        ),
        text_column("file", "FILE", 20, 1, lambda material: _or_unknown(material.file_name)),
        text_column(
            "size",
            "SIZE",
            9,
            2,
            lambda material: UNKNOWN if material.size is None else size(material.size),
            value=lambda material: material.size,
            right=True,
        ),
        text_column(
            "type", "MEDIA TYPE", 18, 5, lambda material: _or_unknown(material.media_type, 60), role=StyleRole.DIM
        ),
        text_column(
            "since",
            "SINCE (UTC)",
            17,
            4,
            lambda material: date_text(material.at),
            value=lambda material: _epoch(material.at),
        ),
        text_column("source", "KNOWN FROM", 12, 6, lambda material: material.source, role=StyleRole.DIM),
        text_column("id", "ID", 12, 3, lambda material: _text(material.id, 40), role=StyleRole.DIM),
    ),
    lambda material: material.id,
    lambda material: f"{material.title} {material.file_name} {material.id}".casefold(),
)
