"""The streams table, and the selected stream in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from livedeck.client import EventRestream, Recording
from livedeck.monitor import EventState, IngestState, Snapshot
from livedeck.presentation import event_detail, events
from livedeck.presentation.events import EVENTS, has_critical_finding
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, fit


def streaming(snapshot: Snapshot) -> tuple[EventState, ...]:
    """The events that have a stream, in the order of the monitor."""
    return tuple(state for state in snapshot.events if state.event.stream is not None)


def _word(state: EventState) -> str:
    stream = state.event.stream
    return values.safe((stream and stream.status) or values.UNKNOWN, 20)


def _status(state: EventState, moment: RenderTime) -> Line:
    """The platform's own word, whatever it is; live is no promise that bits arrive: that is INGEST."""
    ink = (
        StyleRole.STALE
        if events.doubtful(state, moment)
        else StyleRole.STRONG
        if _word(state) == "live"
        else StyleRole.DIM
    )
    return [(_word(state), ink)]


def _name(state: EventState, _: RenderTime) -> Line:
    return [(events.name(state), events.title_ink(state))]


def _started(state: EventState, _: RenderTime) -> Line:
    stream = state.event.stream
    begun = stream.started_at if stream else None
    return [(f"{begun:%d %b %H:%M:%S}" if begun else values.UNKNOWN, StyleRole.TEXT)]


def _start(state: EventState, _: RenderTime) -> Value:
    stream = state.event.stream
    return stream.started_at.timestamp() if stream and stream.started_at else None


def _elapsed(state: EventState, moment: RenderTime) -> Line:
    return [(events.clock(state, moment), StyleRole.TEXT if state.phase.tally.expects_signal else StyleRole.DIM)]


def used(state: EventState, moment: RenderTime) -> float | None:
    """How much of the reconnect window is gone, 0 to 1; None while the encoder is there, or nobody knows.

    Of the window that the phase counts with: the platform's number may be beyond all bounds.
    """
    ingest = state.phase.ingest
    since, ends = ingest.since, ingest.window_ends
    if ingest.state is not IngestState.INTERRUPTED or state.event.reconnect_window is None:
        return None
    if since is None or ends is None or ends <= since:
        return None
    return min(max(moment.server_seconds_since(since) / (ends - since).total_seconds(), 0.0), 1.0)


def _window(state: EventState, moment: RenderTime) -> Line:
    """What is used of the window while the encoder is away; else how long the window is."""
    share, whole = used(state, moment), state.event.reconnect_window
    length = values.UNKNOWN if whole is None else values.short_duration(whole)
    if share is None:
        return [(f"of {length}", StyleRole.DIM)]
    ink = StyleRole.STALE if events.doubtful(state, moment) else StyleRole.CRITICAL
    return [(f"{share:4.0%} of {length}", ink)]


def _stream_id(state: EventState, _: RenderTime) -> Line:
    stream = state.event.stream
    return [(values.safe((stream and stream.id) or values.UNKNOWN, 40), StyleRole.DIM)]


_SHARED = {column.name: column for column in EVENTS.columns}


STREAMS: TableSchema[EventState] = TableSchema(
    columns=(
        _SHARED["tally"],
        Column("event", "EVENT", 16, 0, _name, _SHARED["event"].value, grows=True, max_width=events.NAME_MOST),
        Column("status", "STATUS", 9, 1, _status, lambda state, _: _word(state)),
        Column("started", "STARTED (UTC)", 15, 4, _started, _start, right=True),
        Column("elapsed", "ELAPSED", 11, 2, _elapsed, _SHARED["time"].value, right=True),
        _SHARED["ingest"],
        Column("window", "WINDOW USED", 13, 0, _window, used, right=True),
        _SHARED["out"],
        Column("stream", "STREAM", 12, 9, _stream_id),
    ),
    key=EVENTS.key,
    text=EVENTS.text,
    is_critical=has_critical_finding,
    rows=streaming,
    fields={**EVENTS.fields, "health": _SHARED["health"].value or (lambda *_: None)},
)


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


def panel(state: EventState, known: Recordings | None, moment: RenderTime, width: int) -> list[Line]:
    """Title, destinations, recordings."""
    return [
        event_detail.title(state, moment, width),
        *_destinations(state.event.restreams or (), moment),
        *_recordings(known if known and known.event_id == state.id else None, moment),
    ]


def _destinations(restreams: Sequence[EventRestream], moment: RenderTime) -> list[Line]:
    if not restreams:
        return [_labelled("restreams", [("none", StyleRole.DIM)])]
    lines = []
    for at, one in enumerate(restreams):
        glyph, ink = event_detail.destination(enabled=bool(one.enabled), status=one.status)
        shown = StyleRole.STALE if moment.stale else ink
        said = [
            *fit([(f"{glyph} {values.safe(one.name or values.UNKNOWN, 40)}", shown)], 30, ellipsis=True),
            *fit([(values.safe(one.status or values.UNKNOWN, 20), shown)], 14),
            *fit([("enabled" if one.enabled else "off", StyleRole.TEXT if one.enabled else StyleRole.DIM)], 9),
            (values.link(one.url or values.UNKNOWN), StyleRole.DIM),
        ]
        lines.append(_labelled("restreams" if at == 0 else "", said))
    return lines


def _recordings(known: Recordings | None, moment: RenderTime) -> list[Line]:
    if known is None:
        return [_labelled("recorded", [("asking", StyleRole.DIM)])]
    age = "never answered" if known.at is None else f"as of {values.age(moment.seconds_since(known.at))} ago"
    if known.why:
        head: Line = [(f"▲ failed  {age}  {values.safe(known.why, 120)}", StyleRole.WARNING)]
    else:
        head = [(age, StyleRole.DIM)] if known.items else [("nothing", StyleRole.DIM), (f"  {age}", StyleRole.DIM)]
    ink = StyleRole.STALE if moment.stale or known.why else StyleRole.TEXT
    return [_labelled("recorded", head), *(_labelled("", _recording(one, ink)) for one in known.items)]


def _recording(one: Recording, ink: StyleRole) -> Line:
    length = values.UNKNOWN if one.duration is None else values.duration(one.duration)
    made = f"{one.created_at:%d %b %H:%M}" if one.created_at else values.UNKNOWN
    return [
        *fit([(values.safe(one.title or one.id, 60), ink)], 30, ellipsis=True),
        *fit([(values.safe(one.status or values.UNKNOWN, 20), ink)], 14),
        *fit([(length, ink)], 10),
        (f"{made}  {values.safe(one.id, 40)}", StyleRole.DIM),
    ]


def _labelled(label: str, line: Line) -> Line:
    return [*fit([(f" {label}", StyleRole.HEAD)], event_detail.LABEL_CELLS), *line]
