"""`livedeck serve --list` and `--check` give enough help to write a scenario."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from livedeck import docs
from livedeck.cli import main
from livedeck.cli.exit_codes import DONE, FAULT, USAGE
from livedeck.cli.serve import command
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


def test_a_problem_is_one_short_line_whatever_the_names_hold(tmp_path: Path) -> None:
    file = tmp_path / "gala.toml"
    for name in (r"V\n\u001b[2Jgala.toml: no problems", "x" * 1_000_000):
        for field in ('restream = "', 'title = "Gala"\nworkspace = "', '"'):
            text = GALA.replace('restream = "Video share"', f'{field}{name}"', 1)
            file.write_text(text if field != '"' else f'"{name}" = 1\n{GALA}', encoding="utf-8")
            code, printed = serve("--check", str(file))
            assert code == FAULT
            assert max(map(len, printed.splitlines())) < 5000
            assert not any(line.startswith("gala") for line in printed.splitlines())
            assert "\x1b" not in printed


def test_a_check_says_of_every_file_that_it_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"")
    assert serve("--check", str(file)) == (FAULT, "title: must be given\nlasts: must be given\n")
    file.write_bytes(bytes(range(256)))
    done = CliRunner().invoke(main, ["serve", "--check", str(file)])
    assert (done.exit_code, done.stdout) == (FAULT, "")
    assert done.stderr == f"livedeck serve: cannot read {file}: it is not UTF-8 text\n"
    done = CliRunner().invoke(main, ["serve", "--check", str(tmp_path)])
    assert (done.exit_code, "is a directory" in done.stderr) == (USAGE, True)


def test_the_documentation_names_every_option_of_serve() -> None:
    table = docs.page("simulator").partition("| Option | Meaning |")[2].partition("\n\n")[0]
    named = {option for row in table.splitlines() for option in re.findall(r"`(--[\w-]+)", row.partition(" | ")[0])}
    assert named == {option for parameter in command.params for option in parameter.opts} - {"--format", "--schema"}


def test_a_file_that_is_nested_too_deeply_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(f"x = {'[' * 100_000}", encoding="utf-8")
    assert serve("--check", str(file)) == (FAULT, "nested too deeply\n")


@pytest.mark.parametrize("name", ["serve", "demo"])
def test_a_scenario_of_a_stranger_writes_no_line_of_its_own(tmp_path: Path, name: str) -> None:
    file = tmp_path / "gala.toml"
    file.write_text(GALA.replace('"Video share"\nconn', r'"V\u001b[2J\nall is well"' + "\nconn"), encoding="utf-8")
    done = CliRunner().invoke(main, [name, "--scenario", str(file)], color=True)
    assert done.exit_code != DONE
    assert "steps[1]" in done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith("all is well")]
    assert "\x1b" not in done.stderr
