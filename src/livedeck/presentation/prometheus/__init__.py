"""Grafana dashboard and Prometheus alert rules for the metrics of `metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_SOURCES = {"grafana-dashboard.json": "dashboard.json", "prometheus-rules.yml": "rules.yml"}
_RUNBOOK = 'runbook_url: "'


def metric_files(docs_url: str = "") -> Mapping[str, str]:
    """Return name of a file -> its text. A command writes the file under this name.

    `docs_url`: address of a folder with the pages of the documentation, for the runbook links; empty: names of pages.
    """
    texts = {name: (files(__name__) / source).read_text(encoding="utf-8") for name, source in _SOURCES.items()}
    folder = f"{docs_url.rstrip('/')}/" if docs_url else ""
    return {name: text.replace(_RUNBOOK, f"{_RUNBOOK}{folder}") for name, text in texts.items()}
