"""The tables of the Videos screens: videos, and what hangs on one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from livedeck import wording
from livedeck.client import Poster, Subtitle
from livedeck.ui.library import Video
from livedeck.ui.renderables.columns import Column, Sheet, Value
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment

Text = Callable[[Any], str]


def position(seconds: float | None) -> str:
    """A place in a video: `00:30:04.5`."""
    if seconds is None:
        return wording.UNKNOWN
    part = f"{seconds % 1:.3f}"[1:].rstrip("0").rstrip(".")
    return wording.duration(seconds) + part


def dated(at: datetime | None) -> str:
    """A moment of the platform, in UTC."""
    return f"{at:%d %b %Y %H:%M}" if at else wording.UNKNOWN


def recognition(status: str | None, *, stale: bool) -> tuple[str, Ink]:
    """What the platform calls a track. It says nothing of one that was uploaded: there is nothing to wait for."""
    if stale and status in {"pending", "done"}:
        return recognition(status, stale=False)[0], Ink.STALE
    if status == "pending":
        return "○ pending", Ink.PENDING
    if status == "done":
        return "✓ done", Ink.OK
    return wording.safe(status or wording.NOT_APPLICABLE, 20), Ink.DIM


def _said(text: str | None, limit: int = 200) -> str:
    return wording.safe(text or "", limit)


def _column(name: str, head: str, cells: int, rank: int, text: Text, **more: Any) -> Column[Any]:
    """A column of plain words, sorted by them."""
    ink = more.pop("ink", Ink.TEXT)

    def say(one: Any, moment: Moment) -> Line:
        return [(text(one), Ink.STALE if moment.stale else ink)]

    value = more.pop("value", text)
    return Column(name, head, cells, rank, say, lambda one, _: value(one), **more)


def _stamp(at: datetime | None) -> Value:
    return at.timestamp() if at else None


def _sheet(columns: tuple[Column[Any], ...], key: Text, text: Text) -> Sheet[Any]:
    return Sheet(columns, key, lambda one: text(one).casefold(), lambda _: False, lambda _: ())


def _made(one: Video) -> datetime | None:
    return one.recording.created_at if one.recording else None


VIDEOS = _sheet(
    (
        _column("title", "VIDEO", 20, 0, lambda one: _said(one.title), wide=True, ink=Ink.STRONG),
        _column(
            "length",
            "LENGTH",
            10,
            2,
            lambda one: wording.UNKNOWN if one.duration is None else wording.duration(one.duration),
            value=lambda one: one.duration,
            right=True,
        ),
        _column("status", "STATUS", 9, 3, lambda one: _said((one.recording and one.recording.status) or "?", 20)),
        _column(
            "recorded", "RECORDED (UTC)", 17, 1, lambda one: dated(_made(one)), value=lambda one: _stamp(_made(one))
        ),
        _column("event", "EVENT", 20, 4, lambda one: _said(one.event) or wording.NOT_APPLICABLE),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=Ink.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.title} {one.event} {one.id}",
)


def _active(one: Poster, moment: Moment) -> Line:
    if one.active is None:
        return [(wording.UNKNOWN, Ink.STALE)]
    ink = Ink.STALE if moment.stale else Ink.OK
    return [("● shown", ink)] if one.active else [("· kept", Ink.DIM)]


POSTERS = _sheet(
    (
        Column("active", "PLAYER", 9, 0, _active, lambda one, _: "a" if one.active else "b"),
        _column(
            "time", "MADE FROM", 13, 0, lambda one: position(one.from_time), value=lambda one: one.from_time, right=True
        ),
        _column("status", "STATUS", 9, 2, lambda one: _said(one.status or wording.UNKNOWN, 20)),
        _column("type", "TYPE", 7, 3, lambda one: _said(one.type or wording.UNKNOWN, 20)),
        _column(
            "picture",
            "PICTURE",
            20,
            1,
            lambda one: wording.link(one.original or wording.UNKNOWN),
            wide=True,
            ink=Ink.DIM,
        ),
    ),
    lambda one: one.id or "default",
    lambda one: f"{one.id} {one.original}",
)


def _recognition(one: Subtitle, moment: Moment) -> Line:
    word, ink = recognition(one.status, stale=moment.stale)
    since = moment.server_since(one.updated_at) if one.status == "pending" and one.updated_at else -1.0
    tail = f" {wording.age(since)}" if since >= 0 else ""
    return [(word + tail, ink)]


SUBTITLES = _sheet(
    (
        _column(
            "position",
            "#",
            3,
            4,
            lambda one: wording.UNKNOWN if one.position is None else str(one.position),
            value=lambda one: one.position,
            right=True,
        ),
        _column("language", "LANG", 4, 0, lambda one: _said(one.language or wording.UNKNOWN, 8), ink=Ink.STRONG),
        _column("description", "DESCRIPTION", 16, 0, lambda one: _said(one.description), wide=True),
        Column("status", "RECOGNITION", 15, 0, _recognition, lambda one, _: one.status or ""),
        _column("file", "FILE", 20, 2, lambda one: _said(one.file_name) or wording.NOT_APPLICABLE),
        _column(
            "updated",
            "UPDATED (UTC)",
            17,
            3,
            lambda one: dated(one.updated_at),
            value=lambda one: _stamp(one.updated_at),
        ),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=Ink.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.language} {one.description} {one.file_name} {one.id}",
)

CUES = _sheet(
    (
        _column("line", "LINE", 5, 4, lambda one: str(one.line), value=lambda one: one.line, right=True, ink=Ink.DIM),
        _column("begins", "BEGINS", 12, 0, lambda one: position(one.start), value=lambda one: one.start, right=True),
        _column(
            "ends", "ENDS", 12, 2, lambda one: position(one.end), value=lambda one: one.end, right=True, ink=Ink.DIM
        ),
        _column("text", "TEXT", 20, 0, lambda one: _said(one.text.replace("\n", " / "), 500), wide=True),
    ),
    lambda one: f"{one.line}",
    lambda one: one.text,
)


def _number(value: int | None) -> str:
    return wording.UNKNOWN if value is None else str(value)


ANNOTATIONS = _sheet(
    (
        _column("type", "TYPE", 6, 2, lambda one: _said(one.annotation_type or wording.UNKNOWN, 20)),
        _column(
            "start", "FROM", 8, 0, lambda one: _number(one.start_time), value=lambda one: one.start_time, right=True
        ),
        _column("end", "TO", 8, 0, lambda one: _number(one.end_time), value=lambda one: one.end_time, right=True),
        _column("title", "TITLE", 20, 0, lambda one: _said(one.title), wide=True, ink=Ink.STRONG),
        _column("link", "LINK", 30, 3, lambda one: wording.link(one.link or wording.NOT_APPLICABLE), ink=Ink.DIM),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=Ink.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.annotation_type} {one.title} {one.link} {one.id}",
)

MATERIALS = _sheet(
    (
        _column("title", "TITLE", 20, 0, lambda one: _said(one.title) or wording.UNKNOWN, wide=True, ink=Ink.STRONG),
        _column("file", "FILE", 20, 1, lambda one: _said(one.file_name) or wording.UNKNOWN),
        _column(
            "size",
            "SIZE",
            9,
            2,
            lambda one: wording.UNKNOWN if one.size is None else wording.size(one.size),
            value=lambda one: one.size,
            right=True,
        ),
        _column("type", "MEDIA TYPE", 18, 5, lambda one: _said(one.media_type, 60) or wording.UNKNOWN, ink=Ink.DIM),
        _column("since", "SINCE (UTC)", 17, 4, lambda one: dated(one.at), value=lambda one: _stamp(one.at)),
        _column("source", "KNOWN FROM", 12, 6, lambda one: one.source, ink=Ink.DIM),
        _column("id", "ID", 12, 3, lambda one: _said(one.id, 40), ink=Ink.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.title} {one.file_name} {one.id}",
)
