"""Measure how well streams are judged: false alarms an hour, missed faults, delays, and the cost of a sample.

Run as `python -m bench.detection [SEEDS [FIRST [FAMILY...]]]` in `tests`: prints a table, ten minutes for ten seeds.
Drives the monitor from the answers to the alarms, with neither network nor clock.
"""

from __future__ import annotations

import asyncio
import sys
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from math import inf
from statistics import median

from bench.families import CLEAN, FAULTS, IMPOSSIBLE, LIMITS, Chance, Show, Source
from livedeck.client import Event, QosSamples
from livedeck.monitor import Alarm, AlarmTransition, Cadence, Limits, Readings, Severity, Thresholds
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLL, LISTED = 5.0, 15.0
"""Seconds between two rounds, and between two lists."""

ANSWERED = 150
"""Maximum number of samples in an answer."""

SPLIT = 12.0
"""Seconds that the slower of two back ends lags behind."""

LOUD = frozenset({Severity.WARNING, Severity.CRITICAL})


@dataclass(slots=True)
class Told:
    """Alarm when it was announced: seconds of the stream, and the index of its event (-1: the deck itself).

    `ended_as`: its severity at its end.
    """

    at: float
    place: int
    kind: str
    severity: Severity
    ended_as: str = ""


@dataclass(slots=True)
class Run:
    """Alarms of a show. `hours`: stream-hours while the deck was open."""

    told: list[Told] = field(default_factory=list)
    hours: float = 0.0


class Deck:
    """Judging half of a monitor: it takes replies and returns the present alarms."""

    def __init__(self, show: Show, thresholds: Thresholds | None = None, cadence: Cadence | None = None) -> None:
        base = thresholds or Thresholds()
        self._show = show
        self._events = tuple(_event(place, source) for place, source in enumerate(show.sources))
        profiles = {event.id: source.profile for event, source in zip(self._events, show.sources, strict=True)}
        limits = Limits(base, events={key: {"content": name} for key, name in profiles.items() if name})
        self._world = WorldTracker((), _moment(show.opened), limits, cadence or Cadence())
        self._engine = AlarmEngine(base)
        self.run = Run()

    async def play(self) -> Run:
        """Play everything from the opening to the end."""
        show, now = self._show, self._show.opened
        rounds = 0
        while now < show.lasts:
            await self._round(now, rounds)
            now, rounds = now + POLL, rounds + 1
        self.run.hours = len(show.sources) * (show.lasts - show.opened) / 3600
        return self.run

    async def _round(self, now: float, rounds: int) -> None:
        at, results = _moment(now), []
        if now - self._show.opened >= LISTED * (rounds // 3) and rounds % 3 == 0:
            results.append(PollResult(LIST, at.wall, at.monotonic, EventList(self._events)))
        for result in results:
            await self._world.ingest(result)
        for event, source in zip(self._events, self._show.sources, strict=True):
            seen = now - SPLIT if self._show.is_split and rounds % 2 else now
            answer = PollResult(event.id, at.wall, at.monotonic, _answer(source, seen))
            results.append(answer)
            await self._world.ingest(answer)
        await self._world.evaluate_all(tuple(results), at, LinkMeasure())
        changes = self._engine.step(MonitorState(self._world.states, self._world.status, at.wall)).log
        for change in changes:
            alarm = change.alarm
            if change.transition in {AlarmTransition.RETURNED, AlarmTransition.CLEARED}:
                self._end(alarm)
            is_raised = change.transition in {AlarmTransition.RAISED, AlarmTransition.RELEASED}
            is_louder = change.transition is AlarmTransition.SEVERITY and alarm.active
            if alarm.severity in LOUD and (is_raised or is_louder):
                place = int(alarm.event_id) if alarm.event_id else -1
                self.run.told.append(Told(now, place, alarm.kind, alarm.severity))

    def _end(self, alarm: Alarm) -> None:
        for told in self.run.told:
            if told.kind == alarm.kind and str(told.place) == alarm.event_id and not told.ended_as:
                told.ended_as = alarm.severity.value


def _event(place: int, source: Source) -> Event:
    stream = {"id": f"s{place}", "status": "live", "started_at": START.isoformat(), "finished_at": None}
    return Event.model_validate(
        {
            "id": str(place),
            "name": f"event {place}",
            "type": "one-time",
            "reconnect_window": 600,
            "video": {"presets": list(source.presets)},
            "stream": stream,
        }
    )


def _moment(seconds: float) -> ClockReading:
    return ClockReading(START + timedelta(seconds=seconds), seconds)


def _answer(source: Source, now: float) -> QosSamples:
    """Return the newest samples that the platform has at `now`."""
    stop = bisect_right(source.rows, now, key=lambda row: row.time)
    begin = max(0, stop - ANSWERED - 40)
    rows = [row for row, at in zip(source.rows[begin:stop], source.arrivals[begin:stop], strict=True) if at <= now]
    rows = rows[-ANSWERED:]
    base = START.timestamp()
    return QosSamples(
        array("d", [round(base + row.time, 3) for row in rows]),
        array("d", [float(round(row.video or 0.0)) for row in rows]),
        array("d", [float(round(row.audio or 0.0)) for row in rows]),
        array("d", [round(row.fps or 0.0, 2) for row in rows]),
        array("q", [row.status or 0 for row in rows]),
    )


def fold_cost() -> float:
    """Return the microseconds of processor time for a new sample, with one show of each clean family."""
    samples, rules = 0, StreamRules(Thresholds(), Thresholds().floor(("1080p",)))
    begun = time.process_time()
    for name in CLEAN:
        source = _make(CLEAN, name, 1).sources[0]
        made = time.process_time()
        answers = [_answer(source, now) for now in range(300, 3600, 300)]
        merged = list(accumulate(answers, merge, initial=Readings()))
        begun += time.process_time() - made
        analysis = SignalAnalysis()
        for readings in merged[1:]:
            analysis = detect(analysis, readings, rules)
        samples += len(merged[-1])
    return 1e6 * (time.process_time() - begun) / samples


def live_cost(new: int) -> float:
    """Return the microseconds of processor time for a sample of a stream on air: the least of many short runs.

    `new`: number of new samples in an answer, which repeats the ones before.
    """
    source, rules = _make(CLEAN, "cbr", 1).sources[0], StreamRules(Thresholds(), Thresholds().floor(("1080p",)))
    answers = [_answer(source, source.rows[400 + new * count].time + 3.0) for count in range(31)]
    begun = merge(Readings(), answers[0])
    analysis, least = detect(SignalAnalysis(), begun, rules), inf
    for _ in range(50):
        readings, after = begun, analysis
        start = time.process_time()
        for answer in answers[1:]:
            readings = merge(readings, answer)
            after = detect(after, readings, rules)
        least = min(least, (time.process_time() - start) / (len(readings) - len(begun)))
    return 1e6 * least


def play(show: Show) -> Run:
    """Return the alarms that a deck raises in that show."""
    return asyncio.run(Deck(show).play())


@dataclass(slots=True)
class Score:
    """Score of one family over all its seeds. `early`: alarms of its kinds before the fault began."""

    name: str
    false: int = 0
    critical: int = 0
    hours: float = 0.0
    early: int = 0
    delays: list[float] = field(default_factory=list)
    missed: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    def add_clean(self, show: Show, run: Run) -> None:
        """Count the false alarms of a clean show."""
        for told in run.told:
            if told.place not in show.struck:
                self.false += 1
                self.critical += told.severity is Severity.CRITICAL
                self.kinds[told.kind] = self.kinds.get(told.kind, 0) + 1
        self.hours += run.hours

    def add_fault(self, show: Show, run: Run) -> None:
        """Count the delay of a fault, or that it was missed."""
        onset = show.onset or 0.0
        times = [told.at for told in run.told if told.kind in show.kinds and told.at >= onset]
        self.early += sum(told.at < onset and told.kind in show.kinds for told in run.told)
        if times:
            self.delays.append(times[0] - onset)
        else:
            self.missed += 1

    @property
    def median(self) -> float:
        """Seconds to the alarm, the median; inf if the fault was never found."""
        return median(self.delays) if self.delays else inf

    @property
    def p95(self) -> float:
        """Seconds to the alarm in 95 of 100 runs; inf if the fault was never found."""
        return sorted(self.delays)[int(0.95 * (len(self.delays) - 1))] if self.delays else inf


@dataclass(slots=True)
class Table:
    """Scores of every family."""

    clean: list[Score] = field(default_factory=list)
    faults: list[Score] = field(default_factory=list)

    @property
    def hours(self) -> float:
        """Hours of clean streams."""
        return sum(score.hours for score in self.clean)

    @property
    def false_rate(self) -> float:
        """False alarms a stream-hour."""
        return sum(score.false for score in self.clean) / self.hours

    @property
    def critical_rate(self) -> float:
        """Critical false alarms a stream-hour."""
        return sum(score.critical for score in self.clean) / self.hours

    def shortcomings(self) -> list[str]:
        """Return the faults that are missed or found too late."""
        found = [f"{score.name}: missed {score.missed}" for score in self.faults if score.missed]
        found += [
            f"{score.name}: {score.median:.0f} s, {LIMITS[score.name]:.0f} and 5 are allowed"
            for score in self.faults
            if score.name in LIMITS and score.delays and score.median > LIMITS[score.name] + 5
        ]
        return [text for text in found if text.split(":")[0] not in IMPOSSIBLE]


def measure(
    clean: Iterable[str], faults: Iterable[str], seeds: Iterable[int], note: Callable[[str], None] = lambda _: None
) -> Table:
    """Return the table of those families over those seeds."""
    table, seeds = Table(), list(seeds)
    for names, makers, scores, add in (
        (clean, CLEAN, table.clean, Score.add_clean),
        (faults, FAULTS, table.faults, Score.add_fault),
    ):
        for name in names:
            score = Score(name)
            for seed in seeds:
                show = _make(makers, name, seed)
                run = play(show)
                add(score, show, run)
            scores.append(score)
            note(_line(score))
    return table


def _make(makers: Mapping[str, Callable[[Chance], Show]], name: str, seed: int) -> Show:
    return makers[name](Chance(name, seed))


def _line(score: Score) -> str:
    if score.hours:
        rates = f"{score.false / score.hours:6.2f} {score.critical / score.hours:6.2f}"
        return f"{score.name:26} false/h {rates}   {score.kinds or ''}"
    limit = LIMITS.get(score.name)
    known = "" if limit is None else f"(limit {limit + 5:.0f})"
    missed = f" missed {score.missed}" if score.missed else ""
    early = f" early {score.early}" if score.early else ""
    return f"{score.name:26} delay {score.median:6.0f} / {score.p95:5.0f} s {known}{missed}{early}"


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main(seeds: int = 10, first: int = 1000, names: Iterable[str] = ()) -> None:
    """Print the table."""
    chosen = frozenset(names) or frozenset([*CLEAN, *FAULTS])
    table = measure(
        [name for name in CLEAN if name in chosen],
        [name for name in FAULTS if name in chosen],
        range(first, first + seeds),
        _tell,
    )
    if table.hours:
        rates = f"{table.false_rate:.3f} false alarms, {table.critical_rate:.3f} critical"
        _tell(f"{table.hours:.0f} clean stream-hours: {rates} an hour")
    _tell(f"missed {sum(score.missed for score in table.faults)}, early {sum(score.early for score in table.faults)}")
    _tell("\n".join(table.shortcomings()) or "nothing is missed or late")
    _tell(f"{fold_cost():.0f} us a sample, over {len(CLEAN)} clean families in answers of {ANSWERED}")
    _tell(f"{live_cost(1):.0f} us a live sample at one new in an answer, {live_cost(3):.0f} at three")


if __name__ == "__main__":
    count, begin, *chosen = [*sys.argv[1:], *("10", "1000")[len(sys.argv) - 1 :]]
    main(int(count), int(begin), chosen)
