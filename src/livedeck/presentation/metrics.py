"""What is known as metrics for Prometheus (scripting.md, "Metrics"). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from math import isfinite
from typing import Any, NamedTuple

from livedeck.client import BOUNDS, RequestCounts
from livedeck.monitor import BroadcastState, ConnectionState, EventState, Reading, Snapshot
from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import masked_line

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of the text, where it is served."""

MAX_EVENTS = 500
"""Events that have series; `livedeck_events_not_exported` says how many more there are."""

DUE_SECONDS = 3600.0
"""An event has series from so long before its start until it is over."""

MAX_NAME_LETTERS, MAX_ID_LETTERS = 80, 200

BYTE = 8
"""Bits: the base unit of Prometheus is the byte, the platform measures bits."""

Labels = tuple[str, ...]


class Sample(NamedTuple):
    """A number of a metric; None: not known, which is no sample. `suffix`, `bound`: of the parts of a histogram."""

    labels: Labels
    value: float | None
    suffix: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a process has counted besides what its snapshots say; None: it does nothing of the kind.

    `turns`: what alarms did, see `count_turns`. `notifications`: by route and result. `spool_messages`: how many are
    not sent, `spool_since`: since when the oldest. `readers`: of the stream of changes. `beat_at`: the last heartbeat
    that was taken, 1970 where none was yet. `events_owned`: that this collector polls for all; `is_apart`: the engine
    is out of its reach; `writes_refused`: of this collector, as another one had taken over.
    """

    turns: Mapping[str, int] = field(default_factory=dict)
    requests: RequestCounts | None = None
    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)
    spool_messages: int | None = None
    spool_since: datetime | None = None
    readers: int | None = None
    beat_at: datetime | None = None
    events_owned: int | None = None
    is_apart: bool | None = None
    writes_refused: int | None = None


NOTHING_COUNTED = Counted()


@dataclass(frozen=True, slots=True)
class Scrape:
    """What one text is made of. `exported`: the events that have series, by the label of each."""

    snapshot: Snapshot
    render_time: RenderTime
    version: str
    counted: Counted
    exported: Mapping[str, EventState]
    left_out: int


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `name` carries its unit; `kind`: `gauge`, `counter` or `histogram`. `title`: in a dashboard; `unit`: as
    Grafana has it. `read`: its samples, in the order of `labels`.
    """

    name: str
    kind: str
    help: str
    labels: Labels
    read: Callable[[Scrape], Iterable[Sample]] = field(repr=False)
    title: str = ""
    unit: str = "short"


def metrics_text(snapshot: Snapshot, render_time: RenderTime, version: str, counted: Counted = NOTHING_COUNTED) -> str:
    """Every metric that there is something of, with its help and its type, in the text format 0.0.4."""
    due = sorted(_due(snapshot, render_time), key=lambda state: not state.phase.tally.expects_signal)
    exported: dict[str, EventState] = {masked_line(state.id, MAX_ID_LETTERS): state for state in due[:MAX_EVENTS]}
    scrape = Scrape(snapshot, render_time, version, counted, exported, len(due) - len(exported))
    return "".join(f"{line}\n" for metric in METRICS for line in _lines(metric, scrape))


def count_turns(turns: Mapping[str, int], snapshot: Snapshot) -> Mapping[str, int]:
    """These counts of what alarms did, and what they did since the snapshot before."""
    news = Counter(change.transition.value for change in snapshot.changes)
    return {name: turns.get(name, 0) + news[name] for name in {*turns, *news}}


def _due(snapshot: Snapshot, render_time: RenderTime) -> Iterator[EventState]:
    for state in snapshot.events:
        tally, at = state.phase.tally, state.phase.reference_time
        is_awaited = tally in {BroadcastState.SCHEDULED, BroadcastState.LATE} and at is not None
        is_near = is_awaited and at is not None and render_time.server_seconds_since(at) > -DUE_SECONDS
        if tally.expects_signal or is_near:
            yield state


def _lines(metric: Metric, scrape: Scrape) -> Iterator[str]:
    samples = [sample for sample in metric.read(scrape) if sample.value is not None and isfinite(sample.value)]
    if samples:
        yield f"# HELP {metric.name} {metric.help}"
        yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value, suffix, bound in samples:
        named = [*zip(metric.labels, labels, strict=True), *([("le", bound)] if bound else [])]
        pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in named)
        yield f"{metric.name}{suffix}{f'{{{pairs}}}' if pairs else ''} {value:.12g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _alone(read: Callable[[Scrape], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    return lambda scrape: [Sample((), read(scrape))]


def _of_events(read: Callable[[EventState, RenderTime], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    """Of each event; nothing of one that cannot be believed."""

    def samples(scrape: Scrape) -> Iterator[Sample]:
        for label, state in scrape.exported.items():
            if not events.is_doubtful(state, scrape.render_time):
                yield Sample((label,), read(state, scrape.render_time))

    return samples


def _reading(read: Callable[[Reading], float | None], unit: int = 1) -> Callable[[Scrape], Iterable[Sample]]:
    """Of the newest sample, where it stands for now; in units of so many of those that it is measured in."""

    def of_event(state: EventState, _: RenderTime) -> float | None:
        reading = events.current_reading(state)
        value = read(reading) if reading else None
        return None if value is None else value / unit

    return _of_events(of_event)


def _health(state: EventState, _: RenderTime) -> float | None:
    score = state.assessment.health.score
    return None if score is None else score / 100


def _sample_age(scrape: Scrape) -> Iterator[Sample]:
    """Also of an event that cannot be believed: it is why."""
    for label, state in scrape.exported.items():
        newest = state.qos.readings.last
        age = None if newest is None else max(0.0, scrape.render_time.server.timestamp() - newest.time)
        yield Sample((label,), age)


def _names(scrape: Scrape) -> Iterator[Sample]:
    for label, state in scrape.exported.items():
        yield Sample((label, masked_line(state.event.name or state.id, MAX_NAME_LETTERS)), 1)


def _alarms(scrape: Scrape) -> Iterator[Sample]:
    every = (*scrape.snapshot.alarms, *scrape.snapshot.quiet)
    counts = Counter((alarm.kind, alarm.severity.value, alarm.state.value) for alarm in every)
    yield from (Sample(labels, count) for labels, count in sorted(counts.items()))


def _answer_age(scrape: Scrape) -> float | None:
    as_of = scrape.snapshot.link.as_of
    return None if as_of is None else max(0.0, scrape.render_time.seconds_since(as_of))


def _requests(scrape: Scrape) -> Iterable[Sample]:
    counts = scrape.counted.requests
    return [Sample(labels, count) for labels, count in sorted(counts.results.items())] if counts else []


def _durations(scrape: Scrape) -> Iterator[Sample]:
    """Of each operation the parts of its histogram, whose counts add up."""
    counts = scrape.counted.requests
    for operation, durations in sorted(counts.durations.items()) if counts else ():
        bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
        for bound, count in zip(bounds, accumulate(durations.counts), strict=True):
            yield Sample((operation,), count, "_bucket", bound)
        yield Sample((operation,), durations.seconds, "_sum")
        yield Sample((operation,), sum(durations.counts), "_count")


def _spool_age(scrape: Scrape) -> float | None:
    """0 where nothing waits."""
    counted = scrape.counted
    if counted.spool_messages is None or counted.spool_since is None:
        return None if counted.spool_messages is None else 0.0
    return max(0.0, scrape.render_time.seconds_since(counted.spool_since))


def _heartbeat(scrape: Scrape) -> float | None:
    beat_at = scrape.counted.beat_at
    return beat_at.timestamp() if beat_at else None


def _is_up(scrape: Scrape) -> float:
    return float(scrape.snapshot.link.state in {ConnectionState.OK, ConnectionState.POOR})


def _event(name: str, words: str, read: Any, title: str, unit: str) -> Metric:
    return Metric(f"livedeck_event_{name}", "gauge", words, ("event_id",), read, title, unit)


LINK_UP = Metric(
    "livedeck_platform_link_up", "gauge", "Whether the platform answers.", (), _alone(_is_up), "Platform answers"
)
ANSWER_AGE = Metric(
    "livedeck_platform_answer_age_seconds",
    "gauge",
    "Seconds since the last good answer of the platform.",
    (),
    _alone(_answer_age),
    "Age of the last answer",
    "s",
)
CLOCK_SKEW = Metric(
    "livedeck_platform_clock_skew_seconds",
    "gauge",
    "Seconds that the platform's clock is ahead of this machine's; 0 under two.",
    (),
    _alone(lambda scrape: scrape.snapshot.link.measured_skew),
    "Clock of the platform, ahead",
    "s",
)
ALARMS = Metric(
    "livedeck_alarms",
    "gauge",
    "Alarms by kind, severity and what was done about them.",
    ("kind", "severity", "state"),
    _alarms,
    "Alarms",
)
ALARM_CHANGES = Metric(
    "livedeck_alarm_changes_total",
    "counter",
    "What alarms did since the process began.",
    ("turn",),
    lambda scrape: [Sample((turn,), count) for turn, count in sorted(scrape.counted.turns.items())],
    "Changes of alarms",
)
NOT_EXPORTED = Metric(
    "livedeck_events_not_exported",
    "gauge",
    f"Events on air or due that have no series: more than {MAX_EVENTS} are too many.",
    (),
    _alone(lambda scrape: scrape.left_out),
    "Events without series",
)
INFO = Metric(
    "livedeck_event_info",
    "gauge",
    "The name of an event that is on air, or due within an hour.",
    ("event_id", "name"),
    _names,
)
ON_AIR = _event(
    "on_air",
    "Whether a signal is expected of the event.",
    _of_events(lambda state, _: float(state.phase.tally.expects_signal)),
    "On air",
    "short",
)
HEALTH = _event("health_ratio", "Health of the event, from 0 to 1.", _of_events(_health), "Health", "percentunit")
VIDEO = _event(
    "video_bytes_per_second", "Video that arrives.", _reading(lambda reading: reading.video, BYTE), "Video", "Bps"
)
AUDIO = _event(
    "audio_bytes_per_second", "Audio that arrives.", _reading(lambda reading: reading.audio, BYTE), "Audio", "Bps"
)
FRAMES = _event(
    "frames_per_second", "Frames that arrive.", _reading(lambda reading: reading.fps), "Frames a second", "short"
)
SAMPLE_AGE = _event("sample_age_seconds", "Age of the newest sample.", _sample_age, "Age of the newest sample", "s")
BUILD = Metric(
    "livedeck_build_info",
    "gauge",
    "The program that says so.",
    ("version",),
    lambda scrape: [Sample((scrape.version,), 1)],
)

REQUESTS = Metric(
    "livedeck_platform_requests_total",
    "counter",
    "Tries of requests to the platform, by what they do and how they ended.",
    ("operation", "result"),
    _requests,
    "Requests to the platform",
    "reqps",
)
DURATIONS = Metric(
    "livedeck_platform_request_duration_seconds",
    "histogram",
    "Seconds that a try of a request to the platform took.",
    ("operation",),
    _durations,
    "Time of a request, 95 of 100",
    "s",
)
NOTIFICATIONS = Metric(
    "livedeck_notifications_total",
    "counter",
    "Tries to send a message, by route and what came of it.",
    ("route", "result"),
    lambda scrape: [Sample(labels, count) for labels, count in sorted(scrape.counted.notifications.items())],
    "Messages",
)
SPOOL_MESSAGES = Metric(
    "livedeck_spool_messages",
    "gauge",
    "Messages that are not sent.",
    (),
    _alone(lambda scrape: scrape.counted.spool_messages),
    "Messages that wait",
)
SPOOL_AGE = Metric(
    "livedeck_spool_oldest_seconds",
    "gauge",
    "Age of the oldest message that is not sent; 0 where none waits.",
    (),
    _alone(_spool_age),
    "Age of the oldest message",
    "s",
)
HEARTBEAT = Metric(
    "livedeck_heartbeat_last_success_timestamp_seconds",
    "gauge",
    "When the last heartbeat was taken, in seconds since 1970; 0 where none was yet.",
    (),
    _alone(_heartbeat),
)
READERS = Metric(
    "livedeck_sse_readers",
    "gauge",
    "Decks and walls that follow the changes.",
    (),
    _alone(lambda scrape: scrape.counted.readers),
    "Decks and walls attached",
)
EVENTS_OWNED = Metric(
    "livedeck_engine_events_owned",
    "gauge",
    "Events that this collector polls for all collectors.",
    (),
    _alone(lambda scrape: scrape.counted.events_owned),
    "Events polled for all",
)
APART = Metric(
    "livedeck_engine_apart",
    "gauge",
    "Whether the engine is out of reach.",
    (),
    _alone(lambda scrape: None if scrape.counted.is_apart is None else float(scrape.counted.is_apart)),
    "Engine out of reach",
)
WRITES_REFUSED = Metric(
    "livedeck_writes_refused_total",
    "counter",
    "Writes of this collector that the engine refused: another one had taken over.",
    (),
    _alone(lambda scrape: scrape.counted.writes_refused),
    "Writes refused",
)

METRICS = (
    *(BUILD, LINK_UP, ANSWER_AGE, CLOCK_SKEW, ALARMS, ALARM_CHANGES, NOT_EXPORTED),
    *(INFO, ON_AIR, HEALTH, VIDEO, AUDIO, FRAMES, SAMPLE_AGE),
    *(REQUESTS, DURATIONS, NOTIFICATIONS, SPOOL_MESSAGES, SPOOL_AGE, HEARTBEAT, READERS),
    *(EVENTS_OWNED, APART, WRITES_REFUSED),
)
"""Every metric, in the order of the text."""
