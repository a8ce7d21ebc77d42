"""Files that read the metrics: the Grafana dashboard, and the Prometheus alert rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from hygiene.test_docs import PAGES, anchor, headings
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.presentation.metrics import METRICS, Metric
from livedeck.presentation.prometheus import metric_files
from presentation.prometheus_files import RULE_FILE, dashboard, expressions, rules
from presentation.promtool import promtool
from presentation.test_metrics import evening, everything_counted, probed, text_of

NOT_READ = {
    "livedeck_alarm_changes_total": "how often alarms change calls for nobody",
    "livedeck_alarms_announced_total": "a figure of weeks, for a review and not for a shift",
    "livedeck_alarm_flood_seconds_total": "the same",
}
"""Metrics that no panel and no rule reads, each with the reason."""


def series(metric: Metric) -> set[str]:
    """Return the names of the metric's series."""
    return (
        {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
        if metric.kind == "histogram"
        else {metric.name}
    )


def test_panels_and_rules_read_every_metric_and_no_other() -> None:
    read = {name for expression in expressions() for name in re.findall(r"livedeck_\w+", expression)}
    assert read <= {name for metric in METRICS for name in series(metric)}
    assert {metric.name for metric in METRICS if not series(metric) & read} == NOT_READ.keys()


def test_a_panel_has_the_help_of_its_metric() -> None:
    helps = {name: metric.help for metric in METRICS for name in series(metric)}
    for panel in dashboard()["panels"]:
        first = re.findall(r"livedeck_\w+", panel["targets"][0]["expr"])[0]
        assert panel["description"] == helps[first]


def test_rule_names_are_unique() -> None:
    names = [rule.name for rule in rules()]
    assert len({*names}) == len(names) == metric_files()["prometheus-rules.yml"].count("- alert:")


def test_each_rule_links_to_a_heading_of_the_documentation() -> None:
    for rule in rules():
        page, _, wanted = rule.runbook.partition("#")
        anchors = {*map(anchor, headings(PAGES[page])), *re.findall(r'<a id="(\w+)">', PAGES[page])}
        kinds = ALARM_KINDS if "$labels.kind" in wanted else ("",)
        assert {wanted.replace("{{ $labels.kind }}", kind) for kind in kinds} <= anchors, rule


def test_no_rule_and_no_panel_mixes_the_jobs_of_two_platforms() -> None:
    for expression in expressions():
        assert [by for by in re.findall(r"\bby \(([^)]*)\)", expression) if "job" not in by.split(", ")] == []
        assert "job" not in " ".join(re.findall(r"\bwithout \(([^)]*)\)", expression))


def test_runbook_links_lead_to_the_site_that_you_name() -> None:
    text = metric_files("https://wiki.example/livedeck/")["prometheus-rules.yml"]
    links = re.findall(r'runbook_url: "https://wiki\.example/livedeck/([a-z-]+)\.html#([^"]+)"', text)
    assert [f"{topic}.md#{heading}" for topic, heading in links] == [rule.runbook for rule in rules()]
    assert metric_files("https://wiki.example")["grafana-dashboard.json"] == metric_files()["grafana-dashboard.json"]


def test_the_panels_of_the_dashboard_lie_beside_each_other() -> None:
    read = dashboard()
    panels = read["panels"]
    assert [panel["id"] for panel in panels] == [*range(1, len(panels) + 1)]
    for one, other in combinations([panel["gridPos"] for panel in panels], 2):
        is_apart = abs(one["x"] - other["x"]) >= one["w"] or abs(one["y"] - other["y"]) >= one["h"]
        assert is_apart
        assert 0 <= one["x"] <= 24 - one["w"]
    variables = {f"${variable['name']}" for variable in read["templating"]["list"]}
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
"""Grafana units in use."""


def check_kinds(value: Any, kinds: Any) -> None:
    """Check the value's keys and types ("JSON model" in Grafana's documentation)."""
    if isinstance(kinds, dict):
        assert value.keys() == kinds.keys()
        for key, kind in kinds.items():
            check_kinds(value[key], kind)
    else:
        assert type(value) is kinds


def test_the_dashboard_has_the_shape_that_grafana_imports() -> None:
    read = dashboard()
    check_kinds(read, KINDS)
    for panel in read["panels"]:
        check_kinds(panel, PANEL_KINDS)
        (target,) = panel["targets"]
        check_kinds(target, TARGET_KINDS)
        assert panel["type"] == "timeseries"
        assert panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS


def test_grafanas_own_model_knows_every_field_of_the_dashboard() -> None:
    read = dashboard()
    assert [*lost(read, json.loads(JSONEncoder().encode(Dashboard.from_json(read))))] == []
    read["panels"][0]["fieldConfig"]["defaults"]["unti"] = "s"
    assert [*lost(read, json.loads(JSONEncoder().encode(Dashboard.from_json(read))))] == [
        "panels.0.fieldConfig.defaults.unti"
    ]


def lost(value: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the places in which `other` lacks a part of `value`."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        others = other if isinstance(value, dict) else dict(enumerate(other))
        for key, item in items:
            place = f"{path}.{key}".removeprefix(".")
            if key in others:
                yield from lost(item, others[key], place)
            else:
                yield place
    elif value != other:
        yield path


def test_promtool_finds_no_fault_in_the_metrics() -> None:
    told = text_of(probed(evening(), loudness=-21.5), counted=everything_counted())
    assert {metric.name for metric in METRICS} <= {line.split()[2] for line in told.splitlines() if line[0] == "#"}
    assert promtool("check", "metrics", text=told) == ""


def test_promtool_reads_every_rule_and_every_query_of_a_panel(tmp_path: Path) -> None:
    queries = tmp_path / "panels.yml"
    rows = [{"record": f"panel:{n}", "expr": p["targets"][0]["expr"]} for n, p in enumerate(dashboard()["panels"])]
    queries.write_text(json.dumps({"groups": [{"name": "panels", "rules": rows}]}), encoding="utf-8")
    promtool("check", "rules", RULE_FILE, queries)
