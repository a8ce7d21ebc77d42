"""The faults of one event over time: listed, flagged in the chart, and with what to do about the one that is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from livedeck import wording
from livedeck.monitor import Episode, EventState, Marker, diagnose
from livedeck.ui.renderables.buckets import Axis
from livedeck.ui.renderables.cells import SEVERITIES
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Span, fit
from livedeck.ui.renderables.moment import Moment

LIST_CELLS = 60
"""What an episode takes; what stands beside it has the rest."""

LABEL_CELLS = 10


def flags(axis: Axis, episodes: Sequence[Episode], markers: Sequence[Marker]) -> Mapping[int, Span]:
    """The sign of what began, or was marked, in each column; a fault goes before a marker."""
    found: dict[int, Span] = {}
    for marker in markers:
        found[_column(axis, marker.at.timestamp())] = ("m", Ink.INFO)
    for one in sorted(episodes, key=lambda one: list(SEVERITIES).index(one.severity), reverse=True):
        glyph, _, ink = SEVERITIES[one.severity]
        found[_column(axis, one.since.timestamp())] = (glyph, ink)
    return {column: sign for column, sign in found.items() if 0 <= column < axis.columns}


def _column(axis: Axis, at: float) -> int:
    return int((at - axis.start) // axis.step)


def lines(state: EventState, chosen: int, moment: Moment, width: int, rows: int) -> list[Line]:
    """The newest first, the chosen one marked; beside them why, what viewers see and what to do."""
    newest = list(reversed(state.episodes))
    if not newest or rows < 1:
        return []
    first = min(max(0, chosen - rows + 1), max(0, len(newest) - rows))
    listed = [_line(one, moment, marked=first + at == chosen) for at, one in enumerate(newest[first : first + rows])]
    if width < LIST_CELLS + 30:
        return listed
    notes = _notes(newest[min(chosen, len(newest) - 1)], state, width - LIST_CELLS)
    listed += [[] for _ in range(min(rows, len(notes)) - len(listed))]
    return [
        [*fit(line, LIST_CELLS, ellipsis=True), *(notes[at] if at < len(notes) else [])]
        for at, line in enumerate(listed)
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
