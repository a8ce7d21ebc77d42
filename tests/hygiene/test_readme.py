"""The README and the pages that it links to keep their promises."""

import re
import shlex
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from livedeck.cli.screenshots import (
    ATTACHED,
    PICTURES,
    TOUR,
    TROUBLES,
    attached_picture,
    picture,
    tour,
    trouble_picture,
)
from livedeck.docs.parts import PARTS
from pictures import as_seen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "src" / "livedeck" / "docs"
QUICK = ROOT / "tests" / "quick.txt"
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS_PAGE = (DOCS / "commands.md").read_text(encoding="utf-8")
WALLBOARD_PAGE = (DOCS / "wallboard.md").read_text(encoding="utf-8")


def kept(name: str) -> str:
    """Return a picture of the README and its pages, as it is in the repository."""
    return (ROOT / "screenshots" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_readme_is_one_page() -> None:
    assert len(README.splitlines()) < 100
    assert len(re.findall(r"\]\(screenshots/", README)) <= 4


def test_the_readme_lists_every_page_once_and_no_other() -> None:
    rows = re.findall(r"^\| ([A-Z][a-z-]+) \| (\[.+) \|$", README, re.MULTILINE)
    listed = {part: re.findall(r"\[`([a-z-]+)`\]\(src/livedeck/docs/\1\.md\)", pages) for part, pages in rows}
    assert listed == {part: [*topics] for part, topics in PARTS.items()}
    pages = sorted(page.stem for page in DOCS.glob("*.md"))
    assert sorted(chain(*PARTS.values())) == pages, "docs/parts.py: PARTS has other pages than the folder"


def test_every_picture_is_there() -> None:
    named = re.findall(r"\]\((screenshots/[^)]+)\)", README)
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.usefixtures("one_evening", "parsed_once", "whole_pauses")
@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_what_its_command_makes(name: str) -> None:
    """`livedeck docs --screenshots screenshots` renews them; look at what changed."""
    size, keys = PICTURES[name]
    assert as_seen(await picture(size, keys)) == as_seen(kept(name))


@pytest.mark.usefixtures("one_evening", "parsed_once", "whole_pauses")
@pytest.mark.parametrize("name", TROUBLES)
async def test_a_picture_of_trouble_is_what_its_command_makes(name: str) -> None:
    assert as_seen(await trouble_picture(name)) == as_seen(kept(name))


@pytest.mark.usefixtures("one_evening", "parsed_once", "whole_pauses")
@pytest.mark.parametrize("name", ATTACHED)
async def test_a_picture_of_an_attached_deck_is_what_its_command_makes(name: str) -> None:
    assert as_seen(await attached_picture(name)) == as_seen(kept(name))


def test_the_tour_shows_the_pictures_one_after_the_other() -> None:
    """Small enough to be loaded with the page, and nothing in it comes from elsewhere or runs."""
    shown = kept("tour")
    assert shown == tour([kept(name) for name in TOUR])
    assert len(shown.encode()) < 1_500_000
    assert "<script" not in shown
    assert not re.findall(r"url\((?!#)", shown)


ANALYZE = shutil.which("systemd-analyze")
UNIT = re.search(r"```ini\n(.+?)```", WALLBOARD_PAGE, re.DOTALL)


@pytest.mark.skipif(ANALYZE is None, reason="no systemd on this machine: nobody checks the unit")
def test_systemd_takes_the_unit_of_the_wallboard(tmp_path: Path) -> None:
    """All but where the program is, which differs from machine to machine."""
    assert ANALYZE
    assert UNIT
    unit = tmp_path / "wallboard.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", UNIT[1], flags=re.MULTILINE), "utf-8")
    done = subprocess.run([ANALYZE, "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_of_the_wallboard_starts_a_command_and_sets_what_is_read() -> None:
    from livedeck.cli import PLACES
    from livedeck.settings import Settings

    assert UNIT
    (program,) = re.findall(r"^ExecStart=(.+)$", UNIT[1], re.MULTILINE)
    assert shlex.split(program)[1] in PLACES
    names = re.findall(r"LIVEDECK_(\w+)=", UNIT[1])
    assert names
    assert {name.lower() for name in names} <= set(Settings.model_fields)


def test_ci_runs_exactly_the_test_command() -> None:
    (command,) = re.findall(r"\*\*Test it:\*\*\s+```sh\n(.+?)\n```", README)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_quick_tests_name_paths_that_exist() -> None:
    named = [line.removeprefix("--ignore=") for line in QUICK.read_text(encoding="utf-8").splitlines()]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_command_is_on_its_page_and_answers_for_itself() -> None:
    from livedeck.cli import main
    from livedeck.cli.description import load_description

    for path in filter(None, load_description()):
        assert f"`{path}" in COMMANDS_PAGE
        with pytest.raises(SystemExit) as end:
            main([*path.split(), "--help"])
        assert end.value.code == 0
