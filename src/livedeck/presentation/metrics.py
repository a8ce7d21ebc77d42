"""Current state as metrics for Prometheus (scripting.md, "Metrics"). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from math import isfinite
from typing import NamedTuple

from livedeck.client import BOUNDS, RequestCounts
from livedeck.monitor import Alarm, BroadcastState, ConnectionState, EventState, Reading, Snapshot, ViewerState
from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import masked_line

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Media type of the text over HTTP."""

MAX_EVENTS = 500
"""Maximum number of events with series. `livedeck_events_not_exported` is the number of the other events."""

DUE_SECONDS = 3600.0
"""Seconds before an event's planned start at which its series begin."""

MAX_NAME_LETTERS, MAX_ID_LETTERS = 80, 200

BYTE = 8
"""Bits per byte. The base unit of Prometheus is the byte, while the platform measures bits."""

Labels = tuple[str, ...]


class Sample(NamedTuple):
    """Value of a metric. A `value` of None is unknown and is left out. `suffix`, `bound`: for parts of a histogram."""

    labels: Labels
    value: float | None
    suffix: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of a process that are not in its snapshots. A count is None if the process does not do that work.

    `turns`: number of state changes of alarms (`count_turns`). `notifications`: number of attempts by route and result.
    `spool_messages`: number of waiting notifications. `spool_since`: time of the oldest. `readers`: number of attached
    decks and walls. `beat_at`: time of the last accepted heartbeat; 1970 before the first. `held_events`: events that
    this collector polls for all. `is_apart`: this collector cannot reach the engine. `is_notifier`: this collector
    sends the notifications of all collectors. `writes_refused`: number of its writes that the engine refused.
    `announced`: number of announced alarms by kind and severity. `flood_seconds`: seconds in an alarm flood. `rounds`:
    number of rounds of the probe by result (`count_rounds`). `probe_bytes`: bytes that the probe received, by host.
    `probe_restarts`: number of restarts of its decoder.
    """

    turns: Mapping[str, int] = field(default_factory=dict)
    requests: RequestCounts | None = None
    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)
    spool_messages: int | None = None
    spool_since: datetime | None = None
    readers: int | None = None
    beat_at: datetime | None = None
    held_events: frozenset[str] | None = None
    is_apart: bool | None = None
    is_notifier: bool | None = None
    writes_refused: int | None = None
    announced: Mapping[tuple[str, str], int] = field(default_factory=dict)
    flood_seconds: float | None = None
    rounds: Mapping[str, int] = field(default_factory=dict)
    probe_bytes: Mapping[str, int] = field(default_factory=dict)
    probe_restarts: int | None = None


NOTHING_COUNTED = Counted()


@dataclass(frozen=True, slots=True)
class Scrape:
    """Data of one text of metrics.

    `exported`: label -> event with series. `left_out`: number of events without series.
    """

    snapshot: Snapshot
    render_time: RenderTime
    version: str
    counted: Counted
    exported: Mapping[str, EventState]
    left_out: int


@dataclass(frozen=True, slots=True)
class Metric:
    """Metric. `name`: ends in the unit. `kind`: `gauge`, `counter` or `histogram`. `read`: returns the samples."""

    name: str
    kind: str
    help: str
    labels: Labels
    read: Callable[[Scrape], Iterable[Sample]] = field(repr=False)

    def samples(self, scrape: Scrape) -> list[Sample]:
        """Return the samples with a known value."""
        return [sample for sample in self.read(scrape) if sample.value is not None and isfinite(sample.value)]


def metrics_text(snapshot: Snapshot, render_time: RenderTime, version: str, counted: Counted = NOTHING_COUNTED) -> str:
    """Return every metric with samples, its help and its type, in the text format 0.0.4."""
    scrape = scrape_of(snapshot, render_time, version, counted)
    return "".join(f"{line}\n" for metric in METRICS for line in _lines(metric, scrape))


def scrape_of(snapshot: Snapshot, render_time: RenderTime, version: str, counted: Counted = NOTHING_COUNTED) -> Scrape:
    """Return the data that the metrics read."""
    due = sorted(_due(snapshot, render_time), key=lambda state: not state.phase.tally.expects_signal)
    exported: dict[str, EventState] = {masked_line(state.id, MAX_ID_LETTERS): state for state in due[:MAX_EVENTS]}
    return Scrape(snapshot, render_time, version, counted, exported, len(due) - len(exported))


def count_turns(turns: Mapping[str, int], snapshot: Snapshot) -> Mapping[str, int]:
    """Return the counts `turns` plus the alarm transitions in `snapshot`."""
    news = Counter(change.transition.value for change in snapshot.changes)
    return {name: turns.get(name, 0) + news[name] for name in {*turns, *news}}


def count_rounds(rounds: Mapping[str, int], before: Snapshot | None, snapshot: Snapshot) -> Mapping[str, int]:
    """Return the counts `rounds` plus the new rounds of the probe in `snapshot`.

    `before`: the previous snapshot; None if `snapshot` is the first.
    """
    if all(state.viewer is None for state in snapshot.events):
        return rounds
    earlier = {state.id: state.viewer for state in before.events} if before else {}
    pairs = ((state.viewer, earlier.get(state.id)) for state in snapshot.events if state.viewer)
    news = Counter(
        viewer.delivery.value
        for viewer, last in pairs
        if viewer.as_of and viewer.is_known and (last is None or last.as_of != viewer.as_of)
    )
    return {name: rounds.get(name, 0) + news[name] for name in {*rounds, *news}}


def _due(snapshot: Snapshot, render_time: RenderTime) -> Iterator[EventState]:
    for state in snapshot.events:
        tally, at = state.phase.tally, state.phase.reference_time
        is_awaited = tally in {BroadcastState.SCHEDULED, BroadcastState.LATE} and at is not None
        is_near = is_awaited and at is not None and render_time.server_seconds_since(at) > -DUE_SECONDS
        if tally.expects_signal or is_near:
            yield state


def _lines(metric: Metric, scrape: Scrape) -> Iterator[str]:
    samples = metric.samples(scrape)
    if samples:
        yield f"# HELP {metric.name} {metric.help}"
        yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value, suffix, bound in samples:
        assert value is not None
        named = [*zip(metric.labels, labels, strict=True), *([("le", bound)] if bound else [])]
        pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in named)
        yield f"{metric.name}{suffix}{f'{{{pairs}}}' if pairs else ''} {value:.12g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _alone(read: Callable[[Scrape], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    return lambda scrape: [Sample((), read(scrape))]


def _of_events(read: Callable[[EventState, RenderTime], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    """Return a function that reads a sample for each event. Events with stale data have no sample."""

    def samples(scrape: Scrape) -> Iterator[Sample]:
        for label, state in scrape.exported.items():
            if not events.is_doubtful(state, scrape.render_time):
                yield Sample((label,), read(state, scrape.render_time))

    return samples


def _reading(read: Callable[[Reading], float | None], unit: int = 1) -> Callable[[Scrape], Iterable[Sample]]:
    """Return a function that reads a value of each event's newest QoS sample, divided by `unit`.

    Events without a current sample have no value.
    """

    def of_event(state: EventState, _: RenderTime) -> float | None:
        reading = events.current_reading(state)
        value = read(reading) if reading else None
        return None if value is None else value / unit

    return _of_events(of_event)


def _of_viewers(read: Callable[[ViewerState], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    """Return a function that yields a value of each event's state for viewers.

    It yields nothing for an event without a fresh round of the probe.
    """

    def samples(scrape: Scrape) -> Iterator[Sample]:
        for label, state in scrape.exported.items():
            if state.viewer and state.viewer.is_known:
                yield Sample((label,), read(state.viewer))

    return samples


def _pictures(scrape: Scrape) -> Iterator[Sample]:
    for label, state in scrape.exported.items():
        if state.viewer and state.viewer.is_known:
            yield Sample((label, state.viewer.picture.value), 1)


def _health(state: EventState, _: RenderTime) -> float | None:
    score = state.assessment.health.score
    return None if score is None else score / 100


def _sample_age(scrape: Scrape) -> Iterator[Sample]:
    """Yield the age of the newest sample, even for stale events, because the age shows why they are stale."""
    for label, state in scrape.exported.items():
        newest = state.qos.readings.last
        age = None if newest is None else max(0.0, scrape.render_time.server.timestamp() - newest.time)
        yield Sample((label,), age)


def _names(scrape: Scrape) -> Iterator[Sample]:
    for label, state in scrape.exported.items():
        yield Sample((label, masked_line(state.event.name or state.id, MAX_NAME_LETTERS)), 1)


def _state(alarm: Alarm) -> str:
    """Return the state of an alarm: `silenced` for an open alarm under a silence, so that no alerting rule fires."""
    return "silenced" if alarm.silenced and alarm.active else alarm.state.value


def _alarms(scrape: Scrape) -> Iterator[Sample]:
    every = (*scrape.snapshot.alarms, *scrape.snapshot.quiet)
    counts = Counter((alarm.kind, alarm.severity.value, _state(alarm)) for alarm in every)
    yield from (Sample(labels, count) for labels, count in sorted(counts.items()))


def _held(scrape: Scrape) -> Iterator[Sample]:
    for label, state in scrape.exported.items():
        if state.id in (scrape.counted.held_events or ()):
            yield Sample((label,), 1)


def _answer_age(scrape: Scrape) -> float | None:
    as_of = scrape.snapshot.link.as_of
    return None if as_of is None else max(0.0, scrape.render_time.seconds_since(as_of))


def _requests(scrape: Scrape) -> Iterable[Sample]:
    counts = scrape.counted.requests
    return [Sample(labels, count) for labels, count in sorted(counts.results.items())] if counts else []


def _durations(scrape: Scrape) -> Iterator[Sample]:
    """Yield the histogram of each operation. The counts of a histogram are cumulative."""
    counts = scrape.counted.requests
    for operation, durations in sorted(counts.durations.items()) if counts else ():
        bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
        for bound, count in zip(bounds, accumulate(durations.counts), strict=True):
            yield Sample((operation,), count, "_bucket", bound)
        yield Sample((operation,), durations.seconds, "_sum")
        yield Sample((operation,), sum(durations.counts), "_count")


def _spool_age(scrape: Scrape) -> float | None:
    """Return the age of the oldest waiting message in seconds; 0 if none waits, None without a spool."""
    counted = scrape.counted
    if counted.spool_messages is None or counted.spool_since is None:
        return None if counted.spool_messages is None else 0.0
    return max(0.0, scrape.render_time.seconds_since(counted.spool_since))


def _heartbeat(scrape: Scrape) -> float | None:
    beat_at = scrape.counted.beat_at
    return beat_at.timestamp() if beat_at else None


def _is_up(scrape: Scrape) -> float:
    return float(scrape.snapshot.link.state in {ConnectionState.OK, ConnectionState.POOR})


def _event(name: str, words: str, read: Callable[[Scrape], Iterable[Sample]]) -> Metric:
    return Metric(f"livedeck_event_{name}", "gauge", words, ("event_id",), read)


def _viewer(name: str, words: str, read: Callable[[Scrape], Iterable[Sample]], *labels: str) -> Metric:
    kind = "counter" if name.endswith("_total") else "gauge"
    return Metric(f"livedeck_viewer_{name}", kind, words, ("event_id", *labels), read)


LINK_UP = Metric("livedeck_platform_link_up", "gauge", "1 if the platform responds.", (), _alone(_is_up))
ANSWER_AGE = Metric(
    "livedeck_platform_answer_age_seconds",
    "gauge",
    "Seconds since the platform's last valid response.",
    (),
    _alone(_answer_age),
)
CLOCK_SKEW = Metric(
    "livedeck_platform_clock_skew_seconds",
    "gauge",
    "Seconds by which the platform's clock is ahead of this machine's; 0 below two seconds.",
    (),
    _alone(lambda scrape: scrape.snapshot.link.measured_skew),
)
ALARMS = Metric(
    "livedeck_alarms", "gauge", "Open alarms by kind, severity and state.", ("kind", "severity", "state"), _alarms
)
ALARM_CHANGES = Metric(
    "livedeck_alarm_changes_total",
    "counter",
    "State changes of alarms since the process started.",
    ("transition",),
    lambda scrape: [Sample((turn,), count) for turn, count in sorted(scrape.counted.turns.items())],
)
ANNOUNCED = Metric(
    "livedeck_alarms_announced_total",
    "counter",
    "Warnings and critical alarms that were announced since the process started.",
    ("kind", "severity"),
    lambda scrape: [Sample(labels, count) for labels, count in sorted(scrape.counted.announced.items())],
)
FLOOD = Metric(
    "livedeck_alarm_flood_seconds_total",
    "counter",
    "Seconds in an alarm flood since the process started.",
    (),
    _alone(lambda scrape: scrape.counted.flood_seconds),
)
NOT_EXPORTED = Metric(
    "livedeck_events_not_exported",
    "gauge",
    f"Events on air or due that have no series, because at most {MAX_EVENTS} events have series.",
    (),
    _alone(lambda scrape: scrape.left_out),
)
INFO = Metric(
    "livedeck_event_info",
    "gauge",
    "Name of each event that is on air or starts within an hour.",
    ("event_id", "name"),
    _names,
)
ON_AIR = _event(
    "on_air",
    "1 if the event should be receiving a signal.",
    _of_events(lambda state, _: float(state.phase.tally.expects_signal)),
)
HEALTH = _event("health_ratio", "Health of the event, from 0 to 1.", _of_events(_health))
VIDEO = _event("video_bytes_per_second", "Incoming video.", _reading(lambda reading: reading.video, BYTE))
AUDIO = _event("audio_bytes_per_second", "Incoming audio.", _reading(lambda reading: reading.audio, BYTE))
FRAMES = _event("frames_per_second", "Incoming frames per second.", _reading(lambda reading: reading.fps))
SAMPLE_AGE = _event("sample_age_seconds", "Age of the newest sample.", _sample_age)
BUILD = Metric(
    "livedeck_build_info", "gauge", "Version of livedeck.", ("version",), lambda scrape: [Sample((scrape.version,), 1)]
)
REQUESTS = Metric(
    "livedeck_platform_requests_total",
    "counter",
    "Attempted requests to the platform, by operation and result.",
    ("operation", "result"),
    _requests,
)
DURATIONS = Metric(
    "livedeck_platform_request_duration_seconds",
    "histogram",
    "Duration of each attempted request to the platform.",
    ("operation",),
    _durations,
)
NOTIFICATIONS = Metric(
    "livedeck_notifications_total",
    "counter",
    "Attempts to send a notification, by route and result.",
    ("route", "result"),
    lambda scrape: [Sample(labels, count) for labels, count in sorted(scrape.counted.notifications.items())],
)
SPOOL_MESSAGES = Metric(
    "livedeck_spool_messages",
    "gauge",
    "Notifications waiting to be sent.",
    (),
    _alone(lambda scrape: scrape.counted.spool_messages),
)
SPOOL_AGE = Metric(
    "livedeck_spool_oldest_seconds",
    "gauge",
    "Age of the oldest waiting notification; 0 if none waits.",
    (),
    _alone(_spool_age),
)
HEARTBEAT = Metric(
    "livedeck_heartbeat_last_success_timestamp_seconds",
    "gauge",
    "Time of the last accepted heartbeat, in seconds since 1970; 0 before the first.",
    (),
    _alone(_heartbeat),
)
READERS = Metric(
    "livedeck_sse_readers", "gauge", "Attached decks and walls.", (), _alone(lambda scrape: scrape.counted.readers)
)
EVENTS_HELD = Metric(
    "livedeck_engine_events_held",
    "gauge",
    "Events that this collector polls for all collectors.",
    (),
    _alone(lambda scrape: None if scrape.counted.held_events is None else len(scrape.counted.held_events)),
)
EVENT_HELD = Metric(
    "livedeck_engine_event_held",
    "gauge",
    "1 for each event that this collector polls for all collectors.",
    ("event_id",),
    _held,
)
NOTIFIER = Metric(
    "livedeck_engine_notifier",
    "gauge",
    "1 if this collector sends the notifications of all collectors.",
    (),
    _alone(lambda scrape: None if scrape.counted.is_notifier is None else float(scrape.counted.is_notifier)),
)
APART = Metric(
    "livedeck_engine_apart",
    "gauge",
    "1 if this collector cannot reach the engine.",
    (),
    _alone(lambda scrape: None if scrape.counted.is_apart is None else float(scrape.counted.is_apart)),
)
WRITES_REFUSED = Metric(
    "livedeck_writes_refused_total",
    "counter",
    "Writes that the engine refused because another collector had taken over.",
    (),
    _alone(lambda scrape: scrape.counted.writes_refused),
)

VIEWER_UP = _viewer(
    "up", "1 if the playlist of the event plays, from here.", _of_viewers(lambda viewer: float(viewer.is_playing))
)
VIEWER_LATENCY = _viewer(
    "latency_seconds", "Estimated seconds from the encoder to the playlist.", _of_viewers(lambda viewer: viewer.latency)
)
VIEWER_RATIO = _viewer("fetch_ratio", "Seconds to fetch a second of media.", _of_viewers(lambda viewer: viewer.ratio))
VIEWER_LOUDNESS = _viewer(
    "loudness_lufs", "Momentary loudness of the newest segment.", _of_viewers(lambda viewer: viewer.loudness)
)
VIEWER_PICTURE = _viewer("picture", "1 for the state of the picture in the newest segment.", _pictures, "state")
VIEWER_MISSING = _viewer(
    "missing_segments_total",
    "Segments that the playlist listed and its host did not serve.",
    _of_viewers(lambda viewer: viewer.missed),
)
VIEWER_ROUNDS = Metric(
    "livedeck_viewer_rounds_total",
    "counter",
    "Rounds of the probe over all events, by result.",
    ("result",),
    lambda scrape: [Sample((result,), count) for result, count in sorted(scrape.counted.rounds.items())],
)
PROBE_BYTES = Metric(
    "livedeck_probe_bytes_total",
    "counter",
    "Bytes that the probe received, by host.",
    ("host",),
    lambda scrape: [Sample((host,), count) for host, count in sorted(scrape.counted.probe_bytes.items())],
)
PROBE_RESTARTS = Metric(
    "livedeck_probe_child_restarts_total",
    "counter",
    "Restarts of the probe's decoder.",
    (),
    _alone(lambda scrape: scrape.counted.probe_restarts),
)

METRICS = (
    *(BUILD, LINK_UP, ANSWER_AGE, CLOCK_SKEW, ALARMS, ALARM_CHANGES, ANNOUNCED, FLOOD, NOT_EXPORTED),
    *(INFO, ON_AIR, HEALTH, VIDEO, AUDIO, FRAMES, SAMPLE_AGE),
    *(VIEWER_UP, VIEWER_LATENCY, VIEWER_RATIO, VIEWER_LOUDNESS, VIEWER_PICTURE, VIEWER_MISSING, VIEWER_ROUNDS),
    *(PROBE_BYTES, PROBE_RESTARTS),
    *(REQUESTS, DURATIONS, NOTIFICATIONS, SPOOL_MESSAGES, SPOOL_AGE, HEARTBEAT, READERS),
    *(EVENTS_HELD, EVENT_HELD, NOTIFIER, APART, WRITES_REFUSED),
)
"""Every metric, in the order of the text."""
