"""A gap between samples counts as silence only if replies cover it (monitoring.md, "Not watched")."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.client import ApiError, Event, QosSamples, ServerFault
from livedeck.monitor import BroadcastState, Cadence, Dated, Limits, Proof, Reading, Readings, Severity, Thresholds
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState, drop_unproven
from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules, detect, episodes
from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.evidence.coverage import EVERYTHING, MAX_SPANS, Coverage
from livedeck.monitor.model.own import NotWatched, Why
from livedeck.monitor.model.span import Span
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from monitor.stage import samples

START = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
RULES = StreamRules(Thresholds())
EVERY, POLL, LAG = 2.0, 5.0, 2.5
"""Seconds between samples, and between polls; delay of a sample."""


def row(seconds: float, **rates: Any) -> Reading:
    values = {"video": 4.5e6, "audio": 128e3, "fps": 30.0, "status": 0} | rates
    return Reading(START + seconds, values["video"], values["audio"], values["fps"], values["status"])


def rows(since: float, until: float, **rates: Any) -> list[Reading]:
    return [row(EVERY * count, **rates) for count in range(round(since / EVERY), round(until / EVERY) + 1)]


def coverage_of(*spans: tuple[float, float]) -> Coverage:
    return Coverage(tuple(Span(START + since, START + until) for since, until in spans))


def judged(*parts: list[Reading], coverage: Coverage) -> SignalAnalysis:
    every = [row for part in parts for row in part]
    return detect(SignalAnalysis(), merge(Readings(), samples(every)), RULES, coverage=coverage)


def found(analysis: SignalAnalysis) -> list[str]:
    return [f"{episode.kind} {episode.actual}" for episode in episodes(analysis)]


def test_an_outage_longer_than_the_answers_is_no_silence() -> None:
    parts = rows(0, 400), rows(430, 562)
    assert found(judged(*parts, coverage=EVERYTHING)) == ["RECONNECTING no samples for 30 s"]
    assert found(judged(*parts, coverage=coverage_of((0, 400), (430, 562)))) == []


@pytest.mark.parametrize(
    ("spans", "words", "since"),
    [
        (((0, 400), (880, 1200)), "no samples for at least 02:00 (not watched before)", 880),
        (((0, 500), (990, 1200)), "no samples for at least 01:40 (not watched after)", 400),
        (((0, 1200),), "no samples for 10:00", 400),
    ],
)
def test_a_gap_that_is_partly_covered_says_at_least(
    spans: tuple[tuple[float, float], ...], words: str, since: float
) -> None:
    analysis = judged(rows(0, 400), rows(1000, 1200), coverage=coverage_of(*spans))
    (episode,) = episodes(analysis)
    assert (episode.actual, episode.since.timestamp() - START) == (words, since)


def test_unwatched_time_counts_for_no_dropouts_and_the_share_is_of_the_watched_time() -> None:
    parts = [rows(60 * part, 60 * part + 40) for part in range(10)]
    whole = found(judged(*parts, coverage=EVERYTHING))
    assert any(text.startswith("DROPOUTS no samples in") for text in whole)
    apart = coverage_of(*((60 * part, 60 * part + 40) for part in range(10)))
    assert found(judged(*parts, coverage=apart)) == []
    half = coverage_of((0, 340), (360, 600))
    (words,) = (text for text in found(judged(*parts, coverage=half)) if text.startswith("DROPOUTS"))
    assert "of the 09:" in words
    assert "watched (18 s in every" in words


def test_a_raised_fault_stays_over_unwatched_time_and_is_marked() -> None:
    mute = rows(100, 200, audio=0.0)
    spans = coverage_of((0, 200), (800, 830))
    once = judged(rows(0, 98), mute, rows(800, 800), coverage=spans)
    assert found(once) == ["AUDIO_LOST video without audio (then not watched for 10:00)"]
    (later,) = episodes(judged(rows(0, 98), mute, rows(800, 830), coverage=spans))
    assert (later.kind, later.until and later.until.timestamp() - START) == ("AUDIO_LOST", 800)
    assert found(judged(rows(0, 98), mute, rows(800, 830, audio=0.0), coverage=spans)) == [
        "AUDIO_LOST video without audio"
    ]


def test_a_pending_fault_begins_anew_after_unwatched_time() -> None:
    """Seconds that nobody saw are no seconds of a fault."""
    pending = rows(100, 104, audio=0.0)
    after = rows(130, 134, audio=0.0)
    assert found(judged(rows(0, 98), pending, after, coverage=coverage_of((0, 104), (130, 134)))) == []


@pytest.mark.parametrize(
    ("kind", "fault", "whole", "half"),
    [("AUDIO_LOW", {"audio": 3000.0}, 40.0, 26.0), ("KEYFRAME_SEVERE", {"status": 4}, 12.0, 8.0)],
)
@pytest.mark.parametrize("apart", [12.0, 300.0])
def test_two_halves_of_a_fault_around_unwatched_time_prove_nothing_together(
    kind: str, fault: dict[str, float], whole: float, half: float, apart: float
) -> None:
    calm = [row(EVERY * number, audio=128e3 * (0.6 + 0.08 * (number * 7 % 11))) for number in range(200)]
    at_once = judged(calm, rows(400, 400 + whole, **fault), coverage=EVERYTHING)
    assert {episode.kind for episode in episodes(at_once)} == {kind}
    left, back = 400 + half, 400 + half + apart
    parts = calm, rows(400, left, **fault), rows(back, back + half, **fault)
    assert found(judged(*parts, coverage=coverage_of((0, left), (back, back + half)))) == []


def test_a_habit_is_not_over_because_nobody_watched() -> None:
    """Its end needs watched time without a spell."""
    spells = [rows(20 * part + 8, 20 * part + 20, audio=0.0 if part % 2 else 128e3) for part in range(5, 20)]
    calm = [row for row in rows(0, 400) if all(row.time != other.time for part in spells for other in part)]
    habit = sorted([*calm, *(row for part in spells for row in part)])
    after = rows(1000, 1120)
    spans = coverage_of((0, 400), (1000, 1400))
    assert "AUDIO_LOST" in {*judged(habit, coverage=spans).intervals}
    assert "AUDIO_LOST" in {*judged(habit, after, coverage=spans).intervals}
    assert "AUDIO_LOST" not in {*judged(habit, rows(1000, 1400), coverage=spans).intervals}


def test_what_is_usual_stays_over_unwatched_time() -> None:
    analysis = judged(rows(0, 400), rows(1000, 1060), coverage=coverage_of((0, 400), (1000, 1060)))
    assert (analysis.usual.video, analysis.usual.fps) == (4.5e6, 30.0)


@pytest.mark.parametrize(
    ("coverage", "is_whole", "words"),
    [
        (coverage_of((-10, 240)), True, "no sound since its first sample"),
        (coverage_of((0, 240)), False, "no sound in 04:00 of watched time"),
        (coverage_of((-10, 120), (180, 240)), True, "no sound in 03:00 of watched time"),
    ],
)
def test_no_sound_ever_is_said_of_the_known_time_only(coverage: Coverage, is_whole: bool, words: str) -> None:
    known = Coverage(coverage.spans, is_whole=is_whole)
    (episode,) = episodes(judged(rows(0, 240, audio=0.0), coverage=known))
    assert (episode.kind, episode.actual) == ("AUDIO_LOST", words)
    assert (episode.severity is Severity.WARNING) == (words == "no sound since its first sample"), "it may be meant"


def test_no_picture_ever_is_said_of_the_known_time_only() -> None:
    known = Coverage(coverage_of((-10, 120), (180, 240)).spans, is_whole=True)
    (text,) = found(judged(rows(0, 240, video=0.0, fps=0.0), coverage=known))
    assert text == "BLACKOUT no picture in 03:00 of watched time"


@pytest.mark.parametrize("is_whole", [False, True])
def test_silence_may_be_meant_only_if_the_stream_is_known_from_its_start(*, is_whole: bool) -> None:
    known = Coverage(coverage_of((-10, 240)).spans, is_whole=is_whole)
    (episode,) = episodes(judged(rows(0, 240, audio=0.0), coverage=known))
    assert episode.severity is (Severity.WARNING if is_whole else Severity.CRITICAL)
    assert ("since its first sample" in episode.actual) is is_whole


def answered(coverage: Coverage, since: float | None, until: float, at: float, **options: Any) -> Coverage:
    """Return the coverage after a reply with the samples from `since` to `until`."""
    times = [] if since is None else [START + since, START + until]
    options = {"newest": -inf, "lag": 5.0} | options
    return coverage.after_answer(times, START + at, **options)


def spans_of(coverage: Coverage) -> list[tuple[float, float]]:
    return [(round(span.since - START, 3), round(span.until - START, 3)) for span in coverage.spans]


def test_an_answer_covers_its_samples_and_without_news_the_time_up_to_its_date_less_the_lag() -> None:
    first = answered(Coverage(), 100, 200, 203)
    assert spans_of(first) == [(100, 200)]
    assert spans_of(answered(first, 108, 200, 220, newest=START + 200)) == [(100, 215)]
    assert spans_of(answered(first, 108, 200, 220, newest=START + 200, is_proof=False)) == [(100, 200)]


def test_an_empty_answer_covers_the_usual_length_of_an_answer() -> None:
    assert spans_of(answered(Coverage(), None, 0, 203)) == []
    learnt = answered(Coverage(), 100, 220, 223)
    assert spans_of(answered(learnt, None, 0, 823, newest=START + 220)) == [(100, 220), (703, 818)]


def test_an_absence_is_known_from_the_start_of_the_newest_covered_time_on() -> None:
    coverage = coverage_of((0, 400), (880, 1200))
    assert [coverage.known_since(START + last) - START for last in (400, 880, 1000)] == [880, 880, 1000]


def test_an_answer_that_holds_the_start_of_the_stream_covers_it() -> None:
    young = answered(Coverage(), 20, 60, 62, started_at=START)
    assert (spans_of(young), young.known_seconds(START + 60)) == ([(0, 60)], None)
    late = answered(Coverage(), 40, 60, 62, started_at=START)
    assert (spans_of(late), late.known_seconds(START + 60)) == ([(40, 60)], 20)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 500)), max_size=100))
def test_spans_are_ascending_apart_and_bounded(parts: list[tuple[int, int]]) -> None:
    coverage = Coverage()
    for since, length in parts:
        coverage = answered(coverage, since, since + length, since + length)
        assert any(span.since <= START + since and START + since + length <= span.until for span in coverage.spans) or (
            len(coverage.spans) == MAX_SPANS
        )
    assert len(coverage.spans) <= MAX_SPANS
    assert all(before.until < after.since for before, after in pairwise(coverage.spans))


def test_a_judgement_does_not_depend_on_when_it_was_made() -> None:
    """A later answer that covers a gap makes a silence of it, as if it had come at once."""
    readings = merge(Readings(), samples([*rows(0, 400), *rows(460, 500)]))
    unwatched = detect(SignalAnalysis(), readings, RULES, coverage=coverage_of((0, 400), (460, 500)))
    assert found(unwatched) == []
    more = merge(readings, samples(rows(502, 510)))
    assert found(detect(unwatched, more, RULES, coverage=coverage_of((0, 510)))) == [
        "RECONNECTING no samples for 01:00"
    ]


def test_coverage_is_kept_with_what_was_learnt_and_older_rows_have_none() -> None:
    coverage = coverage_of((0, 400), (430, 562))
    learnt = Learnt.of(judged(rows(0, 400), rows(430, 562), coverage=coverage), RULES, Delivery(), coverage)
    again = parse_learnt(learnt.to_json())
    assert again is not None
    assert again.coverage == coverage
    older = learnt.to_json().replace('"coverage"', '"other"')
    read = parse_learnt(older)
    assert read is not None
    assert (read.coverage, read.checkpoint) == (Coverage(), again.checkpoint)


@dataclass(frozen=True, slots=True)
class Case:
    """Encoder that is away for the seconds in `away`, and a deck that is stopped for `stop` s from second 300 on.

    `unread`: seconds from a reply to its reading, from second 300 on. `burst`: seconds between two deliveries. `ahead`:
    error in seconds of the clock behind every third reply.
    """

    stop: float
    answers: float
    away: tuple[float, float] | None
    is_sleep: bool = False
    is_outage: bool = False
    unread: float = 0.0
    burst: float = EVERY
    ahead: float = 0.0


class Watch:
    """World that is polled as a deck does, with its own clock."""

    def __init__(self, case: Case, events: int = 1) -> None:
        self._case = case
        started = datetime.fromtimestamp(START - 900, UTC).isoformat()
        self._events = tuple(
            Event.model_validate(
                {
                    "id": str(place),
                    "name": str(place),
                    "type": "one-time",
                    "reconnect_window": 7200,
                    "stream": {"id": f"s{place}", "status": "live", "started_at": started, "finished_at": None},
                }
            )
            for place in range(events)
        )
        self.world = WorldTracker((), self._at(0), Limits(Thresholds()), Cadence())
        self._engine = AlarmEngine(Thresholds())
        self.told: list[str] = []
        self.verdicts: list[tuple[object, ...]] = []
        self.proofs: list[Proof | None] = []
        self.tallies: set[BroadcastState] = set()

    async def play(self) -> None:
        case, now, wake = self._case, 0.0, 300 + self._case.stop
        while now < wake + 180:
            if not 300 < now < wake or case.is_outage:
                await self._round(now, is_failing=case.is_outage and 300 < now < wake)
            now += POLL
            if case.is_sleep and now == wake:
                at = self._at(now)
                self.world.note_stops((NotWatched(at.wall - timedelta(seconds=case.stop), at.wall, Why.SLEPT),))

    async def _round(self, now: float, *, is_failing: bool) -> None:
        read = now + (self._case.unread if now >= 300 else 0.0)
        date = START + now + self._case.ahead if self._case.ahead and now % (3 * POLL) == 0 else None
        at, dated = self._at(read), Dated(START + now, START + read, date)
        error: ApiError = ServerFault("503", status=503)
        results = []
        if now % 15 == 0:
            results.append(PollResult(LIST, at.wall, at.monotonic, error if is_failing else EventList(self._events)))
        answer = error if is_failing else self._answer(now)
        results += [PollResult(event.id, at.wall, at.monotonic, answer, dated=dated) for event in self._events]
        for result in results:
            await self.world.ingest(result)
        await self.world.evaluate_all(tuple(results), at, LinkMeasure())
        state = MonitorState(self.world.states, self.world.status, at.wall)
        state = MonitorState(drop_unproven(state, Thresholds()), self.world.status, at.wall)
        for change in self._engine.step(state)[0]:
            if change.alarm.event_id:
                self.told.append(f"{change.alarm.kind} {change.alarm.actual}")
        self.tallies |= {state.phase.tally for state in self.world.states}
        self.proofs += [each.evidence.state if each.evidence else None for each in self.world.states]
        self.verdicts += [(each.phase, each.evidence, each.qos.lag, each.qos.not_watched) for each in self.world.states]

    async def after_empty(self, dated: Dated, error: ApiError | None = None) -> Proof:
        """Return the proof of NO_INGEST after a reply without a sample, or after an error."""
        at = self._at(dated.read - START)
        results = (
            PollResult(LIST, at.wall, at.monotonic, EventList(self._events)),
            PollResult("0", at.wall, at.monotonic, error or samples([]), dated=dated),
        )
        for result in results:
            await self.world.ingest(result)
        await self.world.evaluate_all(results, at, LinkMeasure())
        (state,) = self.world.states
        assert state.evidence is not None
        return state.evidence.state

    def _answer(self, now: float) -> QosSamples:
        away = self._case.away or (inf, inf)
        delivered = now - now % self._case.burst - LAG
        times = (EVERY * count for count in range(-450, int(delivered // EVERY) + 1))
        return samples(
            [row(time) for time in times if time > now - self._case.answers and not away[0] <= time < away[1]]
        )

    @staticmethod
    def _at(seconds: float) -> ClockReading:
        return ClockReading(datetime.fromtimestamp(START, UTC) + timedelta(seconds=seconds), seconds)


def played(case: Case, events: int = 1) -> Watch:
    watch = Watch(case, events)
    asyncio.run(watch.play())
    return watch


STOPS = [(5.0, False), (30.0, False), (600.0, False), (600.0, True)]
WINDOWS = [60.0, 120.0, 3600.0]


@pytest.mark.parametrize(("stop", "is_sleep"), STOPS)
@pytest.mark.parametrize("answers", WINDOWS)
def test_a_stop_of_the_deck_is_no_fault_of_a_well_encoder(stop: float, is_sleep: bool, answers: float) -> None:
    watch = played(Case(stop, answers, None, is_sleep))
    assert (watch.told, watch.tallies) == ([], {BroadcastState.ON_AIR})
    (state,) = watch.world.states
    gaps = [(span.since - START, span.until - START) for span in state.qos.not_watched]
    assert gaps == ([(296.0, 300 + stop - answers + EVERY)] if stop > answers else [])


@pytest.mark.parametrize(("stop", "is_sleep"), STOPS)
@pytest.mark.parametrize("answers", WINDOWS)
def test_an_encoder_that_left_during_a_stop_is_told(stop: float, is_sleep: bool, answers: float) -> None:
    left = 300 + 0.4 * stop
    watch = played(Case(stop, answers, (left, inf), is_sleep))
    assert watch.told
    assert all(text.startswith("RECONNECTING no samples") for text in watch.told)
    is_unseen = left < 300 + stop - answers
    assert ["at least" in text for text in watch.told] == [is_unseen] * len(watch.told)


@pytest.mark.parametrize(("stop", "is_sleep"), STOPS)
@pytest.mark.parametrize("answers", WINDOWS)
def test_an_encoder_that_left_and_is_back_is_told_as_far_as_answers_reach(
    stop: float, is_sleep: bool, answers: float
) -> None:
    away = 300 + 0.1 * stop, 300 + 0.95 * stop
    watch = played(Case(stop, answers, away, is_sleep))
    since = max(away[0], 300 + stop - answers)
    is_told = away[1] - since > Thresholds().silence_after
    assert bool(watch.told) == is_told
    is_unseen = away[0] < 300 + stop - answers
    assert all(("at least" in text) == is_unseen for text in watch.told)


def test_an_outage_longer_than_the_answers_blames_none_of_sixty_events() -> None:
    watch = played(Case(150.0, 120.0, None, is_outage=True), events=60)
    assert watch.told == []
    for state in watch.world.states:
        (gap,) = state.qos.not_watched
        assert round(gap.seconds) in range(26, 38)


@pytest.mark.parametrize("away", [None, (330.0, inf), (330.0, 400.0)])
def test_a_verdict_does_not_depend_on_when_a_reply_was_read(away: tuple[float, float] | None) -> None:
    at_once, late = (played(Case(0.0, 120.0, away, burst=30.0, unread=unread)) for unread in (0.0, 20.0))
    assert (late.verdicts, late.told) == (at_once.verdicts, at_once.told)
    assert any("RECONNECTING" in text for text in late.told) == bool(away)


def test_samples_that_come_in_bursts_and_are_read_late_are_no_lost_encoder() -> None:
    watch = played(Case(0.0, 120.0, None, unread=20.0, burst=30.0))
    assert (watch.told, watch.tallies) == (["METRICS_LATE metrics usually come 32 s late"], {BroadcastState.ON_AIR})


@pytest.mark.parametrize("away", [None, (330.0, inf)])
def test_a_reply_that_is_dated_in_the_future_is_dated_by_its_request(away: tuple[float, float] | None) -> None:
    """One of the platform's machines has a wrong clock."""
    right, wrong = (played(Case(0.0, 120.0, away, burst=30.0, ahead=ahead)) for ahead in (0.0, 60.0))
    assert (wrong.verdicts, wrong.told) == (right.verdicts, right.told)


async def test_empty_replies_are_apart_by_their_dates_and_not_by_their_reading() -> None:
    """The platform's `Date` counts, and the time of the request without one, or if it lies in the future."""
    watch = Watch(Case(0.0, 0.0, None))
    found = []
    for sent, date, read in ((0.0, None, 0.2), (1.0, None, 6.0), (2.0, 62.0, 6.1), (6.0, 2.0, 6.2), (9.0, None, 9.2)):
        dated = Dated(START + sent, START + read, None if date is None else START + date)
        found.append(await watch.after_empty(dated))
    assert found == [*[Proof.NOT_YET] * 4, Proof.PROVEN]


async def test_a_cached_reply_without_a_sample_proves_nothing() -> None:
    watch = Watch(Case(0.0, 0.0, None))
    ages = {0.0: 0.0, 5.0: 20.0, 10.0: 0.0}
    found = [await watch.after_empty(Dated(START + sent, START + sent, age=age)) for sent, age in ages.items()]
    assert found == [Proof.NOT_YET, Proof.NOT_YET, Proof.PROVEN]


# No ask, no claim


async def test_an_empty_reply_after_a_missing_poll_is_the_first_again() -> None:
    watch = Watch(Case(0.0, 0.0, None))
    found = [await watch.after_empty(Dated(START + sent, START + sent)) for sent in (0.0, 16.0, 21.0)]
    assert found == [Proof.NOT_YET, Proof.NOT_YET, Proof.PROVEN]


async def test_a_poll_that_failed_is_no_reply_and_not_missing() -> None:
    watch, error = Watch(Case(0.0, 0.0, None)), ServerFault("503", status=503)
    errors = {0.0: None, 5.0: error, 10.0: error, 15.0: None}
    found = [await watch.after_empty(Dated(START + sent, START + sent), each) for sent, each in errors.items()]
    assert found == [*[Proof.NOT_YET] * 3, Proof.PROVEN]


def test_an_encoder_that_left_before_polls_were_missing_is_lost_with_the_second_reply_after_them() -> None:
    watch = played(Case(30.0, 120.0, (294.0, inf)))
    assert watch.proofs[60:][:4] == [None, Proof.NOT_YET, Proof.PROVEN, Proof.PROVEN]
