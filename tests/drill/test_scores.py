"""Laws of the lines of `drills.jsonl`."""

from __future__ import annotations

import pytest

from drill.drilling import BEGAN, evidence, wrong
from livedeck.drill.grade import grade
from livedeck.drill.scores import UnreadableScoreError, read_lines, score_of, write_line


def test_a_line_reads_back_and_is_graded_the_same() -> None:
    scores = [score_of(evidence(acknowledge=after, more=[wrong(70)]), BEGAN) for after in (0, 105, None)]
    text = "".join(map(write_line, scores))
    assert text.count("\n") == 3
    read = read_lines(text.splitlines())
    assert read == tuple(scores)
    assert [grade(score.evidence).score for score in read] == [score.score for score in scores]


def test_a_bad_line_is_named() -> None:
    good = write_line(score_of(evidence(), BEGAN))
    for bad in ("", "{}", "nonsense", good[:-20]):
        with pytest.raises(UnreadableScoreError, match="line 2 is no score"):
            read_lines([good, bad])
