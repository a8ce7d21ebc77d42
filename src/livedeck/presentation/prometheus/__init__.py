"""Grafana dashboard and Prometheus alert rules for the metrics of `metrics.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_SOURCES = {"grafana-dashboard.json": "dashboard.json", "prometheus-rules.yml": "rules.yml"}
_RUNBOOK = re.compile(r'(?<=runbook_url: ")([a-z-]+)\.md#')


def metric_files(docs_url: str = "") -> Mapping[str, str]:
    """Return name of a file -> its text. A command writes the file under this name.

    `docs_url`: address of the site of the documentation, for the runbook links; empty: names of pages.
    """
    texts = {name: (files(__name__) / source).read_text(encoding="utf-8") for name, source in _SOURCES.items()}
    if not docs_url:
        return texts
    site = docs_url.rstrip("/")
    return {name: _RUNBOOK.sub(lambda found: f"{site}/{found[1]}.html#", text) for name, text in texts.items()}
