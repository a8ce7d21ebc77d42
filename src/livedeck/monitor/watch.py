"""What is known of one event, and how it looks at a moment. Pure: knowledge in, `EventState` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from livedeck.client import ApiError, Event, QosSamples
from livedeck.monitor import freshness, pattern, series
from livedeck.monitor.connection import server_time
from livedeck.monitor.detection import MOST, Detection, detect, episodes
from livedeck.monitor.facts import (
    Episode,
    EventState,
    Finding,
    Freshness,
    Grade,
    Health,
    IngestState,
    Link,
    LinkState,
    Pattern,
    Phase,
    QosState,
    Tally,
    Verdict,
)
from livedeck.monitor.health import Trust, assess
from livedeck.monitor.phase import Evidence, derive
from livedeck.monitor.plan import qos_interval
from livedeck.monitor.readings import Readings
from livedeck.monitor.restreams import RESTREAM_DOWN, Restreams, followed, of_restreams, told
from livedeck.monitor.thresholds import Cadence, Thresholds
from livedeck.slices import Slices

_NEVER_JUDGED = frozenset({Tally.DRAFT, Tally.COMPLETED})


class Instant(NamedTuple):
    """One instant on both clocks of this machine: the wall's, and the one that never runs backwards (s)."""

    wall: datetime
    tick: float


@dataclass(frozen=True, slots=True)
class Watch:
    """One event: the platform's object and when it came, its samples and when they came, and why not the last time.

    `failed`: the first failure since the last good answer. `ahead`: samples of that answer dated in the future, which
    were left out. `empty`: the last good answer without samples; `frozen`: samples come, their time stands still.
    `cadence` (s), `run` (epoch s, server clock: first sample of the present run) and `detection` are made once for
    each answer. `past`: what was recorded of the stream before the deck started, until the first answer.
    """

    event: Event
    listed: Instant
    readings: Readings = field(default_factory=Readings)
    answered: Instant | None = None
    cadence: float | None = None
    run: float | None = None
    error: str = ""
    failed: Instant | None = None
    ahead: int = 0
    empty: Instant | None = None
    frozen: bool = False
    detection: Detection = field(default_factory=Detection)
    restreams: Restreams = field(default_factory=Restreams)
    past: Readings = field(default_factory=Readings)


def renewed(
    known: Mapping[str, Watch],
    events: Iterable[Event],
    link: Link,
    moment: Instant,
    thresholds: Callable[[str], Thresholds],
) -> dict[str, Watch]:
    """The watches after an event list: what left it is forgotten, and a new stream begins with no samples.

    `thresholds`: by event id.
    """
    watches = (_renew(known.get(event.id), event, moment) for event in events)
    return {watch.event.id: _relayed(watch, link, thresholds(watch.event.id)) for watch in watches}


def _renew(watch: Watch | None, event: Event, moment: Instant) -> Watch:
    if watch is None or _stream(watch.event) != _stream(event):
        return Watch(event, moment)
    return replace(watch, event=event, listed=moment)


def _stream(event: Event) -> str | None:
    return event.stream.id if event.stream else None


def heard(
    watch: Watch, brought: QosSamples | ApiError, link: Link, moment: Instant, thresholds: Thresholds
) -> Slices[Watch]:
    """The watch after a QoS answer; after a failure all stays but `error` and since when it fails.

    In slices: an hour of samples takes a tenth of a second to judge.
    """
    if isinstance(brought, ApiError):
        return replace(watch, error=str(brought), failed=watch.failed or moment)
    until = server_time(link, moment.wall).timestamp() + thresholds.ahead
    watch = replace(watch, answered=moment, error="", failed=None, ahead=series.later(brought, until))
    readings = series.gather(watch.readings, brought, until=until)
    if not len(readings):
        return replace(watch, empty=moment)
    if len(watch.past):
        gap = freshness.late_limit(series.cadence(readings), thresholds)
        readings, watch = series.preceded(watch.past, readings, gap), replace(watch, past=Readings())
    if readings is not watch.readings:
        watch = yield from _more(watch, readings, series.stands_still(brought, watch.readings), thresholds)
    return _relayed(watch, link, thresholds)


def recalled(watch: Watch, past: Readings) -> Watch:
    """The watch of a deck that starts again, with what it recorded before. It counts from the first answer on, and
    where that goes on from it: what happened unseen is not known."""
    return replace(watch, past=past) if watch.answered is None else watch


def _more(watch: Watch, readings: Readings, frozen: bool, thresholds: Thresholds) -> Slices[Watch]:
    cadence = series.cadence(readings)
    run = series.run_start(readings, freshness.late_limit(cadence, thresholds))
    detection = yield from detect(watch.detection, readings, thresholds)
    return replace(watch, readings=readings, cadence=cadence, run=run, frozen=frozen, detection=detection)


def _relayed(watch: Watch, link: Link, thresholds: Thresholds) -> Watch:
    """Its restreams, as they were last listed."""
    if not watch.event.restreams and not watch.restreams.spells:
        return watch
    listed = server_time(link, watch.listed.wall)
    phase = derive(watch.event, _evidence(watch, link), listed, thresholds)
    well = phase.tally is Tally.ON_AIR and phase.ingest.state is IngestState.RECEIVING
    on_air = (watch.run or watch.readings.time[0]) if well else None
    return replace(watch, restreams=followed(watch.restreams, watch.event, listed.timestamp(), on_air, thresholds))


def look(
    watch: Watch, link: Link, moment: Instant, last: EventState | None, *, thresholds: Thresholds, cadence: Cadence
) -> EventState:
    """The event at that moment. `last`: how it looked before; its verdict is kept where nothing it rests on changed."""
    now = server_time(link, moment.wall)
    phase = derive(watch.event, _evidence(watch, link), now, thresholds)
    interval = qos_interval(watch.event, phase, now, cadence)
    answer = freshness.of_answer(_age(watch.answered, moment), interval or cadence.qos, thresholds)
    samples = _of_samples(watch, now, thresholds)
    qos = _qos(watch, freshness.worst(answer, samples), asked=interval is not None)
    trust = _trust(watch, answer, samples, link, qos)
    besides = of_restreams(watch.restreams) if phase.tally.owes_bits else ()
    dark = _in_the_dark(watch, link, moment, thresholds)
    if dark:
        verdict = Verdict(Health(grade=Grade.NONE if phase.tally in _NEVER_JUDGED else Grade.STALE))
    elif last and _same_case(last, phase, qos, besides):
        verdict = last.verdict
    else:
        verdict = assess(watch.detection, phase, trust, now, thresholds=thresholds, besides=besides)
    doubtful = dark or (interval is not None and trust.freshness is Freshness.STALE)
    if last and last.verdict is verdict:
        faults, shown = last.episodes, last.pattern
    else:
        faults = _episodes(watch)
        shown = pattern.of(phase, qos.readings, verdict, thresholds) if faults or verdict.findings else Pattern.NONE
    return EventState(watch.event, watch.listed.wall, phase, qos, verdict, doubtful, faults, shown)


def _episodes(watch: Watch) -> tuple[Episode, ...]:
    faults = (*episodes(watch.detection), *told(watch.restreams))
    return tuple(sorted(faults, key=lambda one: (one.since, one.kind, one.target))[-MOST:])


def _trust(watch: Watch, answer: Freshness, samples: Freshness, link: Link, qos: QosState) -> Trust:
    empty = server_time(link, watch.empty.wall) if watch.empty else None
    error = watch.error or ("new samples come, their time stands still" if watch.frozen else "")
    return Trust(_believed(answer, samples, watch), _told(watch, link), error, qos.ahead, empty)


def _qos(watch: Watch, fresh: Freshness, *, asked: bool) -> QosState:
    return QosState(
        readings=watch.readings,
        as_of=watch.answered.wall if watch.answered else None,
        freshness=fresh,
        cadence=watch.cadence,
        error=watch.error,
        ahead=watch.ahead if asked else 0,
        failed=watch.failed.wall if watch.failed else None,
    )


def _told(watch: Watch, link: Link) -> datetime | None:
    """The last good answer with news, or the first failure where there was none (server time)."""
    if watch.frozen and watch.readings.last:
        return datetime.fromtimestamp(watch.readings.last.time, UTC)
    then = watch.answered or watch.failed
    return server_time(link, then.wall) if then else None


def _age(then: Instant | None, moment: Instant) -> float | None:
    return moment.tick - then.tick if then else None


def _evidence(watch: Watch, link: Link) -> Evidence | None:
    if watch.answered is None:
        return None
    newest = watch.readings.last
    return Evidence(
        as_of=server_time(link, watch.answered.wall),
        newest=datetime.fromtimestamp(newest.time, UTC) if newest else None,
        first=None if watch.run is None else datetime.fromtimestamp(watch.run, UTC),
        cadence=watch.cadence,
        frozen=watch.frozen,
    )


def _of_samples(watch: Watch, now: datetime, thresholds: Thresholds) -> Freshness:
    """An answer that held no samples has none that could be old."""
    newest = watch.readings.last
    if newest is None:
        return Freshness.FRESH
    return freshness.of_samples(now.timestamp() - newest.time, watch.cadence, thresholds)


def _in_the_dark(watch: Watch, link: Link, moment: Instant, thresholds: Thresholds) -> bool:
    """Whether the event itself may have changed unseen."""
    unlisted = freshness.of_answer(_age(watch.listed, moment), link.interval, thresholds)
    return link.state is LinkState.BLIND or unlisted is Freshness.STALE


def _believed(answer: Freshness, samples: Freshness, watch: Watch) -> Freshness:
    """For a verdict, samples that stopped are the phase's business; only our own failing to ask withholds it.

    A time that stands still says nothing of now, though the encoder may send.
    """
    if watch.frozen and samples is not Freshness.FRESH:
        return Freshness.STALE
    if answer is Freshness.STALE or (answer is Freshness.NEVER and watch.error):
        return Freshness.STALE
    return Freshness.FRESH if samples is Freshness.FRESH else Freshness.LATE


def _same_case(last: EventState, phase: Phase, qos: QosState, besides: tuple[Finding, ...]) -> bool:
    """Whether the verdict rests on the same samples; of a receiving stream it rests on nothing else."""
    before, receiving = last.phase, IngestState.RECEIVING
    return (
        before.ingest.state is receiving is phase.ingest.state
        and before.tally is phase.tally
        and last.qos.readings is qos.readings
        and last.qos.freshness is qos.freshness
        and last.qos.ahead == qos.ahead
        and last.verdict.health.grade is not Grade.STALE
        and besides == tuple(one for one in last.verdict.findings if one.kind == RESTREAM_DOWN)
    )
