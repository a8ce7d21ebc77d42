"""Laws of the report of a drill."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drill.drilling import acknowledged, answer, at, evidence, key, raised, truth, wrong
from livedeck.drill.grade import TOO_BUSY, grade
from livedeck.drill.report import (
    ASKED_TEXT,
    HEADS,
    HIDDEN_TEXT,
    PLATFORM,
    RAISED_TEXT,
    SEEN_TEXT,
    TIMES_TEXT,
    markdown,
    page_lines,
)
from livedeck.drill.truth import Evidence, ExpectedAlarm, Raised, Starved
from livedeck.monitor import AlarmKey, Severity
from livedeck.text.segments import cell_len
from livedeck.text.values import safe
from report.readers import markdown_links, markdown_tables


def test_the_report_has_a_row_for_each_incident() -> None:
    graded = grade(evidence(3, acknowledge=40, act=None, more=[wrong(70)]))
    lines = markdown(graded).splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert table[0] == [*HEADS]
    assert [row[0] for row in table[1:4]] == [f"AUDIO\\_LOST Stage {number}" for number in range(3)]
    assert table[2] == ["AUDIO\\_LOST Stage 1", "01:00", "01:10", "40 s", "40 s", "no", "1", "0 %"]
    assert f"Score: {graded.score:.1f} of 100: reactions 9.3, wrong changes -10" in markdown(graded)
    mistaken = "a wrong change was made, and the required action was not"
    assert [line for line in lines if line.startswith("- no credit")] == [
        f"- no credit: AUDIO\\_LOST Stage {number}: {mistaken}" for number in range(2)
    ]
    assert f"{RAISED_TEXT}  " in lines


def test_a_wrong_change_beside_an_acknowledgement_in_time_is_called_no_missing_action() -> None:
    drill = Evidence(truth(replace(answer(), action=None)), at(7200), (raised(),), (acknowledged(),), (wrong(30),))
    said = "no credit: AUDIO_LOST Stage 0: a wrong change was made, although only an acknowledgement was required"
    assert said in [*page_lines(grade(drill), 120)]


@pytest.mark.parametrize("cells", [80, 120])
def test_the_page_says_the_same_within_its_width(cells: int) -> None:
    graded = grade(evidence(3, acknowledge=40, act=None, more=[wrong(70, ends_event=True)]))
    lines = [*page_lines(graded, cells)]
    assert max(map(cell_len, lines)) <= cells
    assert len(lines) <= 24
    text = "\n".join(lines)
    for said in (
        "Score: 0.0 of 100: reactions 9.3, wrong changes -25",
        "no credit: AUDIO_LOST Stage 1: a wrong change was made",
        "01:10",
        "update_event Foyer of Foyer -25",
        RAISED_TEXT,
    ):
        assert said in text


def test_a_void_drill_says_why_in_both_forms() -> None:
    graded = grade(replace(evidence(2), starved=(Starved(at(5), at(7200)),)))
    for text in (markdown(graded), "\n".join(page_lines(graded, 100))):
        assert f"No score: {TOO_BUSY}" in text
        assert text.count(TOO_BUSY) == 1
        assert f"{TOO_BUSY} (first at 00:05)" in text


def test_void_incidents_with_one_reason_share_a_line() -> None:
    line = f"void: AUDIO_LOST Stage 0, AUDIO_LOST Stage 1: {TOO_BUSY} (first at 00:05)"
    mixed = grade(replace(evidence(5), starved=(Starved(at(5), at(70)),)))
    assert mixed.score is not None
    assert [each for each in page_lines(mixed, 120) if each.startswith("void")] == [line]


def test_the_report_says_what_each_answer_asked_for() -> None:
    noted = replace(answer(), note="encoder", asks="encoder")
    drill = Evidence(truth(noted, answer(1), replace(answer(2), action=None)), at(7200))
    wanted = [
        'AUDIO_LOST Stage 0: acknowledge (30, 180); a note on this alarm with the word "encoder" (60, 300)',
        "AUDIO_LOST Stage 1: acknowledge (30, 180); a change: a change (60, 300)",
        "AUDIO_LOST Stage 2: acknowledge (30, 180)",
    ]
    lines = [*page_lines(grade(drill), 120)]
    assert ASKED_TEXT in lines
    assert [line for line in lines if line.startswith("asked")] == [f"asked: {line}" for line in wanted]


def test_the_report_names_the_parts_of_an_event_and_the_alarms_that_were_due() -> None:
    parts = [replace(raised(), key=AlarmKey("id-0", "AUDIO_LOST", part), target=part) for part in ("left", "right")]
    rows = [ExpectedAlarm("AUDIO_LOST", "Stage 0", part, at(0), at(60)) for part in ("left", "right")]
    drill = Evidence(truth(answer(), alarms=rows), at(7200), tuple(parts))
    lines = [*page_lines(grade(drill), 120)]
    assert any(line.startswith("AUDIO_LOST Stage 0 (left, right)  ") for line in lines)
    assert f"Due: AUDIO_LOST Stage 0 (left), AUDIO_LOST Stage 0 (right). {HIDDEN_TEXT}" in lines
    assert "It raised every alarm that was due (2), and no other." in lines


def test_the_report_says_from_when_the_seconds_count() -> None:
    drill = evidence(1, acknowledge=40)
    assert RAISED_TEXT in [*page_lines(grade(drill), 120)]
    shown = replace(drill, raised=(replace(raised(), shown=at(15)),))
    lines = [*page_lines(grade(shown), 120)]
    assert lines[lines.index(TIMES_TEXT) :][:2] == [TIMES_TEXT, SEEN_TEXT]
    (row,) = (line.split() for line in lines if line.startswith("AUDIO_LOST"))
    assert row[3:5] == ["00:00", "00:15"]
    assert "35 s" in " ".join(row)


def test_missed_and_false_alarms_are_named() -> None:
    missed = ExpectedAlarm("FPS_LOW", "Stage 1", "", at(0), at(60))
    stray = Raised(at(30), AlarmKey("", "CLOCK_SKEW"), "", "", Severity.WARNING)
    drill = evidence(1)
    rows = (missed, ExpectedAlarm("AUDIO_LOST", "Stage 0", "", at(0)))
    drill = replace(drill, truth=replace(drill.truth, alarms=rows), raised=(*drill.raised, stray))
    text = "\n".join(page_lines(grade(drill), 100))
    assert "missed: FPS_LOW Stage 1, cause at 00:00" in text
    assert f"false: CLOCK_SKEW {PLATFORM} at 00:30" in text


def test_a_drill_that_ended_before_its_first_fault_says_nothing_of_what_did_not_happen() -> None:
    row = ExpectedAlarm("AUDIO_LOST", "Stage 1", "", at(60), at(90))
    drill = Evidence(replace(truth(answer(1)), alarms=(row,)), at(30))
    lines = [*page_lines(grade(drill), 100)]
    (incident,) = (line.split() for line in lines if line.startswith("AUDIO_LOST"))
    assert incident[:4] == ["AUDIO_LOST", "Stage", "1", "no"]
    assert "No alarm was due before the drill ended." in lines


def test_hostile_names_stay_text() -> None:
    name = "<b>|`[x](http://x)\x1b[31m"
    row = replace(answer(), event=name)
    drill = Evidence(
        truth(row), at(7200), (replace(raised(), event=name),), (acknowledged(),), (wrong(9, f"edit {name}"),)
    )
    assert drill.raised[0].key == key()
    written = markdown(grade(drill))
    assert "\x1b" not in written + "".join(page_lines(grade(drill), 200))
    assert "<b>" not in written
    assert markdown_links(written) == []
    assert markdown_tables(written)["Wrong changes"] == [
        {"Time": "00:09", "Change": f"edit {safe(name)} of Foyer", "Points": "-10"}
    ]
