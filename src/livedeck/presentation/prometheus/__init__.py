"""Grafana dashboard and Prometheus alert rules for the metrics of `metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_SOURCES = {"grafana-dashboard.json": "dashboard.json", "prometheus-rules.yml": "rules.yml"}


def metric_files() -> Mapping[str, str]:
    """Return name of a file -> its text. A command writes the file under this name."""
    return {name: (files(__name__) / source).read_text(encoding="utf-8") for name, source in _SOURCES.items()}
