"""What Prometheus is told (scripting.md, "Metrics"): its format, its bounds, and the files that read it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from livedeck.cli.demo import demo_settings
from livedeck.cli.metrics import FILES
from livedeck.cli.screenshots import EVENING, FixedClock
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Durations, RequestCounts
from livedeck.monitor import AlarmTransition, EventState, Snapshot
from livedeck.presentation.metric_files import PANELS, RULES, dashboard
from livedeck.presentation.metrics import MAX_EVENTS, METRICS, NOTHING_COUNTED, Counted, count_turns, metrics_text
from livedeck.presentation.render_time import RenderTime
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.secrets import register_secret

KEPT = Path(__file__).parents[2] / "monitoring"
PROMTOOL = shutil.which("promtool")
with_promtool = pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed (apt install prometheus)")

_SAMPLE = re.compile(r"""(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (-?[0-9.]+(?:e[-+][0-9]+)?)""")
_LABEL = re.compile(r"""(\w+)="((?:[^"\\\n]|\\[\\n"])*)\"""")
BOUNDED = {"event_id", "name", "kind", "severity", "state", "turn", "version", "operation", "result", "route", "le"}


class Parsed(NamedTuple):
    """A line of the text."""

    name: str
    labels: dict[str, str]
    value: float


@cache
def evening() -> Snapshot:
    """The demo workspace, with every sample judged."""

    async def work() -> Snapshot:
        simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True))
        async with make_api(demo_settings(simulator), clock=FixedClock(), mount=simulator.app) as api:
            return await make_monitor(api, FixedClock()).wait_ready()

    return asyncio.run(work())


def text_of(snapshot: Snapshot, *, watched: bool = True, counted: Counted = NOTHING_COUNTED) -> str:
    render_time = RenderTime.from_snapshot(snapshot, EVENING, watched=watched)
    return metrics_text(snapshot, render_time, "1.2.3", counted)


def parsed(text: str) -> list[Parsed]:
    """By the grammar of the format, and by nothing of ours."""
    assert text.endswith("\n")
    found, typed = [], set()
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            assert word in {"HELP", "TYPE"}
            typed |= {f"{name}{part}" for part in (("_bucket", "_sum", "_count") if rest == "histogram" else ("",))}
            continue
        match = _SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] in typed
        labels = dict(_LABEL.findall(match[2] or ""))
        found.append(Parsed(match[1], labels, float(match[3])))
    return found


def everything_counted() -> Counted:
    """Of a collector that does everything."""
    requests = RequestCounts()
    requests.results.update({("list events", "ok"): 40, ("get QoS of event", "unreachable"): 2})
    for operation, seconds in (("list events", 0.05), ("list events", 0.3), ("list events", 60.0)):
        requests.durations.setdefault(operation, Durations()).add(seconds)
    since = EVENING - timedelta(seconds=42)
    return Counted(
        {"raised": 3}, requests, {("ops", "taken"): 7}, 2, since, 20, since, 12, is_apart=False, writes_refused=1
    )


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


def test_a_name_breaks_no_line_and_tells_no_secret() -> None:
    state = next(state for state in evening().events if state.phase.tally.expects_signal)
    key = "canary-7734-of-the-tests"
    register_secret(key)
    for name in ('a "b" \\ c', "two\nlines 1\r", "x" * 500, f"keyed {key}", "}{,=\x1b[31m", "\u202ertl"):
        told = text_of(replace(evening(), events=(renamed(state, name=name),)))
        (info,) = (sample for sample in parsed(told) if sample.name == "livedeck_event_info")
        assert len(info.labels["name"]) <= 2 * 80
        assert not any(character < " " for character in told.replace("\n", ""))
        assert key not in told


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


def test_what_alarms_did_is_counted_over_the_snapshots() -> None:
    snapshot = evening()
    assert snapshot.changes
    turns = count_turns(count_turns({}, snapshot), snapshot)
    raised = sum(change.transition is AlarmTransition.RAISED for change in snapshot.changes)
    assert turns["raised"] == 2 * raised
    assert f'livedeck_alarm_changes_total{{turn="raised"}} {2 * raised}' in text_of(snapshot, counted=Counted(turns))


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
        "livedeck_engine_events_owned 12",
        "livedeck_engine_apart 0",
        "livedeck_writes_refused_total 1",
        f"livedeck_heartbeat_last_success_timestamp_seconds {EVENING.timestamp() - 42:.12g}",
    ):
        assert f"\n{line}\n" in told
    assert "livedeck_spool" not in text_of(evening())
    assert "livedeck_spool_oldest_seconds 0\n" in text_of(evening(), counted=Counted(spool_messages=0))


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


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_is_what_the_command_makes(name: str) -> None:
    """Else: `livedeck metrics --write monitoring`."""
    assert (KEPT / name).read_text(encoding="utf-8") == FILES[name]()


def test_files_name_no_metric_that_is_not_there() -> None:
    queries = [rule.query for rule in RULES] + [query for _, query, _ in PANELS]
    named = {name for query in queries for name in re.findall(r"livedeck_\w+", query)}
    series = {metric.name for metric in METRICS if metric.kind != "histogram"}
    series |= {f"{metric.name}{part}" for metric in METRICS for part in ("_bucket",) if metric.kind == "histogram"}
    assert named <= series
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_the_panels_of_the_dashboard_lie_beside_each_other() -> None:
    panels = json.loads(FILES["grafana-dashboard.json"]())["panels"]
    assert [panel["id"] for panel in panels] == [*range(1, len(PANELS) + 1)]
    for one, other in combinations([panel["gridPos"] for panel in panels], 2):
        is_apart = abs(one["x"] - other["x"]) >= one["w"] or abs(one["y"] - other["y"]) >= one["h"]
        assert is_apart
        assert 0 <= one["x"] <= 24 - one["w"]
    variables = {f"${variable['name']}" for variable in dashboard()["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(panels)))
    assert {f"${name}" for name in used} == variables


KINDS: dict[str, Any] = {
    "uid": str,
    "title": str,
    "tags": list,
    "timezone": str,
    "schemaVersion": int,
    "editable": bool,
    "refresh": str,
    "time": {"from": str, "to": str},
    "templating": {"list": list},
    "panels": list,
}
PANEL_KINDS: dict[str, Any] = {
    "id": int,
    "type": str,
    "title": str,
    "description": str,
    "datasource": {"type": str, "uid": str},
    "gridPos": {"x": int, "y": int, "w": int, "h": int},
    "fieldConfig": {"defaults": {"unit": str}, "overrides": list},
    "targets": list,
}
TARGET_KINDS: dict[str, Any] = {"refId": str, "datasource": {"type": str, "uid": str}, "expr": str, "legendFormat": str}
UNITS = {"short", "s", "bps", "percentunit", "reqps"}
"""Of Grafana's list of units those that are used."""


def check_kinds(value: Any, kinds: Any) -> None:
    """That value has these keys, and what is in them is of these kinds: "JSON model" of Grafana's documentation."""
    if isinstance(kinds, dict):
        assert value.keys() == kinds.keys()
        for key, kind in kinds.items():
            check_kinds(value[key], kind)
    else:
        assert type(value) is kinds


def test_the_dashboard_has_the_shape_that_grafana_imports() -> None:
    read = json.loads(FILES["grafana-dashboard.json"]())
    check_kinds(read, KINDS)
    for panel in read["panels"]:
        check_kinds(panel, PANEL_KINDS)
        (target,) = panel["targets"]
        check_kinds(target, TARGET_KINDS)
        assert panel["type"] == "timeseries"
        assert panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS


@with_promtool
def test_promtool_finds_no_fault_in_the_metrics() -> None:
    told = text_of(evening(), counted=everything_counted())
    assert {metric.name for metric in METRICS} <= {line.split()[2] for line in told.splitlines() if line[0] == "#"}
    done = subprocess.run([str(PROMTOOL), "check", "metrics"], input=told, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@with_promtool
def test_promtool_reads_every_rule_and_every_query_of_a_panel(tmp_path: Path) -> None:
    queries = tmp_path / "panels.yml"
    rows = [{"record": f"panel:{n}", "expr": p["targets"][0]["expr"]} for n, p in enumerate(dashboard()["panels"])]
    queries.write_text(json.dumps({"groups": [{"name": "panels", "rules": rows}]}), encoding="utf-8")
    for file in (KEPT / "prometheus-rules.yml", queries):
        done = subprocess.run([str(PROMTOOL), "check", "rules", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
