"""Dashboard and alert rules for Prometheus, as the tests read them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import livedeck.presentation.prometheus
from livedeck.presentation.prometheus import metric_files

RULE_FILE = Path(livedeck.presentation.prometheus.__file__).parent / "rules.yml"

_RULE = re.compile(
    r'- alert: (\w+)\n +expr: (".*")\n +for: \w+\n +labels:\n +severity: (\w+)\n +annotations:\n'
    r' +summary: ".*"\n +runbook_url: "(.*)"\n'
)


class Rule(NamedTuple):
    """An alert rule."""

    name: str
    expression: str
    severity: str
    runbook: str


def rules() -> list[Rule]:
    """Return the alert rules; an expression stands in one line, quoted as in JSON."""
    found = _RULE.findall(metric_files()["prometheus-rules.yml"])
    return [Rule(name, json.loads(expression), severity, page) for name, expression, severity, page in found]


def dashboard() -> dict[str, Any]:
    """Return the Grafana dashboard."""
    return dict(json.loads(metric_files()["grafana-dashboard.json"]))


def panel_expressions() -> list[str]:
    """Return the query of each panel."""
    return [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]


def expressions() -> Iterator[str]:
    """Yield every query of a panel, a variable or a rule."""
    yield from panel_expressions()
    yield from (variable["query"] for variable in dashboard()["templating"]["list"])
    yield from map(json.loads, re.findall(r'expr: (".*")', metric_files()["prometheus-rules.yml"]))
