"""Sections of a report: the tables behind its Markdown, HTML and CSV. Pure.

A section has values, never escaped text, because each format escapes the cells itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from typing_extensions import TypedDict

from livedeck.monitor import Figure, Marker, Severity
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.kpi import goal_text, value_text
from livedeck.report.facts import Acknowledgement, EventFacts, Fault
from livedeck.report.spans import Span, Spans, common, seconds_of
from livedeck.report.timeline import Entry, EntryKind
from livedeck.report.viewers import ViewerFigure
from livedeck.text.times import isoformat_utc
from livedeck.text.values import age, duration, safe, short_duration

T = TypeVar("T")


class Name(NamedTuple):
    """Kind of an alarm, and affected part of the event, or empty."""

    kind: str
    part: str


class Moment(NamedTuple):
    """Point in time. `has_date`: also show the date."""

    at: datetime
    has_date: bool = False


class Periods(NamedTuple):
    """Periods of time. `none`: text for no periods."""

    spans: Spans
    none: str = "never"


class Length(NamedTuple):
    """Length of time in seconds."""

    seconds: float


Cell = str | Name | Moment | Periods | Length | Severity
"""Value in a table. A plain string may be text from people or from the platform."""


def cell_text(cell: Cell) -> str:
    """Return the cell as text, without escapes."""
    match cell:
        case Severity():
            return f"{SEVERITY_BADGES[cell].glyph} {cell.value}"
        case Name(kind, part):
            return f"{kind} {part}".strip()
        case Moment(at, has_date):
            return f"{at:%Y-%m-%d %H:%M:%S}Z" if has_date else f"{at:%H:%M:%S}Z"
        case Periods(spans, none):
            return ", ".join(f"{span.since:%H:%M:%S}Z to {span.until:%H:%M:%S}Z" for span in spans) or none
        case Length(seconds):
            return short_duration(seconds)
    return cell


class CsvFact(TypedDict, total=False):
    """Row of the CSV. A missing key is an empty cell; without `type`, the row has the type of its section."""

    type: str
    since: str | None
    until: str | None
    seconds: float | None
    name: str
    severity: str
    by: str
    value: float | None
    text: str


class Column(NamedTuple, Generic[T]):
    """Column of a table. `is_wide`: texts in the column may be long, so a page wraps them."""

    head: str
    cell: Callable[[T], Cell]
    is_wide: bool = False


@dataclass(frozen=True)  # a generic frozen class with slots cannot be made as Section[Span](...) under Python 3.11
class Section(Generic[T]):
    """Section of an event's report.

    `key`: key of the section in the JSON. `type`: type of the section's rows in the CSV; empty without rows. `title`:
    title of the table; empty without a table. `on_page`: the page shows the section as a table; otherwise as a chart.
    """

    key: str
    type: str
    title: str
    items: Callable[[EventFacts], Iterable[T]]
    columns: tuple[Column[T], ...] = ()
    facts: Callable[[T], Iterable[CsvFact]] = lambda _: ()
    on_page: bool = True


SPAN_COLUMNS: tuple[Column[Span], ...] = (
    Column("From", lambda span: Moment(span.since, has_date=True)),
    Column("To", lambda span: Moment(span.until)),
    Column("Duration", lambda span: Length(span.seconds)),
)


def span_fact(span: Span) -> CsvFact:
    """Return a period as a row of the CSV."""
    return {"since": isoformat_utc(span.since), "until": isoformat_utc(span.until), "seconds": round(span.seconds, 3)}


def _span_facts(span: Span) -> Iterator[CsvFact]:
    yield span_fact(span)


def _planned(planned: datetime | None) -> Iterator[CsvFact]:
    yield {"since": isoformat_utc(planned)}


def _uptime(facts: EventFacts) -> Iterator[CsvFact]:
    yield {"value": facts.uptime}


def _budget(facts: EventFacts) -> Iterator[CsvFact]:
    yield {"seconds": round(facts.budget, 3), "value": round(facts.spent, 3)}


def _fault(fault: Fault) -> Iterator[CsvFact]:
    yield {
        "since": isoformat_utc(fault.since),
        "until": isoformat_utc(fault.until),
        "seconds": round(Span(fault.since, fault.until).seconds, 3) if fault.until else None,
        "name": f"{fault.kind} {fault.target_name}".strip(),
        "severity": fault.severity.value,
        "text": fault.text,
    }


def _fault_end(fault: Fault) -> str:
    """Return the end of the fault as a cell. The word `by` marks an end that is not exact."""
    if fault.until is None:
        return "still present"
    return f"{'' if fault.is_exact else 'by '}{fault.until:%H:%M:%S}Z"


def _restream(item: tuple[str, Spans]) -> Iterator[CsvFact]:
    name, downs = item
    for span in downs:
        yield {"name": name, **span_fact(span)}


def _marker(marker: Marker) -> Iterator[CsvFact]:
    yield {"since": isoformat_utc(marker.at), "text": marker.text}


def _action(entry: Entry) -> Iterator[CsvFact]:
    yield {"type": entry.kind.value, "since": isoformat_utc(entry.at), "by": entry.by, "text": entry.text}


def _acknowledgement(item: Acknowledgement) -> Iterator[CsvFact]:
    yield {
        "since": isoformat_utc(item.raised),
        "seconds": item.seconds,
        "name": f"{item.kind} {item.target_name}".strip(),
        "severity": item.severity.value,
        "by": item.by,
    }


def _minute(item: tuple[datetime, int]) -> Iterator[CsvFact]:
    at, count = item
    yield {"since": isoformat_utc(at), "value": count}


def _figure(figure: Figure) -> Iterator[CsvFact]:
    yield {"name": figure.key, "value": figure.value, "text": f"{figure.title}: {value_text(figure)}"}


def _viewer_figure(item: ViewerFigure) -> Iterator[CsvFact]:
    name, text, value = item
    yield {"name": name, "value": None if value is None else round(value, 3), "text": text}


_KindTime = tuple[str, tuple[Severity, int, float]]

SECTIONS: tuple[Section[Any], ...] = (
    Section[datetime | None]("planned", "planned", "", lambda facts: [facts.planned], facts=_planned),
    Section[Span]("on_air", "on air", "", lambda facts: facts.on_air, facts=_span_facts),
    Section[Span]("outages", "outage", "Outages", lambda facts: facts.outages, SPAN_COLUMNS, _span_facts),
    Section[Span](
        "unknown",
        "unknown",
        "On air without data",
        lambda facts: facts.unknown,
        SPAN_COLUMNS,
        _span_facts,
        on_page=False,
    ),
    Section[Span]("bad", "bad", "", lambda facts: facts.bad, facts=_span_facts),
    Section[EventFacts]("uptime", "uptime", "", lambda facts: [facts], facts=_uptime),
    Section[EventFacts]("budget_seconds", "error budget", "", lambda facts: [facts], facts=_budget),
    Section[Span]("worst", "worst", "", lambda facts: [facts.worst] if facts.worst else [], facts=_span_facts),
    Section[_KindTime](
        "seconds_by_kind",
        "",
        "Minutes per alarm",
        lambda facts: facts.minutes_by_kind.items(),
        (
            Column("Alarm", lambda item: Name(item[0], "")),
            Column("Severity", lambda item: item[1][0]),
            Column("Count", lambda item: str(item[1][1])),
            Column("Duration", lambda item: Length(item[1][2])),
        ),
        on_page=False,
    ),
    Section[Fault](
        "faults",
        "fault",
        "Faults",
        lambda facts: facts.faults,
        (
            Column("From", lambda fault: Moment(fault.since, has_date=True)),
            Column("To", _fault_end),
            Column("Severity", lambda fault: fault.severity),
            Column("Alarm", lambda fault: Name(fault.kind, fault.target_name), is_wide=True),
            Column("Observed", lambda fault: fault.text, is_wide=True),
        ),
        _fault,
    ),
    Section[ViewerFigure](
        "viewers",
        "viewers",
        "Delivery to viewers",
        lambda facts: facts.viewers.figures(facts.on_air),
        (Column("Figure", lambda item: item[0]), Column("Value", lambda item: item[1], is_wide=True)),
        _viewer_figure,
    ),
    Section[tuple[str, Spans]](
        "restreams",
        "restream down",
        "Restreams",
        lambda facts: facts.restreams.items(),
        (
            Column("Restream", lambda item: item[0], is_wide=True),
            Column("Down", lambda item: Periods(item[1]), is_wide=True),
            Column("Duration", lambda item: Length(seconds_of(item[1]))),
        ),
        _restream,
    ),
    Section[Marker](
        "markers",
        "marker",
        "Markers",
        lambda facts: facts.markers,
        (
            Column("At", lambda marker: Moment(marker.at)),
            Column("Text", lambda marker: safe(marker.text) or "-", is_wide=True),
        ),
        _marker,
    ),
    Section[Entry](
        "actions",
        EntryKind.ACTION.value,
        "Actions",
        lambda facts: facts.of_kind(EntryKind.ACTION, EntryKind.RULING),
        (
            Column("At", lambda entry: Moment(entry.at)),
            Column("By", lambda entry: entry.by or "?"),
            Column("Action", lambda entry: entry.text, is_wide=True),
        ),
        _action,
    ),
    Section[Acknowledgement](
        "acknowledgements",
        "acknowledgement",
        "Acknowledgements",
        lambda facts: facts.acknowledgements,
        (
            Column("Raised", lambda item: Moment(item.raised)),
            Column("Severity", lambda item: item.severity),
            Column("Alarm", lambda item: Name(item.kind, item.target_name), is_wide=True),
            Column("After", lambda item: "never" if item.seconds is None else age(item.seconds)),
            Column("By", lambda item: item.by or "-"),
        ),
        _acknowledgement,
    ),
    Section[Figure](
        "alarm_figures",
        "alarm figure",
        "Alarm figures",
        lambda facts: facts.figures,
        (
            Column("Figure", lambda figure: figure.title, is_wide=True),
            Column("Value", value_text),
            Column("Goal", lambda figure: goal_text(figure) or "-"),
            Column("Met", lambda figure: {True: "yes", False: "no", None: "-"}[figure.is_met]),
        ),
        _figure,
        on_page=False,
    ),
    Section[tuple[datetime, int]](
        "chat",
        "chat",
        "Chat",
        lambda facts: sorted((facts.chat or {}).items()),
        (Column("Minute", lambda item: f"{item[0]:%H:%M}Z"), Column("Messages", lambda item: str(item[1]))),
        _minute,
        on_page=False,
    ),
)
"""Sections of an event, in their order in every format."""

LIMITS_TITLE = "Limits of the data"
"""Title of the sentences at the end of an event (`facts.gaps_text`). In the JSON their key is `limits`."""

WATCHING_TITLE, UNWATCHED_TYPE = "Watching", "unwatched"
WATCHED_TEXT = "livedeck watched the whole time."
UNWATCHED_TEXT = "livedeck did not watch during these periods. The report knows only their samples."
NO_EVENTS_TEXT = "The history shows no event on air."


def table_rows(columns: Iterable[Column[T]], items: Iterable[T]) -> list[list[Cell]]:
    """Return a row of cells for each item."""
    return [[column.cell(item) for column in columns] for item in items]


def csv_facts(facts: EventFacts) -> Iterator[CsvFact]:
    """Yield the rows of an event's CSV, each with its type."""
    for section in SECTIONS:
        for item in section.items(facts):
            for fact in section.facts(item):
                yield {"type": section.type, **fact}


def percent(uptime: float | None) -> str:
    """Return an uptime as text, never rounded up to 100."""
    if uptime is None:
        return "unknown"
    return "100 %" if uptime == 100.0 else f"{min(uptime, 99.999):.3f} %"


def budget(facts: EventFacts) -> str:
    """Return the error budget and its use as text. Unlike uptime, it includes faults of picture and sound."""
    if not facts.budget:
        return "none"
    used = facts.spent / facts.budget
    share = f"{used:.0f} x" if used >= 10 else f"{100 * used:.0f} %"
    without_signal = seconds_of(common(facts.bad, facts.outages))
    faulty = facts.spent - without_signal
    parts = f": {without_signal:.0f} s without a signal, {faulty:.0f} s with a faulty one" if facts.spent else ""
    return f"{facts.budget:.1f} s at {facts.objective:g} %; used {facts.spent:.0f} s ({share}){parts}"


def _planned_start(facts: EventFacts) -> str:
    return f"{facts.planned:%Y-%m-%d %H:%M:%S}Z" if facts.planned else "not recorded"


def _outages(facts: EventFacts) -> str:
    longest = max(facts.outages, key=lambda span: span.seconds, default=None)
    longest_text = f", longest {short_duration(longest.seconds)}" if longest else ""
    return f"{len(facts.outages)}, {short_duration(seconds_of(facts.outages))}{longest_text}"


def _worst(facts: EventFacts) -> str:
    """Return the time of the worst five minutes and the number of their bad seconds as text."""
    if facts.worst is None:
        return "no faults"
    seconds = seconds_of(common(facts.bad, [facts.worst]))
    return f"{facts.worst.since:%H:%M:%S}Z to {facts.worst.until:%H:%M:%S}Z, {seconds:.0f} s bad"


def _acknowledged(facts: EventFacts) -> str:
    """Return the acknowledged alarms and the median time to acknowledge as text: `1 of 4 alarms, median 36 s`."""
    count = sum(item.seconds is not None for item in facts.acknowledgements)
    taken = facts.seconds_to_acknowledge
    return f"{count} of {len(facts.acknowledgements)} alarms{'' if taken is None else f', median {age(taken)}'}"


FIGURES: Mapping[str, Callable[[EventFacts], str]] = {
    "Planned": _planned_start,
    "On air": lambda facts: cell_text(Periods(facts.on_air)),
    "Time on air": lambda facts: duration(seconds_of(facts.on_air)),
    "Uptime": lambda facts: percent(facts.uptime),
    "Outages": _outages,
    "On air without data": lambda facts: short_duration(seconds_of(facts.unknown)),
    "Error budget": budget,
    "Worst five minutes": _worst,
    "Acknowledged": _acknowledged,
    "Last state": lambda facts: "no longer listed" if facts.event.is_gone else facts.event.tally.value,
}
"""Name of a figure at the head of an event -> function that returns its text."""

OVERVIEW: tuple[Column[EventFacts], ...] = (
    Column("Event", lambda facts: facts.name, is_wide=True),
    Column("On air", lambda facts: Periods(facts.on_air)),
    Column("Uptime", lambda facts: percent(facts.uptime)),
    Column("Outages", lambda facts: str(len(facts.outages))),
    Column("Error budget", budget, is_wide=True),
)
"""Columns of the overview in a report on several events."""


def figures(facts: EventFacts) -> dict[str, str]:
    """Return the figures of an event: name -> text."""
    return {name: text(facts) for name, text in FIGURES.items()}
