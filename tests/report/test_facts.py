"""Unknown time is not uptime; text from others stays text in every form of a report."""

from __future__ import annotations

import csv
import io
import json
import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import (
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    BroadcastState,
    EpisodeRecord,
    EventRecord,
    Marker,
    Readings,
    RestreamRecord,
    Severity,
    UnwatchedRecord,
    WatchRecord,
)
from livedeck.report.chat import messages_a_minute
from livedeck.report.document import report_csv
from livedeck.report.facts import EventFacts, facts_of, may_have_been_on_air, report_of
from livedeck.report.markdown import markdown
from livedeck.report.page import page
from livedeck.report.recorded import Recorded
from livedeck.report.sections import budget
from livedeck.report.spans import Span, common, joined, seconds_of, without
from livedeck.report.text import head_lines
from livedeck.report.timeline import timeline, unwatched
from livedeck.text.secrets import register_secret
from report.readers import Page, markdown_links, markdown_tables

NOW = datetime(2026, 11, 21, 21, tzinfo=UTC)
SHOW = Span(NOW, NOW + timedelta(minutes=20))


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def samples(*stretches: tuple[float, float]) -> Readings:
    """Return a sample each two seconds, in these seconds of the show."""
    times = [NOW.timestamp() + second for since, until in stretches for second in range(int(since), int(until), 2)]
    count = len(times)
    return Readings(
        array("d", times), array("d", [4e6] * count), array("d", [128e3] * count), array("d", [30.0] * count),
        array("q", [0] * count),
    )  # fmt: skip


def record(name: str = "Show", **fields: object) -> EventRecord:
    known = {"stream_id": "s1", "started_at": NOW, "finished_at": at(1200), "scheduled": NOW, **fields}
    return EventRecord(NOW, "e1", name, BroadcastState.COMPLETED, **known)  # type: ignore[arg-type]


def facts(
    readings: Readings, watched: Sequence[tuple[float, float]], event: EventRecord | None = None, **known: object
) -> EventFacts:
    watches = tuple(WatchRecord(at(since), at(until), "p") for since, until in watched)
    event, kept = event or record(), {("e1", "s1"): readings} if len(readings) else {}
    recorded = Recorded(SHOW, "e1", (event,), watched=watches, samples=kept, **known)  # type: ignore[arg-type]
    return facts_of(recorded, event, 99.0, None)


def seconds(spans: Sequence[Span]) -> list[tuple[float, float]]:
    return [((span.since - NOW).total_seconds(), (span.until - NOW).total_seconds()) for span in spans]


@pytest.mark.parametrize(
    ("stream_start", "event_start", "plan"), [(30, None, 30), (30, -600, 30), (None, -600, -600), (None, None, None)]
)
def test_the_plan_is_that_of_the_time_before_the_show(
    stream_start: float | None, event_start: float | None, plan: float | None
) -> None:
    """A show that was scheduled as a stream has no time of the event; the stream's own time becomes its real start."""

    def moment(second: float | None) -> datetime | None:
        return None if second is None else at(second)

    waiting = EventRecord(
        at(-300), "e1", "Show", BroadcastState.SCHEDULED, moment(event_start), "s1", moment(stream_start)
    )
    live = replace(record(scheduled=moment(event_start)), at=at(12), tally=BroadcastState.ON_AIR, started_at=at(10))
    recorded = Recorded(SHOW, "e1", (waiting, live))
    assert facts_of(recorded, live, 99.0, None).planned == moment(plan)


def test_a_hole_that_was_watched_is_an_outage() -> None:
    """The outage lasts from the last sample before it to the first one after it."""
    found = facts(samples((0, 300), (400, 1200)), [(0, 1200)])
    assert seconds(found.outages) == [(298, 400)]
    assert found.unknown == ()
    assert found.uptime == pytest.approx(100 * (1200 - 102) / 1200)
    assert found.spent == 102
    assert found.budget == pytest.approx(12)


def test_a_hole_that_nobody_watched_is_neither_up_nor_down() -> None:
    """Nor does it use the error budget."""
    found = facts(samples((0, 300), (900, 1200)), [(0, 300), (900, 1200)])
    assert (found.outages, seconds(found.unknown)) == ((), [(298, 900)])
    assert (found.uptime, found.spent) == (100, 0)
    assert "602 s on air have no sample" in markdown(report_of("Show", Recorded(SHOW), [found], NOW))


def test_of_a_hole_that_was_watched_in_part_that_part_is_an_outage() -> None:
    """The rest is not known."""
    found = facts(samples((0, 300), (900, 1200)), [(0, 500), (850, 1200)])
    assert seconds(found.outages) == [(298, 500), (850, 900)]
    assert seconds(found.unknown) == [(500, 850)]


def test_a_hole_in_time_that_no_response_covers_is_neither_up_nor_down() -> None:
    """The platform was watched, but gave no samples of this stream for longer than its responses reach back."""
    gap = UnwatchedRecord(at(400), at(850), "e1", "s1")
    found = facts(samples((0, 300), (900, 1200)), [(0, 1200)], unwatched=(gap,))
    assert seconds(found.outages) == [(298, 400), (850, 900)]
    assert seconds(found.unknown) == [(400, 850)]
    (words,) = (entry.text for entry in found.entries if entry.text.startswith("not watched"))
    assert words == f"not watched for 07:30, until {at(850):%H:%M:%S}Z"


def test_a_silence_that_was_found_later_is_an_outage() -> None:
    """Somebody asked before the platform had forgotten it."""
    silence = EpisodeRecord("e1", "RECONNECTING", "", "", Severity.CRITICAL, at(298), at(400), "no samples", "samples")
    found = facts(samples((0, 300), (400, 1200)), [(0, 100)], episodes=(silence,))
    assert (seconds(found.outages), found.unknown) == ([(298, 400)], ())


def test_without_a_sample_and_a_watcher_nothing_is_known() -> None:
    """No figure is made up."""
    found = facts(Readings(), [])
    assert (found.uptime, found.outages, seconds(found.unknown)) == (None, (), [(0, 1200)])
    assert "Uptime | unknown" in markdown(report_of("Show", Recorded(SHOW), [found], NOW))


def test_a_gap_in_watching_that_samples_cover_is_known() -> None:
    """The platform kept them."""
    found = facts(samples((0, 1200)), [(0, 100), (1100, 1200)])
    assert (found.uptime, found.unknown) == (100, ())


def test_nothing_is_said_of_a_time_of_which_nothing_is_written_yet() -> None:
    """Whether somebody watches now is in the file within half a minute; from when on nobody does is said."""
    watches = (WatchRecord(at(300), at(600), "p"),)
    recorded = Recorded(SHOW, "e1", watched=watches, known_until=at(610))
    assert seconds(unwatched(recorded)) == [(0, 300)]
    recorded = replace(recorded, known_until=at(700))
    assert seconds(unwatched(recorded)) == [(0, 300), (600, 700)]
    assert [entry.text for entry in timeline(recorded)] == [
        "nobody watched for 05:00, until 21:05:00Z",
        "nobody has watched since: 01:40 as of 21:11:40Z",
    ]
    assert (
        head_lines(recorded, "Show")[1] == "nobody watched for 06:40 of this time: 2 gaps from 21:00:00Z to 21:11:40Z"
    )


def test_a_budget_that_faults_used_says_that_no_signal_was_missing() -> None:
    """Uptime counts outages alone."""
    black = EpisodeRecord("e1", "BLACKOUT", "", "", Severity.CRITICAL, at(100), at(158), "black", "a picture")
    found = facts(samples((0, 1200)), [(0, 1200)], episodes=(black,))
    assert (found.uptime, budget(found)) == (
        100,
        "12.0 s at 99 %; used 58 s (483 %): 0 s without a signal, 58 s with a faulty one",
    )


HOSTILE = (
    "=HYPERLINK(\"http://x.example\")",
    "[click](javascript:alert(1)) ![p](http://x.example/p.png)",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a | b || c\n| d",
    "`code` *bold* _it_ # head",
    "https://x.example and www.x.example",
    "&lt;b&gt; \\| \\[",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_others_wrote_is_text_in_every_form(name: str) -> None:
    """Names of events and restreams, markers, and what an alarm says."""
    restreams = (RestreamRecord("r1", name, "connected", is_enabled=True),)
    down = EpisodeRecord("e1", "RESTREAM_DOWN", "r1", name, Severity.CRITICAL, at(10), at(20), name, "connected")
    found = facts(
        samples((0, 1200)),
        [(0, 1200)],
        record(name, restreams=restreams),
        markers=(Marker(at(5), "e1", name),),
        episodes=(down,),
    )
    report = report_of(name, Recorded(SHOW), [found, found], NOW)
    visible = " ".join(name.split())
    text = markdown(report)
    assert markdown_links(text) == []
    (row,) = markdown_tables(text)["Restreams"]
    assert visible.startswith(row["Restream"].removesuffix("…"))
    html = Page(page(report))
    assert not {"script", "img", "a", "code"} & {*html.tags}
    assert html.addresses == []
    assert visible in html.text
    cells = [cell for row in csv.reader(io.StringIO(report_csv(report))) for cell in row]
    assert not [cell for cell in cells if cell.startswith(tuple("=+@\t\r"))]
    assert any(visible[:30] in cell for cell in cells)


def test_a_secret_in_a_name_is_masked() -> None:
    """Though it was registered after the record was made."""
    event = record("Show live_0c9d8e7f6a5b4c3d")
    register_secret("live_0c9d8e7f6a5b4c3d")
    found = facts(samples((0, 1200)), [(0, 1200)], event)
    report = report_of(found.name, Recorded(SHOW), [found], NOW)
    for text in (markdown(report), page(report), report_csv(report)):
        assert "0c9d8e7f" not in text


TIMES = ("2026-11-21T21:00:05Z", "2026-11-21T21:00:59.9Z", "2026-11-21T22:01:00+01:00")
MESSAGES = [{"id": str(index), "created_at": time} for index, time in enumerate(TIMES)]
EXPORTS = {
    "csv": "id,created_at\n" + "".join(f"{row['id']},{row['created_at']}\n" for row in MESSAGES),
    "json": json.dumps({"data": MESSAGES}),
    "lines": "".join(f"{json.dumps(row)}\n" for row in MESSAGES),
}


@pytest.mark.parametrize("text", EXPORTS.values(), ids=EXPORTS)
def test_a_chat_is_counted_by_minute(text: str) -> None:
    """Every format of an export gives the same counts."""
    assert messages_a_minute(text) == {at(0): 2, at(60): 1}


SECONDS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=5)


@given(SECONDS, SECONDS)
def test_stretches_are_sets_of_moments(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    """Joined, common and left over as the sets of their seconds are."""

    def spans(pairs: list[tuple[int, int]]) -> list[Span]:
        return [Span(at(min(pair)), at(max(pair))) for pair in pairs]

    def moments(pairs: list[tuple[int, int]]) -> set[int]:
        return {moment for pair in pairs for moment in range(min(pair), max(pair))}

    mine, others = spans(first), spans(second)
    results = {
        joined([*mine, *others]): moments(first) | moments(second),
        common(mine, others): moments(first) & moments(second),
        without(mine, others): moments(first) - moments(second),
    }
    for found, expected in results.items():
        assert seconds_of(found) == len(expected)
        assert {int(second) for since, until in seconds(found) for second in range(int(since), int(until))} == expected


def turn(seconds: float, turn: AlarmTransition, actor: str = "") -> AlarmRecord:
    """Return a transition of an alarm, some seconds into the show."""
    state, words = AlarmState.UNACKNOWLEDGED, ("Show", "", "no samples", "samples")
    return AlarmRecord(at(seconds), turn, "e1", "NO_INGEST", "", Severity.CRITICAL, state, at(10), *words, actor=actor)


def test_an_acknowledgement_that_was_taken_back_does_not_count_and_the_one_after_it_does() -> None:
    """Its time counts from when the alarm was raised."""
    turns = [
        turn(10, AlarmTransition.RAISED),
        turn(20, AlarmTransition.ACKNOWLEDGED, "anna@regie:1"),
        turn(25, AlarmTransition.UNACKNOWLEDGED, "anna@regie:1"),
    ]
    again = turn(70, AlarmTransition.ACKNOWLEDGED, "bert@rack:2")
    for more, expected in (((), ("", None)), ((again,), ("bert@rack", 60))):
        (found,) = facts(samples((0, 1200)), [(0, 1200)], alarms=(*turns, *more)).acknowledgements
        assert (found.by, found.seconds) == expected


def test_a_completion_without_a_time_ends_the_show_where_it_was_seen() -> None:
    """Some platforms complete an event without a time: what follows is no outage."""
    live = replace(record(finished_at=None), tally=BroadcastState.ON_AIR)
    done = replace(live, at=at(610), tally=BroadcastState.COMPLETED)
    renamed = replace(done, at=at(700), name="Show, over")
    recorded = Recorded(
        SHOW, "e1", (live, done, renamed), watched=(WatchRecord(NOW, at(1200), "p"),),
        samples={("e1", "s1"): samples((0, 600))},
    )  # fmt: skip
    found = facts_of(recorded, renamed, 99.0, None)
    assert seconds(found.on_air) == [(0, 610)]
    assert found.outages == ()
    later = Span(at(620), at(1200))
    assert not facts_of(replace(recorded, span=later, events=(done, renamed)), renamed, 99.0, None).on_air
    assert not may_have_been_on_air(done, later)
    assert may_have_been_on_air(done, SHOW)


def test_a_stream_that_goes_on_after_a_completion_lasts() -> None:
    live = replace(record(finished_at=None), tally=BroadcastState.ON_AIR)
    done = replace(live, at=at(300), tally=BroadcastState.COMPLETED)
    again = replace(live, at=at(310))
    recorded = Recorded(SHOW, "e1", (live, done, again), watched=(WatchRecord(NOW, at(1200), "p"),))
    assert seconds(facts_of(recorded, again, 99.0, None).on_air) == [(0, 1200)]


def test_the_worst_five_minutes_end_with_the_stream() -> None:
    """A show of 100 s has no five minutes; what never was cannot be bad."""
    found = facts(samples((0, 40)), [(0, 100)], record(finished_at=at(100)))
    assert found.worst is not None
    assert found.worst.until == at(100)


@pytest.mark.parametrize("length", [30, 90, 600, 7200])
def test_no_two_times_below_a_chart_read_the_same(length: int) -> None:
    found = facts(samples((0, length)), [(0, length)], record(finished_at=at(length)))
    labels = re.findall(r"<span[^>]*>(\d\d:\d\d[:\d]*)Z?</span>", page(report_of("Show", Recorded(SHOW), [found], NOW)))
    assert len(labels) == len({*labels}) > 1


def test_a_fault_after_the_show_has_no_empty_lane() -> None:
    ended = EpisodeRecord("e1", "ENDED_ON_AIR", "", "", Severity.WARNING, at(700), at(800), "ended", "a programme")
    found = facts(samples((0, 600)), [(0, 900)], record(finished_at=at(600)), episodes=(ended,))
    text = page(report_of("Show", Recorded(SHOW), [found], NOW))
    assert ("ENDED_<wbr>ON_<wbr>AIR" in text, "<b>ENDED_ON_AIR</b>" in text) == (True, False)


@given(st.integers(1, 10**9))
def test_a_show_without_an_outage_has_an_uptime_of_100(microseconds: int) -> None:
    """99.999 % beside no outage would be a contradiction."""
    up = (Span(NOW, NOW + timedelta(microseconds=microseconds)),)
    assert EventFacts(record(), SHOW, up=up).uptime == 100.0


def test_a_fault_without_an_end_lasts_as_long_as_the_data() -> None:
    """The span of a report may reach into the future, as when it is asked for the whole day."""
    day = Span(NOW, NOW + timedelta(hours=12))
    event = record(finished_at=None, restreams=(RestreamRecord("r1", "Tube", "disconnected", is_enabled=True),))
    event = replace(event, tally=BroadcastState.ON_AIR)
    words = ("Show", "Tube", "Tube disconnected", "connected")
    raised = [
        AlarmRecord(
            at(610), AlarmTransition.RAISED, "e1", kind, target, Severity.CRITICAL, AlarmState.UNACKNOWLEDGED, at(600),
            *words,
        )
        for kind, target in (("RESTREAM_DOWN", "r1"), ("AUDIO_LOST", ""))
    ]  # fmt: skip
    watches = (WatchRecord(at(0), at(1200), "p"),)
    recorded = Recorded(
        day, "e1", (event,), alarms=tuple(raised), watched=watches, samples={("e1", "s1"): samples((0, 1200))}
    )
    found = facts_of(recorded, event, 99.0, None)
    assert {kind: seconds for kind, (_, _, seconds) in found.minutes_by_kind.items()} == {
        "RESTREAM_DOWN": 600.0, "AUDIO_LOST": 600.0,
    }  # fmt: skip
    assert seconds(found.restreams["Tube"]) == [(600, 1200)]
    assert seconds(found.bad) == [(600, 1200)]
    assert found.worst
    assert found.worst.until <= at(1200)
