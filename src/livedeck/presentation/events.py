"""Cells and columns of events, for the deck, the wall and `livedeck status`. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

from livedeck.client import FieldFault
from livedeck.monitor import (
    NO_SAMPLE,
    Blame,
    BroadcastState,
    EventState,
    Freshness,
    Grade,
    Ingest,
    IngestState,
    Reading,
    Severity,
    enabled,
)
from livedeck.monitor.evidence.witness import contradiction
from livedeck.presentation.badges import GRADE_BADGES, LAMP_ROLES, NO_GO_BADGE, SEVERITY_BADGES, TALLY_BADGES
from livedeck.presentation.qos import recent_axis, recent_columns, signal_bars, unwatched_columns
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, ValueGetter
from livedeck.text.segments import Group, Line, StyleRole, clip, wrap_groups
from livedeck.text.values import (
    NO_DATA,
    NOT_APPLICABLE,
    NOT_ASKED,
    UNKNOWN,
    age,
    bits,
    compact_duration,
    duration,
    frames,
    safe,
)

MAX_NAME_CELLS = 40
"""Maximum width of an event's name in cells. Wider rows are hard to follow."""


def name(state: EventState) -> str:
    """Return the event's name as safe text, or the id if the event has no name."""
    return safe(state.event.name or state.id)


def is_doubtful(state: EventState, render_time: RenderTime) -> bool:
    """Return whether the event's data cannot be trusted: all data of the deck, or those of this event, are stale."""
    return render_time.stale or state.is_stale


def known_until(state: EventState) -> datetime:
    """Return the time of the last good reply about an event whose data are in doubt."""
    return state.qos.as_of or state.as_of


def doubt_cause(state: EventState, render_time: RenderTime) -> Blame:
    """Return the nearest cause of the doubt about an event."""
    return render_time.blame if render_time.stale else state.blame


_NORMAL_LAG = 11.0
"""Normal delay of samples in seconds (monitoring.md, "Delivery"). Only a longer delay is shown."""


def lag_text(state: EventState) -> str:
    """Return the usual delay of the event's samples if it is longer than normal: `samples up to 24 s late`."""
    lag = state.qos.lag
    return f"samples up to {age(lag)} late" if lag is not None and lag > _NORMAL_LAG else ""


def not_watched_text(state: EventState) -> str:
    """Return the latest period that was not watched: `not watched 21:04:10 to 21:14:10`; empty if there is none."""
    if not state.qos.not_watched:
        return ""
    since, until = (datetime.fromtimestamp(time, UTC) for time in state.qos.not_watched[-1])
    return f"not watched {since:%H:%M:%S} to {until:%H:%M:%S}Z"


def doubt_of_encoder(state: EventState, render_time: RenderTime) -> str:
    """Return a text while it is undecided whether samples are late or the encoder has left; otherwise empty.

    `late or gone: known in 8 s`, or `late or gone: not decided in 10 s` once no further request is sent. `no sample
    yet, polled for 6 s` if no sample ever came.
    """
    if state.evidence is None or not state.is_undecided:
        return ""
    decided_at, asked_for = state.evidence.decided_at, state.evidence.asked_for
    if state.evidence.claim == NO_SAMPLE and state.evidence.since:
        return f"no sample yet, polled for {age(max(0.0, render_time.server_seconds_since(state.evidence.since)))}"
    if decided_at is None:
        return f"late or gone: not decided in {age(asked_for or 0.0)}"
    return f"late or gone: known in {age(max(0.0, -render_time.server_seconds_since(decided_at)))}"


class Standing(StrEnum):
    """Overall state of an event, for counts and colours. QUIET: no faults and no measurements. STALE: old data."""

    BAD = "bad"
    WATCH = "watch"
    GOOD = "good"
    QUIET = "quiet"
    STALE = "stale"


def standing(state: EventState, render_time: RenderTime) -> Standing:
    """Return the overall state by the worst finding and the health. A health below GOOD counts as WATCH."""
    if is_doubtful(state, render_time):
        return Standing.STALE
    severities = {finding.severity for finding in state.assessment.findings}
    grade = state.assessment.health.grade
    if Severity.CRITICAL in severities:
        return Standing.BAD
    if Severity.WARNING in severities or grade in {Grade.FAIR, Grade.POOR, Grade.NO_DATA}:
        return Standing.WATCH
    return Standing.GOOD if grade is Grade.GOOD else Standing.QUIET


def name_role(state: EventState) -> StyleRole:
    """Return the role of the event's name: strong while a signal is expected, dim for ended events and drafts."""
    if state.phase.tally.expects_signal or state.phase.tally is BroadcastState.LATE:
        return StyleRole.STRONG
    return StyleRole.TEXT if state.phase.tally is BroadcastState.SCHEDULED else StyleRole.DIM


_SAMPLE_DEMANDS = {"time": "should be a time", "status": "should be a whole number"}


def faults(state: EventState) -> tuple[FieldFault, ...]:
    """Return the unreadable fields of the event and of its samples."""
    samples = (
        FieldFault(f"qos.{field}", _SAMPLE_DEMANDS.get(field, "should be a number"), f"something else ({count}x)")
        for field, count in state.qos.unreadable.items()
    )
    return (*state.event.faults, *samples)


UNLISTED = "not in the platform's last list: polled by its id"
"""Text about an event that the last list lacks."""


PIN = "★"
"""Sign before the name of a pinned event."""


def name_cell(state: EventState, render_time: RenderTime) -> Line:
    """Return the name in its role, after the sign of a pinned event and that of `odd_sign`."""
    pin: Line = [(f"{PIN} ", StyleRole.INFO)] if state.id in render_time.pinned else []
    return [*pin, *odd_sign(state, render_time.server), (name(state), name_role(state))]


ID_END = 6
"""Number of the last letters of an id that tell two folders of the same name apart."""


def project(state: EventState, render_time: RenderTime) -> str:
    """Return the name of the event's project or folder in the settings.

    If the name is missing or not unique, the end of the id is added.
    """
    parent, names = state.event.parent_id, render_time.folders
    if not parent:
        return "no project or folder"
    named = names.get(parent, "")
    end = "" if named and [*names.values()].count(named) == 1 else f" …{parent[-ID_END:]}"
    return safe(f"{named or 'project or folder'}{end}", 60)


def _project_words(state: EventState, render_time: RenderTime) -> Value:
    parent = state.event.parent_id
    return (parent, render_time.folders.get(parent, "")) if parent else None


def odd_sign(state: EventState, server: datetime | None = None) -> Line:
    """Return `≠ odd` if fields could not be read, `≠ unlisted` if the last list lacks the event, or nothing.

    An event that viewers still get has `≠ unlisted, plays` or `≠ completed, and still plays`. `server`: the platform's
    time; None if only short signs have room.
    """
    if words := contradiction(state, server):
        return [(f"≠ {words} ", StyleRole.WARNING)]
    if not state.is_listed:
        return [("≠ unlisted ", StyleRole.WARNING)]
    return [("≠ odd ", StyleRole.WARNING)] if faults(state) else []


def tally(state: EventState, render_time: RenderTime) -> Line:
    """Return lamp and word: `● ON AIR`, with stale data `▒ ON AIR`.

    During a change the word is `SENDING`. It is `CHANGED` from the confirmation of the platform until a list shows the
    change. An event that is about to start but is not ready shows `✖ NO-GO`.
    """
    glyph, word, role = TALLY_BADGES[state.phase.tally]
    lamp = LAMP_ROLES.get(state.phase.tally, StyleRole.DIM)
    if is_no_go(state, render_time):
        (glyph, word, role), lamp = NO_GO_BADGE, StyleRole.CRITICAL_MARK
    step = render_time.changes.get(state.id)
    if step and (step.confirmed_at is None or state.as_of < step.confirmed_at):
        word, role = ("SENDING", StyleRole.INFO) if step.confirmed_at is None else ("CHANGED", StyleRole.OK)
    if is_doubtful(state, render_time):
        return [(f" ▒ {word:<7}", StyleRole.STALE)]
    return [(f" {glyph}", lamp), (f" {word:<7}", role)]


def is_no_go(state: EventState, render_time: RenderTime) -> bool:
    """Return whether a scheduled event is not ready to start. False for a late event, because its tally is LATE."""
    return state.phase.tally is BroadcastState.SCHEDULED and bool(render_time.no_go(state.id))


def clock(state: EventState, render_time: RenderTime) -> str:
    """Return the time on air, or the length of an ended event, or `-` for a draft.

    Before the start, returns `T-` and the time until it; after a missed start `T+` and the time since it.
    """
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
    """Return the clock, dim while no signal is expected."""
    return [(clock(state, render_time), StyleRole.TEXT if state.phase.tally.expects_signal else StyleRole.DIM)]


def ingest(state: EventState, render_time: RenderTime) -> Line:
    """Return the state of the ingest. An interruption has its duration: `lost 01:19`."""
    text, role = _ingest(state, render_time)
    return [(text, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def known_ingest(state: EventState, render_time: RenderTime) -> Ingest:
    """Return the ingest; UNKNOWN, without times, while a signal is expected and the data are doubtful or undecided."""
    is_unknown = state.is_undecided or (state.phase.tally.expects_signal and is_doubtful(state, render_time))
    return Ingest() if is_unknown else state.phase.ingest


def _ingest(state: EventState, render_time: RenderTime) -> tuple[str, StyleRole]:
    known = known_ingest(state, render_time)
    ingest, since = known.state, known.since
    if ingest is IngestState.INTERRUPTED:
        lasting = UNKNOWN if since is None else compact_duration(render_time.server_seconds_since(since))
        return f"lost {lasting}", StyleRole.STRONG
    if ingest is IngestState.UNKNOWN:
        return UNKNOWN, StyleRole.STALE
    if ingest is IngestState.NONE and state.phase.tally.expects_signal:
        return "none", StyleRole.STRONG
    roles = {IngestState.RECEIVING: StyleRole.TEXT, IngestState.WARMING_UP: StyleRole.INFO}
    return ingest.value, roles.get(ingest, StyleRole.DIM)


def health(state: EventState, render_time: RenderTime) -> Line:
    """Return a chip with glyph, score, grade and lowest component: `✖  45 POOR key`.

    An event that is not ready to start has the reason, such as `restreams`. Stale data have no score.
    """
    health = state.assessment.health
    if not was_asked(state) and health.grade in {Grade.NO_DATA, Grade.STALE} and not render_time.stale:
        return [(f" {NOT_ASKED}", StyleRole.DIM)]
    grade = Grade.STALE if render_time.stale and health.grade is not Grade.NONE else health.grade
    if grade is Grade.NONE and state.phase.tally is BroadcastState.LATE and not is_doubtful(state, render_time):
        late = SEVERITY_BADGES[Severity.CRITICAL if has_critical_finding(state) else Severity.WARNING]
        return [(f" {late.glyph} NOT STARTED ", late.role)]
    if grade is Grade.NONE and is_no_go(state, render_time) and not is_doubtful(state, render_time):
        return [(f" {render_time.no_go(state.id)}", StyleRole.STRONG)]
    if grade is Grade.NONE:
        return [(f" {NOT_APPLICABLE}", StyleRole.DIM)]
    glyph, word, role = GRADE_BADGES[grade]
    if health.score is None or grade is Grade.STALE:
        return [(f" {glyph} {NO_DATA:>3} {word} ", role)]
    component = f" {health.component}" if health.component else ""
    return [(f" {glyph} {health.score:>3} {word}{component} ", role)]


def was_asked(state: EventState) -> bool:
    """Return whether the event's samples were polled at least once, with a response or an error."""
    return state.qos.as_of is not None or bool(state.qos.error)


def current_reading(state: EventState) -> Reading | None:
    """Return the newest sample if a signal arrives and the last response is fresh; otherwise None."""
    arriving = state.phase.ingest.state in {IngestState.RECEIVING, IngestState.WARMING_UP}
    trusted = state.qos.freshness in {Freshness.FRESH, Freshness.LATE}
    return state.qos.readings.last if arriving and trusted else None


def video(state: EventState, render_time: RenderTime) -> Line:
    """Return the current video bit rate."""
    reading = current_reading(state)
    return _measured(state, render_time, bits(reading.video) if reading else None, StyleRole.VIDEO)


def audio(state: EventState, render_time: RenderTime) -> Line:
    """Return the current audio bit rate."""
    reading = current_reading(state)
    return _measured(state, render_time, bits(reading.audio) if reading else None, StyleRole.AUDIO)


def fps(state: EventState, render_time: RenderTime) -> Line:
    """Return the current frame rate."""
    reading = current_reading(state)
    return _measured(state, render_time, frames(reading.fps) if reading else None, StyleRole.FPS)


def _measured(state: EventState, render_time: RenderTime, text: str | None, role: StyleRole) -> Line:
    if text is None and not was_asked(state):
        return [(NOT_ASKED, StyleRole.DIM)]
    if text is None:
        expected = state.phase.tally.expects_signal
        return [(NO_DATA, StyleRole.STALE) if expected else (NOT_APPLICABLE, StyleRole.DIM)]
    return [(text, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def outputs(state: EventState, render_time: RenderTime) -> Line:
    """Return the number of enabled restreams; on air, after the number of connected ones: `1/2`.

    `?/2` if a status is unknown.
    """
    if state.event.restreams is None:
        return [(UNKNOWN, StyleRole.DIM)]
    count, connected = _enabled_restreams(state)
    if not count:
        return [(NOT_APPLICABLE, StyleRole.DIM)]
    if not state.phase.tally.expects_signal:
        return [(str(count), StyleRole.DIM)]
    role = StyleRole.TEXT if connected in {None, count} else StyleRole.WARNING
    text = f"{UNKNOWN if connected is None else connected}/{count}"
    return [(text, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def _enabled_restreams(state: EventState) -> tuple[int, int | None]:
    """Return the number of enabled restreams, and how many of them are connected; None if a status is unknown."""
    statuses = [restream.status for restream in enabled(state.event.restreams or ())]
    return len(statuses), None if None in statuses else statuses.count("connected")


RECENT_SECONDS = 300.0
"""Seconds that the sparkline and its status strip show."""

SPARK_CELLS, MAX_SPARK_CELLS = 9, 14
"""Minimum width of the bars in a table, and their maximum width while names can still grow."""

MOST_SPARK_CELLS = 80
"""Maximum width of the bars in cells. In narrower cells, some would lie between two samples and be empty."""

NAME_CELLS = 16
"""Minimum width of a name in cells. Shorter names look the same, so columns are dropped instead."""


def recent_signal(state: EventState, render_time: RenderTime, columns: int) -> Line:
    """Return the last five minutes of video as dim bars. An abnormal status has its glyph in place of a bar."""
    axis = recent_axis(state, render_time, RECENT_SECONDS, min(columns, MOST_SPARK_CELLS))
    if axis is None:
        return []
    unwatched = unwatched_columns(axis, state)
    return signal_bars(*recent_columns(axis, state), stale=is_doubtful(state, render_time), unwatched=unwatched)


def _recent(state: EventState, render_time: RenderTime) -> Line:
    return recent_signal(state, render_time, SPARK_CELLS)


def _search_text(state: EventState) -> str:
    event = state.event
    words = (event.name, event.subtitle, event.id, *(restream.name for restream in event.restreams or ()))
    return " ".join(word for word in words if word).casefold()


def elapsed_seconds(state: EventState, render_time: RenderTime) -> Value:
    """Return the seconds on air; negative before the start."""
    reference_time = state.phase.reference_time
    return None if reference_time is None else render_time.server_seconds_since(reference_time)


def _ingest_words(state: EventState, render_time: RenderTime) -> Value:
    found = known_ingest(state, render_time).state
    return ("lost", found.value) if found is IngestState.INTERRUPTED else (found.value,)


def _reading_value(name: str) -> ValueGetter[EventState]:
    def value(state: EventState, _: RenderTime) -> Value:
        reading = current_reading(state)
        measured: float | None = getattr(reading, name) if reading else None
        return measured if measured is not None and isfinite(measured) else None

    return value


def health_score(state: EventState, render_time: RenderTime) -> Value:
    """Return the health score; None on stale data."""
    return None if render_time.stale else state.assessment.health.score


def _connected_share(state: EventState, _: RenderTime) -> Value:
    count, connected = _enabled_restreams(state)
    return connected / count if count and connected is not None else None


def _alarm_words(state: EventState, _: RenderTime) -> Value:
    return tuple(f"{finding.severity} {finding.kind}" for finding in state.assessment.findings)


def has_critical_finding(state: EventState) -> bool:
    """Return whether the event has a critical finding."""
    return any(finding.severity is Severity.CRITICAL for finding in state.assessment.findings)


def count_words(states: Iterable[EventState], render_time: RenderTime) -> str:
    """Return the number of events by overall state, worst first: `2 ▲, 25 ✓, 4 ○`."""
    counts = Counter(_sign(state, render_time) for state in states)
    return ", ".join(f"{counts[sign]} {sign}" for sign in _SIGNS if counts[sign])


_SIGNS = ("✖", "▲", "▒", "✓", "○", "■", "·")


def _sign(state: EventState, render_time: RenderTime) -> str:
    stands = standing(state, render_time)
    if stands in STANDING_WORDS:
        return STANDING_WORDS[stands][0]
    if stands is Standing.STALE:
        return "▒"
    return {BroadcastState.SCHEDULED: "○", BroadcastState.COMPLETED: "■"}.get(state.phase.tally, "·")


EVENTS: TableSchema[EventState] = TableSchema(
    columns=(
        Column("tally", " TALLY", 10, 0, tally, lambda state, _: state.phase.tally.value, is_steady=True),
        Column(
            "event",
            "EVENT",
            NAME_CELLS,
            0,
            name_cell,
            lambda state, _: name(state),
            grows=True,
            max_width=MAX_NAME_CELLS,
            is_steady=True,
        ),
        Column("time", "T-/ELAPSED", 11, 1, clock_cell, elapsed_seconds, right=True),
        Column("ingest", "INGEST", 11, 7, ingest, _ingest_words),
        Column("health", "HEALTH", 17, 0, health, health_score, is_steady=True),
        Column("video", "VIDEO", 6, 2, video, _reading_value("video"), right=True, is_steady=True),
        Column("audio", "AUDIO", 5, 5, audio, _reading_value("audio"), right=True, is_steady=True),
        Column("fps", "FPS", 5, 4, fps, _reading_value("fps"), right=True, is_steady=True),
        Column(
            "recent",
            "LAST 5 MIN",
            SPARK_CELLS,
            3,
            _recent,
            grows=True,
            max_width=MAX_SPARK_CELLS,
            draw=recent_signal,
            is_steady=True,
            stretches=True,
        ),
        Column("out", "OUT", 4, 6, outputs, _connected_share, right=True, is_steady=True),
    ),
    key=lambda state: state.id,
    is_worst_first=True,
    text=_search_text,
    is_critical=has_critical_finding,
    rows=lambda snapshot: snapshot.events,
    count=count_words,
    groups={"project": project},
    has_pins=True,
    fields={
        "alarm": _alarm_words,
        "id": lambda state, _: state.id,
        "type": lambda state, _: state.event.type,
        "project": _project_words,
        "latency": lambda state, _: state.event.latency_mode,
    },
)
"""Table of the Events screen. The worst event is first until a person sorts the table."""


class Summary(NamedTuple):
    """Counts of all events. Only new data change them.

    `planned`: number of planned events. `next_planned`: planned event with the next start, or None. `arriving`:
    incoming bit rate of all events in bit/s; 0 if the rate of an event on air is unknown.
    """

    total: int
    stands: Mapping[Standing, int]
    on_air: int
    planned: int
    next_planned: EventState | None
    arriving: float


def summarize(states: Sequence[EventState], render_time: RenderTime) -> Summary:
    """Count events by their standing, for the header. If the data is stale, every event counts as stale."""
    planned = [state for state in states if state.phase.tally is BroadcastState.SCHEDULED]
    dated = [state for state in planned if state.phase.reference_time is not None]
    return Summary(
        len(states),
        Counter(standing(state, render_time) for state in states),
        sum(state.phase.tally.expects_signal for state in states),
        len(planned),
        max(dated, key=lambda state: elapsed_seconds(state, render_time) or 0, default=None),
        arriving_rate(states, render_time),
    )


def summary_line(summary: Summary, render_time: RenderTime, cells: int) -> Line:
    """Return a line with the events on air by state, the next planned event and the incoming bit rate."""
    if not summary.total:
        return []
    stands = summary.stands
    doubtful = stands.get(Standing.STALE, 0)
    lamp = ("▒", StyleRole.STALE) if render_time.stale else ("●", StyleRole.ON_AIR if summary.on_air else StyleRole.DIM)
    groups: list[Group] = [(0, [(" ", StyleRole.TEXT), lamp, (f" {summary.on_air} on air", StyleRole.STRONG)])]
    for rank, (kind, (glyph, word, role)) in enumerate(STANDING_WORDS.items()):
        if count := stands.get(kind, 0):
            blank = " " if role is StyleRole.CRITICAL else ""
            groups.append((rank, [(f"{blank}{glyph} {count} {word}{blank}", role)]))
    if doubtful:
        groups.append((1, [(f"▒ {doubtful} not up to date", StyleRole.STALE)]))
    if summary.planned:
        sign = ("○", StyleRole.DIM if render_time.stale else StyleRole.INFO)
        groups.append((3, [sign, (f" {summary.planned} planned", StyleRole.DIM)]))
        groups.append((4, _next(summary.next_planned, render_time)))
    if summary.arriving and not render_time.stale:
        groups.append((5, [(f"↑ {summary.arriving / 1e6:.1f} Mbit/s in", StyleRole.DIM)]))
    return wrap_groups(groups, cells, 3)


STANDING_WORDS: Mapping[Standing, tuple[str, str, StyleRole]] = MappingProxyType(
    {
        Standing.BAD: ("✖", "bad", StyleRole.CRITICAL),
        Standing.WATCH: ("▲", "watch", StyleRole.WARNING),
        Standing.GOOD: ("✓", "good", StyleRole.OK),
    }
)
"""Glyph, word and role of the counted states, worst first."""


def arriving_rate(states: Iterable[EventState], render_time: RenderTime) -> float:
    """Return the current bit rate of video and audio of all events in bit/s.

    Returns 0 if the rate of an event on air is unknown.
    """
    total = 0.0
    for state in states:
        reading, is_off = current_reading(state), state.phase.ingest.state in _KNOWN_OFF
        if state.phase.tally.expects_signal and (
            is_doubtful(state, render_time) or state.is_undecided or not (reading or is_off)
        ):
            return 0.0
        rates = (reading.video, reading.audio) if reading else ()
        total += sum(rate for rate in rates if rate is not None and isfinite(rate))
    return total


_KNOWN_OFF = frozenset({IngestState.INTERRUPTED, IngestState.NONE})
"""States of an ingest from which nothing arrives."""


def _next(state: EventState | None, render_time: RenderTime) -> Line:
    """Return the name of the next planned event with the time until its start."""
    if state is None:
        return []
    name_part = clip([(name(state), StyleRole.STRONG)], MAX_NEXT_CELLS)
    return [("next ", StyleRole.DIM), *name_part, (f" {clock(state, render_time)}", StyleRole.TEXT)]


MAX_NEXT_CELLS = 20
"""Maximum width of the next event's name in cells."""
