"""Preview table of a chat, and the panel of source, filter, preview and export. Pure.

Messages of viewers are shown as plain text and never interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from livedeck.client import ExportProgress, MessageFilter
from livedeck.monitor import EventState, KnownStream
from livedeck.presentation import chat_export, events
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text.segments import Group, Line, Segment, StyleRole, labelled, wrap, wrap_groups
from livedeck.text.values import UNKNOWN, age, counted, safe
from livedeck.ui.chat.jobs import ExportJob, JobState
from livedeck.ui.chat.preview import MAX_ROWS, Preview, PreviewRow


def _at(row: PreviewRow, _: RenderTime) -> Line:
    return [(f"{row.at:%d %b %H:%M:%S}" if row.at else UNKNOWN, StyleRole.DIM)]


def _name(row: PreviewRow, _: RenderTime) -> Line:
    return [(safe(row.name, 80) or UNKNOWN, StyleRole.STRONG if row.is_admin else StyleRole.TEXT)]


def _role(row: PreviewRow, _: RenderTime) -> Line:
    return [({True: "★ admin", False: "", None: UNKNOWN}[row.is_admin], StyleRole.INFO)]


def _text(row: PreviewRow, _: RenderTime) -> Line:
    return [(safe(row.text, 400), StyleRole.TEXT)]


MESSAGES: TableSchema[PreviewRow] = TableSchema(
    columns=(
        Column("at", "WRITTEN (UTC)", 15, 0, _at, right=True),
        Column("role", "ROLE", 7, 2, _role),
        Column("name", "BY", 14, 0, _name),
        Column("text", "MESSAGE", 20, 0, _text, grows=True),
    ),
    key=lambda row: str(row.number),
    text=lambda row: row.text,
)

LABEL_CELLS = 10

SILENT_SECONDS = 5.0
"""Seconds without a received byte after which a running export shows a warning."""

BAR_CELLS = 10
WIDE_BAR_CELLS = 30

WIDE = 100
"""Minimum width in cells of a panel with the wide bar."""


@dataclass(frozen=True, slots=True)
class Source:
    """Source of the messages on the screen.

    `streams`: known streams of the event; None while they are loading. `error`: reason why streams may be missing;
    otherwise empty.
    """

    state: EventState
    streams: tuple[KnownStream, ...] | None
    stream: KnownStream | None
    message_filter: MessageFilter
    error: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of the screen's actions, as text for its lines."""

    read: str
    filter: str
    clear: str
    export: str
    stop: str
    copy: str
    open: str
    next: str
    last: str


def _labelled(label: str, *segments: Segment) -> Line:
    return labelled(label, segments, LABEL_CELLS)


def source_lines(source: Source, render_time: RenderTime, keys: Keys, width: int) -> list[Line]:
    """Return lines that name the event, the stream and the filter."""
    state = source.state
    return [
        _labelled("event", *events.tally(state, render_time), (f"  {events.name(state)}", StyleRole.STRONG)),
        _stream(source, keys, width),
        _filter(source.message_filter, keys),
    ]


def _stream(source: Source, keys: Keys, width: int) -> Line:
    error: Line = [(f"▲ {safe(source.error, 120)}", StyleRole.WARNING)] if source.error else []
    stream, streams = source.stream, source.streams
    if stream is None:
        text = "loading streams" if streams is None else f"no stream now, and {_past_unknown(source)}"
        return _labelled("stream", (text, StyleRole.DIM), *error)
    groups: list[Group] = [(0, [(stream.source, StyleRole.STRONG)]), (2, [(f"…{safe(stream.id[-4:])}", StyleRole.DIM)])]
    if streams is None:
        groups.append((0, [("loading past streams", StyleRole.DIM)]))
    elif len(streams) > 1:
        position = f"{streams.index(stream) + 1} of {len(streams)}" if stream in streams else ""
        groups.append((1, [(f"{position}, {keys.next} next", StyleRole.DIM)]))
    else:
        groups.append((1, [(_past_unknown(source), StyleRole.DIM)]))
    return _labelled("stream", *wrap_groups([*groups, (0, error)], width - LABEL_CELLS))


def _past_unknown(source: Source) -> str:
    """Return the text for a list without past streams. If `source.error` has a reason, they are unknown."""
    return "past streams unknown" if source.error else "no past streams known"


def _filter(message_filter: MessageFilter, keys: Keys) -> Line:
    if not message_filter:
        none = ("none: every message", StyleRole.TEXT)
        return _labelled("filter", none, (f"   {keys.filter} sets a filter", StyleRole.DIM))
    conditions = ", ".join(chat_export.filter_conditions(message_filter))
    return _labelled("filter", (conditions, StyleRole.STRONG), (f"   {keys.clear} clears it", StyleRole.DIM))


@dataclass(frozen=True, slots=True)
class Tail:
    """State of the preview at the end of the log.

    `is_following`: the newest message stays visible. `unseen`: number of messages since the pause. `seconds`: seconds
    between two reads; None if the log cannot grow.
    """

    is_following: bool = True
    unseen: int = 0
    seconds: float | None = None


def preview_line(preview: Preview | None, render_time: RenderTime, keys: Keys, tail: Tail) -> Line:
    """Return the number of messages, their age, and whether the preview follows the log."""
    if preview is None:
        return _labelled("preview", (f"none yet: {keys.read} reads the log", StyleRole.DIM))
    count = preview.count
    text = f"{counted(count, 'message')}{' match' if preview.export.filter else ''}"
    if preview.is_reading:
        return _labelled("preview", (f"{text} so far, reading", StyleRole.INFO))
    if preview.error:
        return _labelled("preview", (f"✖ FAILED after {text}: {safe(preview.error, 200)}", StyleRole.CRITICAL))
    as_of = f", as of {preview.as_of:%H:%M:%S}Z ({age(render_time.seconds_since(preview.as_of))})"
    more = f": the newest {MAX_ROWS:,}; an export has all" if count > len(preview.rows) else ""
    return _labelled("preview", (f"{text}{as_of}{more}", StyleRole.TEXT), ("   ", StyleRole.TEXT), _tail(tail, keys))


def _tail(tail: Tail, keys: Keys) -> Segment:
    """Return whether the preview follows new messages, is paused, or must be read again."""
    if not tail.is_following:
        new = f", {tail.unseen:,} new" if tail.unseen else ""
        return f"‖ paused{new}: {keys.last} resumes", StyleRole.WARNING
    if tail.seconds is None:
        return f"{keys.read} reads again", StyleRole.DIM
    return f"▼ following, read every {tail.seconds:.0f} s", StyleRole.INFO


def export_lines(job: ExportJob | None, now: float, keys: Keys, width: int) -> list[Line]:
    """Return the running export, or the result of the last one. `now`: seconds on the deck's monotonic clock."""
    if job is None:
        return [_labelled("export", (f"none yet: {keys.export} exports", StyleRole.DIM))]
    return [
        *_state(job, now, keys, width),
        _labelled("", (f"{job.event_name}, {chat_export.format_text(job.export)}", StyleRole.DIM)),
        _labelled("file", (safe(str(job.path), 400), StyleRole.STRONG if job.result else StyleRole.TEXT)),
    ]


def _state(job: ExportJob, now: float, keys: Keys, width: int) -> Iterator[Line]:
    if job.is_running:
        yield _labelled("export", *_progress(job, now, keys, width - LABEL_CELLS))
        return
    glyph, role = {
        JobState.DONE: ("✓", StyleRole.OK),
        JobState.FAILED: ("✖", StyleRole.CRITICAL),
        JobState.STOPPED: ("■", StyleRole.WARNING),
    }[job.state]
    text = "; ".join(chat_export.result_parts(job.export, job.result)) if job.result else job.error
    lines = list(wrap(f"{glyph} {job.state.upper()}  {safe(text, 400)}", role, width - LABEL_CELLS))
    for row, line in enumerate(lines[:3]):
        yield _labelled("" if row else "export", *line)
    if job.result:
        yield _labelled("", (f"{keys.copy} copies the path, {keys.open} opens the file", StyleRole.DIM))
    elif job.state is JobState.FAILED:
        yield _labelled("", ("no incomplete file is left", StyleRole.DIM))


def _progress(job: ExportJob, now: float, keys: Keys, width: int) -> Line:
    progress, silence = job.progress, now - job.received_at
    stop: Line = [(f"{keys.stop} stops it", StyleRole.DIM)]
    if progress is None and silence < SILENT_SECONDS:
        return wrap_groups([(0, [("● RUNNING  requesting the log", StyleRole.INFO)]), (1, stop)], width)
    size, *more = chat_export.progress_parts(progress) if progress else ("",)
    received: Line = [(size, StyleRole.TEXT)] if progress else []
    if silence >= SILENT_SECONDS:
        silent: Line = [(f"▲ no data for {age(silence)}", StyleRole.WARNING)]
        return wrap_groups([(0, silent), (2, received), (1, stop)], width)
    assert progress is not None
    groups: list[Group] = [
        (0, [("● RUNNING", StyleRole.INFO)]),
        (5, progress_bar(progress, width)),
        (0, [(f"{_share(progress):4.0%}", StyleRole.STRONG)] if progress.size else []),
        (0, received),
        *((len(more) - index, [(text, StyleRole.TEXT)]) for index, text in enumerate(more)),  # time left drops last
        (4, stop),
    ]
    return wrap_groups(groups, width)


def progress_bar(progress: ExportProgress, width: int) -> Line:
    """Return a bar for the share of the log that has arrived; empty if the log's size is unknown."""
    if not progress.size:
        return []
    cells = WIDE_BAR_CELLS if width >= WIDE else BAR_CELLS
    full = int(_share(progress) * cells)
    return [("█" * full, StyleRole.STRONG), ("·" * (cells - full), StyleRole.DIM)]


def _share(progress: ExportProgress) -> float:
    return min(progress.received / progress.size, 1.0) if progress.size else 0.0
