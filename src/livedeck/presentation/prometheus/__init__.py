"""The Grafana dashboard and the Prometheus alert rules that read the metrics of `metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_SOURCES = {"grafana-dashboard.json": "dashboard.json", "prometheus-rules.yml": "rules.yml"}


def metric_files() -> Mapping[str, str]:
    """Return the text of each file by the name under which a command writes it."""
    return {name: (files(__name__) / source).read_text(encoding="utf-8") for name, source in _SOURCES.items()}
