"""No rate is judged before its unit is known, and the unit is learnt from plausible values alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from math import inf, isnan
from pathlib import Path
from typing import Any

import pytest

from bench.families import CLEAN, FAULTS, Chance
from livedeck.monitor import ROOM_LIST, BitrateUnit, Content, History, Limits, Readings, Snapshot, Thresholds
from livedeck.monitor.detection.units import UnitEvidence, judge_unit
from monitor.stage import NOW, Deck, Stage, at, event, samples, signal
from monitor.test_rulings import decks
from virtual_clock import VirtualClock

BIT, KBIT = BitrateUnit.BIT, BitrateUnit.KBIT
QUESTION = 'rates look like kbit/s (2438 / 156): set bitrate_unit = "kbit"'


@dataclass(frozen=True)
class Sent:
    """Numbers of an encoder as the platform sends them: from the start, and others from `later` on (s from NOW)."""

    video: float | None
    audio: float | None
    fps: float | None = 25.0
    later: float = inf
    then: tuple[float | None, float | None, float | None] = (None, None, None)

    def at(self, seconds: float) -> tuple[float | None, float | None, float | None]:
        """Return the numbers of a sample."""
        return self.then if seconds >= self.later else (self.video, self.audio, self.fps)


class Signals(Stage):
    """Platform of encoders that send a sample each `every` s. A reply has the samples of the last `window` s."""

    def __init__(self, sent: dict[str, Sent], every: float = 2.0, window: float = 600.0) -> None:
        super().__init__(VirtualClock(), *map(event, sent))
        self._numbers, self._every, self._window = sent, every, window

    def _answer(self, what: str) -> tuple[int, dict[str, str], Any]:
        if what not in self._numbers:
            return super()._answer(what)
        now = (self.clock.now() - NOW).total_seconds()
        first = max(-600.0, now - self._window)
        times = [when for when in (step * self._every for step in range(-400, 2000)) if first <= when <= now]
        rows = [(when, *self._numbers[what].at(when)) for when in times]
        names = ("bitrate_video", "bitrate_audio", "frame_rate")
        return (
            200,
            {},
            {"data": [{"time": at(row[0]), **dict(zip(names, row[1:], strict=True)), "status": 0} for row in rows]},
        )


class Slow(Signals):
    """The same platform, except that the event `slow` has a sample each `slow_every` s."""

    slow_every = 30.0

    def _answer(self, what: str) -> tuple[int, dict[str, str], Any]:
        every, self._every = self._every, self.slow_every if what == "slow" else self._every
        try:
            return super()._answer(what)
        finally:
            self._every = every


def faults(snapshot: Snapshot) -> set[str]:
    """Return the kinds of the present faults."""
    return {alarm.kind for alarm in (*snapshot.alarms, *snapshot.quiet) if alarm.present}


def question(snapshot: Snapshot) -> str:
    """Return the question about the unit."""
    return next((alarm.actual for alarm in snapshot.alarms if alarm.kind == "UNIT_UNKNOWN" and alarm.present), "")


VENDOR = Sent(2438, 156)
HEALTHY, BLACK, DIM, MUTE = Sent(2_438_000, 156_000), Sent(2_000, 156_000), Sent(2_000, 300), Sent(2_438_000, 0)
SMALL, RADIO_KBIT, RADIO_BIT = Sent(2_000, 0), Sent(0, 128, 0), Sent(0, 128_000, 0)


async def islice_of(snapshots: AsyncIterator[Snapshot], count: int) -> AsyncIterator[Snapshot]:
    """Yield the first `count` snapshots."""
    for _ in range(count):
        yield await anext(snapshots)


def goes(before: Sent, after: Sent, later: float = 60.0) -> Sent:
    """Return encoder numbers that change at `later`."""
    return Sent(before.video, before.audio, before.fps, later, (after.video, after.audio, after.fps))


@dataclass(frozen=True)
class Trial:
    """Encoders, and the newest video or sound in bit/s after `lasts` seconds; None: unknown."""

    sent: tuple[Sent, ...]
    rate: float | None
    kinds: Set[str] = frozenset()
    every: float = 2.0
    window: float = 600.0
    lasts: float = 150.0
    setting: BitrateUnit | None = None
    content: Content = Content.SHOW


ASKED = frozenset({"UNIT_UNKNOWN"})
LOST, DARK, NONE = frozenset({"AUDIO_LOST"}), frozenset({"BLACKOUT"}), frozenset[str]()
ONE = 0.5
"""Window of a reply with at most one sample (s)."""

TRIALS: dict[str, Trial] = {
    # the vendor's own sample
    "vendor, whole answers, 30 s": Trial((VENDOR,), None, ASKED, 30.0),
    "vendor, whole answers, 30 s, later": Trial((VENDOR,), 2_438_000, NONE, 30.0, lasts=900.0),
    "vendor, whole answers, 2 s": Trial((VENDOR,), 2_438_000),
    "vendor, last minute alone, 30 s": Trial((VENDOR,), None, ASKED, 30.0, 60.0),
    "vendor, newest alone, 30 s": Trial((VENDOR,), None, ASKED, 30.0, 30.0, 200.0),
    "vendor, newest alone, 30 s, after 16 min": Trial((VENDOR,), 2_438_000, NONE, 30.0, 30.0, 1000.0),
    "vendor, newest alone, 30 s, a minute": Trial((VENDOR,), None, NONE, 30.0, 30.0, 5.0),
    "vendor, three streams, 30 s": Trial((VENDOR,) * 3, 2_438_000, NONE, 30.0),
    "vendor, three streams, newest alone": Trial((VENDOR,) * 3, None, ASKED, 30.0, 30.0, 5.0),
    "vendor, two streams, newest alone": Trial((VENDOR,) * 2, None, ASKED, 30.0, 30.0, 150.0),
    "vendor, setting": Trial((VENDOR,), 2_438_000, NONE, 30.0, setting=KBIT),
    "vendor, wrong setting": Trial((VENDOR,), 2_438, ASKED | DARK | {"AUDIO_LOW"}, 2.0, setting=BIT),
    # faults in kbit
    "kbit, sound goes": Trial((goes(VENDOR, Sent(2438, 0)),), 2_438_000, LOST),
    "kbit, picture goes": Trial((goes(VENDOR, Sent(2, 156)),), 2_000, DARK),
    "kbit, frames go": Trial((goes(VENDOR, Sent(2438, 156, 0)),), 2_438_000, DARK),
    "kbit, sound was never there": Trial((Sent(2438, 0),), None, ASKED),
    "kbit, in doubt, sound goes": Trial((goes(VENDOR, Sent(2438, 0), 0.0),), None, ASKED, 30.0, 30.0, 300.0),
    "kbit, black from the first sample": Trial((Sent(2, 156),), 2_000, DARK),
    "kbit, low from the first sample": Trial((Sent(90, 64),), 90_000),
    "kbit, one wrong number": Trial((goes(VENDOR, Sent(300_000, 156), 148.0),), 300_000_000),
    "kbit, then bit": Trial((goes(VENDOR, HEALTHY),), None, ASKED),
    # bit
    "bit, healthy": Trial((HEALTHY,), 2_438_000),
    "bit, healthy, 30 s": Trial((HEALTHY,), 2_438_000, NONE, 30.0),
    "bit, healthy, newest alone, 30 s": Trial((HEALTHY,), 2_438_000, NONE, 30.0, 30.0),
    "bit, low": Trial((Sent(150_000, 9_000),), 150_000),
    "bit, black after a picture": Trial((goes(HEALTHY, BLACK),), 2_000, DARK),
    "bit, black and near silence after a picture": Trial((goes(HEALTHY, DIM),), 2_000, DARK | {"AUDIO_LOW"}),
    "bit, black and mute after a picture": Trial((goes(HEALTHY, SMALL),), 2_000, DARK),
    "bit, black from the first sample, sound as usual": Trial((BLACK,), 2_000, DARK),
    "bit, black and near silence beside a healthy one": Trial((DIM, HEALTHY), 2_000, DARK | {"AUDIO_LOW"}),
    "bit, black and mute beside a healthy one": Trial((SMALL, HEALTHY), 2_000, DARK),
    "bit, black and mute, alone, from the first sample": Trial((SMALL,), None, ASKED),
    "bit, mute": Trial((goes(HEALTHY, MUTE),), 2_438_000, LOST),
    "bit, no picture at all": Trial((goes(HEALTHY, Sent(0, 0, 0)),), 0, DARK),
    "bit, no picture from the first sample": Trial((Sent(0, 0, 0),), 0, DARK),
    "bit, slides": Trial((Sent(30_000, 64_000, 10),), 30_000, content=Content.RADIO),
    # radio
    "radio, kbit": Trial((RADIO_KBIT,), 128_000, content=Content.RADIO),
    "radio, kbit, 30 s": Trial((RADIO_KBIT,), None, ASKED, 30.0, content=Content.RADIO),
    "radio, kbit, mute": Trial((goes(RADIO_KBIT, Sent(0, 0, 0)),), 0, LOST, content=Content.RADIO),
    "radio, bit": Trial((RADIO_BIT,), 128_000, content=Content.RADIO),
    "radio, bit, 30 s": Trial((RADIO_BIT,), 128_000, NONE, 30.0, content=Content.RADIO),
    "radio, bit, mute": Trial((goes(RADIO_BIT, Sent(0, 0, 0)),), 0, LOST, content=Content.RADIO),
    "radio, bit, near silence": Trial(
        (goes(RADIO_BIT, Sent(0, 300, 0)),), 300, frozenset({"AUDIO_LOW"}), content=Content.RADIO
    ),
}


@pytest.mark.parametrize("name", TRIALS)
async def test_the_unit_is_known_or_asked_for_and_faults_are_told_by_what_is_known(name: str) -> None:
    trial = TRIALS[name]
    stage = Signals({f"e{index}": sent for index, sent in enumerate(trial.sent)}, trial.every, trial.window)
    deck = Deck(stage, unit=trial.setting, limits=Limits(Thresholds(content=trial.content)))
    snapshot = await deck.until(trial.lasts)
    state = snapshot.find("e0")
    assert state is not None
    newest = state.qos.readings.last
    assert newest is not None
    rate = newest.audio if trial.content is Content.RADIO and newest.video == 0 else newest.video
    assert rate == trial.rate
    assert faults(snapshot) == trial.kinds
    await deck.close()


GONE = {"RECONNECTING", "DROPOUTS", "NO_INGEST", "QOS_STALE", "METRICS_LATE"}


@pytest.mark.parametrize("beside", [0, 4])
@pytest.mark.parametrize("window", [600.0, 60.0, 29.0])
@pytest.mark.parametrize("every", [10.0, 20.0, 30.0, 60.0])
async def test_a_slow_spacing_is_no_gap_from_the_first_sample_on(every: float, window: float, beside: int) -> None:
    """Alone, and beside events with a sample each 2 s; with answers of the newest sample alone, too."""
    stage = Slow({"slow": VENDOR, **{f"e{index}": HEALTHY for index in range(beside)}}, 2.0, max(window, every))
    stage.slow_every = every
    deck = Deck(stage)
    said = set[str]()
    while deck.clock.monotonic() < 8 * every:
        snapshot = await deck.next()
        said |= {alarm.kind for alarm in snapshot.alarms if alarm.event_id == "slow"} & GONE
        if state := snapshot.find("slow"):
            said |= {state.phase.tally.value} & {"RECONNECTING", "LOST"}
    assert said == set()
    await deck.close()


@pytest.mark.parametrize("name", [*CLEAN, *FAULTS])
def test_no_stream_in_bits_is_taken_for_one_in_kilobits(name: str) -> None:
    """Each stream alone, from its first sample on, in answers of a sample each and of thirty."""
    for seed in range(2):
        show = {**CLEAN, **FAULTS}[name](Chance(name, seed))
        for source in show.sources:
            for size in (1, 30):
                rows, evidence = iter(source.rows), UnitEvidence()
                while not evidence.proof and (answer := [*islice(rows, size)]):
                    evidence = evidence.after("one", "a", samples(answer))
                    verdict = judge_unit(None, None, evidence)
                    assert (verdict.unit, verdict.question, verdict.is_sure) == (BIT, "", False)


@pytest.mark.parametrize("name", [*CLEAN, *FAULTS])
def test_a_stream_in_kilobits_is_found_out_or_its_rates_stay_unknown(name: str) -> None:
    """The same streams, divided by 1000: no rate is read as bit/s once the picture has been there for a minute."""
    show = {**CLEAN, **FAULTS}[name](Chance(name, 0))
    for source in show.sources:
        thousandth = [
            row._replace(video=row.video and round(row.video / 1000), audio=row.audio and round(row.audio / 1000))
            for row in source.rows
        ]
        evidence = UnitEvidence().after("one", "a", samples(thousandth[:30]))
        verdict = judge_unit(None, None, evidence)
        assert verdict.is_doubtful, "not read as bit/s"
        assert not evidence.proof


def test_numbers_that_are_no_measurement_prove_nothing() -> None:
    evidence = UnitEvidence().after("one", "a", samples(signal(3, video=1e15, audio=156)))
    assert (evidence.proof, judge_unit(None, None, evidence).unit) == ("", BIT)
    doubtful = evidence.after("two", "b", samples(signal(3, video=2438, audio=156)))
    assert judge_unit(None, None, doubtful).is_doubtful


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_a_healthy_platform_in_bits_is_never_in_doubt(count: int) -> None:
    """From the first snapshot with samples on, not a rate is missing, and nothing is asked."""
    deck = Deck(Signals({f"e{index}": HEALTHY for index in range(count)}))
    seen = 0
    while deck.clock.monotonic() < 30:
        snapshot = await deck.next()
        for state in snapshot.events:
            videos = state.qos.readings.video
            assert all(video == 2_438_000 for video in videos)
            seen += len(videos)
        assert not question(snapshot)
    assert seen
    await deck.close()


async def test_the_question_names_the_numbers_and_the_setting_and_a_person_answers_it() -> None:
    deck = Deck(Signals({"one": VENDOR}, 30.0), actor="anna@regie:1")
    snapshot = await deck.until(20)
    state = snapshot.events[0]
    assert question(snapshot) == QUESTION
    assert (state.assessment.health.score, state.assessment.health.detail) == (None, "unit of the bit rates not known")
    assert state.qos.readings.last is not None
    assert state.qos.readings.last.fps == 25, "frames need no unit"
    assert await deck.monitor.choose_unit(KBIT)
    snapshot = await deck.next()
    assert [change.text for change in snapshot.rule_changes] == ["bit rates taken as kbit/s by anna@regie"]
    readings = snapshot.events[0].qos.readings
    assert {*readings.video} == {2_438_000.0}, "those from the time of doubt, too"
    assert {*readings.audio} == {156_000.0}
    assert not question(snapshot)
    assert not await deck.monitor.choose_unit(KBIT), "it is that already"
    assert await deck.monitor.choose_unit(BIT), "a person may take it back"
    snapshot = await deck.next()
    assert {*snapshot.events[0].qos.readings.video} == {2_438.0}
    await deck.close()


async def test_a_question_once_asked_stays_whatever_else_is_polled_for_the_first_time() -> None:
    stage = Signals({"one": VENDOR}, 30.0)
    deck = Deck(stage)
    assert question(await deck.until(20)) == QUESTION
    stage.events.append(event("late"))
    stage.late.add("late")
    deck.monitor.watch("anna", ROOM_LIST)
    while deck.clock.monotonic() < 60:
        assert question(await deck.next()) == QUESTION
    await deck.close()


async def test_radio_in_kilobits_is_never_critical_while_its_unit_is_in_doubt() -> None:
    """Its rate of sound is unknown then, which is no silence; the picture is zero in every unit."""
    radio = {f"radio {number}": Sent(0.0, rate, 0.0) for number, rate in enumerate((96.0, 128.0, 64.0))}
    deck, told = Deck(Signals(radio, every=10.0, window=40.0)), set[tuple[str, str]]()
    while deck.clock.monotonic() < 120:
        snapshot = await deck.next()
        told |= {(alarm.kind, alarm.severity.value) for alarm in (*snapshot.alarms, *snapshot.quiet)}
    await deck.close()
    assert told == {("BLACKOUT", "warning"), ("UNIT_UNKNOWN", "warning")}


async def test_a_unit_in_the_settings_is_obeyed_whatever_a_person_says_and_a_contradiction_is_told() -> None:
    deck = Deck(Signals({"one": VENDOR}), unit=BIT)
    snapshot = await deck.until(20)
    assert question(snapshot) == 'rates look like kbit/s (2438 / 156), but bitrate_unit is "bit"'
    assert not await deck.monitor.choose_unit(KBIT)
    await deck.close()
    deck = Deck(Signals({"one": HEALTHY}), unit=KBIT)
    snapshot = await deck.until(20)
    assert question(snapshot) == 'rates look like bit/s (2438000 / 156000), but bitrate_unit is "kbit"'
    assert {*snapshot.events[0].qos.readings.video} == {2_438_000_000.0}
    await deck.close()


async def test_kilobits_are_taken_once_and_hold_after_a_restart_and_at_a_wall(tmp_path: Path) -> None:
    """A restart falls into a black picture, whose few numbers alone would leave the unit in doubt."""
    path, text = tmp_path / "deck.sqlite", "bit rates taken as kbit/s by livedeck"
    async with decks(path, Signals({"one": VENDOR}), 60) as (anna, bert, _):
        told = list[str]()
        async with asyncio.timeout(60), aclosing(anna.snapshots()) as snapshots:
            async for snapshot in islice_of(snapshots, 8):
                told += [change.text for change in snapshot.rule_changes]
        assert told == [text]
        snapshot = await bert.wait_ready()
        assert snapshot.events[0].qos.readings.video[-1] == 2_438_000
    async with decks(path, Signals({"one": goes(VENDOR, Sent(2, 156), -590.0)}, window=60.0), 90) as (anna, _, wall):
        for monitor in (anna, wall):
            snapshot = await monitor.wait_ready()
            assert snapshot.rule_changes == ()
            assert "UNIT_UNKNOWN" not in faults(snapshot) >= DARK
            assert snapshot.events[0].qos.readings.video[-1] == 2_000


async def test_rates_in_doubt_are_stored_as_missing_and_filled_in_once_the_unit_is_known(tmp_path: Path) -> None:
    path, stage = tmp_path / "deck.sqlite", Signals({"one": VENDOR}, 30.0, 2000.0)
    async with decks(path, stage, 60) as (anna, _, _):
        assert question(await anna.wait_ready()) == QUESTION
    stored = await stored_readings(path)
    assert len(stored) > 10
    assert all(map(isnan, (*stored.video, *stored.audio))), "no number whose unit is not known"
    assert {*stored.fps} == {25.0}
    async with decks(path, stage, 90) as (anna, _, _):
        assert question(await anna.wait_ready()) == QUESTION
        assert await anna.choose_unit(KBIT)
        await anna.wait_ready()
    stored = await stored_readings(path)
    assert {*stored.video} == {2_438_000.0}
    assert {*stored.audio} == {156_000.0}


async def stored_readings(path: Path) -> Readings:
    """Return the stored samples of the event's stream."""
    history = await History.open(path, NOW)
    stored = await history.readings("one", "stream-one", NOW.timestamp() - 900, NOW.timestamp() + 900)
    await history.close()
    return stored
