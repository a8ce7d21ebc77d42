"""What Prometheus is told (scripting.md, "Metrics"): its format, its bounds, and the files that read it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from livedeck.cli.demo import demo_settings
from livedeck.cli.metrics import FILES
from livedeck.cli.screenshots import EVENING, FixedClock
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import AlarmTransition, EventState, Snapshot
from livedeck.presentation.metric_files import PANELS, RULES, dashboard
from livedeck.presentation.metrics import MAX_EVENTS, METRICS, count_turns, metrics_text
from livedeck.presentation.render_time import RenderTime
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.secrets import register_secret

KEPT = Path(__file__).parents[2] / "monitoring"
PROMTOOL = shutil.which("promtool")
with_promtool = pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed (apt install prometheus)")

_SAMPLE = re.compile(r"""(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (-?[0-9.]+(?:e[-+][0-9]+)?)""")
_LABEL = re.compile(r"""(\w+)="((?:[^"\\\n]|\\[\\n"])*)\"""")
BOUNDED = {"event_id", "name", "kind", "severity", "state", "turn", "version"}


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


def text_of(snapshot: Snapshot, *, watched: bool = True, turns: dict[str, int] | None = None) -> str:
    render_time = RenderTime.from_snapshot(snapshot, EVENING, watched=watched)
    return metrics_text(snapshot, render_time, "1.2.3", turns or {})


def parsed(text: str) -> list[Parsed]:
    """By the grammar of the format, and by nothing of ours."""
    assert text.endswith("\n")
    found, typed = [], set()
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, _ = line.split(" ", 3)
            assert word in {"HELP", "TYPE"}
            typed.add(name)
            continue
        match = _SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] in typed
        labels = dict(_LABEL.findall(match[2] or ""))
        found.append(Parsed(match[1], labels, float(match[3])))
    return found


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
    assert f'livedeck_alarm_changes_total{{turn="raised"}} {2 * raised}' in text_of(snapshot, turns={**turns})


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_is_what_the_command_makes(name: str) -> None:
    """Else: `livedeck metrics --write monitoring`."""
    assert (KEPT / name).read_text(encoding="utf-8") == FILES[name]()


def test_files_name_no_metric_that_is_not_there() -> None:
    queries = [rule.query for rule in RULES] + [query for _, query, _ in PANELS]
    named = {name for query in queries for name in re.findall(r"livedeck_\w+", query)}
    assert named <= {metric.name for metric in METRICS}
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


@with_promtool
def test_promtool_finds_no_fault_in_the_metrics() -> None:
    told = text_of(evening(), turns={"raised": 3})
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
