"""Cells and columns of events: the deck, the wall and `livedeck status` take their words from here. Pure."""

from __future__ import annotations

from math import isfinite

from livedeck.client import FieldFault
from livedeck.monitor import BroadcastState, EventState, Freshness, Grade, IngestState, Reading, Severity
from livedeck.presentation.badges import GRADE_BADGES, LAMP_ROLES, TALLY_BADGES
from livedeck.presentation.qos import bar_top, bucket_columns, bucket_statuses, recent_axis, sparkline, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, ValueGetter
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import NO_DATA, NOT_APPLICABLE, UNKNOWN, age, bits, compact_duration, duration, frames, safe

MAX_NAME_CELLS = 40
"""Cells that the name of an event may grow to: where there is more room, the eye still has to keep to its row."""


def name(state: EventState) -> str:
    """The event's name, fit for a cell; its id where it has none."""
    return safe(state.event.name or state.id)


def is_doubtful(state: EventState, render_time: RenderTime) -> bool:
    """Whether nothing of the event can be believed: all is stale, or its own samples could not be asked for."""
    return render_time.stale or state.is_stale


_NORMAL_LAG = 11.0
"""Seconds that samples may always be late (monitoring.md, "Delivery"): less is nothing that one has to know."""


def lag_text(state: EventState) -> str:
    """How late the metrics come as a rule, where that is worth a word: `metrics up to 24 s late`."""
    lag = state.qos.lag
    return f"metrics up to {age(lag)} late" if lag is not None and lag > _NORMAL_LAG else ""


def name_role(state: EventState) -> StyleRole:
    """Loud while a signal is expected, dim for what is over or has no date yet."""
    if state.phase.tally.expects_signal or state.phase.tally is BroadcastState.LATE:
        return StyleRole.STRONG
    return StyleRole.TEXT if state.phase.tally is BroadcastState.SCHEDULED else StyleRole.DIM


_SAMPLE_DEMANDS = {"time": "should be a time", "status": "should be a whole number"}


def faults(state: EventState) -> tuple[FieldFault, ...]:
    """The fields of the event and of its samples that could not be read: they are missing, and nothing else is."""
    samples = (
        FieldFault(f"qos.{field}", _SAMPLE_DEMANDS.get(field, "should be a number"), f"something else ({count}x)")
        for field, count in state.qos.unreadable.items()
    )
    return (*state.event.faults, *samples)


UNLISTED = "the last list lacks this event: it is asked for again"
"""What the detail says of an event that is not in the last list."""


def name_cell(state: EventState, _: RenderTime) -> Line:
    """The name in its role; before it the sign."""
    return [*odd_sign(state), (name(state), name_role(state))]


def odd_sign(state: EventState) -> Line:
    """`≠ odd` where fields could not be read, `≠ unlisted` where the last list lacks the event."""
    if not state.is_listed:
        return [("≠ unlisted ", StyleRole.WARNING)]
    return [("≠ odd ", StyleRole.WARNING)] if faults(state) else []


def tally(state: EventState, render_time: RenderTime) -> Line:
    """A small lamp and a plain word: `● ON AIR`. A lamp that cannot be believed is off: `▒ ON AIR`."""
    glyph, word, role = TALLY_BADGES[state.phase.tally]
    if is_doubtful(state, render_time):
        return [(f" ▒ {word:<7}", StyleRole.STALE)]
    lamp = LAMP_ROLES.get(state.phase.tally, StyleRole.DIM)
    return [(f" {glyph}", lamp), (f" {word:<7}", role)]


def clock(state: EventState, render_time: RenderTime) -> str:
    """Elapsed on air, `T-` before the start, `T+` past it, the length of what is over; `-` for a draft."""
    phase = state.phase
    if phase.tally is BroadcastState.COMPLETED:
        return NOT_APPLICABLE if phase.elapsed is None else duration(phase.elapsed)
    if phase.reference_time is None:
        return NOT_APPLICABLE
    seconds = render_time.server_seconds_since(phase.reference_time)
    if phase.tally is BroadcastState.SCHEDULED:
        return f"T-{duration(-seconds)}"
    return f"T+{duration(seconds)}" if phase.tally is BroadcastState.LATE else duration(seconds)


def clock_cell(state: EventState, render_time: RenderTime) -> Line:
    """The clock, dim while no signal is expected."""
    return [(clock(state, render_time), StyleRole.TEXT if state.phase.tally.expects_signal else StyleRole.DIM)]


def ingest(state: EventState, render_time: RenderTime) -> Line:
    """What arrives from the encoder; an interruption with its duration: `lost 01:19`."""
    text, role = _ingest(state, render_time)
    return [(text, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def _ingest(state: EventState, render_time: RenderTime) -> tuple[str, StyleRole]:
    ingest = state.phase.ingest
    if ingest.state is IngestState.INTERRUPTED:
        since = UNKNOWN if ingest.since is None else compact_duration(render_time.server_seconds_since(ingest.since))
        return f"lost {since}", StyleRole.STRONG
    if ingest.state is IngestState.UNKNOWN:
        return UNKNOWN, StyleRole.STALE
    if ingest.state is IngestState.NONE and state.phase.tally.expects_signal:
        return "none", StyleRole.STRONG
    roles = {IngestState.RECEIVING: StyleRole.TEXT, IngestState.WARMING_UP: StyleRole.INFO}
    return ingest.state.value, roles.get(ingest.state, StyleRole.DIM)


def health(state: EventState, render_time: RenderTime) -> Line:
    """Glyph, score, word, and the component that lost: `✖  45 POOR key`; a blank at each end, for it may be a chip.

    Never a number on stale data.
    """
    health = state.assessment.health
    grade = Grade.STALE if render_time.stale and health.grade is not Grade.NONE else health.grade
    if grade is Grade.NONE:
        return [(NOT_APPLICABLE, StyleRole.DIM)]
    glyph, word, role = GRADE_BADGES[grade]
    if health.score is None or grade is Grade.STALE:
        return [(f" {glyph} {NO_DATA:>3} {word} ", role)]
    component = f" {health.component}" if health.component else ""
    return [(f" {glyph} {health.score:>3} {word}{component} ", role)]


def current_reading(state: EventState) -> Reading | None:
    """The newest sample, while it stands for now: a signal arrives and the last answer is fresh."""
    arriving = state.phase.ingest.state in {IngestState.RECEIVING, IngestState.WARMING_UP}
    trusted = state.qos.freshness in {Freshness.FRESH, Freshness.LATE}
    return state.qos.readings.last if arriving and trusted else None


def video(state: EventState, render_time: RenderTime) -> Line:
    """Video bit rate now."""
    reading = current_reading(state)
    return _measured(state, render_time, bits(reading.video) if reading else None, StyleRole.VIDEO)


def audio(state: EventState, render_time: RenderTime) -> Line:
    """Audio bit rate now."""
    reading = current_reading(state)
    return _measured(state, render_time, bits(reading.audio) if reading else None, StyleRole.AUDIO)


def fps(state: EventState, render_time: RenderTime) -> Line:
    """Frames a second now."""
    reading = current_reading(state)
    return _measured(state, render_time, frames(reading.fps) if reading else None, StyleRole.FPS)


def _measured(state: EventState, render_time: RenderTime, text: str | None, role: StyleRole) -> Line:
    if text is None:
        expected = state.phase.tally.expects_signal
        return [(NO_DATA, StyleRole.STALE) if expected else (NOT_APPLICABLE, StyleRole.DIM)]
    return [(text, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def outputs(state: EventState, render_time: RenderTime) -> Line:
    """Connected of enabled restreams while on air; else how many are enabled."""
    enabled, connected = _enabled_restreams(state)
    if not enabled:
        return [(NOT_APPLICABLE, StyleRole.DIM)]
    if not state.phase.tally.expects_signal:
        return [(str(enabled), StyleRole.DIM)]
    role = StyleRole.TEXT if connected == enabled else StyleRole.WARNING
    return [(f"{connected}/{enabled}", StyleRole.STALE if render_time.stale else role)]


def _enabled_restreams(state: EventState) -> tuple[int, int]:
    """How many restreams are enabled, and how many of these are connected."""
    enabled = [restream for restream in state.event.restreams or () if restream.enabled]
    return len(enabled), sum(restream.status == "connected" for restream in enabled)


RECENT_SECONDS = 300.0
"""Seconds that the sparkline and its status strip cover."""

SPARK_CELLS = 10
"""Cells of the sparkline, and of the status strip beside it, in a table."""

NAME_CELLS = 16
"""Below this an event's name cannot be told from its neighbour's: columns are dropped before the name is cut."""


def recent_video(state: EventState, render_time: RenderTime, columns: int) -> Line:
    """The last five minutes of video as bars; blank where the event has no samples."""
    axis = recent_axis(state, render_time, RECENT_SECONDS, columns)
    if axis is None:
        return [(" " * columns, StyleRole.TEXT)]
    readings = state.qos.readings
    buckets = bucket_columns(axis, readings, readings.video)
    role = StyleRole.STALE if is_doubtful(state, render_time) else StyleRole.VIDEO
    return sparkline(buckets, bar_top(buckets), role)


def recent_status(state: EventState, render_time: RenderTime, columns: int) -> Line:
    """The status strip of the same five minutes."""
    axis = recent_axis(state, render_time, RECENT_SECONDS, columns)
    if axis is None:
        return [(" " * columns, StyleRole.TEXT)]
    return status_strip(bucket_statuses(axis, state.qos.readings), stale=is_doubtful(state, render_time))


def _recent(state: EventState, render_time: RenderTime) -> Line:
    bars, statuses = (cell(state, render_time, SPARK_CELLS) for cell in (recent_video, recent_status))
    return [*bars, (" ", StyleRole.TEXT), *statuses]


def _latency(state: EventState, _: RenderTime) -> Line:
    return [(safe(state.event.latency_mode or UNKNOWN, 20), StyleRole.DIM)]


def _updated(state: EventState, render_time: RenderTime) -> Line:
    """How old the platform's answer on this event is."""
    age = compact_duration(render_time.seconds_since(state.as_of))
    return [(age, StyleRole.STALE if render_time.stale else StyleRole.DIM)]


def _search_text(state: EventState) -> str:
    event = state.event
    words = (event.name, event.subtitle, event.id, *(restream.name for restream in event.restreams or ()))
    return " ".join(word for word in words if word).casefold()


def elapsed_seconds(state: EventState, render_time: RenderTime) -> Value:
    """Seconds on air; negative before the start."""
    reference_time = state.phase.reference_time
    return None if reference_time is None else render_time.server_seconds_since(reference_time)


def _ingest_words(state: EventState, _: RenderTime) -> Value:
    ingest_state = state.phase.ingest.state
    return ("lost", ingest_state.value) if ingest_state is IngestState.INTERRUPTED else (ingest_state.value,)


def _reading_value(name: str) -> ValueGetter[EventState]:
    def value(state: EventState, _: RenderTime) -> Value:
        reading = current_reading(state)
        measured: float | None = getattr(reading, name) if reading else None
        return measured if measured is not None and isfinite(measured) else None

    return value


def health_score(state: EventState, render_time: RenderTime) -> Value:
    """The score; None on stale data."""
    return None if render_time.stale else state.assessment.health.score


def _connected_share(state: EventState, _: RenderTime) -> Value:
    enabled, connected = _enabled_restreams(state)
    return connected / enabled if enabled else None


def _alarm_words(state: EventState, _: RenderTime) -> Value:
    return tuple(f"{finding.severity} {finding.kind}" for finding in state.assessment.findings)


def has_critical_finding(state: EventState) -> bool:
    """Whether something is critical there."""
    return any(finding.severity is Severity.CRITICAL for finding in state.assessment.findings)


EVENTS: TableSchema[EventState] = TableSchema(
    columns=(
        Column("tally", " TALLY", 10, 0, tally, lambda state, _: state.phase.tally.value),
        Column(
            "event",
            "EVENT",
            NAME_CELLS,
            0,
            name_cell,
            lambda state, _: name(state),
            grows=True,
            max_width=MAX_NAME_CELLS,
        ),
        Column("time", "T-/ELAPSED", 11, 1, clock_cell, elapsed_seconds, right=True),
        Column("ingest", "INGEST", 10, 3, ingest, _ingest_words),
        Column("health", "HEALTH", 17, 0, health, health_score),
        Column("video", "VIDEO", 6, 4, video, _reading_value("video"), right=True),
        Column("audio", "AUDIO", 6, 6, audio, _reading_value("audio"), right=True),
        Column("fps", "FPS", 5, 5, fps, _reading_value("fps"), right=True),
        Column("recent", "LAST 5 MIN", 2 * SPARK_CELLS + 1, 8, _recent),
        Column("out", "OUT", 4, 7, outputs, _connected_share, right=True),
        Column("latency", "LATENCY", 8, 9, _latency, lambda state, _: state.event.latency_mode),
        Column("updated", "UPDATED", 8, 10, _updated, lambda state, _: state.as_of.timestamp(), right=True),
    ),
    key=lambda state: state.id,
    text=_search_text,
    is_critical=has_critical_finding,
    rows=lambda snapshot: snapshot.events,
    fields={
        "alarm": _alarm_words,
        "id": lambda state, _: state.id,
        "type": lambda state, _: state.event.type,
        "project": lambda state, _: state.event.parent_id,
    },
)
"""The Events screen, worst first until somebody sorts it."""
