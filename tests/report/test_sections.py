"""Every section of a report is in each of its formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.monitor import EpisodeRecord, Marker, RestreamRecord, Severity
from livedeck.presentation.documents import ReportEvent
from livedeck.report.facts import Acknowledgement, EventFacts, Report, report_of
from livedeck.report.formats import REPORT_FORMATS
from livedeck.report.recorded import Recorded
from livedeck.report.sections import LIMITS_TITLE, SECTIONS, WATCHING_TITLE
from livedeck.report.timeline import Entry, EntryKind
from report.readers import Page, markdown_tables
from report.test_facts import NOW, SHOW, at, facts, record, samples


def full() -> EventFacts:
    """Return facts with something in every section."""
    down = EpisodeRecord("e1", "RESTREAM_DOWN", "r1", "Backup", Severity.CRITICAL, at(10), at(20), "down", "connected")
    found = facts(
        samples((0, 300), (400, 700), (900, 1200)),
        [(0, 600), (1000, 1200)],
        record(restreams=(RestreamRecord("r1", "Backup", "connected", is_enabled=True),)),
        markers=(Marker(at(5), "e1", "now"),),
        episodes=(down,),
    )
    chat: Mapping[datetime, int] = {NOW: 3}
    raised = Acknowledgement("RESTREAM_DOWN", Severity.CRITICAL, at(12), "Backup", "anna@regie", 5.0)
    action = Entry(at(30), EntryKind.ACTION, "event.edit: done", "e1", "Show", "anna@regie")
    return replace(found, acknowledgements=(raised,), entries=(action,), chat=chat)


def report() -> Report:
    return report_of("Show", Recorded(SHOW), [full()], NOW + timedelta(hours=1))


def test_the_sample_fills_every_section() -> None:
    assert [section.key for section in SECTIONS if not [*section.items(full())]] == []


def test_each_section_is_in_each_format() -> None:
    texts = {name: form.write(report()) for name, form in REPORT_FORMATS.items()}
    (event,) = json.loads(texts["json"])["events"]
    assert event.keys() == ReportEvent.__annotations__.keys()
    types = {row["type"] for row in csv.DictReader(io.StringIO(texts["csv"]))}
    tables, page = markdown_tables(texts["markdown"]), Page(texts["html"])
    for section in SECTIONS:
        assert section.key in event
        assert not section.type or section.type in types
        assert not section.title or section.title in tables
        assert not (section.title and section.on_page) or f"<h3>{section.title}</h3>" in texts["html"]
    for title in (LIMITS_TITLE, WATCHING_TITLE):
        assert f"# {title}\n" in texts["markdown"]
        assert title in page.text


def test_a_table_has_the_same_columns_in_markdown_and_on_the_page() -> None:
    texts = {name: form.write(report()) for name, form in REPORT_FORMATS.items()}
    tables, page = markdown_tables(texts["markdown"]), Page(texts["html"])
    for section in SECTIONS:
        heads = [column.head for column in section.columns]
        if section.title:
            assert [*tables[section.title][0]] == heads
        if section.title and section.on_page:
            assert heads in page.rows
