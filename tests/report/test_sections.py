"""Every section of a report is in each of its formats."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta

from livedeck.monitor import (
    ActionRecord,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    AuditOutcome,
    Delivery,
    EpisodeRecord,
    Marker,
    RestreamRecord,
    Severity,
    ViewerRound,
    WatchRecord,
)
from livedeck.presentation.documents import ReportEvent
from livedeck.report.facts import EventFacts, Report, facts_of, report_of
from livedeck.report.formats import REPORT_FORMATS
from livedeck.report.recorded import Recorded
from livedeck.report.sections import LIMITS_TITLE, SECTIONS, WATCHING_TITLE
from report.readers import Page, markdown_tables
from report.test_facts import NOW, SHOW, at, record, samples


def recorded() -> Recorded:
    """Return records from which `facts_of` fills every field of a show's facts."""
    down = EpisodeRecord("e1", "RESTREAM_DOWN", "r1", "Backup", Severity.CRITICAL, at(10), at(20), "down", "connected")
    state, words = AlarmState.UNACKNOWLEDGED, ("Show", "Backup", "down", "connected")
    raised = AlarmRecord(
        at(12), AlarmTransition.RAISED, "e1", "RESTREAM_DOWN", "r1", Severity.CRITICAL, state, at(10), *words
    )
    taken = replace(raised, at=at(17), turn=AlarmTransition.ACKNOWLEDGED, actor="anna@regie:1")
    return Recorded(
        SHOW,
        "e1",
        (record(restreams=(RestreamRecord("r1", "Backup", "connected", is_enabled=True),)),),
        alarms=(raised, taken),
        episodes=(down,),
        actions=(ActionRecord(at(30), "event.edit", "event", "e1", "Show", AuditOutcome.DONE),),
        markers=(Marker(at(5), "e1", "now"),),
        watched=tuple(WatchRecord(at(since), at(until), "p") for since, until in ((0, 600), (1000, 1200))),
        samples={("e1", "s1"): samples((0, 300), (400, 700), (900, 1200))},
        unrecorded=frozenset({"unwatched"}),
        rounds=tuple(ViewerRound(at(seconds), "e1", Delivery.PLAYS, latency=8.0) for seconds in range(0, 600, 10)),
    )


def full() -> EventFacts:
    """Return facts with something in every section."""
    known = recorded()
    return facts_of(known, known.events[0], 99.0, {NOW: 3})


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
