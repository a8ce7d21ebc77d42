"""The streams table: the current stream of every event that has one."""

from __future__ import annotations

from livedeck import wording
from livedeck.monitor import EventState, IngestState, Snapshot
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.columns import Column, Sheet, Value
from livedeck.ui.renderables.event_rows import EVENTS, grave
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment


def streaming(snapshot: Snapshot) -> tuple[EventState, ...]:
    """The events that have a stream, in the order of the monitor."""
    return tuple(state for state in snapshot.events if state.event.stream is not None)


def _word(state: EventState) -> str:
    stream = state.event.stream
    return wording.safe((stream and stream.status) or wording.UNKNOWN, 20)


def _status(state: EventState, moment: Moment) -> Line:
    """The platform's own word, whatever it is; live is no promise that bits arrive: that is INGEST."""
    ink = Ink.STALE if cells.doubtful(state, moment) else Ink.STRONG if _word(state) == "live" else Ink.DIM
    return [(_word(state), ink)]


def _name(state: EventState, _: Moment) -> Line:
    return [(cells.name(state), cells.title_ink(state))]


def _started(state: EventState, _: Moment) -> Line:
    stream = state.event.stream
    begun = stream.started_at if stream else None
    return [(f"{begun:%d %b %H:%M:%S}" if begun else wording.UNKNOWN, Ink.TEXT)]


def _start(state: EventState, _: Moment) -> Value:
    stream = state.event.stream
    return stream.started_at.timestamp() if stream and stream.started_at else None


def _elapsed(state: EventState, moment: Moment) -> Line:
    return [(cells.clock(state, moment), Ink.TEXT if state.phase.tally.owes_bits else Ink.DIM)]


def used(state: EventState, moment: Moment) -> float | None:
    """How much of the reconnect window is gone, 0 to 1; None while the encoder is there, or nobody knows.

    Of the window that the phase counts with: the platform's number may be beyond all bounds.
    """
    ingest = state.phase.ingest
    since, ends = ingest.since, ingest.window_ends
    if ingest.state is not IngestState.INTERRUPTED or state.event.reconnect_window is None:
        return None
    if since is None or ends is None or ends <= since:
        return None
    return min(max(moment.server_since(since) / (ends - since).total_seconds(), 0.0), 1.0)


def _window(state: EventState, moment: Moment) -> Line:
    """What is used of the window while the encoder is away; else how long the window is."""
    share, whole = used(state, moment), state.event.reconnect_window
    length = wording.UNKNOWN if whole is None else wording.short_duration(whole)
    if share is None:
        return [(f"of {length}", Ink.DIM)]
    ink = Ink.STALE if cells.doubtful(state, moment) else Ink.CRITICAL
    return [(f"{share:4.0%} of {length}", ink)]


def _stream_id(state: EventState, _: Moment) -> Line:
    stream = state.event.stream
    return [(wording.safe((stream and stream.id) or wording.UNKNOWN, 40), Ink.DIM)]


_SHARED = {column.name: column for column in EVENTS.columns}

STREAMS: Sheet[EventState] = Sheet(
    columns=(
        _SHARED["tally"],
        Column("event", "EVENT", 16, 0, _name, _SHARED["event"].value, wide=True, most=cells.NAME_MOST),
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
    grave=grave,
    rows=streaming,
    fields={**EVENTS.fields, "health": _SHARED["health"].value or (lambda *_: None)},
)
