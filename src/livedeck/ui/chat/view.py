"""The preview of a chat log as a table. What people wrote is data: it obeys nothing and commands nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from livedeck.client import ExportProgress, MessageFilter
from livedeck.monitor import EventState, KnownStream
from livedeck.presentation import chat_export, events
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text import values
from livedeck.text.segments import Line, Segment, StyleRole, fit, wrap, wrap_groups
from livedeck.ui.chat.jobs import MOST, ExportJob, JobState, Preview, PreviewRow


def _at(said: PreviewRow, _: RenderTime) -> Line:
    return [(f"{said.at:%d %b %H:%M:%S}" if said.at else values.UNKNOWN, StyleRole.DIM)]


def _name(said: PreviewRow, _: RenderTime) -> Line:
    return [(values.safe(said.name, 80) or values.UNKNOWN, StyleRole.STRONG if said.admin else StyleRole.TEXT)]


def _role(said: PreviewRow, _: RenderTime) -> Line:
    return [({True: "admin", False: "", None: values.UNKNOWN}[said.admin], StyleRole.INFO)]


def _text(said: PreviewRow, _: RenderTime) -> Line:
    return [(values.safe(said.text, 400), StyleRole.TEXT)]


MESSAGES: TableSchema[PreviewRow] = TableSchema(
    columns=(
        Column("at", "WRITTEN (UTC)", 15, 0, _at, right=True),
        Column("role", "ROLE", 5, 2, _role),
        Column("name", "BY", 14, 0, _name),
        Column("text", "MESSAGE", 20, 0, _text, grows=True),
    ),
    key=lambda said: str(said.number),
    text=lambda said: said.text,
)


LABEL_CELLS = 10


SILENT = 5.0

"""Seconds without a byte after which a running export says so."""


BAR_CELLS = 10

WIDE_BAR_CELLS = 30

WIDE = 100


@dataclass(frozen=True, slots=True)
class Source:
    """What is looked at. `streams`: those that can be named; None: asked for. `why`: some could not be asked for."""

    state: EventState
    streams: tuple[KnownStream, ...] | None
    stream: KnownStream | None
    sieve: MessageFilter
    why: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys in force, as a person writes them."""

    read: str
    filter: str
    clear: str
    export: str
    stop: str
    copy: str
    open: str
    next: str


def labelled(label: str, *spans: Segment) -> Line:
    """A line of the panel."""
    return [*fit([(f" {label}", StyleRole.HEAD)], LABEL_CELLS), *spans]


def source(one: Source, moment: RenderTime, keys: Keys, width: int) -> list[Line]:
    """Event, stream, filter."""
    return [
        labelled("event", *events.tally(one.state, moment), (f"  {events.name(one.state)}", StyleRole.STRONG)),
        _stream(one, keys, width),
        _filter(one.sieve, keys),
    ]


def _stream(one: Source, keys: Keys, width: int) -> Line:
    if one.stream is None:
        words = "asking which there are" if one.streams is None else "it has no stream, and none is known of earlier"
        return labelled("stream", (words, StyleRole.DIM), *_doubt(one.why))
    told = [(0, [(one.stream.source, StyleRole.STRONG)]), (2, [(values.safe(one.stream.id, 40), StyleRole.DIM)])]
    if one.streams is None:
        told.append((0, [("asking for earlier ones", StyleRole.DIM)]))
    else:
        many = len(one.streams) > 1
        place = f"{one.streams.index(one.stream) + 1} of {len(one.streams)}" if one.stream in one.streams else ""
        told.append((1, [(f"{place}, {keys.next} the next" if many else "no earlier one is known", StyleRole.DIM)]))
    told.append((0, _doubt(one.why)))
    return labelled("stream", *wrap_groups(told, width - LABEL_CELLS))


def _doubt(why: str) -> Line:
    return [(f"▲ recordings: {values.safe(why, 120)}", StyleRole.WARNING)] if why else []


def _filter(sieve: MessageFilter, keys: Keys) -> Line:
    if not sieve:
        return labelled(
            "filter", ("none: every message", StyleRole.TEXT), (f"   {keys.filter} sets one", StyleRole.DIM)
        )
    said = ", ".join(chat_export.filter_conditions(sieve))
    return labelled("filter", (said, StyleRole.STRONG), (f"   {keys.clear} takes it off", StyleRole.DIM))


def preview(known: Preview | None, moment: RenderTime, keys: Keys) -> Line:
    """How much of the log is shown, and how old that is."""
    if known is None:
        return labelled("preview", (f"none yet: {keys.read} reads the log", StyleRole.DIM))
    count = len(known.rows)
    words = f"{count:,} message{'' if count == 1 else 's'}{' match' if known.wanted.filter else ''}"
    age = f", as of {known.at:%H:%M:%S}Z ({values.age(moment.seconds_since(known.at))})"
    if known.reading:
        return labelled("preview", (f"{words} so far, reading", StyleRole.INFO))
    if known.why:
        return labelled("preview", (f"✖ FAILED after {words}: {values.safe(known.why, 200)}", StyleRole.CRITICAL))
    more = "" if known.whole else f": the first {MOST:,}, an export has them all"
    return labelled("preview", (f"{words}{age}", StyleRole.TEXT), (f"{more}   {keys.read} reads again", StyleRole.DIM))


def export(job: ExportJob | None, now: float, keys: Keys, width: int) -> list[Line]:
    """The export that runs, or how the last one ended. `now`: seconds of the deck's clock."""
    if job is None:
        return [labelled("export", (f"none yet: {keys.export} exports", StyleRole.DIM))]
    place: Line = [(f"{job.name}, {chat_export.format_text(job.wanted)}", StyleRole.DIM)]
    file: Line = [(values.safe(str(job.to), 400), StyleRole.STRONG if job.done else StyleRole.TEXT)]
    return [*_state(job, now, keys, width), labelled("", *place), labelled("file", *file)]


def _state(job: ExportJob, now: float, keys: Keys, width: int) -> Iterator[Line]:
    if job.running:
        yield labelled("export", *_progress(job, now, keys, width - LABEL_CELLS))
        return
    glyph, ink = {
        JobState.DONE: ("✓", StyleRole.OK),
        JobState.FAILED: ("✖", StyleRole.CRITICAL),
        JobState.STOPPED: ("■", StyleRole.WARNING),
    }[job.state]
    said = "; ".join(chat_export.result_parts(job.wanted, job.done)) if job.done else job.why
    lines = list(wrap(f"{glyph} {job.state.upper()}  {values.safe(said, 400)}", ink, width - LABEL_CELLS))
    for number, line in enumerate(lines[:3]):
        yield labelled("" if number else "export", *line)
    if job.done:
        yield labelled("", (f"{keys.copy} copies where it is, {keys.open} opens it", StyleRole.DIM))
    elif job.state is JobState.FAILED:
        yield labelled("", ("nothing half is left under the name of the file", StyleRole.DIM))


def _progress(job: ExportJob, now: float, keys: Keys, width: int) -> Line:
    known, silence = job.progress, now - job.heard
    stop: Line = [(f"{keys.stop} stops it", StyleRole.DIM)]
    if silence >= SILENT:
        return wrap_groups(
            [(0, [(f"▲ nothing came for {values.age(silence)}", StyleRole.WARNING)]), (2, _far(known)), (1, stop)],
            width,
        )
    if known is None:
        return wrap_groups([(0, [("● RUNNING  asking for the log", StyleRole.INFO)]), (1, stop)], width)
    size, *more = chat_export.progress_parts(known)
    said = [
        (len(more) - number, [(text, StyleRole.TEXT)]) for number, text in enumerate(more)
    ]  # what is left goes last
    parts = [
        (0, [("● RUNNING", StyleRole.INFO)]),
        (5, bar(known, width)),
        (0, _share(known)),
        (0, [(size, StyleRole.TEXT)]),
    ]
    return wrap_groups([*parts, *said, (4, stop)], width)


def _far(known: ExportProgress | None) -> Line:
    return [(next(chat_export.progress_parts(known)), StyleRole.TEXT)] if known else []


def bar(known: ExportProgress, width: int) -> Line:
    """How much of it is there, and how much is not; nothing where the whole is not known."""
    if not known.size:
        return []
    whole = WIDE_BAR_CELLS if width >= WIDE else BAR_CELLS
    full = int(min(known.received / known.size, 1.0) * whole)
    return [("█" * full, StyleRole.STRONG), ("·" * (whole - full), StyleRole.DIM)]


def _share(known: ExportProgress) -> Line:
    return [(f"{min(known.received / known.size, 1.0):4.0%}", StyleRole.STRONG)] if known.size else []
