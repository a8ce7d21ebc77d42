"""Metrics for Prometheus (scripting.md, "Metrics"): their format and their bounds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from livedeck.cli.demo import demo_settings
from livedeck.cli.screenshots import EVENING, LOOKS_APART, FixedClock, watch_until_evening
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Durations, RequestCounts
from livedeck.monitor import AlarmTransition, Delivery, EventState, Picture, Silenced, Snapshot, Source
from livedeck.presentation.metrics import MAX_EVENTS, NOTHING_COUNTED, Counted, count_rounds, count_turns, metrics_text
from livedeck.presentation.render_time import RenderTime
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.secrets import register_secret
from monitor.probing import seen

BOUNDED = {
    "host",
    "event_id",
    "name",
    "kind",
    "severity",
    "state",
    "transition",
    "version",
    "operation",
    "result",
    "route",
    "le",
}


class Parsed(NamedTuple):
    """Line of the text."""

    name: str
    labels: dict[str, str]
    value: float


@cache
def evening() -> Snapshot:
    """Return the demo workspace, with every sample judged."""

    async def work() -> Snapshot:
        simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True))
        clock = FixedClock(LOOKS_APART)
        async with make_api(demo_settings(simulator), clock=clock, mount=simulator.app) as api:
            return await watch_until_evening(make_monitor(api, clock), clock, simulator)

    return asyncio.run(work())


def text_of(snapshot: Snapshot, *, watched: bool = True, counted: Counted = NOTHING_COUNTED) -> str:
    render_time = RenderTime.from_snapshot(snapshot, EVENING, watched=watched)
    return metrics_text(snapshot, render_time, "1.2.3", counted)


def parsed(text: str) -> list[Parsed]:
    """Parse the text with Prometheus' own client."""
    assert text.endswith("\n")
    families = [*text_string_to_metric_families(text.encode().decode())]
    assert [family.name for family in families if family.type == "unknown" or not family.documentation] == []
    return [Parsed(sample.name, sample.labels, sample.value) for family in families for sample in family.samples]


def everything_counted() -> Counted:
    """Return the counts of a collector that does everything."""
    requests = RequestCounts()
    requests.results.update({("list events", "ok"): 40, ("get QoS of event", "unreachable"): 2})
    for operation, seconds in (("list events", 0.05), ("list events", 0.3), ("list events", 60.0)):
        requests.durations.setdefault(operation, Durations()).add(seconds)
    since = EVENING - timedelta(seconds=42)
    counted = Counted(
        {"raised": 3},
        requests,
        {("ops", "taken"): 7},
        2,
        since,
        20,
        since,
        frozenset(state.id for state in evening().events),
        is_apart=False,
        is_notifier=True,
        writes_refused=1,
    )
    probed = replace(counted, rounds={"plays": 9, "gone": 1}, probe_bytes={"cdn.example": 4096}, probe_restarts=2)
    return replace(probed, announced={("VIDEO_LOW", "warning"): 5}, flood_seconds=90.0)


def renamed(state: EventState, **fields: Any) -> EventState:
    return replace(state, event=state.event.model_copy(update=fields))


def test_what_is_on_air_or_due_is_told_by_its_id_and_nothing_else_is() -> None:
    samples = parsed(text_of(evening()))
    due = {sample.labels["event_id"] for sample in samples if sample.name == "livedeck_event_info"}
    on_air = {state.id for state in evening().events if state.phase.tally.expects_signal}
    planned = {state.id for state in evening().events if state.event.name in {"Lecture 7", "Evening news"}}
    assert due == on_air | planned
    assert {s.labels["event_id"] for s in samples if s.name == "livedeck_event_on_air" and s.value} == on_air
    assert {*(label for sample in samples for label in sample.labels)} <= BOUNDED
    assert len({(sample.name, *sorted(sample.labels.items())) for sample in samples}) == len(samples)
    assert sum(s.value for s in samples if s.name == "livedeck_alarms") == len((*evening().alarms, *evening().quiet))
    newest = {state.id: state.qos.readings.last for state in evening().events}
    for sample in samples:
        if sample.name == "livedeck_event_video_bytes_per_second":
            reading = newest[sample.labels["event_id"]]
            assert reading is not None
            assert reading.video is not None
            assert sample.value * 8 == pytest.approx(reading.video)


KEY = "canary-7734-of-the-tests"
HOSTILE = {
    "quotes": 'a "b" \\ c',
    "lines": "two\nlines 1\r\n# TYPE x counter\nlivedeck_alarms 7",
    "long": "x" * 10_000,
    "a secret": f"keyed {KEY}",
    "braces and colours": "}{,=\x1b[31m",
    "right to left": "\u202ertl\u2066",
    "half a letter": "half \ud83d of one",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028",
    "a backslash at the end": "end\\",
    "a label": 'x",kind="y',
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_neither_name_nor_id_breaks_a_line_or_tells_a_secret(name: str) -> None:
    register_secret(KEY)
    state = next(state for state in evening().events if state.phase.tally.expects_signal)
    told = text_of(replace(evening(), events=(renamed(state, id=f"id {name}", name=name),)))
    samples = [sample for sample in parsed(told) if "event_id" in sample.labels]
    assert {sample.name for sample in samples} >= {"livedeck_event_info", "livedeck_event_on_air"}
    assert len({sample.labels["event_id"] for sample in samples}) == 1
    for sample in samples:
        assert {*sample.labels} <= ({"event_id", "name"} if sample.name == "livedeck_event_info" else {"event_id"})
        assert len(sample.labels["event_id"]) <= 200
        assert len(sample.labels.get("name", "")) <= 80
    assert [character for character in told if character < " " and character != "\n"] == []
    assert KEY not in told


def test_the_name_of_an_event_and_its_addresses_are_no_label_but_the_one_of_its_info() -> None:
    state = next(state for state in evening().events if state.phase.tally.expects_signal)
    words = {"name": "A title 9981", "streamkey": "key-9981", "rtmp_link": "rtmp://ingest.example/9981"}
    lines = text_of(replace(evening(), events=(renamed(state, **words),))).splitlines()
    assert [line.partition("{")[0] for line in lines if "9981" in line] == ["livedeck_event_info"]


def test_of_six_hundred_events_on_air_five_hundred_have_series_and_the_rest_is_counted() -> None:
    on_air = next(state for state in evening().events if state.phase.tally.expects_signal)
    many = tuple(renamed(on_air, id=f"event {number}") for number in range(600))
    samples = parsed(text_of(replace(evening(), events=many)))
    assert {n: sum(s.name == n for s in samples) for n in ("livedeck_event_info", "livedeck_event_on_air")} == {
        "livedeck_event_info": MAX_EVENTS,
        "livedeck_event_on_air": MAX_EVENTS,
    }
    assert [s.value for s in samples if s.name == "livedeck_events_not_exported"] == [100]


def test_more_events_than_the_bound_are_counted_and_those_on_air_come_first() -> None:
    on_air = next(state for state in evening().events if state.phase.tally.expects_signal)
    news = next(state for state in evening().events if state.event.name == "Evening news")
    many = [renamed(news, id=f"planned {number}") for number in range(MAX_EVENTS + 7)]
    samples = parsed(text_of(replace(evening(), events=(*many, on_air))))
    ids = [sample.labels["event_id"] for sample in samples if sample.name == "livedeck_event_info"]
    assert (len(ids), ids[0]) == (MAX_EVENTS, on_air.id)
    assert [s.value for s in samples if s.name == "livedeck_events_not_exported"] == [8]


def test_what_cannot_be_believed_is_missing_and_no_zero() -> None:
    names = {sample.name for sample in parsed(text_of(evening(), watched=False))}
    assert not names & {"livedeck_event_on_air", "livedeck_event_health_ratio", "livedeck_event_video_bytes_per_second"}
    assert names >= {"livedeck_event_info", "livedeck_event_sample_age_seconds", "livedeck_platform_answer_age_seconds"}


def test_an_alarm_under_a_silence_is_counted_as_such_so_that_no_rule_calls_for_it() -> None:
    snapshot = evening()
    covering = Silenced("s-1", EVENING + timedelta(hours=1), "encoder swap", "anna")
    silent = replace(snapshot, alarms=tuple(replace(alarm, silenced=covering) for alarm in snapshot.alarms))
    states = {s.labels["state"] for s in parsed(text_of(silent)) if s.name == "livedeck_alarms" and s.value}
    assert "silenced" in states
    assert "unacknowledged" not in states


def test_what_alarms_did_is_counted_over_the_snapshots() -> None:
    snapshot = evening()
    assert snapshot.changes
    turns = count_turns(count_turns({}, snapshot), snapshot)
    raised = sum(change.transition is AlarmTransition.RAISED for change in snapshot.changes)
    assert turns["raised"] == 2 * raised
    assert f'livedeck_alarm_changes_total{{transition="raised"}} {2 * raised}' in text_of(
        snapshot, counted=Counted(turns)
    )


def test_what_a_collector_counts_is_told_and_what_it_does_not_do_is_missing() -> None:
    told = text_of(evening(), counted=everything_counted())
    assert {sample.name for sample in parsed(text_of(evening()))} <= {sample.name for sample in parsed(told)}
    assert {*(label for sample in parsed(told) for label in sample.labels)} <= BOUNDED
    for line in (
        'livedeck_platform_requests_total{operation="get QoS of event",result="unreachable"} 2',
        'livedeck_notifications_total{route="ops",result="taken"} 7',
        "livedeck_spool_messages 2",
        "livedeck_spool_oldest_seconds 42",
        "livedeck_sse_readers 20",
        f"livedeck_engine_events_held {len(evening().events)}",
        "livedeck_engine_notifier 1",
        "livedeck_engine_apart 0",
        "livedeck_writes_refused_total 1",
        'livedeck_alarms_announced_total{kind="VIDEO_LOW",severity="warning"} 5',
        "livedeck_alarm_flood_seconds_total 90",
        'livedeck_viewer_rounds_total{result="gone"} 1',
        'livedeck_probe_bytes_total{host="cdn.example"} 4096',
        "livedeck_probe_child_restarts_total 2",
        f"livedeck_heartbeat_last_success_timestamp_seconds {EVENING.timestamp() - 42:.12g}",
    ):
        assert f"\n{line}\n" in told
    held = {s.labels["event_id"] for s in parsed(told) if s.name == "livedeck_engine_event_held"}
    assert held == {s.labels["event_id"] for s in parsed(told) if s.name == "livedeck_event_info"}
    assert "livedeck_engine_event_held" not in text_of(evening())
    assert "livedeck_spool" not in text_of(evening())
    assert "livedeck_spool_oldest_seconds 0\n" in text_of(evening(), counted=Counted(spool_messages=0))


def probed(snapshot: Snapshot, **fields: Any) -> Snapshot:
    """Return the snapshot, with a round of the probe for each event."""
    return replace(snapshot, events=tuple(replace(event, viewer=seen(0, **fields)) for event in snapshot.events))


def test_what_viewers_get_is_told_while_a_round_is_fresh() -> None:
    name = next(event.id for event in evening().events if event.phase.tally.expects_signal)
    told = text_of(probed(evening(), loudness=-21.5, missed=3, picture=Picture.BLACK))
    for metric, value in (("up", 1), ("latency_seconds", 8), ("fetch_ratio", 0.1), ("loudness_lufs", -21.5)):
        assert f'livedeck_viewer_{metric}{{event_id="{name}"}} {value}\n' in told
    assert f'livedeck_viewer_missing_segments_total{{event_id="{name}"}} 3\n' in told
    assert f'livedeck_viewer_picture{{event_id="{name}",state="black"}} 1\n' in told
    gone = text_of(probed(evening(), delivery=Delivery.GONE, loudness=None))
    assert f'livedeck_viewer_up{{event_id="{name}"}} 0\n' in gone
    assert "loudness" not in gone
    for unknown in ({"is_stale": True}, {"source": Source.PLAYER_PAGE}, {"delivery": Delivery.UNKNOWN}):
        assert "livedeck_viewer" not in text_of(probed(evening(), **unknown))


def test_each_round_of_a_probe_is_counted_once() -> None:
    before, one, none = probed(evening()), probed(evening(), delivery=Delivery.GONE), evening()
    count = len(before.events)
    rounds = count_rounds({}, none, before)
    assert rounds == {"plays": count}
    assert count_rounds(rounds, before, before) == rounds
    assert count_rounds(rounds, before, one) == rounds, "another state of the same round"
    assert count_rounds(rounds, before, none) == rounds
    later = replace(one, events=tuple(replace(each, viewer=seen(10, delivery=Delivery.GONE)) for each in one.events))
    assert count_rounds(rounds, before, later) == {"plays": count, "gone": count}


def test_a_histogram_adds_up_and_ends_with_all() -> None:
    name = "livedeck_platform_request_duration_seconds"
    samples = [s for s in parsed(text_of(evening(), counted=everything_counted())) if s.name.startswith(name)]
    buckets = {s.labels["le"]: s.value for s in samples if s.name.endswith("_bucket")}
    assert buckets == {"0.05": 1, "0.1": 1, "0.25": 1, "0.5": 2, "1": 2, "2.5": 2, "5": 2, "10": 2, "+Inf": 3}
    rest = {s.name.removeprefix(name): s.value for s in samples if not s.name.endswith("_bucket")}
    assert rest == {"_sum": pytest.approx(60.35), "_count": 3}


def test_an_event_that_is_gone_has_no_series_any_more() -> None:
    snapshot = evening()
    gone = next(state.id for state in snapshot.events if state.phase.tally.expects_signal)
    assert gone in text_of(snapshot)
    rest = replace(
        snapshot,
        events=tuple(state for state in snapshot.events if state.id != gone),
        alarms=tuple(alarm for alarm in snapshot.alarms if alarm.event_id != gone),
    )
    assert gone not in text_of(rest, counted=everything_counted())
