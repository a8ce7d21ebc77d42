"""The selected stream in full: where it goes, and what was recorded of its event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from livedeck import wording
from livedeck.client import EventRestream, Recording
from livedeck.monitor import EventState
from livedeck.ui.renderables import detail
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit
from livedeck.ui.renderables.moment import Moment


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings of one event as they were last answered at `at`; `tried`: when they were last asked for.

    `why`: the last question failed, and how; what was known stays.
    """

    event_id: str
    at: datetime | None = None
    items: tuple[Recording, ...] = ()
    why: str = ""
    tried: datetime | None = None


def panel(state: EventState, known: Recordings | None, moment: Moment, width: int) -> list[Line]:
    """Title, destinations, recordings."""
    return [
        detail.title(state, moment, width),
        *_destinations(state.event.restreams or (), moment),
        *_recordings(known if known and known.event_id == state.id else None, moment),
    ]


def _destinations(restreams: Sequence[EventRestream], moment: Moment) -> list[Line]:
    if not restreams:
        return [_labelled("restreams", [("none", Ink.DIM)])]
    lines = []
    for at, one in enumerate(restreams):
        glyph, ink = detail.destination(enabled=bool(one.enabled), status=one.status)
        shown = Ink.STALE if moment.stale else ink
        said = [
            *fit([(f"{glyph} {wording.safe(one.name or wording.UNKNOWN, 40)}", shown)], 30, ellipsis=True),
            *fit([(wording.safe(one.status or wording.UNKNOWN, 20), shown)], 14),
            *fit([("enabled" if one.enabled else "off", Ink.TEXT if one.enabled else Ink.DIM)], 9),
            (wording.link(one.url or wording.UNKNOWN), Ink.DIM),
        ]
        lines.append(_labelled("restreams" if at == 0 else "", said))
    return lines


def _recordings(known: Recordings | None, moment: Moment) -> list[Line]:
    if known is None:
        return [_labelled("recorded", [("asking", Ink.DIM)])]
    age = "never answered" if known.at is None else f"as of {wording.age(moment.since(known.at))} ago"
    if known.why:
        head: Line = [(f"▲ failed  {age}  {wording.safe(known.why, 120)}", Ink.WARNING)]
    else:
        head = [(age, Ink.DIM)] if known.items else [("nothing", Ink.DIM), (f"  {age}", Ink.DIM)]
    ink = Ink.STALE if moment.stale or known.why else Ink.TEXT
    return [_labelled("recorded", head), *(_labelled("", _recording(one, ink)) for one in known.items)]


def _recording(one: Recording, ink: Ink) -> Line:
    length = wording.UNKNOWN if one.duration is None else wording.duration(one.duration)
    made = f"{one.created_at:%d %b %H:%M}" if one.created_at else wording.UNKNOWN
    return [
        *fit([(wording.safe(one.title or one.id, 60), ink)], 30, ellipsis=True),
        *fit([(wording.safe(one.status or wording.UNKNOWN, 20), ink)], 14),
        *fit([(length, ink)], 10),
        (f"{made}  {wording.safe(one.id, 40)}", Ink.DIM),
    ]


def _labelled(label: str, line: Line) -> Line:
    return [*fit([(f" {label}", Ink.HEAD)], detail.LABEL_CELLS), *line]
