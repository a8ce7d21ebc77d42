"""The events table: what its columns say of an event."""

from __future__ import annotations

from math import isfinite

from livedeck import wording
from livedeck.monitor import EventState, IngestState, Severity
from livedeck.ui.renderables import buckets, cells
from livedeck.ui.renderables.columns import Column, Said, Sheet, Value
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.spark import spark, strip

RECENT = 300.0
"""Seconds that the sparkline and its status strip cover."""

HEADROOM = 1.5
"""A sparkline's top over its highest value: bars of neighbouring rows must not run into one wall."""

SPARK_CELLS = 10
NAME_CELLS = 16
"""Below this an event's name cannot be told from its neighbour's: columns go before the name does."""


def _name(state: EventState, _: Moment) -> Line:
    return [(cells.name(state), cells.title_ink(state))]


def _clock(state: EventState, moment: Moment) -> Line:
    return [(cells.clock(state, moment), Ink.TEXT if state.phase.tally.owes_bits else Ink.DIM)]


def _latency(state: EventState, _: Moment) -> Line:
    return [(wording.safe(state.event.latency_mode or wording.UNKNOWN, 20), Ink.DIM)]


def _updated(state: EventState, moment: Moment) -> Line:
    """How old the platform's word on this event is."""
    return [(wording.brief(moment.since(state.as_of)), Ink.STALE if moment.stale else Ink.DIM)]


def _updated_at(state: EventState, _: Moment) -> Value:
    return state.as_of.timestamp()


def _recent(state: EventState, moment: Moment) -> Line:
    return [*recent_video(state, moment, SPARK_CELLS), (" ", Ink.TEXT), *recent_status(state, moment, SPARK_CELLS)]


def recent_video(state: EventState, moment: Moment, columns: int) -> Line:
    """The last five minutes of video as bars; blank where the event has no samples."""
    axis = buckets.axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, Ink.TEXT)]
    readings = state.qos.readings
    values = buckets.columns(axis, readings, readings.video)
    top = HEADROOM * max((value.high for value in values if value), default=0.0)
    return spark(values, top, Ink.STALE if cells.doubtful(state, moment) else Ink.VIDEO)


def recent_status(state: EventState, moment: Moment, columns: int) -> Line:
    """The status strip of the same five minutes."""
    axis = buckets.axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, Ink.TEXT)]
    looks = buckets.statuses(axis, state.qos.readings)
    if cells.doubtful(state, moment):
        return [("".join(look.glyph if look else " " for look in looks), Ink.STALE)]
    return strip(looks)


def _text(state: EventState) -> str:
    event = state.event
    words = (event.name, event.subtitle, event.id, *(one.name for one in event.restreams or ()))
    return " ".join(word for word in words if word).casefold()


def _seconds(state: EventState, moment: Moment) -> Value:
    """Elapsed on air; negative before the start."""
    mark = state.phase.mark
    return None if mark is None else moment.server_since(mark)


def _ingest(state: EventState, _: Moment) -> Value:
    known = state.phase.ingest.state
    return ("lost", known.value) if known is IngestState.INTERRUPTED else (known.value,)


def _measured(name: str) -> Said[EventState]:
    def value(state: EventState, _: Moment) -> Value:
        known = cells.reading(state)
        return None if known is None or not isfinite(getattr(known, name)) else float(getattr(known, name))

    return value


def _score(state: EventState, moment: Moment) -> Value:
    return None if moment.stale else state.verdict.health.score


def _connected(state: EventState, _: Moment) -> Value:
    enabled = [one for one in state.event.restreams or () if one.enabled]
    return sum(one.status == "connected" for one in enabled) / len(enabled) if enabled else None


def _alarms(state: EventState, _: Moment) -> Value:
    return tuple(f"{one.severity} {one.kind}" for one in state.verdict.findings)


def _tally(state: EventState, _: Moment) -> Value:
    return state.phase.tally.value


def _title(state: EventState, _: Moment) -> Value:
    return cells.name(state)


def grave(state: EventState) -> bool:
    """Whether something is critical there."""
    return any(one.severity is Severity.CRITICAL for one in state.verdict.findings)


EVENTS: Sheet[EventState] = Sheet(
    columns=(
        Column("tally", " TALLY", 13, 0, cells.tally, _tally),
        Column("event", "EVENT", NAME_CELLS, 0, _name, _title, wide=True, most=cells.NAME_MOST),
        Column("time", "T-/ELAPSED", 11, 1, _clock, _seconds, right=True),
        Column("ingest", "INGEST", 10, 3, cells.ingest, _ingest),
        Column("health", "HEALTH", 16, 0, cells.health, _score),
        Column("video", "VIDEO", 6, 4, cells.video, _measured("video"), right=True),
        Column("audio", "AUDIO", 6, 6, cells.audio, _measured("audio"), right=True),
        Column("fps", "FPS", 5, 5, cells.fps, _measured("fps"), right=True),
        Column("recent", "LAST 5 MIN", 2 * SPARK_CELLS + 1, 8, _recent),
        Column("out", "OUT", 4, 7, cells.outputs, _connected, right=True),
        Column("latency", "LATENCY", 8, 9, _latency, lambda state, _: state.event.latency_mode),
        Column("updated", "UPDATED", 8, 10, _updated, _updated_at, right=True),
    ),
    key=lambda state: state.id,
    text=_text,
    grave=grave,
    rows=lambda snapshot: snapshot.events,
    fields={
        "alarm": _alarms,
        "id": lambda state, _: state.id,
        "type": lambda state, _: state.event.type,
        "project": lambda state, _: state.event.parent_id,
    },
)
"""The Events screen, worst first until somebody sorts it."""
