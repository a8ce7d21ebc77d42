"""What is known as metrics for Prometheus (scripting.md, "Metrics"). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Any

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

MAX_NAME_LETTERS = 80

BYTE = 8
"""Bits: the base unit of Prometheus is the byte, the platform measures bits."""

Labels = tuple[str, ...]
Sample = tuple[Labels, float | None]


@dataclass(frozen=True, slots=True)
class Scrape:
    """What one text is made of. `exported`: the events that have series. `turns`: what alarms did so far, counted."""

    snapshot: Snapshot
    render_time: RenderTime
    version: str
    turns: Mapping[str, int]
    exported: tuple[EventState, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `name` carries its unit; `kind`: `gauge` or `counter`. `title`: in a dashboard; `unit`: as Grafana has
    it. `read`: its samples, in the order of `labels`; None: not known, which is no sample.
    """

    name: str
    kind: str
    help: str
    labels: Labels
    read: Callable[[Scrape], Iterable[Sample]] = field(repr=False)
    title: str = ""
    unit: str = "short"


def metrics_text(
    snapshot: Snapshot, render_time: RenderTime, version: str, turns: Mapping[str, int] = MappingProxyType({})
) -> str:
    """Every metric with its help and its type, in the text format 0.0.4. `turns`: see `count_turns`."""
    due = sorted(_due(snapshot, render_time), key=lambda state: not state.phase.tally.expects_signal)
    exported, left_out = tuple(due[:MAX_EVENTS]), max(0, len(due) - MAX_EVENTS)
    scrape = Scrape(snapshot, render_time, version, turns, exported, left_out)
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
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in metric.read(scrape):
        if value is not None and isfinite(value):
            pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in zip(metric.labels, labels, strict=True))
            yield f"{metric.name}{f'{{{pairs}}}' if pairs else ''} {value:.12g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _alone(read: Callable[[Scrape], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    return lambda scrape: [((), read(scrape))]


def _of_events(read: Callable[[EventState, RenderTime], float | None]) -> Callable[[Scrape], Iterable[Sample]]:
    """Of each event; nothing of one that cannot be believed."""

    def samples(scrape: Scrape) -> Iterator[Sample]:
        for state in scrape.exported:
            if not events.is_doubtful(state, scrape.render_time):
                yield (state.id,), read(state, scrape.render_time)

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
    for state in scrape.exported:
        newest = state.qos.readings.last
        age = None if newest is None else max(0.0, scrape.render_time.server.timestamp() - newest.time)
        yield (state.id,), age


def _names(scrape: Scrape) -> Iterator[Sample]:
    for state in scrape.exported:
        yield (state.id, masked_line(state.event.name or state.id, MAX_NAME_LETTERS)), 1


def _alarms(scrape: Scrape) -> Iterator[Sample]:
    every = (*scrape.snapshot.alarms, *scrape.snapshot.quiet)
    counts = Counter((alarm.kind, alarm.severity.value, alarm.state.value) for alarm in every)
    yield from sorted(counts.items())


def _answer_age(scrape: Scrape) -> float | None:
    as_of = scrape.snapshot.link.as_of
    return None if as_of is None else max(0.0, scrape.render_time.seconds_since(as_of))


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
    lambda scrape: [((turn,), count) for turn, count in sorted(scrape.turns.items())],
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
    "livedeck_build_info", "gauge", "The program that says so.", ("version",), lambda scrape: [((scrape.version,), 1)]
)

METRICS = (
    *(BUILD, LINK_UP, ANSWER_AGE, CLOCK_SKEW, ALARMS, ALARM_CHANGES, NOT_EXPORTED),
    *(INFO, ON_AIR, HEALTH, VIDEO, AUDIO, FRAMES, SAMPLE_AGE),
)
"""Every metric, in the order of the text."""
