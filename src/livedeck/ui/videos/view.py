"""The tables of the Videos screens, their head, and the panel of what is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from livedeck.client import Annotation, Cue, Poster, Subtitle
from livedeck.monitor import CachedList, KnownMaterial, Video
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text import values
from livedeck.text.segments import Line, Segment, StyleRole, clip, fit, join, wrap
from livedeck.ui.videos.selection import PARTS

Text = Callable[[Any], str]


def dated(at: datetime | None) -> str:
    """A moment of the platform, in UTC."""
    return f"{at:%d %b %Y %H:%M}" if at else values.UNKNOWN


def recognition(status: str | None, *, stale: bool) -> tuple[str, StyleRole]:
    """What the platform calls a track. It says nothing of one that was uploaded: there is nothing to wait for."""
    if stale and status in {"pending", "done"}:
        return recognition(status, stale=False)[0], StyleRole.STALE
    if status == "pending":
        return "○ pending", StyleRole.PENDING
    if status == "done":
        return "✓ done", StyleRole.OK
    return values.safe(status or values.NOT_APPLICABLE, 20), StyleRole.DIM


def _said(text: str | None, limit: int = 200) -> str:
    return values.safe(text or "", limit)


def _column(name: str, head: str, cells: int, rank: int, text: Text, **more: Any) -> Column[Any]:
    """A column of plain words, sorted by them."""
    ink = more.pop("ink", StyleRole.TEXT)

    def say(one: Any, moment: RenderTime) -> Line:
        return [(text(one), StyleRole.STALE if moment.stale else ink)]

    value = more.pop("value", text)
    return Column(name, head, cells, rank, say, lambda one, _: value(one), **more)


def _stamp(at: datetime | None) -> Value:
    return at.timestamp() if at else None


def _sheet(columns: tuple[Column[Any], ...], key: Text, text: Text) -> TableSchema[Any]:
    return TableSchema(columns, key, lambda one: text(one).casefold())


def _made(one: Video) -> datetime | None:
    return one.recording.created_at if one.recording else None


VIDEOS = _sheet(
    (
        _column("title", "VIDEO", 20, 0, lambda one: _said(one.title), grows=True, ink=StyleRole.STRONG),
        _column(
            "length",
            "LENGTH",
            10,
            2,
            lambda one: values.UNKNOWN if one.duration is None else values.duration(one.duration),
            value=lambda one: one.duration,
            right=True,
        ),
        _column("status", "STATUS", 9, 3, lambda one: _said((one.recording and one.recording.status) or "?", 20)),
        _column(
            "recorded", "RECORDED (UTC)", 17, 1, lambda one: dated(_made(one)), value=lambda one: _stamp(_made(one))
        ),
        _column("event", "EVENT", 20, 4, lambda one: _said(one.event) or values.NOT_APPLICABLE),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=StyleRole.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.title} {one.event} {one.id}",
)


def _active(one: Poster, moment: RenderTime) -> Line:
    if one.active is None:
        return [(values.UNKNOWN, StyleRole.STALE)]
    ink = StyleRole.STALE if moment.stale else StyleRole.OK
    return [("● shown", ink)] if one.active else [("· kept", StyleRole.DIM)]


POSTERS = _sheet(
    (
        Column("active", "PLAYER", 9, 0, _active, lambda one, _: "a" if one.active else "b"),
        _column(
            "time",
            "MADE FROM",
            13,
            0,
            lambda one: values.position(one.from_time),
            value=lambda one: one.from_time,
            right=True,
        ),
        _column("status", "STATUS", 9, 2, lambda one: _said(one.status or values.UNKNOWN, 20)),
        _column("type", "TYPE", 7, 3, lambda one: _said(one.type or values.UNKNOWN, 20)),
        _column(
            "picture",
            "PICTURE",
            20,
            1,
            lambda one: values.link(one.original or values.UNKNOWN),
            grows=True,
            ink=StyleRole.DIM,
        ),
    ),
    lambda one: one.id or "default",
    lambda one: f"{one.id} {one.original}",
)


def _recognition(one: Subtitle, moment: RenderTime) -> Line:
    word, ink = recognition(one.status, stale=moment.stale)
    since = moment.server_seconds_since(one.updated_at) if one.status == "pending" and one.updated_at else -1.0
    tail = f" {values.age(since)}" if since >= 0 else ""
    return [(word + tail, ink)]


SUBTITLES = _sheet(
    (
        _column(
            "position",
            "#",
            3,
            4,
            lambda one: values.UNKNOWN if one.position is None else str(one.position),
            value=lambda one: one.position,
            right=True,
        ),
        _column("language", "LANG", 4, 0, lambda one: _said(one.language or values.UNKNOWN, 8), ink=StyleRole.STRONG),
        _column("description", "DESCRIPTION", 16, 0, lambda one: _said(one.description), grows=True),
        Column("status", "RECOGNITION", 15, 0, _recognition, lambda one, _: one.status or ""),
        _column("file", "FILE", 20, 2, lambda one: _said(one.file_name) or values.NOT_APPLICABLE),
        _column(
            "updated",
            "UPDATED (UTC)",
            17,
            3,
            lambda one: dated(one.updated_at),
            value=lambda one: _stamp(one.updated_at),
        ),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=StyleRole.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.language} {one.description} {one.file_name} {one.id}",
)


CUES = _sheet(
    (
        _column(
            "line", "LINE", 5, 4, lambda one: str(one.line), value=lambda one: one.line, right=True, ink=StyleRole.DIM
        ),
        _column(
            "begins", "BEGINS", 12, 0, lambda one: values.position(one.start), value=lambda one: one.start, right=True
        ),
        _column(
            "ends",
            "ENDS",
            12,
            2,
            lambda one: values.position(one.end),
            value=lambda one: one.end,
            right=True,
            ink=StyleRole.DIM,
        ),
        _column("text", "TEXT", 20, 0, lambda one: _said(one.text.replace("\n", " / "), 500), grows=True),
    ),
    lambda one: f"{one.line}",
    lambda one: one.text,
)


def _number(value: int | None) -> str:
    return values.UNKNOWN if value is None else str(value)


ANNOTATIONS = _sheet(
    (
        _column("type", "TYPE", 6, 2, lambda one: _said(one.annotation_type or values.UNKNOWN, 20)),
        _column(
            "start", "FROM", 8, 0, lambda one: _number(one.start_time), value=lambda one: one.start_time, right=True
        ),
        _column("end", "TO", 8, 0, lambda one: _number(one.end_time), value=lambda one: one.end_time, right=True),
        _column("title", "TITLE", 20, 0, lambda one: _said(one.title), grows=True, ink=StyleRole.STRONG),
        _column("link", "LINK", 30, 3, lambda one: values.link(one.link or values.NOT_APPLICABLE), ink=StyleRole.DIM),
        _column("id", "ID", 36, 9, lambda one: _said(one.id, 40), ink=StyleRole.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.annotation_type} {one.title} {one.link} {one.id}",
)


MATERIALS = _sheet(
    (
        _column(
            "title", "TITLE", 20, 0, lambda one: _said(one.title) or values.UNKNOWN, grows=True, ink=StyleRole.STRONG
        ),
        _column("file", "FILE", 20, 1, lambda one: _said(one.file_name) or values.UNKNOWN),
        _column(
            "size",
            "SIZE",
            9,
            2,
            lambda one: values.UNKNOWN if one.size is None else values.size(one.size),
            value=lambda one: one.size,
            right=True,
        ),
        _column(
            "type", "MEDIA TYPE", 18, 5, lambda one: _said(one.media_type, 60) or values.UNKNOWN, ink=StyleRole.DIM
        ),
        _column("since", "SINCE (UTC)", 17, 4, lambda one: dated(one.at), value=lambda one: _stamp(one.at)),
        _column("source", "KNOWN FROM", 12, 6, lambda one: one.source, ink=StyleRole.DIM),
        _column("id", "ID", 12, 3, lambda one: _said(one.id, 40), ink=StyleRole.DIM),
    ),
    lambda one: one.id,
    lambda one: f"{one.title} {one.file_name} {one.id}",
)


LABEL_CELLS = 12


def gathered(found: int, cut: int) -> Line:
    """Where the recordings come from, and what was left out: never silently."""
    line: Line = [
        (" RECORDINGS", StyleRole.STRONG),
        (f"  {found} of the events that are over and of the selected one", StyleRole.DIM),
    ]
    return (
        [*line, (f"  ▲ {cut} events were not asked: select one on the Events screen", StyleRole.WARNING)]
        if cut
        else line
    )


def title(video: Video | None, more: str = "") -> Line:
    """Whose extras these are; `more`: and what of them."""
    if video is None:
        return [(" no video is selected", StyleRole.DIM)]
    length = values.UNKNOWN if video.duration is None else values.duration(video.duration)
    made = video.recording.created_at if video.recording else None
    return [
        (f" {values.safe(video.title, 60)}", StyleRole.STRONG),
        (values.safe(more, 60), StyleRole.TEXT),
        (f"  {length}", StyleRole.TEXT),
        (f"  {dated(made)}Z" if made else "", StyleRole.DIM),
        (f"  of {values.safe(video.event, 40)}" if video.event else "  opened by its id", StyleRole.DIM),
        (f"  {values.safe(video.id, 40)}" if video.title != video.id else "", StyleRole.DIM),
    ]


def tabs(part: str, counts: dict[str, int], cached: CachedList[Any], moment: RenderTime, cells: int) -> Line:
    """Where one is, how many there are of each, and how old that is."""
    line: Line = [(" ", StyleRole.TEXT)]
    for each in PARTS:
        chosen = each == part or (part == "cues" and each == "subtitles")
        many = f" {counts[each]}" if each in counts else ""
        line.append((f"[{each}{many}]" if chosen else f" {each}{many} ", StyleRole.STRONG if chosen else StyleRole.DIM))
    return join(line, freshness_text(cached, moment), cells)


def freshness_text(cached: CachedList[Any], moment: RenderTime) -> Line:
    """How old a list is, in words; a failure never looks like an empty list."""
    age = "never answered" if cached.as_of is None else f"{values.age(moment.seconds_since(cached.as_of))} ago"
    if cached.error:
        return [(f"▲ failed, {age} ", StyleRole.WARNING)]
    if cached.as_of is None:
        return [("asking ", StyleRole.DIM)]
    if moment.stale:
        return [(f"▒ STALE {age} ", StyleRole.STALE)]
    return [(f"{age} ", StyleRole.DIM)]


def failure(cached: CachedList[Any], cells: int) -> list[Line]:
    """Why the last question failed."""
    told = wrap(f"▲ {values.safe(cached.error, 300)}", StyleRole.WARNING, cells - 2) if cached.error else ()
    return [[(" ", StyleRole.TEXT), *line] for line in told]


def order_text(count: int, keys: str) -> Line:
    """That rows were moved and nobody has been told."""
    return [(f" ▲ NOT SENT  {count} moved", StyleRole.WARNING), (f"   {keys}", StyleRole.DIM)]


def panel(one: Any, cells: int, *, stale: bool) -> list[Line]:
    """The selected one in full; `stale`: nothing of it may look good."""
    match one:
        case Video():
            lines = _video(one)
        case Poster():
            lines = _poster(one)
        case Subtitle():
            lines = _subtitle(one, stale=stale)
        case Annotation():
            lines = _annotation(one)
        case KnownMaterial():
            lines = _thing(one)
        case Cue():
            return [
                _labelled(
                    "cue",
                    [(f"{values.position(one.start)} to {values.position(one.end)}, line {one.line}", StyleRole.TEXT)],
                )
            ] + [clip([(f"   {values.safe(text, 300)}", StyleRole.STRONG)], cells) for text in one.text.split("\n")]
        case _:
            return [[(" nothing selected", StyleRole.DIM)]]
    return [clip(line, cells) for line in lines]


def _labelled(label: str, spans: Iterable[Segment]) -> Line:
    return [*fit([(f" {label}", StyleRole.HEAD)], LABEL_CELLS), *spans]


def _fact(label: str, text: str | None, ink: StyleRole = StyleRole.TEXT) -> Line:
    return _labelled(label, [(values.safe(text or values.NOT_APPLICABLE, 300), ink)])


def _video(one: Video) -> list[Line]:
    return [
        _fact("video", one.title, StyleRole.STRONG),
        _fact("id", one.id),
        _fact("event", one.event or "none is known: it was opened by its id"),
        _fact("recorded", dated(one.recording.created_at) + "Z" if one.recording and one.recording.created_at else "?"),
        _fact("then", "posters, subtitles, annotations, additional materials", StyleRole.DIM),
    ]


def _poster(one: Poster) -> list[Line]:
    shown = {True: "shown in the player and in lists", False: "kept, not shown", None: values.UNKNOWN}[one.active]
    made = values.position(one.from_time)
    until = f" to {values.position(one.to_time)}" if one.to_time not in {None, one.from_time} else ""
    return [
        _fact("poster", f"of {made}{until}, {shown}", StyleRole.STRONG),
        _fact("id", one.id or "none: the default picture"),
        *(
            _labelled(size, [(values.link(address or values.NOT_APPLICABLE), StyleRole.DIM)])
            for size, address in sizes(one)
        ),
    ]


def sizes(one: Poster) -> tuple[tuple[str, str | None], ...]:
    """The pictures of a poster, the largest first."""
    return ("original", one.original), ("md", one.md), ("sm", one.sm), ("xs", one.xs)


def _subtitle(one: Subtitle, *, stale: bool) -> list[Line]:
    word, ink = recognition(one.status, stale=stale)
    return [
        _fact("track", f"{one.language or values.UNKNOWN}  {one.description or ''}", StyleRole.STRONG),
        _labelled(
            "recognised", [(word, ink), ("  asked again every 3 s" if one.status == "pending" else "", StyleRole.DIM)]
        ),
        _fact("file", one.file_name),
        _labelled("address", [(str(one.url) if one.url and one.url.reveal() else "none yet", StyleRole.DIM)]),
        _fact("id", one.id),
    ]


def _annotation(one: Annotation) -> list[Line]:
    span = f"{one.start_time} to {one.end_time}, in a unit that the platform does not name"
    return [
        _fact("annotation", one.title, StyleRole.STRONG),
        _fact("type", one.annotation_type),
        _fact("time", span),
        _labelled("link", [(values.link(one.link or values.NOT_APPLICABLE), StyleRole.TEXT)]),
        _fact("id", one.id),
        _fact("poster", one.annotation_poster_id),
    ]


def _thing(one: KnownMaterial) -> list[Line]:
    size = "size unknown" if one.size is None else f"{one.size:,} bytes"
    return [
        _fact("material", one.title, StyleRole.STRONG),
        _fact("file", f"{one.file_name or values.UNKNOWN}  {one.media_type}  {size}"),
        _fact("id", one.id),
        _fact("known from", one.source),
    ]
