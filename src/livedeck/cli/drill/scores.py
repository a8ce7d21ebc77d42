"""`livedeck drill list`, `show` and `grade`: the scores so far, in `drills.jsonl` in the data folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from livedeck.atomic_file import open_private
from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import formats
from livedeck.cli.output import echo, echo_json
from livedeck.drill.grade import RULES, Grade, grade
from livedeck.drill.report import markdown, page_lines
from livedeck.drill.scores import Score, UnreadableScoreError, read_lines, write_line
from livedeck.environment import SettingsError, drills_path, terminal
from livedeck.presentation import documents
from livedeck.text.times import isoformat_utc
from livedeck.text.values import NOT_APPLICABLE, safe


def read_scores() -> tuple[Score, ...]:
    """Return the scores so far, oldest first. Raises SettingsError if the file has a line that is no score."""
    path = drills_path()
    try:
        return read_lines(path.read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        return ()
    except (UnreadableScoreError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}; repair or move the file") from None


def add_score(score: Score) -> int:
    """Append a score to the file, and return its number, from 1. Raises OSError."""
    path = drills_path()
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_APPEND), "w", encoding="utf-8") as file:
        file.write(write_line(score))
    return len(path.read_text(encoding="utf-8").splitlines())


def print_report(graded: Grade, output_format: str = "page") -> None:
    """Print the report of a drill: as a page on a terminal, else as Markdown."""
    if output_format == "page" and sys.stdout.isatty():
        echo("\n".join(page_lines(graded, terminal().columns)))
    else:
        echo(markdown(graded), nl=False)


def report_object(number: int, score: Score) -> documents.DrillReport:
    """Return the report of a drill as a JSON object."""
    graded = grade(score.evidence)
    return documents.DrillReport(
        **score_object(number, score),
        incidents=[
            documents.DrillIncident(
                alarm=incident.answer.alarm,
                event=incident.answer.event or None,
                target=incident.answer.target or None,
                parts=list(incident.parts),
                weight=incident.weight,
                injected=isoformat_utc(incident.answer.since),
                raised=isoformat_utc(incident.raised),
                shown=isoformat_utc(incident.shown),
                seen=incident.seconds_to(incident.seen),
                acknowledged=incident.seconds_to(incident.acknowledged),
                acknowledged_by=incident.acknowledged_by or None,
                acted=incident.seconds_to(incident.acted),
                action=incident.action or None,
                wrong=incident.wrong,
                is_mistaken=incident.is_mistaken,
                credit=incident.credit,
                void=incident.void or None,
            )
            for incident in graded.incidents
        ],
        wrong=[
            documents.DrillChange(
                at=isoformat_utc(wrong.change.at),
                does=wrong.change.does,
                event=wrong.change.event or None,
                cost=wrong.cost,
            )
            for wrong in graded.wrong
        ],
        missed=[
            documents.DrillAlarm(alarm=row.alarm, event=row.event or None, at=isoformat_utc(row.since))
            for row in graded.missed
        ],
        false=[
            documents.DrillAlarm(alarm=raised.alarm, event=raised.event or None, at=isoformat_utc(raised.at))
            for raised in graded.false
        ],
    )


def score_object(number: int, score: Score) -> documents.DrillScore:
    """Return a score as a JSON object."""
    return documents.DrillScore(
        number=number,
        time=isoformat_utc(score.time),
        scenario=score.scenario,
        hash=score.hash,
        seed=score.seed,
        rules=score.rules,
        score=score.score,
        void=score.void or None,
        person=score.person or None,
    )


@click.command
@formats("table", "json")
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str) -> None:
    """List the drills so far with their scores.

    Scores can be compared only if their drills have the same hash and the same version of the rules.
    """

    async def work() -> int:
        scores = read_scores()
        if output_format == "json":
            drills = [score_object(number, score) for number, score in enumerate(scores, 1)]
            echo_json({"schema": schema_name("drill list"), "drills": drills})
        elif scores:
            echo("\n".join(_table(scores)))
        else:
            echo("no drill was played yet: livedeck drill play bad-night", err=True)
        return DONE

    ctx.exit(run(work))


def _table(scores: Sequence[Score]) -> list[str]:
    rows = (
        f"{number:>4}  {score.time:%Y-%m-%d %H:%M}Z  {_points(score):>5}  {score.rules:>5}  {score.hash}  "
        f"{safe(score.scenario, 40)}, {safe(score.person, 40) or 'unknown'}"
        for number, score in enumerate(scores, 1)
    )
    return [f"{'N':>4}  {'Time':17}  Score  Rules  {'Hash':16}  Scenario, person", *rows]


def _points(score: Score) -> str:
    return NOT_APPLICABLE if score.score is None else f"{score.score:.1f}"


@click.command
@click.argument("number", metavar="N", type=click.IntRange(1))
@formats("page", "markdown", "json", default="page")
@click.pass_context
def show_command(ctx: click.Context, /, *, number: int, output_format: str) -> None:
    """Show the report of drill N: a row for each incident, wrong changes, and the alarms of the deck.

    A page on a terminal, Markdown in a pipe. N is from `livedeck drill list`.
    """

    async def work() -> int:
        score = _score(number)
        if score.rules != RULES:
            raise click.UsageError(
                f"drill {number} was graded by rules {score.rules}: {_points(score)}. "
                f"`livedeck drill grade {number}` grades it by rules {RULES}"
            )
        if output_format == "json":
            echo_json({"schema": schema_name("drill show"), **report_object(number, score)})
        else:
            print_report(grade(score.evidence), output_format)
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("number", metavar="N", type=click.IntRange(1))
@click.pass_context
def grade_command(ctx: click.Context, /, *, number: int) -> None:
    """Grade drill N again by the rules of today, and print the report.

    The score in the list stays. N is from `livedeck drill list`.
    """

    async def work() -> int:
        score = _score(number)
        graded = grade(score.evidence)
        now = NOT_APPLICABLE if graded.score is None else f"{graded.score:.1f}"
        echo(f"rules {score.rules}: {_points(score)}; rules {graded.rules}: {now}", err=True)
        print_report(graded)
        return DONE

    ctx.exit(run(work))


def _score(number: int) -> Score:
    """Return the score with that number. Raises UsageError if there is none."""
    scores = read_scores()
    if number > len(scores):
        raise click.UsageError(f"there is no drill {number}: `livedeck drill list` lists {len(scores) or 'none'}")
    return scores[number - 1]
