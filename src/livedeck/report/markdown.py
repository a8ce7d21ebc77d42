"""A report as Markdown. What people and the platform wrote is text in it, and nothing else. Pure."""

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
    """Text from outside, so that Markdown takes it for nothing but text: no link, no table, no picture, no HTML."""
    return re.sub(r"(?i)\bwww\.", "www\\.", _SPECIAL.sub(r"\\\1", safe(text))).strip()


def markdown(report: Report) -> str:
    """The whole report."""
    lines = [
        f"# {literal(report.title)}",
        "",
        f"{stretch_text(report.span)} UTC. Written {report.made:%Y-%m-%d %H:%M:%S}Z by livedeck.",
        "",
    ]
    if not report.events:
        lines += ["No event was on air, as far as the history knows.", ""]
    elif len(report.events) > 1:
        lines += _overview(report.events)
    for facts in report.events:
        lines += [f"## {literal(facts.name)}", ""] if len(report.events) > 1 else []
        lines += _event(facts)
    lines += ["## Watching", ""]
    if report.unwatched:
        lines += ["Nobody had the platform's answers:", ""]
        lines += _table(["From", "To", "Length"], map(_span_row, report.unwatched))
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
        ("Outages", ["From", "To", "Length"], [_span_row(span) for span in facts.outages]),
        ("Not known", ["From", "To", "Length"], [_span_row(span) for span in facts.unknown]),
        (
            "Minutes per alarm",
            ["Alarm", "Severity", "Times", "Length"],
            [
                [kind, severity_word(severity), str(count), short_duration(seconds)]
                for kind, (severity, count, seconds) in facts.minutes_by_kind.items()
            ],
        ),
        ("Faults", ["From", "To", "Alarm", "Severity", "What"], [_fault_row(fault) for fault in facts.faults]),
        (
            "Restreams",
            ["Restream", "Down", "Length"],
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
            ["At", "By", "What"],
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
    yield from ("### What is not known", "", *(f"- {sentence}" for sentence in gaps_text(facts)), "")


def figures(facts: EventFacts) -> list[tuple[str, str]]:
    """The figures of an event, in words: a name and a value each."""
    planned = f"{facts.event.scheduled:%Y-%m-%d %H:%M:%S}Z" if facts.event.scheduled else "not recorded"
    longest = max(facts.outages, key=lambda span: span.seconds, default=None)
    longest_text = f", the longest {short_duration(longest.seconds)}" if longest else ""
    answered = [answer for answer in facts.acknowledgements if answer.seconds is not None]
    return [
        ("Planned", planned),
        ("On air", _clock_span(facts.on_air)),
        ("Time on air", duration(seconds_of(facts.on_air))),
        ("Uptime", percent(facts.uptime)),
        ("Outages", f"{len(facts.outages)}, {short_duration(seconds_of(facts.outages))}{longest_text}"),
        ("Not known", short_duration(seconds_of(facts.unknown))),
        ("Error budget", budget(facts)),
        ("Worst five minutes", worst_text(facts)),
        ("Acknowledged", f"{len(answered)} of {len(facts.acknowledgements)}{_middle(facts)}"),
        ("Last known as", "deleted" if facts.event.is_gone else facts.event.tally.value),
    ]


def _middle(facts: EventFacts) -> str:
    taken = facts.seconds_to_acknowledge
    return "" if taken is None else f", after {age(taken)} in the middle"


def worst_text(facts: EventFacts) -> str:
    """When they were, and what of them was bad."""
    if facts.worst is None:
        return "nothing was wrong"
    seconds = sum(max(0.0, _overlap(span, facts.worst)) for span in facts.bad)
    return f"{facts.worst.since:%H:%M:%S}Z to {facts.worst.until:%H:%M:%S}Z, {seconds:.0f} s of it bad"


def _overlap(span: Span, other: Span) -> float:
    return (min(span.until, other.until) - max(span.since, other.since)).total_seconds()


def percent(uptime: float | None) -> str:
    """An uptime, never rounded up to 100."""
    if uptime is None:
        return "not known"
    return "100 %" if uptime == 100.0 else f"{min(uptime, 99.999):.3f} %"


def budget(facts: EventFacts) -> str:
    """How much of what may be bad was used. Uptime counts outages alone; bad is a faulty picture or sound, too."""
    if not facts.budget:
        return "none"
    used = facts.spent / facts.budget
    share = f"{used:.0f} times that" if used >= 10 else f"{100 * used:.0f} % used"
    without_signal = seconds_of(common(facts.bad, facts.outages))
    faulty = facts.spent - without_signal
    parts = f" ({without_signal:.0f} s without a signal, {faulty:.0f} s with a faulty one)" if facts.spent else ""
    return f"{facts.spent:.0f} s bad{parts}; {facts.budget:.1f} s may be at {facts.target:g} %: {share}"


def acknowledged(seconds: float | None) -> str:
    """How long that took."""
    return "never" if seconds is None else age(seconds)


def severity_word(severity: Severity) -> str:
    """With its glyph."""
    return f"{SEVERITY_BADGES[severity].glyph} {severity.value}"


def until_text(fault: Fault) -> str:
    """When it was over; `by` where that is when it was noticed."""
    if fault.until is None:
        return "still there"
    return f"{'' if fault.is_exact else 'by '}{fault.until:%H:%M:%S}Z"


def fault_name(fault: Fault) -> str:
    """Its kind, and the part that it was of."""
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
