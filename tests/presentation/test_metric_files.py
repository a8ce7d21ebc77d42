"""The files that read the metrics: the dashboard of Grafana, and the alert rules of Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from livedeck.cli.collect.metrics import FILES
from livedeck.presentation.metric_files import PANELS, RULES, dashboard
from livedeck.presentation.metrics import METRICS
from presentation.promtool import promtool
from presentation.test_metrics import evening, everything_counted, text_of

KEPT = Path(__file__).parents[2] / "monitoring"


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_is_what_the_command_makes(name: str) -> None:
    """Else: `livedeck collector dashboard`."""
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


def test_grafanas_own_model_knows_every_field_of_the_dashboard() -> None:
    read = dashboard()
    assert [*lost(read, json.loads(JSONEncoder().encode(Dashboard.from_json(read))))] == []
    read["panels"][0]["fieldConfig"]["defaults"]["unti"] = "s"
    assert [*lost(read, json.loads(JSONEncoder().encode(Dashboard.from_json(read))))] == [
        "panels.0.fieldConfig.defaults.unti"
    ]


def lost(value: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where the other one has not what this one has."""
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
    told = text_of(evening(), counted=everything_counted())
    assert {metric.name for metric in METRICS} <= {line.split()[2] for line in told.splitlines() if line[0] == "#"}
    assert promtool("check", "metrics", text=told) == ""


def test_promtool_reads_every_rule_and_every_query_of_a_panel(tmp_path: Path) -> None:
    queries = tmp_path / "panels.yml"
    rows = [{"record": f"panel:{n}", "expr": p["targets"][0]["expr"]} for n, p in enumerate(dashboard()["panels"])]
    queries.write_text(json.dumps({"groups": [{"name": "panels", "rules": rows}]}), encoding="utf-8")
    promtool("check", "rules", KEPT / "prometheus-rules.yml", queries)
