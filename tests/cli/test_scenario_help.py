"""`livedeck serve --list` and `--check`: enough to write a scenario of one's own."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from livedeck import docs
from livedeck.cli import main
from livedeck.cli.exit_codes import DONE, FAULT
from livedeck.simulator import listings, scenario_names
from livedeck.simulator.engine.faults import FAULT_EFFECTS
from livedeck.simulator.rehearsal.listing import FAULT_MEANINGS
from simulator.test_checking import GALA


def serve(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["serve", *arguments])
    return done.exit_code, done.stdout


def test_the_list_names_everything_that_a_scenario_can_name() -> None:
    code, text = serve("--list")
    assert code == DONE
    for name in (*scenario_names(), "Main stage", "On air 001 to 025", "Green room (Video share, Social network)"):
        assert name in text
    assert {*FAULT_MEANINGS} == {*FAULT_EFFECTS}
    code, text = serve("--list", "--json")
    tables = json.loads(text)
    assert [row["Name"] for row in tables["scenarios"]] == scenario_names()
    assert {row["Command"] for row in tables["steps"]} >= {"encoder", "restream", "relay", "fault"}


def test_the_documentation_has_the_same_tables() -> None:
    """`livedeck docs --write src/livedeck/docs` renews them."""
    page = docs.page("simulator")
    for listing in listings():
        assert listing.markdown() in page, listing.name


def test_a_check_prints_every_problem_and_ends_with_1(tmp_path: Path) -> None:
    file = tmp_path / "gala.toml"
    file.write_text(GALA, encoding="utf-8")
    assert serve("--check", str(file)) == (DONE, f"{file}: no problems\n")
    file.write_text(GALA.replace("hall 1", "hall 2", 2).replace("KEYFRAME_SEVERE", "\x1b[2J"), encoding="utf-8")
    code, text = serve("--check", str(file))
    assert code == FAULT
    assert "not TOML" in text
    assert "\x1b" not in text
    file.write_text(GALA.replace('restream = "Video share"', 'restream = "Vimeo"'), encoding="utf-8")
    code, text = serve("--check", str(file), "--json")
    assert code == FAULT
    assert [problem["path"] for problem in json.loads(text)["problems"]] == ["steps[1].restream"]


def test_the_check_takes_workspaces_and_faults_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[events]]\nname = "A"\ncreated = "now"\n', encoding="utf-8")
    assert serve("--check", str(file))[1].startswith("events[0] (line 3), created: must be an offset")
    file.write_text('[[faults]]\nkind = "statos"\n', encoding="utf-8")
    assert serve("--check", str(file))[1].startswith("faults[0] (line 2), kind: must be one of status")
