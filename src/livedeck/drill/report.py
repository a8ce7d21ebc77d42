"""Report of a drill, as Markdown, as a part of a page of HTML, and as one page of the terminal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from html import escape as entities

from livedeck.drill.grade import Grade, Incident
from livedeck.text.markdown import literal, table_lines
from livedeck.text.segments import cell_len, shorten
from livedeck.text.values import NOT_APPLICABLE, safe, short_duration

HEADS = ("Incident", "Injected", "Alarm", "Seen", "Acknowledged", "Action", "Wrong", "Credit")
"""Heads of the table of incidents. The times under Seen, Acknowledged and Action are seconds since the alarm."""

WRONG_HEADS = ("Time", "Change", "Points")
NO_WRONG = "No wrong change."

SEEN_TEXT = "Seen: the first act on the alarm or its event. A look leaves no trace."
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
        SEEN_TEXT,
        "",
        *(f"- {line}" for line in without),
        *([""] if without else []),
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

    notes = [*_without_credit(grade, words), SEEN_TEXT]
    wrong = list(_wrong_rows(grade, words))
    return "".join(
        (
            f"<h2>Drill: {words(grade.truth.title)}</h2>",
            f"<p>{'<br>'.join(_head(grade, words))}</p>",
            _html_table(HEADS, rows(grade, words)),
            *(f'<p class="dim">{note}</p>' for note in notes),
            _html_table(WRONG_HEADS, wrong) if wrong else f"<p>{NO_WRONG}</p>",
            f"<h3>The deck</h3><ul>{''.join(f'<li>{line}</li>' for line in _deck(grade, words))}</ul>",
        )
    )


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
        SEEN_TEXT,
        *_without_credit(grade, safe),
        *(f"wrong: {' '.join(row)}" for row in _wrong_rows(grade, safe)),
        "",
        DECK_TEXT,
        *_deck(grade, safe),
    ]
    return (shorten(line, cells) for line in lines)


def rows(grade: Grade, escape: Escape) -> list[Sequence[str]]:
    """Return the cells of each incident, in the order of `HEADS`."""
    return [
        (
            _name(incident.answer.alarm, incident.answer.event, incident.answer.target, escape),
            _offset(grade, incident.answer.since) if incident.answer.since <= grade.ended else "no",
            _offset(grade, incident.raised) if incident.raised else NOT_APPLICABLE,
            _after(incident, incident.seen),
            _after(incident, incident.acknowledged),
            _after(incident, incident.acted) if incident.answer.action else "not asked",
            str(incident.wrong or NOT_APPLICABLE),
            "void" if incident.credit is None else f"{100 * incident.credit:.0f} %",
        )
        for incident in grade.incidents
    ]


def _head(grade: Grade, escape: Escape) -> Iterator[str]:
    truth = grade.truth
    yield (
        f"No score: {escape(grade.void)}" if grade.score is None else f"Score: {grade.score:.1f} of 100{_parts(grade)}"
    )
    yield f"Scenario {escape(truth.scenario)} ({escape(truth.hash)}), seed {truth.seed}, rules {grade.rules}"
    yield f"Began {truth.began:%Y-%m-%d %H:%M:%S}Z on the simulator's clock. Person: {escape(grade.by) or 'unknown'}"


def _parts(grade: Grade) -> str:
    """Return the parts of a score as text: points of the reactions, points off for wrong changes. Empty without any."""
    cost = sum(item.cost for item in grade.wrong)
    return f": reactions {grade.reactions:.1f}, wrong changes -{cost:g}" if cost else ""


def _without_credit(grade: Grade, escape: Escape) -> list[str]:
    """Return a line for each incident that is void, or that a wrong change deprives of its credit, with the reason."""
    return [
        f"{'void' if incident.void else 'no credit'}: "
        f"{_name(incident.answer.alarm, incident.answer.event, incident.answer.target, escape)}: "
        f"{escape(incident.void or (MISTAKEN_TEXT if incident.answer.action else MEDDLED_TEXT))}"
        for incident in grade.incidents
        if incident.void or incident.is_mistaken
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
    elif not grade.missed and not grade.false:
        yield f"It raised every alarm that was due ({grade.due}), and no other."
    for row in grade.missed:
        yield f"missed: {_name(row.alarm, row.event, row.target, escape)}, cause at {_offset(grade, row.since)}"
    for raised in grade.false:
        yield f"false: {_name(raised.alarm, raised.event, raised.target, escape)} at {_offset(grade, raised.at)}"


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
