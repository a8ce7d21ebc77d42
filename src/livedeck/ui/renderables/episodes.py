"""The faults of one event over time: listed, flagged in the chart, and with what to do about the one that is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from livedeck import wording
from livedeck.monitor import Episode, EventState, Marker, diagnose
from livedeck.ui.renderables.buckets import Axis
from livedeck.ui.renderables.cells import SEVERITIES
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Span, fit
from livedeck.ui.renderables.moment import Moment

LIST_CELLS, WHOLE_CELLS, NOTES_CELLS = 60, 100, 60
"""What the list takes at least, and with every word whole; what stands beside it goes before those words."""

LABEL_CELLS = 10

RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def ranked(found: Iterable[Episode]) -> list[Episode]:
    """Those that last, the worst first; then those that are over. Among equals the newest first."""
    newest = sorted(found, key=lambda one: one.since, reverse=True)
    return sorted(newest, key=lambda one: RANKS[one.severity] if one.until is None else len(RANKS))


def place(listed: Sequence[Episode], chosen: Episode | None) -> int | None:
    """Where that fault stands by now, which may have become worse, or be over; None: nowhere."""
    return next((at for at, one in enumerate(listed) if chosen and _same(one, chosen)), None)


def _same(one: Episode, other: Episode) -> bool:
    return (one.kind, one.target, one.since) == (other.kind, other.target, other.since)


def flags(axis: Axis, episodes: Sequence[Episode], markers: Sequence[Marker]) -> Mapping[int, Span]:
    """The sign of what began, or was marked, in each column; a fault goes before a marker."""
    found: dict[int, Span] = {}
    for marker in markers:
        found[_column(axis, marker.at.timestamp())] = ("m", Ink.INFO)
    for one in sorted(episodes, key=lambda one: RANKS[one.severity], reverse=True):
        glyph, _, ink = SEVERITIES[one.severity]
        found[_column(axis, one.since.timestamp())] = (glyph, ink)
    return {column: sign for column, sign in found.items() if 0 <= column < axis.columns}


def _column(axis: Axis, at: float) -> int:
    return int((at - axis.start) // axis.step)


def lines(state: EventState, chosen: Episode | None, moment: Moment, width: int, rows: int) -> list[Line]:
    """As many as fit, the chosen one among them and marked; beside them why, what viewers see and what to do."""
    known = ranked(state.episodes)
    if not known or rows < 1:
        return []
    mark = place(known, chosen) or 0
    first = max(0, mark - rows + 1)
    listed = [_line(one, moment, marked=first + at == mark) for at, one in enumerate(known[first : first + rows])]
    if width < LIST_CELLS + 30:
        return listed
    room = min(max(LIST_CELLS, width - NOTES_CELLS), WHOLE_CELLS)
    notes = _notes(known[mark], state, width - room)
    listed += [[] for _ in range(min(rows, len(notes)) - len(listed))]
    return [
        [*fit(line, room, ellipsis=True), *(notes[at] if at < len(notes) else [])] for at, line in enumerate(listed)
    ]


def _line(one: Episode, moment: Moment, *, marked: bool) -> Line:
    glyph, _, ink = SEVERITIES[one.severity]
    end = moment.server if one.until is None else one.until
    length = wording.brief((end - one.since).total_seconds())
    return [
        (">" if marked else " ", Ink.STRONG),
        (f"{one.since:%H:%M:%S}  ", Ink.TEXT),
        *fit([(f"{length}{' and on' if one.until is None else ''}", Ink.STRONG if one.until is None else Ink.DIM)], 15),
        (f"{glyph} {one.kind:<17}", ink if one.until is None else Ink.DIM),
        (f" {wording.safe(one.actual, 80)}", Ink.TEXT),
    ]


def _notes(one: Episode, state: EventState, width: int) -> list[Line]:
    """Why, what viewers see, what to do: each in as many lines as it needs."""
    said = diagnose(one.kind, state if one.until is None else None)
    pairs = (("cause", said.cause), ("viewers", said.viewers), ("do", said.advice))
    return [
        [*fit([(f"  {'' if at else label}", Ink.HEAD)], LABEL_CELLS), (part, Ink.TEXT)]
        for label, text in pairs
        for at, part in enumerate(wrap(text, width - LABEL_CELLS))
    ]
