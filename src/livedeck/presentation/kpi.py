"""Key figures of alarms as lines, as a table and as a JSON object. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import AlarmFigures, Figure
from livedeck.text.times import isoformat_utc
from livedeck.text.values import age, safe

if TYPE_CHECKING:
    from livedeck.presentation import documents

_TITLE_CELLS, _VALUE_CELLS = 46, 22

_MARKS = {True: "✓", False: "✖", None: " "}


def value_text(figure: Figure) -> str:
    """Return the value of a figure with its unit, or the reason why there is none."""
    return figure.missing if figure.value is None else _number(figure.value, figure.unit)


def goal_text(figure: Figure) -> str:
    """Return the goal of a figure: `at most 5 %`; empty without a goal."""
    if figure.goal is None:
        return ""
    return f"{'at least' if figure.is_least else 'at most'} {_number(figure.goal, figure.unit)}"


def mark(figure: Figure) -> str:
    """Return the sign that says whether the goal is met; a blank if that is unknown."""
    return _MARKS[figure.is_met]


def _number(value: float, unit: str) -> str:
    if unit == "share":
        return f"{100 * value:.3g} %"
    if unit == "s":
        return age(value)
    return f"{value:.3g}{f' {unit}' if unit else ''}" if value % 1 else f"{value:.0f}{f' {unit}' if unit else ''}"


def actor_lines(figures: AlarmFigures) -> list[str]:
    """Return the alarms that were announced most, a line each."""
    return [
        f"{actor.count:>5}  {100 * actor.share:3.0f} %  {actor.kind}  {safe(actor.subject, 80)}"
        for actor in figures.bad_actors
    ]


def figures_lines(figures: AlarmFigures) -> list[str]:
    """Return the figures with their goals, then the alarms that were announced most."""
    head = f"{figures.since:%Y-%m-%d %H:%M}Z to {figures.until:%Y-%m-%d %H:%M}Z"
    rows = [
        f"{mark(figure)} {figure.title:<{_TITLE_CELLS}}{value_text(figure):<{_VALUE_CELLS}}{goal_text(figure)}".rstrip()
        for figure in figures.figures
    ]
    actors = actor_lines(figures)
    worst = ["", "announced most (`livedeck alarm explain EVENT KIND` says why):", *actors] if actors else []
    return [head, *rows, *worst]


def figure_object(figure: Figure) -> documents.AlarmFigure:
    """Return a figure as a JSON object."""
    from livedeck.presentation import documents

    return documents.AlarmFigure(
        key=figure.key,
        title=figure.title,
        value=figure.value,
        unit=figure.unit or None,
        goal=figure.goal,
        goal_is_least=figure.is_least,
        is_met=figure.is_met,
        missing=figure.missing if figure.value is None else None,
    )


def figures_object(figures: AlarmFigures) -> documents.AlarmFigures:
    """Return the figures as a JSON object."""
    from livedeck.presentation import documents

    return documents.AlarmFigures(
        since=isoformat_utc(figures.since),
        until=isoformat_utc(figures.until),
        figures=[*map(figure_object, figures.figures)],
        bad_actors=[
            documents.BadActor(
                event_id=actor.event_id or None,
                subject=actor.subject,
                kind=actor.kind,
                count=actor.count,
                share=actor.share,
            )
            for actor in figures.bad_actors
        ],
    )
