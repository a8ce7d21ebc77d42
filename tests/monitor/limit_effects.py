"""Stages that show the effect of a changed limit: what a monitor says and asks on them, moment by moment.

`limit_effects.toml` names a stage for half and for double the value of each limit. `python -m monitor.limit_effects
[LIMIT...]` in `tests` looks for the missing ones, stage by stage, and prints their rows; it takes hours for all.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import aclosing, closing, suppress
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

from bench.detection import LISTED, Deck
from bench.families import CLEAN, FAULTS, Chance, Show
from golden.player import TIMEOUT, Clock, Following
from golden.warp import Warp
from livedeck.client import Api
from livedeck.monitor import (
    ActionKind,
    AlarmCommand,
    AlarmKey,
    AlarmRefused,
    BroadcastState,
    Cadence,
    Content,
    Delivery,
    EventState,
    Finding,
    Freshness,
    Ingest,
    IngestState,
    Limits,
    Monitor,
    Phase,
    Picture,
    QosState,
    Reading,
    Readings,
    Severity,
    Snapshot,
    Sound,
    Thresholds,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.detection.detect import StreamRules, detect, episodes
from livedeck.monitor.detection.health import assess
from livedeck.monitor.detection.health import find as findings
from livedeck.monitor.detection.viewers import update
from livedeck.monitor.evidence.ends import Answer, Doubts, EventStanding, Standing
from livedeck.monitor.evidence.own import BEAT, OwnWatch, Pulse
from livedeck.monitor.evidence.witness import Witness, contradiction, witness
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.kinds.viewer import VIEWER_RULES
from livedeck.monitor.polling.playlists import wanted
from livedeck.monitor.signal.analysis import DataQuality, SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.simulator import Simulator, load_scenario, scenario_names
from monitor.alarm_stage import WELL, finding, state
from monitor.probing import moment as second
from monitor.probing import seen
from monitor.stage import NOW, Stage, event, model, samples

T = TypeVar("T")

NEVER = 1e8
"""Value of a limit that is never reached: the rule is off."""

ON = 16.0
"""Value in place of such a limit, so that half and double of it switch the rule on."""


class Rules(NamedTuple):
    """All limits by which a monitor judges and polls."""

    thresholds: Thresholds = Thresholds()
    cadence: Cadence = Cadence()


DEFAULTS = Rules()

Trace = AsyncGenerator[object, None]
"""Everything that a stage shows, moment by moment."""


# Limits


def limits(table: Any = DEFAULTS, path: str = "") -> Iterator[str]:
    """Yield the path of each number in the tables: `low_hold.samples`, `set_fps.0`, `video_curve.score`.

    The ratios of a curve are one limit, and so are its scores, because the points must stay in order.
    """
    for name, value in _items(table):
        if isinstance(value, int | float):
            yield f"{path}{name}"
        elif _is_curve(value):
            yield from (f"{path}{name}.{axis}" for axis in _AXES)
        elif not isinstance(value, str):
            yield from limits(value, f"{path}{name}.")


_AXES = ("ratio", "score")


def _items(table: Any) -> list[tuple[str, Any]]:
    if isinstance(table, Rules):
        return [*_items(table.thresholds), ("cadence", table.cadence)]
    if isinstance(table, tuple):
        return [(str(index), value) for index, value in enumerate(table)]
    assert is_dataclass(table)
    return [(field.name, getattr(table, field.name)) for field in fields(table)]


def _is_curve(value: object) -> bool:
    return isinstance(value, tuple) and isinstance(value[0], tuple)


def changed(path: str, factor: float) -> Rules:
    """Return the rules with that limit times `factor`."""
    if path.startswith("cadence."):
        return Rules(cadence=_changed(Cadence(), path.split(".")[1:], factor))
    return Rules(_changed(Thresholds(), path.split("."), factor))


def _changed(value: Any, path: list[str], factor: float) -> Any:
    if not path:
        if isinstance(value, int):
            return max(1, int(value * factor))
        return (ON if value >= NEVER else value) * factor
    name, rest = path[0], path[1:]
    if _is_curve(value):
        axis = _AXES.index(name)
        return tuple(tuple(v * factor if index == axis else v for index, v in enumerate(point)) for point in value)
    if isinstance(value, tuple):
        index = int(name)
        return (*value[:index], _changed(value[index], rest, factor), *value[index + 1 :])
    return replace(value, **{name: _changed(getattr(value, name), rest, factor)})


# Stages


def _of_event(event: EventState) -> object:
    """Return everything that a screen shows of an event's judgement."""
    assessment, qos = event.assessment, event.qos
    return event.id, event.phase, assessment, event.is_stale, qos.freshness, qos.error, event.episodes, event.pattern


def _of_alarms(engine: AlarmEngine) -> object:
    return [replace(alarm, timeline=()) for _, alarm in sorted(engine.alarms.items())]


_LOOK = 3
"""Samples between two looks at a signal."""

_ON_AIR = Phase(BroadcastState.ON_AIR, NOW, Ingest(IngestState.RECEIVING))


async def _folded(rows: list[Reading], rules: Rules, preset: str) -> Trace:
    """Yield the health and the faults of a signal each few samples."""
    thresholds = rules.thresholds
    stream_rules = StreamRules(thresholds, thresholds.floor((preset,)))
    analysis, known = SignalAnalysis(), Readings()
    for count in range(_LOOK, len(rows), _LOOK):
        known = merge(known, samples(rows[count - _LOOK : count]))
        analysis = detect(analysis, known, stream_rules)
        now = datetime.fromtimestamp(known.time[-1], UTC)
        case = EventCase(analysis, _ON_AIR, DataQuality(Freshness.FRESH, now), now)
        yield assess(case, thresholds), episodes(analysis)


async def fold(name: str, rules: Rules) -> Trace:
    """Judge the signal of a show of the bench, around its fault."""
    show = {**CLEAN, **FAULTS}[name](Chance(name, 0))
    source, onset, base = show.sources[0], show.onset or 600.0, NOW.timestamp()
    until = min(onset + 600, show.lasts)
    rows = [row._replace(time=base + row.time) for row in source.rows if onset - 700 <= row.time <= until]
    thresholds = replace(rules.thresholds, content=Content(source.profile or "show"))
    async for moment in _folded(rows, rules._replace(thresholds=thresholds), source.presets[0]):
        yield moment


async def chances(name: str, rules: Rules) -> Trace:
    """Judge a signal that changes by chance. `name`: seed, preset and seconds between samples, as in `3 1080p 2`."""
    seed, preset, cadence = name.split()
    rows = list(_rows_by_chance(Random(int(seed)), float(cadence)))
    async for moment in _folded(rows, rules, preset):
        yield moment


_SHARES = (0.97, 0.9, 0.84, 0.78, 0.72, 0.65, 0.45, 0.2, 0.005, 0.0, 1.3)
_FRAMES = (0.99, 0.965, 0.93, 0.85, 0.7, 0.4, 0.01, 0.0)
_SOUNDS = (128e3, 60e3, 40e3, 20e3, 0.0, 400e3)
_STATUSES = ((0, 0, 5), (0, 3), (0, 0, 0, 4), (0, 5, 0, 0, 0, 0), (5, 0), (3, 4, 0))


def _rows_by_chance(random: Random, cadence: float) -> Iterator[Reading]:
    """Yield calm stretches and faulty ones in turn: of bits, frames, sound, statuses, or all samples."""
    time, usual, frames = NOW.timestamp(), random.choice([1.2e6, 4.5e6]), random.choice([25.0, 30.0, 50.0])
    noise = random.choice([0.012, 0.06])
    for stretch in range(26):
        fault = random.choice(["", "bits", "frames", "sound", "statuses", "both", "away"]) if stretch % 2 else ""
        share, slow, sound = random.choice(_SHARES), random.choice(_FRAMES), random.choice(_SOUNDS)
        statuses = random.choice(_STATUSES) if fault == "statuses" else (0,)
        until = time + random.choice([5, 9, 14, 22, 40, 70, 200] if stretch % 2 else [90, 130, 330])
        while time < until:
            if fault != "away":
                yield Reading(
                    round(time, 3),
                    round(usual * random.gauss(1, noise) * (share if fault in {"bits", "both"} else 1.0)),
                    round((sound if fault == "sound" else 128e3) * random.gauss(1, 0.008)),
                    round(frames * (slow if fault in {"frames", "both"} else 1.0), 2),
                    random.choice(statuses),
                )
            time += cadence


class _Judge(Deck):
    """A deck of the bench that judges by `rules`."""

    def __init__(self, show: Show, rules: Rules) -> None:
        super().__init__(show, rules.thresholds, rules.cadence)
        self.show = show

    async def trace(self) -> Trace:
        """Yield everything that is shown after each round."""
        opened, now = self.show.opened, self.show.opened
        while now < self.show.lasts:
            await self._round(now, 3 * round((now - opened) / LISTED))
            yield [*map(_of_event, self._world.states)], _of_alarms(self._engine), self._world.status
            now += 10.0


async def family(name: str, rules: Rules) -> Trace:
    """Judge the answers of a show of the bench, for half an hour at most."""
    show = {**CLEAN, **FAULTS}[name](Chance(name, 0))
    async for moment in _Judge(replace(show, lasts=min(show.lasts, show.opened + 1800.0)), rules).trace():
        yield moment


async def play(name: str, rules: Rules) -> Trace:
    """Watch a scenario of the simulator. Yields the snapshots, and the paths that are requested."""
    clock, chance = Clock(), Random(1)
    asked: list[tuple[float, str]] = []
    with closing(Simulator(seed=1, clock=Following(clock), scenario=name)) as simulator:

        async def app(scope: Any, receive: Any, send: Any) -> None:
            asked.append((round(clock.monotonic(), 3), scope["path"]))
            async with asyncio.timeout(TIMEOUT):
                await simulator.app(scope, receive, send)

        clocks: dict[str, Any] = {"now": clock.now, "timer": clock.monotonic, "jitter": chance.random, "retry": 0.0}
        async with Api(base_url="http://127.0.0.1", token=simulator.token, mount=app, **clocks) as api:
            monitor = Monitor(api, clock, limits=Limits(rules.thresholds), cadence=rules.cadence, random=chance)
            async with aclosing(monitor.snapshots()) as snapshots:
                async for snapshot in snapshots:
                    yield round(clock.monotonic(), 3), _of_snapshot(snapshot), tuple(asked)
                    asked.clear()
                    if clock.monotonic() >= load_scenario(name).lasts:
                        break


class _Troubled(Stage):
    """A platform that refuses all calls for a minute, each 14th of them for five, or the samples of some events."""

    def __init__(self, clock: Clock, name: str) -> None:
        word, _, number = name.partition(" ")
        super().__init__(clock, *(event(f"event-{each}") for each in range(int(number))))
        self._word, self._count = word, 0

    def _answer(self, what: str) -> tuple[int, dict[str, str], Any]:
        at, self._count = self.clock.monotonic(), self._count + 1
        is_refused = (self._word == "refused" and at < _TROUBLED + 60) or (self._word == "few" and not self._count % 14)
        if at >= _TROUBLED and is_refused:
            return 429, {}, {"error": {"code": 429429, "message": "too many requests"}}
        if at >= _TROUBLED and self._word in {"two", "three"}:
            self.broken = {f"event-{each}" for each in range(2 if self._word == "two" else 3)}
        return super()._answer(what)


_TROUBLED = 30.0


_TROUBLES = ("refused 6", "few 6", "two 12", "two 6", "three 40")


async def trouble(name: str, rules: Rules) -> Trace:
    """Watch a platform in trouble for five minutes. `name`: the trouble, and the number of events."""
    clock = Clock()
    platform = _Troubled(clock, name)
    clocks: dict[str, Any] = {"now": clock.now, "timer": clock.monotonic, "retry": 0.0}
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", mount=platform, **clocks) as api:
        monitor = Monitor(api, clock, limits=Limits(rules.thresholds), cadence=rules.cadence, random=Random(1))
        async with aclosing(monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                yield round(clock.monotonic(), 3), _of_snapshot(snapshot)
                if clock.monotonic() >= _TROUBLED + 300:
                    break


def _of_snapshot(snapshot: Snapshot) -> object:
    alarms = [(alarm.key, alarm.state, alarm.severity, alarm.stage) for alarm in (*snapshot.alarms, *snapshot.quiet)]
    return [*map(_of_event, snapshot.events)], alarms, snapshot.link, snapshot.flood, snapshot.ended


def _late(since: datetime) -> QosState:
    """Return the samples of an event whose newest is of `since`, and overdue."""
    readings = merge(Readings(), samples([Reading(since.timestamp(), 4e6, 128e3, 30.0, 0)]))
    return QosState(readings, is_overdue=True)


async def persons(_name: str, rules: Rules) -> Trace:
    """Step alarms of eight events that come and go by chance for forty minutes, while persons act on them."""
    random, engine, now = Random(4), AlarmEngine(rules.thresholds), NOW
    names = [f"event-{number}" for number in range(8)]
    kinds = ("BLACKOUT", "PACKET_LOSS", "FPS_LOW", "VIDEO_LOW", "AUDIO_LOW", "RECONNECTING", "FPS_COLLAPSE")
    present: dict[tuple[str, str], Finding] = {}
    for step in range(500):
        now += timedelta(seconds=5)
        often = 0.02 if step % 200 < 60 else 0.001
        for key in [(name, kind) for name in names for kind in kinds if random.random() < often]:
            if present.pop(key, None) is None:
                severity = random.choice([Severity.WARNING, Severity.WARNING, Severity.CRITICAL])
                present[key] = finding(key[1], severity, since=now - timedelta(seconds=random.choice([1, 8, 20, 45])))
        if step % 150 == 40:
            for name in names[: random.choice([2, 3, 4, 5, 6, 8])]:
                since = now - timedelta(seconds=random.choice([0, 5, 20, 40]))
                present[name, "together"] = finding("RECONNECTING", Severity.CRITICAL, since=since)
        if step % 150 == 70:
            present = {key: fault for key, fault in present.items() if key[1] != "together"}
        states = [state(*(fault for (of, _), fault in present.items() if of == name), name=name) for name in names]
        if 40 <= step % 150 < 48:  # the others are late since the moment at which some fail together
            since = now - timedelta(seconds=5 * (step % 150 - 39))
            failing = {name for name, kind in present if kind == "together"}
            states = [row if row.id in failing else replace(row, qos=_late(since)) for row in states]
        _, bells, _ = engine.step(MonitorState(tuple(states), replace(WELL, as_of=now), now))
        for name in names:
            alarm = AlarmKey(name, random.choice(kinds))
            if random.random() < 0.03 and alarm in engine.alarms:
                kind = random.choice([ActionKind.ACKNOWLEDGE, ActionKind.SHELVE, ActionKind.UNSHELVE])
                command = AlarmCommand(alarm, kind, minutes=random.choice([5, 90, None]), uid=f"{name} {step}")
                with suppress(AlarmRefused):
                    engine.act(command, now, on_air=True)
        yield (
            _of_alarms(engine),
            bells,
            engine.is_flood(now),
            engine.seconds_to_announcement(now),
            len(engine.inactive(now)),
        )


async def own(_name: str, rules: Rules) -> Trace:
    """Watch a process that is late by chance, and that makes some of its polls late, for two hours."""
    random, watch, now = Random(5), OwnWatch(), 0.0
    for stretch in range(60):
        late = random.choice([0.0, 0.3, 0.7, 1.5, 3.0]) if stretch % 3 else 0.0
        missed = random.choice([0.0, 0.15, 0.3, 0.6]) if stretch % 3 else 0.0
        until = now + random.choice([20, 70, 200])
        while now < until:
            due = now + BEAT
            now = due + (random.choice([3.0, 4.0, 7.0, 12.0]) if random.random() < 0.002 else late)
            at = NOW + timedelta(seconds=now)
            stop = watch.beat(Pulse(at, now, now, 0.0, 0.0), due, rules.thresholds)
            for _ in range(3):
                delay = 9.0 if random.random() < missed else 0.0
                watch.ask(now - delay, now, now, rules.cadence.qos)
            yield stop, watch.judge(at, now, rules.thresholds, 9), watch.capacity


async def viewers(_name: str, rules: Rules) -> Trace:
    """Judge the rounds of a probe that change by chance for three hours, beside samples and lists that are missing."""
    random, doubts, viewing, limits = Random(6), Doubts(), None, rules.thresholds
    kinds = [model(latency_mode=mode) for mode in ("standard", "reduced")]
    now, listed, missed, rounds = 0.0, 0, 0, 0
    while now < 10_000:
        fault = _fault_by_chance(random)
        of, begun, every = random.choice(kinds), now, random.choice([4.0, 10.0])
        for _ in range(random.choice([1, 2, 3, 5, 9, 14])):
            now, rounds = now + every, rounds + 1
            listed, missed = listed + 5, missed + (random.choice([0, 0, 1, 2, 3]) if fault == {} else 0)
            head = random.choice([None, second(now - 3.0), second(now - 8.0)])
            counts = {"listed": listed, "missed": missed, "rounds": rounds, "advances": rounds, "interval": every}
            newest = seen(now, begun=begun, head_time=head, **counts, **fault)
            viewing = update(viewing, newest, of, 0.0, limits)
            case = EventCase(SignalAnalysis(), _ON_AIR, DataQuality(), second(now), viewer=viewing)
            found = [each for kind in VIEWER_RULES for each in findings(ALARM_KINDS[kind], case, limits)]
            last = NOW.timestamp() + now
            yield found, [witness(viewing, last - back, second(now + back / 2), limits) for back in range(9, 60, 3)]
    over = replace(state(), viewer=seen(0))
    for tick in range(200):
        doubts.take_list((), {"one": EventStanding(Standing.SENDING)}, tick, tick)
        doubts.take_answer("one", Answer.NOT_FOUND, tick)
        doubts.take_witnesses({"one": Witness.LIVE}, limits.viewer_unlisted)
        ended = replace(over, phase=Phase(BroadcastState.COMPLETED, second(-tick)))
        yield doubts.take_gone(tick), contradiction(ended, NOW, limits), [*wanted([ended], NOW, limits)]


def _fault_by_chance(random: Random) -> dict[str, Any]:
    """Return what a probe finds wrong, or nothing."""
    return random.choice(
        [
            {},
            {},
            {"delivery": random.choice([Delivery.GONE, Delivery.STALLED])},
            {"ratio": random.choice([0.3, 0.6, 1.2, 3.0])},
            {"rungs": (360,)},
            {"latency": random.choice([6.0, 13.0, 18.0, 25.0, 45.0, 90.0])},
            {"picture": random.choice([Picture.BLACK, Picture.STILL])},
            {"sound": Sound.SILENT},
        ]
    )


ROWS: Mapping[str, tuple[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Path of a limit -> the stages that show half and double of it, or in brackets why there is none."""

NOT_SHOWN = "(no stage shows it yet)"

FACTORS: Mapping[str, float] = {"half": 0.5, "double": 2.0}

STAGES: dict[str, Callable[[str, Rules], Trace]] = {
    "chances": chances,
    "family": family,
    "fold": fold,
    "own": own,
    "persons": persons,
    "play": play,
    "trouble": trouble,
    "viewers": viewers,
}
"""First word of a stage -> the function that plays it by rules."""


def _trace(stage: str, rules: Rules) -> Trace:
    word, _, name = stage.partition(" ")
    return STAGES[word](name, rules)


def shown(stage: str) -> list[int]:
    """Return a number for each moment of a stage with the limits as they are by default."""

    async def collect() -> list[int]:
        return [hash(repr(moment)) async for moment in _trace(stage, DEFAULTS)]

    return _run(collect())


def differs(stage: str, rules: Rules, before: list[int]) -> bool:
    """Return whether a stage shows another thing by these rules than `before`."""

    async def compare() -> bool:
        count = 0
        async with aclosing(_trace(stage, rules)) as moments:
            async for moment in moments:
                if count >= len(before) or hash(repr(moment)) != before[count]:
                    return True
                count += 1
        return count != len(before)

    return _run(compare())


def _run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(work)


def every_stage() -> Iterator[str]:
    """Yield the stages to look through, the cheap ones first."""
    yield from (f"fold {name}" for name in (*FAULTS, *CLEAN))
    for seed in range(20):
        yield from (f"chances {seed} {preset} {cadence}" for preset in ("1080p", "720p") for cadence in (1, 2, 5, 12))
    yield "persons"
    yield from (f"trouble {name}" for name in _TROUBLES)
    yield "own"
    yield "viewers"
    yield from (f"family {name}" for name in (*FAULTS, *CLEAN))
    yield from (f"play {name}" for name in scenario_names())


def find(path: str, word: str, known: dict[str, list[int]]) -> str:
    """Return a stage that shows that value of a limit, else NOT_SHOWN. `known`: moments of the stages played so far."""
    rules = changed(path, FACTORS[word])
    for stage in every_stage():
        before = known.get(stage) or known.setdefault(stage, shown(stage))
        if differs(stage, rules, before):
            return stage
    return NOT_SHOWN


def main(paths: list[str]) -> None:
    """Print the rows of those limits that lack a stage; without paths, of all."""
    known: dict[str, list[int]] = {}
    for path, stages in ROWS.items():
        if NOT_SHOWN in stages and (not paths or path in paths):
            pairs = zip(stages, FACTORS, strict=True)
            row = [find(path, word, known) if stage == NOT_SHOWN else stage for stage, word in pairs]
            sys.stdout.write(f"{json.dumps(path)} = {json.dumps(row)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
