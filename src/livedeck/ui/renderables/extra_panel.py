"""The head of the Videos screens, and the panel of what is selected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from livedeck import wording
from livedeck.client import Annotation, Cue, Poster, Subtitle
from livedeck.ui.library import PARTS, Listing, Video
from livedeck.ui.renderables.extra_rows import dated, position, recognition
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Span, between, clip, fit, wrapped
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.shelf import Thing

LABEL_CELLS = 12


def gathered(found: int, cut: int) -> Line:
    """Where the recordings come from, and what was left out: never silently."""
    line: Line = [
        (" RECORDINGS", Ink.STRONG),
        (f"  {found} of the events that are over and of the selected one", Ink.DIM),
    ]
    return [*line, (f"  ▲ {cut} events were not asked: select one on the Events screen", Ink.WARNING)] if cut else line


def title(video: Video | None, more: str = "") -> Line:
    """Whose extras these are; `more`: and what of them."""
    if video is None:
        return [(" no video is selected", Ink.DIM)]
    length = wording.UNKNOWN if video.duration is None else wording.duration(video.duration)
    made = video.recording.created_at if video.recording else None
    return [
        (f" {wording.safe(video.title, 60)}", Ink.STRONG),
        (wording.safe(more, 60), Ink.TEXT),
        (f"  {length}", Ink.TEXT),
        (f"  {dated(made)}Z" if made else "", Ink.DIM),
        (f"  of {wording.safe(video.event, 40)}" if video.event else "  opened by its id", Ink.DIM),
        (f"  {wording.safe(video.id, 40)}" if video.title != video.id else "", Ink.DIM),
    ]


def tabs(part: str, counts: dict[str, int], known: Listing, moment: Moment, cells: int) -> Line:
    """Where one is, how many there are of each, and how old that is."""
    line: Line = [(" ", Ink.TEXT)]
    for each in PARTS:
        chosen = each == part or (part == "cues" and each == "subtitles")
        many = f" {counts[each]}" if each in counts else ""
        line.append((f"[{each}{many}]" if chosen else f" {each}{many} ", Ink.STRONG if chosen else Ink.DIM))
    return between(line, freshness(known, moment), cells)


def freshness(known: Listing, moment: Moment) -> Line:
    """How old a list is, in words; a failure never looks like an empty list."""
    age = "never answered" if known.at is None else f"{wording.age(moment.since(known.at))} ago"
    if known.why:
        return [(f"▲ failed, {age} ", Ink.WARNING)]
    if known.at is None:
        return [("asking ", Ink.DIM)]
    if moment.stale:
        return [(f"▒ STALE {age} ", Ink.STALE)]
    return [(f"{age} ", Ink.DIM)]


def failure(known: Listing, cells: int) -> list[Line]:
    """Why the last question failed."""
    told = wrapped(f"▲ {wording.safe(known.why, 300)}", Ink.WARNING, cells - 2) if known.why else ()
    return [[(" ", Ink.TEXT), *line] for line in told]


def moved(count: int, keys: str) -> Line:
    """That rows were moved and nobody has been told."""
    return [(f" ▲ NOT SENT  {count} moved", Ink.WARNING), (f"   {keys}", Ink.DIM)]


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
        case Thing():
            lines = _thing(one)
        case Cue():
            return [
                _labelled("cue", [(f"{position(one.start)} to {position(one.end)}, line {one.line}", Ink.TEXT)])
            ] + [clip([(f"   {wording.safe(text, 300)}", Ink.STRONG)], cells) for text in one.text.split("\n")]
        case _:
            return [[(" nothing selected", Ink.DIM)]]
    return [clip(line, cells) for line in lines]


def _labelled(label: str, spans: Iterable[Span]) -> Line:
    return [*fit([(f" {label}", Ink.HEAD)], LABEL_CELLS), *spans]


def _fact(label: str, text: str | None, ink: Ink = Ink.TEXT) -> Line:
    return _labelled(label, [(wording.safe(text or wording.NOT_APPLICABLE, 300), ink)])


def _video(one: Video) -> list[Line]:
    return [
        _fact("video", one.title, Ink.STRONG),
        _fact("id", one.id),
        _fact("event", one.event or "none is known: it was opened by its id"),
        _fact("recorded", dated(one.recording.created_at) + "Z" if one.recording and one.recording.created_at else "?"),
        _fact("then", "posters, subtitles, annotations, additional materials", Ink.DIM),
    ]


def _poster(one: Poster) -> list[Line]:
    shown = {True: "shown in the player and in lists", False: "kept, not shown", None: wording.UNKNOWN}[one.active]
    made = position(one.from_time)
    until = f" to {position(one.to_time)}" if one.to_time not in {None, one.from_time} else ""
    return [
        _fact("poster", f"of {made}{until}, {shown}", Ink.STRONG),
        _fact("id", one.id or "none: the default picture"),
        *(
            _labelled(size, [(wording.link(address or wording.NOT_APPLICABLE), Ink.DIM)])
            for size, address in sizes(one)
        ),
    ]


def sizes(one: Poster) -> tuple[tuple[str, str | None], ...]:
    """The pictures of a poster, the largest first."""
    return ("original", one.original), ("md", one.md), ("sm", one.sm), ("xs", one.xs)


def _subtitle(one: Subtitle, *, stale: bool) -> list[Line]:
    word, ink = recognition(one.status, stale=stale)
    return [
        _fact("track", f"{one.language or wording.UNKNOWN}  {one.description or ''}", Ink.STRONG),
        _labelled("recognised", [(word, ink), ("  asked again every 3 s" if one.status == "pending" else "", Ink.DIM)]),
        _fact("file", one.file_name),
        _labelled("address", [(str(one.url) if one.url and one.url.reveal() else "none yet", Ink.DIM)]),
        _fact("id", one.id),
    ]


def _annotation(one: Annotation) -> list[Line]:
    span = f"{one.start_time} to {one.end_time}, in a unit that the platform does not name"
    return [
        _fact("annotation", one.title, Ink.STRONG),
        _fact("type", one.annotation_type),
        _fact("time", span),
        _labelled("link", [(wording.link(one.link or wording.NOT_APPLICABLE), Ink.TEXT)]),
        _fact("id", one.id),
        _fact("poster", one.annotation_poster_id),
    ]


def _thing(one: Thing) -> list[Line]:
    size = "size unknown" if one.size is None else f"{one.size:,} bytes"
    return [
        _fact("material", one.title, Ink.STRONG),
        _fact("file", f"{one.file_name or wording.UNKNOWN}  {one.media_type}  {size}"),
        _fact("id", one.id),
        _fact("known from", one.source),
    ]
