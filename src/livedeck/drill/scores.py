"""Scores so far: a line of JSON for each drill, with its evidence, so that it can be graded again. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from livedeck.drill.grade import grade
from livedeck.drill.truth import Evidence
from livedeck.record import Record


class IncidentScore(Record):
    """Credit of an incident; None if it is void."""

    alarm: str
    event: str
    credit: float | None
    void: str = ""


class Score(Record):
    """Line of `drills.jsonl`. `time`: start of the drill on this machine's clock. `person`: operator."""

    time: datetime
    scenario: str
    hash: str
    seed: int
    rules: int
    score: float | None
    void: str
    incidents: tuple[IncidentScore, ...]
    person: str
    evidence: Evidence


class UnreadableScoreError(ValueError):
    """Line that is no score."""


def score_of(evidence: Evidence, time: datetime) -> Score:
    """Return the line of a drill by the rules of today."""
    graded = grade(evidence)
    return Score(
        time,
        graded.truth.scenario,
        graded.truth.hash,
        graded.truth.seed,
        graded.rules,
        graded.score,
        graded.void,
        tuple(
            IncidentScore(incident.answer.alarm, incident.answer.event, incident.credit, incident.void)
            for incident in graded.incidents
        ),
        graded.by,
        evidence,
    )


def write_line(score: Score) -> str:
    """Return the score as one line of JSON."""
    return msgspec.json.encode(score).decode() + "\n"


def read_lines(lines: Iterable[str]) -> tuple[Score, ...]:
    """Return the scores of the lines, oldest first. Raises UnreadableScoreError with the number of a bad line."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(msgspec.json.decode(line, type=Score))
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise UnreadableScoreError(f"line {number} is no score: {error}") from error
    return tuple(found)
