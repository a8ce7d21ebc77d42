"""The lines of the Chat screen: what would be exported, and what became of what was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from livedeck import wording
from livedeck.client import ExportProgress, Sieve
from livedeck.monitor import EventState, KnownStream
from livedeck.ui.job import Job, JobState
from livedeck.ui.preview import MOST, Preview
from livedeck.ui.renderables import cells, export_words
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Span, fit, flow, wrapped
from livedeck.ui.renderables.moment import Moment

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
    sieve: Sieve
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


def labelled(label: str, *spans: Span) -> Line:
    """A line of the panel."""
    return [*fit([(f" {label}", Ink.HEAD)], LABEL_CELLS), *spans]


def source(one: Source, moment: Moment, keys: Keys, width: int) -> list[Line]:
    """Event, stream, filter."""
    return [
        labelled("event", *cells.tally(one.state, moment), (f"  {cells.name(one.state)}", Ink.STRONG)),
        _stream(one, keys, width),
        _filter(one.sieve, keys),
    ]


def _stream(one: Source, keys: Keys, width: int) -> Line:
    if one.stream is None:
        words = "asking which there are" if one.streams is None else "it has no stream, and none is known of earlier"
        return labelled("stream", (words, Ink.DIM), *_doubt(one.why))
    told = [(0, [(one.stream.source, Ink.STRONG)]), (2, [(wording.safe(one.stream.id, 40), Ink.DIM)])]
    if one.streams is None:
        told.append((0, [("asking for earlier ones", Ink.DIM)]))
    else:
        many = len(one.streams) > 1
        place = f"{one.streams.index(one.stream) + 1} of {len(one.streams)}" if one.stream in one.streams else ""
        told.append((1, [(f"{place}, {keys.next} the next" if many else "no earlier one is known", Ink.DIM)]))
    told.append((0, _doubt(one.why)))
    return labelled("stream", *flow(told, width - LABEL_CELLS))


def _doubt(why: str) -> Line:
    return [(f"▲ recordings: {wording.safe(why, 120)}", Ink.WARNING)] if why else []


def _filter(sieve: Sieve, keys: Keys) -> Line:
    if not sieve:
        return labelled("filter", ("none: every message", Ink.TEXT), (f"   {keys.filter} sets one", Ink.DIM))
    said = ", ".join(export_words.sieve(sieve))
    return labelled("filter", (said, Ink.STRONG), (f"   {keys.clear} takes it off", Ink.DIM))


def preview(known: Preview | None, moment: Moment, keys: Keys) -> Line:
    """How much of the log is shown, and how old that is."""
    if known is None:
        return labelled("preview", (f"none yet: {keys.read} reads the log", Ink.DIM))
    count = len(known.rows)
    words = f"{count:,} message{'' if count == 1 else 's'}{' match' if known.wanted.sieve else ''}"
    age = f", as of {known.at:%H:%M:%S}Z ({wording.age(moment.since(known.at))})"
    if known.reading:
        return labelled("preview", (f"{words} so far, reading", Ink.INFO))
    if known.why:
        return labelled("preview", (f"✖ FAILED after {words}: {wording.safe(known.why, 200)}", Ink.CRITICAL))
    more = "" if known.whole else f": the first {MOST:,}, an export has them all"
    return labelled("preview", (f"{words}{age}", Ink.TEXT), (f"{more}   {keys.read} reads again", Ink.DIM))


def export(job: Job | None, now: float, keys: Keys, width: int) -> list[Line]:
    """The export that runs, or how the last one ended. `now`: seconds of the deck's clock."""
    if job is None:
        return [labelled("export", (f"none yet: {keys.export} exports", Ink.DIM))]
    place: Line = [(f"{job.name}, {export_words.form(job.wanted)}", Ink.DIM)]
    file: Line = [(wording.safe(str(job.to), 400), Ink.STRONG if job.done else Ink.TEXT)]
    return [*_state(job, now, keys, width), labelled("", *place), labelled("file", *file)]


def _state(job: Job, now: float, keys: Keys, width: int) -> Iterator[Line]:
    if job.running:
        yield labelled("export", *_progress(job, now, keys, width - LABEL_CELLS))
        return
    glyph, ink = {
        JobState.DONE: ("✓", Ink.OK),
        JobState.FAILED: ("✖", Ink.CRITICAL),
        JobState.STOPPED: ("■", Ink.WARNING),
    }[job.state]
    said = "; ".join(export_words.outcome(job.wanted, job.done)) if job.done else job.why
    lines = list(wrapped(f"{glyph} {job.state.upper()}  {wording.safe(said, 400)}", ink, width - LABEL_CELLS))
    for number, line in enumerate(lines[:3]):
        yield labelled("" if number else "export", *line)
    if job.done:
        yield labelled("", (f"{keys.copy} copies where it is, {keys.open} opens it", Ink.DIM))
    elif job.state is JobState.FAILED:
        yield labelled("", ("nothing half is left under the name of the file", Ink.DIM))


def _progress(job: Job, now: float, keys: Keys, width: int) -> Line:
    known, silence = job.progress, now - job.heard
    stop: Line = [(f"{keys.stop} stops it", Ink.DIM)]
    if silence >= SILENT:
        return flow(
            [(0, [(f"▲ nothing came for {wording.age(silence)}", Ink.WARNING)]), (2, _far(known)), (1, stop)], width
        )
    if known is None:
        return flow([(0, [("● RUNNING  asking for the log", Ink.INFO)]), (1, stop)], width)
    size, *more = export_words.progress(known)
    said = [(len(more) - number, [(text, Ink.TEXT)]) for number, text in enumerate(more)]  # what is left goes last
    parts = [(0, [("● RUNNING", Ink.INFO)]), (5, bar(known, width)), (0, _share(known)), (0, [(size, Ink.TEXT)])]
    return flow([*parts, *said, (4, stop)], width)


def _far(known: ExportProgress | None) -> Line:
    return [(next(export_words.progress(known)), Ink.TEXT)] if known else []


def bar(known: ExportProgress, width: int) -> Line:
    """How much of it is there, and how much is not; nothing where the whole is not known."""
    if not known.size:
        return []
    whole = WIDE_BAR_CELLS if width >= WIDE else BAR_CELLS
    full = int(min(known.came / known.size, 1.0) * whole)
    return [("█" * full, Ink.STRONG), ("·" * (whole - full), Ink.DIM)]


def _share(known: ExportProgress) -> Line:
    return [(f"{min(known.came / known.size, 1.0):4.0%}", Ink.STRONG)] if known.size else []
