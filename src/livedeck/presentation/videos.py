"""Cells and columns of videos and their extras: posters, subtitles, cues, annotations, materials. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from livedeck.client import Annotation, Cue, Poster, Subtitle
from livedeck.monitor import CachedList, KnownMaterial, Video
from livedeck.presentation.events import MAX_NAME_CELLS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, text_column
from livedeck.record import Record
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import NO_DATA, NOT_APPLICABLE, NOT_ASKED, UNKNOWN, age, duration, position, safe, size

T = TypeVar("T")


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


class ListedVideo(Record):
    """Row of a video: the video, and the lists of its extras as last received."""

    video: Video
    posters: CachedList[Poster] = CachedList()
    subtitles: CachedList[Subtitle] = CachedList()
    annotations: CachedList[Annotation] = CachedList()
    materials: CachedList[KnownMaterial] = CachedList()

    @property
    def id(self) -> str:
        """Id of the video."""
        return self.video.id

    @property
    def lists(self) -> tuple[CachedList[Any], ...]:
        """Lists of the extras."""
        return self.posters, self.subtitles, self.annotations, self.materials


def number_text(cached: CachedList[Any]) -> str:
    """Return the number of rows of a list, with `+` if some were not received; `·` before its first request."""
    if cached.as_of is None:
        return NO_DATA if cached.error else NOT_ASKED
    return f"{len(cached.items)}{'+' if _is_partial(cached) else ''}"


def _materials(row: ListedVideo, render_time: RenderTime) -> Line:
    """Return the number of known materials; `?` for none, because the platform has no list that would prove it."""
    is_unknown = row.materials.as_of is not None and not row.materials.items
    text = UNKNOWN if is_unknown else number_text(row.materials)
    return [(text, _extras_role(render_time, row.materials))]


def missing_extras(row: ListedVideo) -> tuple[str, ...] | None:
    """Return the extras that a video lacks, as its received lists show; None before all lists were received.

    `posters ?`: the list of posters lacks rows, so it is unknown whether the video lacks a poster. The platform has no
    list of materials, so only known ones count.
    """
    if any(cached.as_of is None for cached in row.lists):
        return None
    posters, tracks = row.posters.items, row.subtitles.items
    has_shown = any(poster.active for poster in posters)
    pending = [_or_unknown(track.language, 8) for track in tracks if track.status == "pending"]
    return (
        *_lack(row.posters, "posters", "no poster shown" if posters else "no poster", is_proven=has_shown),
        *_lack(row.subtitles, "subtitles", "" if tracks else "no subtitles"),
        *(f"{language} pending" for language in pending),
        *_lack(row.annotations, "annotations", "no annotation", is_proven=bool(row.annotations.items)),
        *_lack(row.materials, "materials", "no known material", is_proven=bool(row.materials.items)),
    )


def _lack(cached: CachedList[Any], name: str, lack: str, *, is_proven: bool = False) -> list[str]:
    """Return `lack` if the list proves it, `NAME ?` if the list is incomplete, or nothing.

    `lack`: words for the missing extra; empty for none. `is_proven`: the received rows prove that nothing is missing.
    """
    if is_proven:
        return []
    return [f"{name} {UNKNOWN}"] if _is_partial(cached) else [lack] if lack else []


def _is_partial(cached: CachedList[Any]) -> bool:
    return bool(cached.shortfall or cached.unreadable)


def missing_line(row: ListedVideo, render_time: RenderTime) -> Line:
    """Return the extras that a video lacks; `✓ nothing` if fresh and complete lists show them all."""
    missing = missing_extras(row)
    text = NOT_ASKED if missing is None else ", ".join(missing) or "✓ nothing"
    return [(text, _extras_role(render_time, *row.lists, fresh=StyleRole.STRONG if missing else StyleRole.OK))]


def _extras_role(render_time: RenderTime, *lists: CachedList[Any], fresh: StyleRole = StyleRole.TEXT) -> StyleRole:
    """Return the role of extras: dim if a list is old. Only the lists of the selected video are polled."""
    if render_time.stale:
        return StyleRole.STALE
    return StyleRole.DIM if any(cached.is_stale(render_time.now) for cached in lists) else fresh


def _posters(row: ListedVideo, render_time: RenderTime) -> Line:
    text = number_text(row.posters)
    sign = "● " if any(poster.active for poster in row.posters.items) else ""
    return [(f"{sign}{text}", _extras_role(render_time, row.posters))]


def _subtitles(row: ListedVideo, render_time: RenderTime) -> Line:
    """Return the languages of the tracks; `○` marks a track whose speech is being recognised."""
    role, tracks = _extras_role(render_time, row.subtitles), row.subtitles.items
    words = (f"{'○' if track.status == 'pending' else ''}{_or_unknown(track.language, 8)}" for track in tracks)
    return [(" ".join(words) or number_text(row.subtitles), role)]


def _number_of(cached: CachedList[Any]) -> Value:
    return None if cached.as_of is None else float(len(cached.items))


def _status(row: ListedVideo) -> str:
    return _or_unknown(row.video.recording.status if row.video.recording else None, 20)


def _annotations(row: ListedVideo, render_time: RenderTime) -> Line:
    return [(number_text(row.annotations), _extras_role(render_time, row.annotations))]


MAX_TITLE_CELLS = 60
"""Maximum width in cells of a title or a description. The name of a file, or a link, takes further cells."""

VIDEOS: TableSchema[ListedVideo] = TableSchema(
    (
        text_column(
            "title",
            "VIDEO",
            20,
            0,
            lambda row: _text(row.video.title),
            grows=True,
            max_width=MAX_NAME_CELLS,
            role=StyleRole.STRONG,
        ),
        text_column(
            "length",
            "LENGTH",
            10,
            2,
            lambda row: length_text(row.video),
            value=lambda row: row.video.duration,
            right=True,
        ),
        text_column(
            "recorded",
            "RECORDED (UTC)",
            17,
            3,
            lambda row: date_text(recorded_at(row.video)),
            value=lambda row: _epoch(recorded_at(row.video)),
        ),
        Column("posters", "POSTERS", 7, 0, _posters, lambda row, _: _number_of(row.posters), right=True),
        Column("subtitles", "SUBTITLES", 12, 0, _subtitles, lambda row, _: _number_of(row.subtitles)),
        Column("annotations", "ANNOT.", 6, 0, _annotations, lambda row, _: _number_of(row.annotations), right=True),
        Column(
            "materials", "MATERIALS", 9, 1, _materials, lambda row, _: _number_of(row.materials) or None, right=True
        ),
        Column("missing", "MISSING", 24, 4, missing_line, lambda row, _: missing_extras(row), grows=True),
        text_column("event", "EVENT", 20, 7, lambda row: _text(row.video.event) or NOT_APPLICABLE, role=StyleRole.DIM),
        text_column("status", "STATUS", 9, 6, _status),
    ),
    lambda row: row.id,
    lambda row: f"{row.video.title} {row.video.event} {row.id}".casefold(),
    named_by=("title",),
)
"""Table of the Videos screen: each video, the numbers of its extras, and what it lacks."""


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
        text_column(
            "description",
            "DESCRIPTION",
            16,
            0,
            lambda subtitle: _text(subtitle.description),
            grows=True,
            max_width=MAX_TITLE_CELLS,
        ),
        Column("status", "RECOGNITION", 15, 0, _recognition, lambda subtitle, _: subtitle.status or ""),
        text_column(
            "file",
            "FILE",
            20,
            2,
            lambda subtitle: _text(subtitle.file_name) or NOT_APPLICABLE,
            grows=True,
            max_width=20,
            stretches=True,
        ),
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


def _title_column(text: Callable[[T], str]) -> Column[T]:
    """Return the column of a title, which takes free cells."""
    return text_column("title", "TITLE", 20, 0, text, grows=True, max_width=MAX_TITLE_CELLS, role=StyleRole.STRONG)


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
        _title_column(lambda annotation: _text(annotation.title)),
        text_column(
            "link",
            "LINK",
            30,
            3,
            lambda annotation: addresses.show(annotation.link, NOT_APPLICABLE),
            role=StyleRole.DIM,
            grows=True,
            max_width=30,
            stretches=True,
        ),
        text_column("id", "ID", 36, 9, lambda annotation: _text(annotation.id, 40), role=StyleRole.DIM),
    ),
    lambda annotation: annotation.id,
    lambda annotation: f"{annotation.annotation_type} {annotation.title} {annotation.link} {annotation.id}".casefold(),
)

MATERIALS: TableSchema[KnownMaterial] = TableSchema(
    (
        _title_column(lambda material: _or_unknown(material.title)),
        text_column(
            "file",
            "FILE",
            20,
            1,
            lambda material: _or_unknown(material.file_name),
            grows=True,
            max_width=20,
            stretches=True,
        ),
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
