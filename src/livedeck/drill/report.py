"""Report of a drill, as Markdown, as a part of a page of HTML, and as one page of the terminal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from html import escape as entities

from livedeck.drill.grade import TOO_BUSY, Grade, Incident
from livedeck.drill.truth import Timing
from livedeck.text.markdown import literal, table_lines
from livedeck.text.segments import StyleRole, cell_len, plain, shorten, wrap
from livedeck.text.values import NOT_APPLICABLE, safe, short_duration

HEADS = ("Incident", "Injected", "Alarm", "Seen", "Acknowledged", "Action", "Wrong", "Credit")
"""Heads of the table of incidents. The times under Seen, Acknowledged and Action count from the alarm."""

WRONG_HEADS = ("Time", "Change", "Points")
NO_WRONG = "No wrong change."

TIMES_TEXT = "Injected, Alarm: time since the start. The rest: seconds after Alarm."
SEEN_TEXT = "Alarm: when the deck could show it. Seen: the first act; a look leaves no trace."
RAISED_TEXT = "Alarm: the raise; no record says when it was shown. Seen: the first act."
"""Meaning of the columns. RAISED_TEXT: in place of SEEN_TEXT if the times at which alarms were shown are unknown."""

ASKED_TEXT = "Asked, in brackets: seconds of full credit, seconds from which there is none."
HIDDEN_TEXT = "Alarms that another alarm hides do not count."
MISTAKEN_TEXT = "a wrong change was made, and the required action was not"
MEDDLED_TEXT = "a wrong change was made, although only an acknowledgement was required"
DECK_TEXT = "The deck. Its alarms do not change the score."
PLATFORM = "platform"

Escape = Callable[[str], str]


def markdown(grade: Grade) -> str:
    """Return the report as Markdown. Text of people and of the platform is escaped."""
    without = _without_credit(grade, literal)
    tables = [
        *table_lines(HEADS, rows(grade, literal)),
        *(f"{line}  " for line in _legend(grade)),
        "",
        *(f"- {line}" for line in without),
        *([""] if without else []),
        ASKED_TEXT,
        "",
        *(f"- {line}" for line in _asked(grade, literal)),
        "",
        *_wrong_table(grade),
        "## The deck",
        "",
        *(f"- {line}" for line in _deck(grade, literal)),
    ]
    lines = [
        f"# Drill: {literal(grade.truth.title)}",
        "",
        *(f"{line}  " for line in _head(grade, literal)),
        "",
        *tables,
    ]
    return "".join(f"{line}\n" for line in lines)


def html(grade: Grade) -> str:
    """Return the report as a part of a page of HTML. Text of people and of the platform is escaped."""

    def words(text: str) -> str:
        return entities(safe(text))

    notes = [*_without_credit(grade, words), *_legend(grade)]
    wrong = list(_wrong_rows(grade, words))
    return "".join(
        (
            f"<h2>Drill: {words(grade.truth.title)}</h2>",
            f"<p>{'<br>'.join(_head(grade, words))}</p>",
            _html_table(HEADS, rows(grade, words)),
            *(f'<p class="dim">{note}</p>' for note in notes),
            f"<p>{ASKED_TEXT}</p>{_html_list(_asked(grade, words))}",
            _html_table(WRONG_HEADS, wrong) if wrong else f"<p>{NO_WRONG}</p>",
            f"<h3>The deck</h3>{_html_list(_deck(grade, words))}",
        )
    )


def _html_list(lines: Iterable[str]) -> str:
    """Return a list of escaped lines."""
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def _html_table(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a table of escaped cells."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def page_lines(grade: Grade, cells: int) -> Iterator[str]:
    """Yield the report as lines of at most `cells` for a terminal."""
    lines = [
        f"Drill: {safe(grade.truth.title)}",
        *_head(grade, safe),
        "",
        *_aligned([HEADS, *rows(grade, safe)], cells),
        *_legend(grade),
        *_without_credit(grade, safe),
        *(f"wrong: {' '.join(row)}" for row in _wrong_rows(grade, safe)),
        ASKED_TEXT,
    ]
    yield from (shorten(line, cells) for line in lines)
    for line in _asked(grade, safe):
        yield from map(plain, wrap(line, StyleRole.TEXT, cells))
    yield ""
    for line in (DECK_TEXT, *_deck(grade, safe)):
        yield from map(plain, wrap(line, StyleRole.TEXT, cells))


def rows(grade: Grade, escape: Escape) -> list[Sequence[str]]:
    """Return the cells of each incident, in the order of `HEADS`."""
    return [
        (
            _incident_name(incident, escape),
            _offset(grade, incident.answer.since) if incident.answer.since <= grade.ended else "no",
            _offset(grade, incident.counted_from) if incident.counted_from else NOT_APPLICABLE,
            _after(incident, incident.seen),
            _after(incident, incident.acknowledged),
            _after(incident, incident.acted) if incident.answer.action else "not asked",
            str(incident.wrong or NOT_APPLICABLE),
            "void" if incident.credit is None else f"{100 * incident.credit:.0f} %",
        )
        for incident in grade.incidents
    ]


def _head(grade: Grade, escape: Escape) -> Iterator[str]:
    truth, void = grade.truth, _reason(grade, grade.void, escape)
    yield f"No score: {void}" if grade.score is None else f"Score: {grade.score:.1f} of 100{_parts(grade)}"
    yield f"Scenario {escape(truth.scenario)} ({escape(truth.hash)}), seed {truth.seed}, rules {grade.rules}"
    yield f"Began {truth.began:%Y-%m-%d %H:%M:%S}Z on the simulator's clock. Person: {escape(grade.by) or 'unknown'}"


def _parts(grade: Grade) -> str:
    """Return the parts of a score as text: points of the reactions, points off for wrong changes. Empty without any."""
    cost = sum(item.cost for item in grade.wrong)
    return f": reactions {grade.reactions:.1f}, wrong changes -{cost:g}" if cost else ""


def _reason(grade: Grade, void: str, escape: Escape) -> str:
    """Return the reason of a void, with the first busy time if that is the reason."""
    first = f" (first at {_offset(grade, grade.busy.since)})" if grade.busy and void == TOO_BUSY else ""
    return f"{escape(void)}{first}"


def _legend(grade: Grade) -> Iterator[str]:
    """Yield what the columns of an incident mean."""
    is_shown = all(incident.shown for incident in grade.incidents if incident.raised)
    yield TIMES_TEXT
    yield SEEN_TEXT if is_shown else RAISED_TEXT


def _asked(grade: Grade, escape: Escape) -> Iterator[str]:
    """Yield a line for each incident: the reactions that count, with their par and limit."""
    for incident in grade.incidents:
        answer = incident.answer
        asked = [f"acknowledge {_timing(answer.acknowledge)}"]
        if answer.action:
            note = f'a note on this alarm with the word "{escape(answer.note)}"'
            wanted = note if answer.note else f"a change: {escape(answer.asks)}"
            asked.append(f"{wanted} {_timing(answer.action)}")
        yield f"asked: {_incident_name(incident, escape)}: {'; '.join(asked)}"


def _timing(timing: Timing) -> str:
    return f"({timing.par:g}, {timing.limit:g})"


def _without_credit(grade: Grade, escape: Escape) -> list[str]:
    """Return a line for each reason for void incidents, and for each that a wrong change deprives of its credit.

    The reason why all incidents are void stands in the head.
    """
    void: dict[str, list[str]] = {}
    for incident in grade.incidents:
        if incident.void:
            void.setdefault(incident.void, []).append(_incident_name(incident, escape))
    is_said = len(void.get(grade.void, ())) == len(grade.incidents)
    return [
        *(
            f"void: {', '.join(names)}: {_reason(grade, reason, escape)}"
            for reason, names in void.items()
            if not is_said
        ),
        *(
            f"no credit: {_incident_name(incident, escape)}: "
            f"{MISTAKEN_TEXT if incident.answer.action else MEDDLED_TEXT}"
            for incident in grade.incidents
            if incident.is_mistaken and not incident.void
        ),
    ]


def _wrong_table(grade: Grade) -> list[str]:
    if not grade.wrong:
        return [NO_WRONG, ""]
    return ["## Wrong changes", "", *table_lines(WRONG_HEADS, _wrong_rows(grade, literal))]


def _wrong_rows(grade: Grade, escape: Escape) -> Iterator[Sequence[str]]:
    for change, cost in ((item.change, item.cost) for item in grade.wrong):
        words = f"{escape(change.does)} of {escape(change.event)}" if change.event else escape(change.does)
        yield _offset(grade, change.at), words, f"-{cost:g}"


def _deck(grade: Grade, escape: Escape) -> Iterator[str]:
    if not grade.due:
        yield "No alarm was due before the drill ended."
    else:
        names = (_name(row.alarm, row.event, row.target, escape) for row in grade.due)
        yield f"Due: {', '.join(names)}. {HIDDEN_TEXT}"
    if grade.due and not grade.missed and not grade.false:
        yield f"It raised every alarm that was due ({len(grade.due)}), and no other."
    for row in grade.missed:
        yield f"missed: {_name(row.alarm, row.event, row.target, escape)}, cause at {_offset(grade, row.since)}"
    for raised in grade.false:
        yield f"false: {_name(raised.alarm, raised.event, raised.target, escape)} at {_offset(grade, raised.at)}"


def _incident_name(incident: Incident, escape: Escape) -> str:
    answer = incident.answer
    return _name(answer.alarm, answer.event, ", ".join(incident.parts) or answer.target, escape)


def _name(alarm: str, event: str, target: str, escape: Escape) -> str:
    part = f" ({escape(target)})" if target else ""
    return f"{escape(alarm)} {escape(event or PLATFORM)}{part}"


def _offset(grade: Grade, at: datetime) -> str:
    """Return a moment as the time since the start of the drill."""
    return short_duration((at - grade.truth.began).total_seconds())


def _after(incident: Incident, at: datetime | None) -> str:
    seconds = incident.seconds_to(at)
    return "no" if seconds is None else f"{max(0.0, seconds):.0f} s"


def _aligned(table: Sequence[Sequence[str]], cells: int) -> Iterator[str]:
    """Yield the rows with aligned columns. The first column is cut to the width that the others leave."""
    name, *widths = (max(map(cell_len, column)) for column in zip(*table, strict=True))
    widths = [min(name, cells - sum(widths) - 2 * len(widths)), *widths]
    for row in table:
        fitted = (shorten(cell, width) for cell, width in zip(row, widths, strict=True))
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(fitted, widths, strict=True))
        yield "  ".join(padded).rstrip()
