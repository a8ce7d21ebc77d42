"""An explanation agrees with the monitor: a foreseen alarm comes with that sample or reply, and not before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from livedeck.client import QosSamples
from livedeck.monitor import (
    ActionKind,
    AlarmCommand,
    AlarmKey,
    Cadence,
    Condition,
    Content,
    Explanation,
    Forecast,
    Limits,
    LimitTemplate,
    Reading,
    Thresholds,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.explain import ExplainCase, explain, explain_snapshot, limits_read
from livedeck.monitor.alarms.faults import MonitorState, drop_unproven
from livedeck.monitor.detection.detect import SAMPLE_KINDS
from livedeck.monitor.evidence.claims import CLAIMS
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.model.blame import NO_BLAME
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.published.codec import decode_explanation, encode_record
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from monitor.stage import NOW, Deck, Stage, at, event, model, samples, signal
from monitor.test_detect_laws import Part, rows_of, streams
from trials import trials
from virtual_clock import VirtualClock

laws = settings(max_examples=25, deadline=None)

INTERVAL = 2.0
"""Seconds between two polls, and between two samples."""

LATENCY = 1.0
"""Seconds from a sample to the reply that has it."""


class Watch:
    """A monitor without a network: one event, whose replies the test gives. `alarms`: by key."""

    def __init__(self, start: datetime, *, limits: Limits | None = None, **fields: Any) -> None:
        self.now, self.limits = start, limits or Limits()
        self.event = model(**fields)
        self.world = WorldTracker((), self._clock(), self.limits, Cadence(qos=INTERVAL, qos_focus=INTERVAL))
        self.engine = AlarmEngine(self.limits.base)
        self._sent = list[Reading]()

    def _clock(self) -> ClockReading:
        return ClockReading(self.now, self.now.timestamp())

    async def poll(self, new: Iterable[Reading] = (), *, after: float = INTERVAL) -> None:
        """Get a list, and a reply with all samples so far and the new ones, so many seconds later."""
        self.now += timedelta(seconds=after)
        self._sent += new
        results = (self._result(LIST, EventList((self.event,))), self._result(self.event.id, samples(self._sent)))
        for result in results:
            await self.world.ingest(result)
        await self.world.evaluate_all(results, self._clock(), LinkMeasure())
        state = MonitorState(self.world.states, self.world.status, self.now, ended=self.world.ended)
        self.engine.step(replace(state, events=drop_unproven(state, self.limits.base)))

    async def poll_next(self, sample: Reading) -> None:
        """Get this sample one cadence after the newest one, and replies without a new sample before it."""
        tracker = self.world.find(self.event.id)
        assert tracker is not None
        due = self._sent[-1].time + (tracker.judged().analysis.cadence or INTERVAL)
        while self.now.timestamp() + INTERVAL < due + LATENCY:
            await self.poll()
        await self.poll([sample._replace(time=due)], after=due + LATENCY - self.now.timestamp())

    def _result(self, key: str, payload: EventList | QosSamples) -> PollResult:
        return PollResult(key, self.now, self.now.timestamp(), payload)

    def present(self) -> set[str]:
        """The kinds with an alarm whose fault is present."""
        return {key.kind for key, alarm in self.engine.alarms.items() if alarm.is_ongoing}

    def explained(self, kind: str = "") -> Explanation:
        tracker = self.world.find(self.event.id)
        assert tracker is not None
        assert tracker.state is not None
        alarms = tuple(self.engine.alarms.values())
        case = ExplainCase(tracker.state, self.world.status, self.now, alarms, tracker.judged(), self.limits)
        return explain(case, kind)

    def foreseen(self, kind: str = "") -> tuple[Forecast, ...]:
        return self.explained(kind).forecasts or ()


def after(rows: list[Reading]) -> datetime:
    """The time of a reply that has these samples, less one interval."""
    return NOW + timedelta(seconds=rows[-1].time - NOW.timestamp() + LATENCY - INTERVAL)


def changed(newest: Reading, forecast: Forecast) -> Reading:
    """A sample as the condition of the forecast has it."""
    if forecast.condition is Condition.UNCHANGED:
        return newest
    assert forecast.limit is not None
    if forecast.condition is Condition.STATUS:
        return newest._replace(status=int(forecast.limit))
    values: dict[str, Any] = {forecast.rate: forecast.limit}
    return newest._replace(**values)


async def watch(rows: list[Reading]) -> Watch:
    found = Watch(after(rows))
    await found.poll(rows)
    return found


@trials(200)
@given(streams, st.sampled_from([kind.name for kind, _ in SAMPLE_KINDS]), st.data())
async def test_what_is_foreseen_of_samples_comes_with_that_sample_and_not_one_before(
    rows: list[Reading], kind: str, data: st.DataObject
) -> None:
    stream = await watch(rows)
    of_samples = [forecast for forecast in stream.foreseen(kind) if forecast.samples]
    assume(of_samples)
    forecast = data.draw(st.sampled_from(of_samples))
    sample = changed(rows[-1], forecast)
    assert forecast.kind not in stream.present()
    for number in range(1, forecast.samples + 1):
        assert forecast.kind not in stream.present(), f"{forecast} came {forecast.samples - number + 1} before"
        await stream.poll_next(sample)
    seen = {key.kind for key in stream.engine.alarms}
    assert forecast.kind in seen, f"{forecast} did not come"


async def test_a_fault_that_may_come_and_go_says_how_long_it_may_stay() -> None:
    stream = await watch([*signal(300, end=-20.0), *signal(10, audio=0.0)])
    ends = {alarm.key.kind: alarm.ends for alarm in stream.explained().open}
    assert ends["AUDIO_LOST"] == "good samples for 10 s, up to 300 s if the fault comes and goes"


async def test_an_event_off_air_is_not_judged_and_samples_of_it_are_not_called_due() -> None:
    stream = Watch(NOW, stream=None, scheduled={"time": at(600)})
    await stream.poll()
    (item,) = stream.explained().silent
    assert (item.key.kind, item.why) == ("", "not judged: the event is not on air")


async def test_watched_time_ends_with_the_last_reply_and_not_now() -> None:
    stream = await watch(rows := signal(60))
    stream.now += timedelta(minutes=5)
    until = stream.explained().watched_until
    assert until is not None
    assert until.timestamp() == rows[-1].time


@trials(200)
@given(streams)
async def test_a_lost_encoder_is_foreseen_to_the_reply(rows: list[Reading]) -> None:
    stream = await watch(rows)
    silent = [forecast for forecast in stream.foreseen("RECONNECTING") if forecast.condition is Condition.SILENT]
    assume(silent)
    (forecast,) = silent
    began = stream.now
    for _ in range(forecast.answers):
        assert "RECONNECTING" not in stream.present()
        await stream.poll()
    assert "RECONNECTING" in stream.present()
    assert (stream.now - began).total_seconds() == pytest.approx(forecast.seconds, abs=INTERVAL)


PAUSES = [Part(1, 14.0, 1.3e6, 128e3, 30.0, 3), Part(1, 14.0, 1.3e6, 128e3, None, 3)]
"""Two pauses, after which the samples come each 16 s."""


@laws
@example([*rows_of(PAUSES)], 10)
@given(streams, st.integers(0, 12))
async def test_nothing_comes_that_was_not_foreseen(rows: list[Reading], count: int) -> None:
    """The same sample again and again raises only what the explanation has under `unchanged`."""
    stream = await watch(rows)
    before = {key.kind for key in stream.engine.alarms}
    foreseen = {f.kind: f.samples for f in stream.foreseen() if f.condition is Condition.UNCHANGED}
    for _ in range(count):
        await stream.poll_next(rows[-1])
    news = {key.kind for key in stream.engine.alarms} - before
    assert {kind for kind in news if ALARM_KINDS[kind].component} <= {*foreseen} | {"LATE_START"}
    assert {kind for kind, samples in foreseen.items() if samples <= count} <= {
        key.kind for key in stream.engine.alarms
    }


async def test_a_late_start_is_foreseen() -> None:
    stream = Watch(NOW, scheduled={"time": at(900)}, stream=None)
    await stream.poll()
    (forecast,) = stream.foreseen()
    assert (forecast.kind, forecast.condition) == ("LATE_START", Condition.TIME)
    while (stream.now - NOW).total_seconds() < INTERVAL + forecast.seconds - INTERVAL:
        assert "LATE_START" not in stream.present()
        await stream.poll()
    await stream.poll()
    await stream.poll()
    assert "LATE_START" in stream.present()


async def test_the_monitor_explains_a_silence_as_it_then_tells_it() -> None:
    deck = Deck(Stage(VirtualClock(), event(name="Studio A")))
    deck.stage.silent_from = 40.0
    await deck.until(44.0)
    found = await deck.monitor.explain("one")
    assert found is not None
    (silent,) = [forecast for forecast in found.forecasts or () if forecast.condition is Condition.SILENT]
    due = deck.clock.monotonic() + silent.seconds
    while not any(alarm.kind == "RECONNECTING" for alarm in deck.monitor._alarms.alarms.values()):
        await deck.next()
    assert deck.clock.monotonic() == pytest.approx(due, abs=6.0)
    again = await deck.monitor.explain("one", "RECONNECTING")
    assert again is not None
    assert again.forecasts == ()
    assert {alarm.key.kind for alarm in again.open} | {item.key.kind for item in again.silent} == {"RECONNECTING"}
    assert again.kind is not None
    assert again.kind.needs == CLAIMS["RECONNECTING"].needs
    assert await deck.monitor.explain("nobody") is None
    await deck.close()


async def test_silent_alarms_say_who_and_until_when() -> None:
    rows = [*signal(300, end=-20.0), *signal(10, audio=0.0)]
    stream = await watch(rows)
    key = AlarmKey("one", "AUDIO_LOST")
    command = AlarmCommand(key, ActionKind.SHELVE, None, 30.0, "rehearsal", "anna@regie:7")
    assert stream.engine.act(command, stream.now, on_air=True)
    (item,) = stream.explained("AUDIO_LOST").silent
    assert (item.key, item.why, item.by) == (key, "shelved: rehearsal", "anna@regie")
    assert item.until == stream.now + timedelta(minutes=30)


@pytest.mark.parametrize("content", [Content.RADIO, Content.SILENT])
async def test_kinds_that_the_content_does_not_expect_are_not_judged(content: Content) -> None:
    rows = signal(300)
    stream = Watch(after(rows), limits=Limits(Thresholds(content=content)))
    await stream.poll(rows)
    kind = "BLACKOUT" if content is Content.RADIO else "AUDIO_LOST"
    why = {item.key.kind: item.why for item in stream.explained().silent}
    assert f"content {content}" in why[kind]
    assert kind not in {forecast.kind for forecast in stream.foreseen()}


async def test_a_limit_that_decides_names_its_setting() -> None:
    rows, events = signal(300), {"one": {"low_video_sure": 0.9}}
    template = LimitTemplate({"low_video": 0.6}, events=("Stu*",))
    limits = Limits(Thresholds(starved_video=0.3), (template,), events)
    stream = Watch(after(rows), limits=limits, name="Studio A")
    await stream.poll(rows)
    found = {limit.name: limit.setting for limit in stream.explained().decides or ()}
    assert found["low_video"] == ("limits", "0", "thresholds", "low_video")
    assert found["starved_video"] == ("thresholds", "starved_video")
    assert all(found.values())
    every = {limit.name: limit for limit in stream.explained("VIDEO_LOW").decides or ()}
    assert every["low_video"].value == "0.6"
    assert every["deadband"].setting == ()


async def test_limits_that_decide_are_those_that_the_detector_reads() -> None:
    stream = await watch(signal(300))
    tracker = stream.world.find("one")
    assert tracker is not None
    judged = tracker.judged()
    assert {"low_video", "deadband"} <= {*limits_read(judged, "VIDEO_LOW")}
    assert {"delivery_patience", "silence_intervals"} <= {*limits_read(judged, "RECONNECTING")}
    assert "high_audio" in limits_read(judged, "AUDIO_HIGH")


async def test_an_explanation_passes_the_wire_whole() -> None:
    stream = await watch(signal(300))
    found = stream.explained("VIDEO_LOW")
    assert decode_explanation(encode_record(found)) == found


async def test_an_event_that_is_not_known_says_until_when_it_was() -> None:
    deck = Deck(Stage(VirtualClock(), event(name="Studio A")))
    last = (await deck.until(40.0)).link.as_of
    known = await deck.monitor.explain("one")
    deck.stage.fails = 503, {}
    await deck.until(120.0)
    found = await deck.monitor.explain("one")
    await deck.close()
    assert known is not None
    assert (known.known_until, known.blame) == (None, NO_BLAME)
    assert found is not None
    assert found.known_until is not None
    assert last is not None
    assert abs(found.known_until - last) < timedelta(seconds=10)
    assert found.blame.short == "the platform answers 503"
    assert decode_explanation(encode_record(found)) == found


async def test_the_past_says_what_was_not_recorded() -> None:
    deck = Deck(Stage(VirtualClock(), event()))
    snapshot = await deck.until(30.0)
    found = explain_snapshot(snapshot, "one")
    assert found is not None
    assert (found.forecasts, found.decides, found.template) == (None, None, None)
    assert found.signal.usual_video is not None
    assert found.delivery.lost is None
    assert explain_snapshot(snapshot, "nobody") is None
    await deck.close()
