"""Answers of a drill: read from the scenario, joined with its alarms, and refused with every problem."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from livedeck.simulator import Simulator, check_table, load_scenario, scenario_names

DRILL = """\
title = "Drill"
lasts = "+00:10:00"

[[alarms]]
kind = "RESTREAM_DOWN"
event = "Main stage"
target = "Video share"
since = "+00:00:30"
until = "+00:02:30"
severity = "critical"

[[alarms]]
kind = "RESTREAM_DOWN"
event = "Main stage"
target = "Video share"
since = "+00:05:00"

[[answers]]
alarm = "RESTREAM_DOWN"
event = "Main stage"
acknowledge = { par = 30, limit = 120 }
request = { operation = "update_event", event = "Main stage", "json.restreams" = { absent = false } }
par = 60
limit = 200.5

[[answers]]
alarm = "RESTREAM_DOWN"
event = "Main stage"
target = "Video share"
acknowledge = { par = 30, limit = 120 }
note = "share"
par = 60
limit = 300

[[allowed]]
request = { operation = "update_event", "json.name" = { glob = "*" } }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "drill.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_answer_takes_since_until_and_severity_from_its_alarm_in_the_order_of_the_rows(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, DRILL))
    first, second = scenario.answers
    assert [row.alarm for row in scenario.answers] == [*scenario.alarms]
    assert (first.target, first.acknowledge.limit, first.action and first.action.limit) == ("", 120, 200.5)
    assert (second.target, second.note, second.request) == ("Video share", "share", None)
    assert scenario.allowed == ({"operation": "update_event", "json.name": {"glob": "*"}},)


BROKEN = {
    "no alarm": ('alarm = "RESTREAM_DOWN"', 'alarm = "RESTREAM"', "answers[0]", "there is RESTREAM_DOWN Main stage"),
    "too many": ('since = "+00:05:00"', 'since = "+00:05:00"\nshown = false', "answers[1]", "no further row"),
    "target": ('target = "Video share"\nackn', 'target = "Other"\nackn', "answers[1]", "no further row"),
    "par": ("par = 30, limit = 120 }\nrequest", "par = 120, limit = 120 }\nrequest", "answers[0]", "must be above par"),
    "no limit": ("limit = 200.5\n", "", "answers[0]", "must be given with request or note"),
    "no action": ('note = "share"\n', "", "answers[1]", "needs a request or a note"),
    "both": ('note = "share"', 'note = "share"\nrequest = {}', "answers[1]", "must be left out if request is given"),
    "late": ("limit = 300", "limit = 300.5", "answers[1]", "is after lasts, +00:10:00"),
    "operation": ('"update_event", ev', '"update_events", ev', "answers[0]", "there are update_event, "),
    "event": ('"Main stage", "json', '"Main", "json', "answers[0]", 'no event is called "Main"; there are Main stage'),
    "pattern": ("{ absent = false }", "{ absend = false }", "answers[0]", "must be text, a number"),
    "allowed": ('"json.name"', "name", "allowed[0]", "unknown field"),
    "misspelt": ('note = "share"', 'note = "share"\nremark = ""', "answers[1]", "unknown"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_answer_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    before, after, place, says = BROKEN[name]
    assert before in DRILL
    assert check_table(written(tmp_path, DRILL)) == ()
    problems = check_table(written(tmp_path, DRILL.replace(before, after, 1)))
    assert {problem.path.partition(".")[0] for problem in problems} == {place}
    assert any(says in problem.reason for problem in problems), problems
    assert all(problem.line for problem in problems)


def test_the_truth_says_in_words_what_an_answer_asks_for() -> None:
    with closing(Simulator(scenario="bad-night")) as simulator:
        asks = [row["asks"] for row in simulator.truth(())["answers"]]
    change = "operation update_event, event Second stage, reconnect_window at least 900"
    assert asks == ["line", "", "encoder", "", change, ""]


def test_drills_are_shipped() -> None:
    shipped = [name for name in scenario_names() if load_scenario(name).answers]
    assert shipped == [
        *("api-dead", "audio-lost", "bad-night", "camera-lost", "encoder-drop-inside-window"),
        *("ghost-publisher", "restream-down", "video-low"),
    ]
