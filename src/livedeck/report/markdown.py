"""A report as Markdown. Text of people and of the platform stays plain text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from livedeck.monitor import Severity
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.report.facts import EventFacts, Fault, Report, gaps_text
from livedeck.report.spans import Span, common, seconds_of
from livedeck.report.text import stretch_text
from livedeck.report.timeline import EntryKind
from livedeck.text.values import age, duration, safe, short_duration

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@!$]|:(?=//))")


def literal(text: str) -> str:
    """Return text from outside, escaped so that Markdown makes no link, table, picture or HTML of it."""
    return re.sub(r"(?i)\bwww\.", "www\\.", _SPECIAL.sub(r"\\\1", safe(text))).strip()


def markdown(report: Report) -> str:
    """Return the whole report."""
    lines = [
        f"# {literal(report.title)}",
        "",
        f"{stretch_text(report.span)} UTC. Written {report.made:%Y-%m-%d %H:%M:%S}Z by livedeck.",
        "",
    ]
    if not report.events:
        lines += ["The history shows no event on air.", ""]
    elif len(report.events) > 1:
        lines += _overview(report.events)
    for facts in report.events:
        lines += [f"## {literal(facts.name)}", ""] if len(report.events) > 1 else []
        lines += _event(facts)
    lines += ["## Watching", ""]
    if report.unwatched:
        lines += ["Nobody watched during these periods:", ""]
        lines += _table(["From", "To", "Duration"], map(_span_row, report.unwatched))
    else:
        lines += ["Somebody watched all the time.", ""]
    return "\n".join(lines)


def _overview(events: Sequence[EventFacts]) -> list[str]:
    rows = (
        [literal(facts.name), _clock_span(facts.on_air), percent(facts.uptime), str(len(facts.outages)), budget(facts)]
        for facts in events
    )
    return _table(["Event", "On air", "Uptime", "Outages", "Error budget"], rows)


def _event(facts: EventFacts) -> Iterator[str]:
    yield from _table(["Figure", "Value"], figures(facts))
    sections: list[tuple[str, list[str], list[list[str]]]] = [
        ("Outages", ["From", "To", "Duration"], [_span_row(span) for span in facts.outages]),
        ("On air without data", ["From", "To", "Duration"], [_span_row(span) for span in facts.unknown]),
        (
            "Minutes per alarm",
            ["Alarm", "Severity", "Count", "Duration"],
            [
                [kind, severity_word(severity), str(count), short_duration(seconds)]
                for kind, (severity, count, seconds) in facts.minutes_by_kind.items()
            ],
        ),
        ("Faults", ["From", "To", "Alarm", "Severity", "Observed"], [_fault_row(fault) for fault in facts.faults]),
        (
            "Restreams",
            ["Restream", "Down", "Duration"],
            [
                [literal(name), _clock_span(downs), short_duration(seconds_of(downs))]
                for name, downs in facts.restreams.items()
            ],
        ),
        (
            "Markers",
            ["At", "Text"],
            [[f"{marker.at:%H:%M:%S}Z", literal(marker.text) or "-"] for marker in facts.markers],
        ),
        (
            "Actions",
            ["At", "By", "Action"],
            [
                [f"{entry.at:%H:%M:%S}Z", literal(entry.by) or "?", literal(entry.text)]
                for entry in facts.of_kind(EntryKind.ACTION, EntryKind.RULING)
            ],
        ),
        (
            "Acknowledgements",
            ["Alarm", "Raised", "After", "By"],
            [
                [
                    _named(answer.kind, answer.target_name),
                    f"{answer.raised:%H:%M:%S}Z",
                    acknowledged(answer.seconds),
                    literal(answer.by) or "-",
                ]
                for answer in facts.acknowledgements
            ],
        ),
        (
            "Chat",
            ["Minute", "Messages"],
            [[f"{at:%H:%M}Z", str(count)] for at, count in sorted((facts.chat or {}).items())],
        ),
    ]
    for title, heads, rows in sections:
        if rows:
            yield from (f"### {title}", "", *_table(heads, rows))
    yield from ("### Limits of the data", "", *(f"- {sentence}" for sentence in gaps_text(facts)), "")


def figures(facts: EventFacts) -> list[tuple[str, str]]:
    """Return the figures of an event as pairs of name and value."""
    planned = f"{facts.event.scheduled:%Y-%m-%d %H:%M:%S}Z" if facts.event.scheduled else "not recorded"
    longest = max(facts.outages, key=lambda span: span.seconds, default=None)
    longest_text = f", longest {short_duration(longest.seconds)}" if longest else ""

    return [
        ("Planned", planned),
        ("On air", _clock_span(facts.on_air)),
        ("Time on air", duration(seconds_of(facts.on_air))),
        ("Uptime", percent(facts.uptime)),
        ("Outages", f"{len(facts.outages)}, {short_duration(seconds_of(facts.outages))}{longest_text}"),
        ("On air without data", short_duration(seconds_of(facts.unknown))),
        ("Error budget", budget(facts)),
        ("Worst five minutes", worst_text(facts)),
        ("Acknowledged", acknowledgements_text(facts)),
        ("Last state", "deleted" if facts.event.is_gone else facts.event.tally.value),
    ]


def acknowledgements_text(facts: EventFacts) -> str:
    """Return the number of acknowledged alarms, and their median time: `1 of 4 alarms, median 36 s`."""
    count = sum(answer.seconds is not None for answer in facts.acknowledgements)
    taken = facts.seconds_to_acknowledge
    return f"{count} of {len(facts.acknowledgements)} alarms{'' if taken is None else f', median {age(taken)}'}"


def worst_text(facts: EventFacts) -> str:
    """Return the time of the worst five minutes, and its bad seconds."""
    if facts.worst is None:
        return "no faults"
    seconds = sum(max(0.0, _overlap(span, facts.worst)) for span in facts.bad)
    return f"{facts.worst.since:%H:%M:%S}Z to {facts.worst.until:%H:%M:%S}Z, {seconds:.0f} s bad"


def _overlap(span: Span, other: Span) -> float:
    return (min(span.until, other.until) - max(span.since, other.since)).total_seconds()


def percent(uptime: float | None) -> str:
    """Return an uptime, never rounded up to 100."""
    if uptime is None:
        return "unknown"
    return "100 %" if uptime == 100.0 else f"{min(uptime, 99.999):.3f} %"


def budget(facts: EventFacts) -> str:
    """Return the error budget and its use. Uptime counts outages only; bad time includes a faulty picture or sound."""
    if not facts.budget:
        return "none"
    used = facts.spent / facts.budget
    share = f"{used:.0f} x" if used >= 10 else f"{100 * used:.0f} %"
    without_signal = seconds_of(common(facts.bad, facts.outages))
    faulty = facts.spent - without_signal
    parts = f": {without_signal:.0f} s without a signal, {faulty:.0f} s with a faulty one" if facts.spent else ""
    return f"{facts.budget:.1f} s at {facts.target:g} %; used {facts.spent:.0f} s ({share}){parts}"


def acknowledged(seconds: float | None) -> str:
    """Return the time to the acknowledgement as text."""
    return "never" if seconds is None else age(seconds)


def severity_word(severity: Severity) -> str:
    """Return the severity with its glyph."""
    return f"{SEVERITY_BADGES[severity].glyph} {severity.value}"


def until_text(fault: Fault) -> str:
    """Return the end of the fault; `by` marks the time of notice."""
    if fault.until is None:
        return "still present"
    return f"{'' if fault.is_exact else 'by '}{fault.until:%H:%M:%S}Z"


def fault_name(fault: Fault) -> str:
    """Return the kind and the affected part."""
    return f"{fault.kind} {fault.target_name}".strip()


def _fault_row(fault: Fault) -> list[str]:
    since = f"{fault.since:%Y-%m-%d %H:%M:%S}Z"
    name = _named(fault.kind, fault.target_name)
    return [since, until_text(fault), name, severity_word(fault.severity), literal(fault.text)]


def _named(kind: str, target_name: str) -> str:
    return f"{kind} {literal(target_name)}".strip()


def _span_row(span: Span) -> list[str]:
    return [f"{span.since:%Y-%m-%d %H:%M:%S}Z", f"{span.until:%H:%M:%S}Z", short_duration(span.seconds)]


def _clock_span(spans: Sequence[Span]) -> str:
    texts = [f"{span.since:%H:%M:%S}Z to {span.until:%H:%M:%S}Z" for span in spans]
    return ", ".join(texts) or "never"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]
