"""Cells and columns of events: the deck, the wall and `livedeck status` take their words from here."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType

from livedeck.monitor import BroadcastState, EventState, Freshness, Grade, Ingest, IngestState, Reading, Severity
from livedeck.presentation.qos import axis_of, bucket_columns, bucket_statuses, spark, strip
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, ValueGetter
from livedeck.text import values
from livedeck.text import values as wording
from livedeck.text.segments import Line, StyleRole

TALLY_INKS: Mapping[BroadcastState, tuple[str, StyleRole]] = MappingProxyType(
    {
        BroadcastState.ON_AIR: ("●", StyleRole.ON_AIR),
        BroadcastState.RECONNECTING: ("◌", StyleRole.PENDING),
        BroadcastState.LOST: ("✖", StyleRole.LOST),
        BroadcastState.LATE: ("▲", StyleRole.PENDING),
        BroadcastState.SCHEDULED: ("○", StyleRole.READY),
        BroadcastState.DRAFT: ("·", StyleRole.OFF),
        BroadcastState.COMPLETED: ("■", StyleRole.OFF),
        BroadcastState.UNKNOWN: ("?", StyleRole.OFF),
    }
)


SEVERITIES: Mapping[Severity, tuple[str, str, StyleRole]] = MappingProxyType(
    {
        Severity.CRITICAL: ("✖", "CRIT", StyleRole.CRITICAL),
        Severity.WARNING: ("▲", "WARN", StyleRole.WARNING),
        Severity.INFO: ("●", "INFO", StyleRole.INFO),
    }
)


GRADES: Mapping[Grade, tuple[str, StyleRole]] = MappingProxyType(
    {
        Grade.GOOD: ("✓", StyleRole.OK),
        Grade.FAIR: ("▲", StyleRole.WARNING),
        Grade.POOR: ("✖", StyleRole.CRITICAL),
        Grade.NO_DATA: ("✖", StyleRole.CRITICAL),
        Grade.STALE: ("▒", StyleRole.STALE),
        Grade.WARM_UP: ("●", StyleRole.INFO),
        Grade.NONE: ("", StyleRole.DIM),
    }
)


NAME_MOST = 40

"""What the name of an event takes of a line at most: where there is more room, the eye still has to keep to its row."""


def name(state: EventState) -> str:
    """The event's name, fit for a cell; its id where it has none."""
    return values.safe(state.event.name or state.id)


def doubtful(state: EventState, moment: RenderTime) -> bool:
    """Nothing here may be believed, or this event's own quality could not be asked for: its lamp is out."""
    return moment.stale or state.is_stale


def title_ink(state: EventState) -> StyleRole:
    """Loud while bits are owed, quiet for what is over or has no date yet."""
    if state.phase.tally.expects_signal or state.phase.tally is BroadcastState.LATE:
        return StyleRole.STRONG
    return StyleRole.TEXT if state.phase.tally is BroadcastState.SCHEDULED else StyleRole.DIM


def tally(state: EventState, moment: RenderTime) -> Line:
    """Glyph and word, filled like a tally lamp: `● ON AIR`. A lamp that cannot be believed is out: `▒ ON AIR`."""
    glyph, ink = TALLY_INKS[state.phase.tally]
    word = "RECONNECT" if state.phase.tally is BroadcastState.RECONNECTING else state.phase.tally.value
    return [(f" ▒ {word:<9} ", StyleRole.OFF) if doubtful(state, moment) else (f" {glyph} {word:<9} ", ink)]


def clock(state: EventState, moment: RenderTime) -> str:
    """Elapsed on air, `T-` before the start, `T+` past it, the length of what is over; blank for a draft."""
    phase = state.phase
    if phase.tally is BroadcastState.COMPLETED:
        return values.NOT_APPLICABLE if phase.elapsed is None else values.duration(phase.elapsed)
    if phase.reference_time is None:
        return values.NOT_APPLICABLE
    seconds = moment.server_seconds_since(phase.reference_time)
    if phase.tally is BroadcastState.SCHEDULED:
        return f"T-{values.duration(-seconds)}"
    return f"T+{values.duration(seconds)}" if phase.tally is BroadcastState.LATE else values.duration(seconds)


def ingest(state: EventState, moment: RenderTime) -> Line:
    """The encoder's side; an interruption says for how long."""
    return [(text, StyleRole.STALE if doubtful(state, moment) else ink) for text, ink in _ingest(state, moment)]


def _ingest(state: EventState, moment: RenderTime) -> Line:
    known = state.phase.ingest
    if known.state is IngestState.INTERRUPTED:
        return [(f"lost {_since(known, moment)}", StyleRole.CRITICAL)]
    if known.state is IngestState.UNKNOWN:
        return [(values.UNKNOWN, StyleRole.STALE)]
    if known.state is IngestState.NONE and state.phase.tally.expects_signal:
        return [("none", StyleRole.CRITICAL)]
    inks = {IngestState.RECEIVING: StyleRole.TEXT, IngestState.WARMING_UP: StyleRole.INFO}
    return [(known.state.value, inks.get(known.state, StyleRole.DIM))]


def _since(known: Ingest, moment: RenderTime) -> str:
    return values.UNKNOWN if known.since is None else values.compact_duration(moment.server_seconds_since(known.since))


def health(state: EventState, moment: RenderTime) -> Line:
    """Glyph, score, word, and the component that lost: `✖  45 POOR key`. Never a number on stale data."""
    known = state.assessment.health
    grade = Grade.STALE if moment.stale and known.grade is not Grade.NONE else known.grade
    if grade is Grade.NONE:
        return [(values.NOT_APPLICABLE, StyleRole.DIM)]
    glyph, ink = GRADES[grade]
    if known.score is None or grade is Grade.STALE:
        return [(f"{glyph} {values.NO_DATA:>3} {grade.value}", ink)]
    lost = f" {known.component}" if known.component else ""
    return [(f"{glyph} {known.score:>3} {grade.value}{lost}", ink)]


def reading(state: EventState) -> Reading | None:
    """The newest sample, while it may stand for now: bits are arriving and we asked in time."""
    arriving = state.phase.ingest.state in {IngestState.RECEIVING, IngestState.WARMING_UP}
    trusted = state.qos.freshness in {Freshness.FRESH, Freshness.LATE}
    return state.qos.readings.last if arriving and trusted else None


def video(state: EventState, moment: RenderTime) -> Line:
    """Video bit rate now."""
    known = reading(state)
    return _measured(state, moment, values.bits(known.video) if known else None, StyleRole.VIDEO)


def audio(state: EventState, moment: RenderTime) -> Line:
    """Audio bit rate now."""
    known = reading(state)
    return _measured(state, moment, values.bits(known.audio) if known else None, StyleRole.AUDIO)


def fps(state: EventState, moment: RenderTime) -> Line:
    """Frames a second now."""
    known = reading(state)
    return _measured(state, moment, values.frames(known.fps) if known else None, StyleRole.FPS)


def _measured(state: EventState, moment: RenderTime, text: str | None, ink: StyleRole) -> Line:
    if text is None:
        owed = state.phase.tally.expects_signal
        return [(values.NO_DATA, StyleRole.STALE) if owed else (values.NOT_APPLICABLE, StyleRole.DIM)]
    return [(text, StyleRole.STALE if doubtful(state, moment) else ink)]


def outputs(state: EventState, moment: RenderTime) -> Line:
    """Restreams connected of those enabled, while on air; else how many are set up."""
    enabled = [one for one in state.event.restreams or () if one.enabled]
    if not enabled:
        return [(values.NOT_APPLICABLE, StyleRole.DIM)]
    if not state.phase.tally.expects_signal:
        return [(str(len(enabled)), StyleRole.DIM)]
    connected = sum(one.status == "connected" for one in enabled)
    good = connected == len(enabled)
    fresh = StyleRole.TEXT if good else StyleRole.WARNING
    return [(f"{connected}/{len(enabled)}", StyleRole.STALE if moment.stale else fresh)]


RECENT = 300.0

"""Seconds that the sparkline and its status strip cover."""


HEADROOM = 1.5

"""A sparkline's top over its highest value: bars of neighbouring rows must not run into one wall."""


SPARK_CELLS = 10

NAME_CELLS = 16

"""Below this an event's name cannot be told from its neighbour's: columns go before the name does."""


def _name(state: EventState, _: RenderTime) -> Line:
    return [(name(state), title_ink(state))]


def _clock(state: EventState, moment: RenderTime) -> Line:
    return [(clock(state, moment), StyleRole.TEXT if state.phase.tally.expects_signal else StyleRole.DIM)]


def _latency(state: EventState, _: RenderTime) -> Line:
    return [(wording.safe(state.event.latency_mode or wording.UNKNOWN, 20), StyleRole.DIM)]


def _updated(state: EventState, moment: RenderTime) -> Line:
    """How old the platform's word on this event is."""
    return [
        (
            wording.compact_duration(moment.seconds_since(state.as_of)),
            StyleRole.STALE if moment.stale else StyleRole.DIM,
        )
    ]


def _updated_at(state: EventState, _: RenderTime) -> Value:
    return state.as_of.timestamp()


def _recent(state: EventState, moment: RenderTime) -> Line:
    return [
        *recent_video(state, moment, SPARK_CELLS),
        (" ", StyleRole.TEXT),
        *recent_status(state, moment, SPARK_CELLS),
    ]


def recent_video(state: EventState, moment: RenderTime, columns: int) -> Line:
    """The last five minutes of video as bars; blank where the event has no samples."""
    axis = axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, StyleRole.TEXT)]
    readings = state.qos.readings
    values = bucket_columns(axis, readings, readings.video)
    top = HEADROOM * max((value.high for value in values if value), default=0.0)
    return spark(values, top, StyleRole.STALE if doubtful(state, moment) else StyleRole.VIDEO)


def recent_status(state: EventState, moment: RenderTime, columns: int) -> Line:
    """The status strip of the same five minutes."""
    axis = axis_of(state, moment, RECENT, columns)
    if axis is None:
        return [(" " * columns, StyleRole.TEXT)]
    looks = bucket_statuses(axis, state.qos.readings)
    if doubtful(state, moment):
        return [("".join(look.glyph if look else " " for look in looks), StyleRole.STALE)]
    return strip(looks)


def _text(state: EventState) -> str:
    event = state.event
    words = (event.name, event.subtitle, event.id, *(one.name for one in event.restreams or ()))
    return " ".join(word for word in words if word).casefold()


def _seconds(state: EventState, moment: RenderTime) -> Value:
    """Elapsed on air; negative before the start."""
    mark = state.phase.reference_time
    return None if mark is None else moment.server_seconds_since(mark)


def _event_rows_ingest(state: EventState, _: RenderTime) -> Value:
    known = state.phase.ingest.state
    return ("lost", known.value) if known is IngestState.INTERRUPTED else (known.value,)


def _event_rows_measured(name: str) -> ValueGetter[EventState]:
    def value(state: EventState, _: RenderTime) -> Value:
        known = reading(state)
        return None if known is None or not isfinite(getattr(known, name)) else float(getattr(known, name))

    return value


def _score(state: EventState, moment: RenderTime) -> Value:
    return None if moment.stale else state.assessment.health.score


def _connected(state: EventState, _: RenderTime) -> Value:
    enabled = [one for one in state.event.restreams or () if one.enabled]
    return sum(one.status == "connected" for one in enabled) / len(enabled) if enabled else None


def _alarms(state: EventState, _: RenderTime) -> Value:
    return tuple(f"{one.severity} {one.kind}" for one in state.assessment.findings)


def _tally(state: EventState, _: RenderTime) -> Value:
    return state.phase.tally.value


def _title(state: EventState, _: RenderTime) -> Value:
    return name(state)


def has_critical_finding(state: EventState) -> bool:
    """Whether something is critical there."""
    return any(one.severity is Severity.CRITICAL for one in state.assessment.findings)


EVENTS: TableSchema[EventState] = TableSchema(
    columns=(
        Column("tally", " TALLY", 13, 0, tally, _tally),
        Column("event", "EVENT", NAME_CELLS, 0, _name, _title, grows=True, max_width=NAME_MOST),
        Column("time", "T-/ELAPSED", 11, 1, _clock, _seconds, right=True),
        Column("ingest", "INGEST", 10, 3, ingest, _event_rows_ingest),
        Column("health", "HEALTH", 16, 0, health, _score),
        Column("video", "VIDEO", 6, 4, video, _event_rows_measured("video"), right=True),
        Column("audio", "AUDIO", 6, 6, audio, _event_rows_measured("audio"), right=True),
        Column("fps", "FPS", 5, 5, fps, _event_rows_measured("fps"), right=True),
        Column("recent", "LAST 5 MIN", 2 * SPARK_CELLS + 1, 8, _recent),
        Column("out", "OUT", 4, 7, outputs, _connected, right=True),
        Column("latency", "LATENCY", 8, 9, _latency, lambda state, _: state.event.latency_mode),
        Column("updated", "UPDATED", 8, 10, _updated, _updated_at, right=True),
    ),
    key=lambda state: state.id,
    text=_text,
    is_critical=has_critical_finding,
    rows=lambda snapshot: snapshot.events,
    fields={
        "alarm": _alarms,
        "id": lambda state, _: state.id,
        "type": lambda state, _: state.event.type,
        "project": lambda state, _: state.event.parent_id,
    },
)

"""The Events screen, worst first until somebody sorts it."""
