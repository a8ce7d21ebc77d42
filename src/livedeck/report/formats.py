"""Formats of a report. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from livedeck.presentation.serialization import to_json
from livedeck.report.document import report_csv, report_object
from livedeck.report.facts import Report
from livedeck.report.markdown import markdown
from livedeck.report.page import page


class ReportFormat(NamedTuple):
    """Format of reports: file suffix, name for people, and function that returns the report as text."""

    suffix: str
    title: str
    write: Callable[[Report], str]


def report_json(report: Report) -> str:
    """Return the report as JSON in one line, with secrets masked."""
    return f"{to_json(report_object(report))}\n"


REPORT_FORMATS: Mapping[str, ReportFormat] = {
    "markdown": ReportFormat("md", "Markdown", markdown),
    "json": ReportFormat("json", "JSON", report_json),
    "csv": ReportFormat("csv", "CSV", report_csv),
    "html": ReportFormat("html", "one page of HTML", page),
}
"""Value of `--format` -> format. The first format is the default."""
