"""Head of the Videos screens, and the panel of the selected item. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from livedeck.client import Annotation, Cue, Poster, Recording, Subtitle
from livedeck.monitor import CachedList, KnownMaterial, Video
from livedeck.presentation.connection import missing_rows
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.videos import (
    ListedVideo,
    date_text,
    length_text,
    missing_line,
    number_text,
    recognition,
    recorded_at,
)
from livedeck.text import addresses
from livedeck.text.segments import (
    Group,
    Line,
    Link,
    Role,
    ShadedLine,
    StyleRole,
    cell_len,
    clip,
    fit,
    join,
    labelled,
    linked,
    wrap,
    wrap_groups,
)
from livedeck.text.segments import width as line_width
from livedeck.text.values import NOT_APPLICABLE, UNKNOWN, age, counted, duration, position, safe, size
from livedeck.ui.videos.selection import PARTS

LABEL_CELLS = 13


def recordings_title(count: int, left_out: int) -> Line:
    """Return the line above the recordings.

    `count`: number of recordings. `left_out`: number of events whose recordings are not polled.
    """
    line: Line = [
        (" RECORDINGS", StyleRole.STRONG),
        (f"  {count} of completed events and of the selected event", StyleRole.DIM),
    ]
    if left_out:
        note = f"  ▲ {left_out} events not listed: select one on the Events screen"
        line.append((note, StyleRole.WARNING))
    return line


def video_title(video: Video | None, cells: int, more: str = "") -> Line:
    """Return the line with the video. `more`: name of the shown extra. Parts that do not fit are omitted."""
    if video is None:
        return [(" no video is selected", StyleRole.DIM)]
    recorded, of_event = recorded_at(video), f"of {safe(video.event, 40)}" if video.event else "opened by its id"
    groups: list[Group] = [
        (0, clip([(f" {safe(video.title, 60)}", StyleRole.STRONG)], cells)),
        (1, [(safe(more, 60), StyleRole.TEXT)] if more else []),
        (2, [(length_text(video), StyleRole.TEXT)]),
        (3, [(f"{date_text(recorded)}Z", StyleRole.DIM)] if recorded else []),
        (4, [(of_event, StyleRole.DIM)]),
        (5, [(f"…{safe(video.id[-4:])}", StyleRole.DIM)] if video.title != video.id else []),
    ]
    return wrap_groups(groups, cells)


def tab_line(
    current: str, counts: dict[str, int], cached: CachedList[Any], render_time: RenderTime, cells: int
) -> ShadedLine:
    """Return the tabs, with the numbers of their rows if these fit, and the age of the shown list."""
    age_text = freshness_text(cached, render_time)
    tabs = _tabs(current, counts)
    fits = line_width(tabs) + line_width(age_text) <= cells
    return join(tabs if fits else _tabs(current, {}), age_text, cells)


def _tabs(current: str, counts: dict[str, int]) -> list[tuple[str, Role]]:
    tabs: list[tuple[str, Role]] = [(" ", StyleRole.TEXT)]
    for part in PARTS:
        is_current = part == current or (current == "cues" and part == "subtitles")
        count = f" {counts[part]}" if part in counts else ""
        tabs.append((f" {part}{count} ", Link(StyleRole.TAB if is_current else StyleRole.DIM, "part.next", part)))
    return tabs


def freshness_text(cached: CachedList[Any], render_time: RenderTime) -> Line:
    """Return the age of a list as text. A failed or loading list has a different text than an empty list."""
    read = "never read" if cached.as_of is None else f"{age(render_time.seconds_since(cached.as_of))} ago"
    if cached.error:
        return [(f"▲ failed, {read} ", StyleRole.WARNING)]
    if cached.as_of is None:
        return [("loading ", StyleRole.DIM)]
    if render_time.stale:
        return [(f"▒ STALE {read} ", StyleRole.STALE)]
    return [(f"{read} ", StyleRole.DIM)]


def error_lines(cached: CachedList[Any], cells: int) -> list[Line]:
    """Return lines with the error of a failed last request, and with the number of missing rows; otherwise empty."""
    lines = [*wrap(f"▲ {safe(cached.error, 300)}", StyleRole.WARNING, cells - 2)] if cached.error else []
    lines += [missing] if (missing := missing_rows(cached, "row")) else []
    return [[(" ", StyleRole.TEXT), *line] for line in lines]


def order_text(count: int, keys: str) -> Line:
    """Return the line about a new order that is not sent yet.

    `count`: number of moved rows. `keys`: text about keys.
    """
    return [(f" ▲ NOT SENT  {count} moved", StyleRole.WARNING), (f"   {keys}", StyleRole.DIM)]


def panel(item: Any, cells: int, *, stale: bool) -> list[Line]:
    """Return all lines about the selected item. `stale`: the data are old, so nothing may look good."""
    match item:
        case Poster():
            lines = _poster(item)
        case Subtitle():
            lines = _subtitle(item, stale=stale)
        case Annotation():
            lines = _annotation(item)
        case KnownMaterial():
            lines = _material(item)
        case Cue():
            lines = _cue(item)
        case _:
            lines = [[(" nothing selected", StyleRole.DIM)]]
    return [clip(line, cells) for line in lines]


def _fact(label: str, text: str | None, role: StyleRole = StyleRole.TEXT) -> Line:
    return labelled(label, [(safe(text or NOT_APPLICABLE, 300), role)], LABEL_CELLS)


def video_panel(row: ListedVideo | None, render_time: RenderTime, cells: int, height: int) -> list[ShadedLine]:
    """Return the missing extras of a video, its extras, and the facts that fit.

    If lines are short, the first facts are dropped first, so the id stays longest. The extras stay. A click on an extra
    opens its tab. A panel with room to spare has a blank line between two parts.
    """
    if row is None:
        return [[(" nothing selected", StyleRole.DIM)]]
    recorded = recorded_at(row.video)
    facts = [
        _fact("recorded", f"{date_text(recorded)}Z, {length_text(row.video)}" if recorded else UNKNOWN),
        _fact("event", row.video.event or "unknown: opened by its id"),
        _fact("id", row.id, StyleRole.DIM),
    ]
    head = [
        _fact("video", row.video.title, StyleRole.STRONG),
        labelled("missing", missing_line(row, render_time), LABEL_CELLS),
    ]
    shares = _shares([len(cached.items) for cached in row.lists], height - len(head) - len(facts))
    extras: list[list[ShadedLine]] = [
        [linked(clip(line, cells), "part.next", part) for line in _extra_lines(part, cached, render_time, cells, share)]
        for part, cached, share in zip(PARTS[1:], row.lists, shares, strict=True)
    ]
    fitting = max(0, height - len(head) - sum(map(len, extras)))
    rest = facts[max(0, len(facts) - fitting) :]
    parts: list[list[ShadedLine]] = [
        [clip(line, cells) for line in head],
        *extras,
        [clip(line, cells) for line in rest],
    ]
    has_gaps = sum(map(len, parts)) + len(parts) <= height
    return [line for part in parts for line in (*part, *([[]] if has_gaps else []))]


def event_lines(
    events: Sequence[tuple[str, CachedList[Recording]]], render_time: RenderTime, cells: int, rows: int
) -> list[Line]:
    """Return the events whose recordings are listed, events without a recording first, in at most `rows` lines.

    `events`: name and recordings of each event. The last line counts the events that do not fit.
    """
    if rows < 1:
        return []
    fewest_first = sorted(events, key=lambda event: len(event[1].items))
    shown = fewest_first if len(events) <= rows else fewest_first[: rows - 1]
    role = StyleRole.STALE if render_time.stale else StyleRole.TEXT
    name_cells = min(max((cell_len(name) for name, _ in shown), default=0), cells // 2)
    lines: list[Line] = [
        [*fit([(safe(name), role)], name_cells, ellipsis=True), (f"   {_recorded_text(cached)}", StyleRole.DIM)]
        for name, cached in shown
    ]
    left = len(events) - len(shown)
    lines += [[(f"{left} more", StyleRole.DIM)]] if left else []
    return [clip(labelled("" if index else "events", line, LABEL_CELLS), cells) for index, line in enumerate(lines)]


def _recorded_text(cached: CachedList[Recording]) -> str:
    """Return the number and lengths of an event's recordings, or why they are unknown."""
    if cached.as_of is None:
        return "the platform does not respond" if cached.error else "not read yet"
    if cached.shortfall or cached.unreadable:
        return f"{number_text(cached)} recordings, some not received"
    lengths = [UNKNOWN if item.duration is None else duration(item.duration) for item in cached.items]
    return f"{counted(len(lengths), 'recording')}  {'  '.join(lengths)}" if lengths else "no recording"


def _shares(counts: Sequence[int], lines: int) -> list[int]:
    """Return the maximum number of lines of each list. Lines that a short list does not need go to longer lists."""
    shares = [1] * len(counts)
    for done, index in enumerate(sorted(range(len(counts)), key=lambda index: counts[index])):
        shares[index] = max(1, lines // (len(counts) - done))
        lines -= min(shares[index], max(1, counts[index]))
    return shares


def _extra_lines(part: str, cached: CachedList[Any], render_time: RenderTime, cells: int, rows: int) -> list[Line]:
    """Return the rows of a list, in at most `rows` lines: a line each, or all in one.

    The poster that the player shows is first. A wide line has details of the row.
    """
    role = StyleRole.STALE if render_time.stale else StyleRole.TEXT
    items = sorted(cached.items, key=lambda item: not getattr(item, "active", False))
    texts = [_extra_text(item) for item in items]
    if not texts:
        words = "none known" if part == "materials" and cached.as_of else number_text(cached)
        return [labelled(part, [(words, StyleRole.DIM)], LABEL_CELLS)]
    if rows < 2:
        return [labelled(part, [(f"{number_text(cached)}  {'; '.join(texts)}", role)], LABEL_CELLS)]
    lines: list[Line] = [[(text, role)] for text in texts]
    if cells >= DETAIL_CELLS:
        name_cells = min(max(map(cell_len, texts)), cells // 2)
        lines = [
            [*fit(line, name_cells, ellipsis=True), (f"   {_extra_details(item)}", StyleRole.DIM)]
            for line, item in zip(lines, items, strict=True)
        ]
    if len(lines) > rows:
        lines = [*lines[: rows - 1], [(f"{len(lines) - rows + 1} more", role)]]
    return [labelled("" if index else part, line, LABEL_CELLS) for index, line in enumerate(lines)]


DETAIL_CELLS = 66
"""Minimum width of a panel with details of the extras."""


def _extra_text(item: Any) -> str:
    """Return an extra in a few words."""
    match item:
        case Poster():
            return f"{'● ' if item.active else ''}{position(item.from_time)}{' shown' if item.active else ''}"
        case Subtitle():
            word, _ = recognition(item.status, stale=False)
            return f"{safe(item.language or UNKNOWN, 8)} {safe(item.description or '', 40)} {word}"
        case Annotation():
            return f"{item.start_time} to {item.end_time} {safe(item.title or '', 60)}"
        case KnownMaterial():
            size_words = "" if item.size is None else f", {size(item.size)}"
            return f"{safe(item.title or item.file_name or UNKNOWN, 60)}{size_words}"
    return ""


def _extra_details(item: Any) -> str:
    """Return the values of an extra that show whether it is complete: sizes of a poster, file or link."""
    match item:
        case Poster():
            received = [name for name in PICTURE_SIZES if name in item.model_fields_set]
            missing = [name for name in received if not getattr(item, name)]
            sizes = "all sizes" if len(received) == len(PICTURE_SIZES) else f"sizes {UNKNOWN}"
            sizes = f"no size {', '.join(missing)}" if missing else sizes
            return f"{safe(item.type or UNKNOWN, 20)}  {safe(item.status or UNKNOWN, 20)}  {sizes}"
        case Subtitle():
            return safe(item.file_name or "no file", 60)
        case Annotation():
            return f"{safe(item.annotation_type or UNKNOWN, 20)}  {_address(item, 'link', 'no link')}"
        case KnownMaterial():
            return f"{safe(item.file_name or 'no file', 60)}  {safe(item.media_type or UNKNOWN, 60)}"
    return ""


PICTURE_SIZES = ("original", "md", "sm", "xs")
"""Pictures of a poster, largest first, by the platform's names of the sizes."""


def _address(item: Poster | Annotation, name: str, absent: str = NOT_APPLICABLE) -> str:
    """Return an address of an extra; `absent` if the extra has none, `?` if the address was not received.

    Recordings and attached decks receive no addresses (past.md).
    """
    return addresses.show(getattr(item, name), absent if name in item.model_fields_set else UNKNOWN)


def _poster(poster: Poster) -> list[Line]:
    shown = {True: "shown in the player and in lists", False: "kept, not shown", None: UNKNOWN}[poster.active]
    until = f" to {position(poster.to_time)}" if poster.to_time not in {None, poster.from_time} else ""
    return [
        _fact("poster", f"of {position(poster.from_time)}{until}, {shown}", StyleRole.STRONG),
        _fact("id", poster.id or "none: the default picture"),
        *(labelled(name, [(_address(poster, name), StyleRole.DIM)], LABEL_CELLS) for name in PICTURE_SIZES),
    ]


def _subtitle(subtitle: Subtitle, *, stale: bool) -> list[Line]:
    word, role = recognition(subtitle.status, stale=stale)
    polling = "  polled every 3 s" if subtitle.status == "pending" else ""
    absent = "none yet" if "url" in subtitle.model_fields_set else UNKNOWN
    address = str(subtitle.url) if subtitle.url and subtitle.url.reveal() else absent
    return [
        _fact("track", f"{subtitle.language or UNKNOWN}  {subtitle.description or ''}", StyleRole.STRONG),
        labelled("recognised", [(word, role), (polling, StyleRole.DIM)], LABEL_CELLS),
        _fact("file", subtitle.file_name),
        labelled("address", [(address, StyleRole.DIM)], LABEL_CELLS),
        _fact("id", subtitle.id),
    ]


def _cue(cue: Cue) -> list[Line]:
    span = f"{position(cue.start)} to {position(cue.end)}, line {cue.line}"
    texts = ([(f"   {safe(text, 300)}", StyleRole.STRONG)] for text in cue.text.split("\n"))
    return [labelled("cue", [(span, StyleRole.TEXT)], LABEL_CELLS), *texts]


def _annotation(annotation: Annotation) -> list[Line]:
    span = f"{annotation.start_time} to {annotation.end_time} (the platform does not name the unit)"
    return [
        _fact("annotation", annotation.title, StyleRole.STRONG),
        _fact("type", annotation.annotation_type),
        _fact("time", span),
        labelled("link", [(_address(annotation, "link"), StyleRole.TEXT)], LABEL_CELLS),
        _fact("id", annotation.id),
        _fact("poster", annotation.annotation_poster_id),
    ]


def _material(material: KnownMaterial) -> list[Line]:
    size = "size unknown" if material.size is None else f"{material.size:,} bytes"
    return [
        _fact("material", material.title, StyleRole.STRONG),
        _fact("file", f"{material.file_name or UNKNOWN}  {material.media_type}  {size}"),
        _fact("id", material.id),
        _fact("known from", material.source),
    ]
